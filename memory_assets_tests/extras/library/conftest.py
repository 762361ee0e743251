"""What tests of the library share: an empty store, and a web server."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store


class Site:
    """A local web server with these pages, which counts what is fetched."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, str, bytes]] = {}
        self.asked: list[str] = []
        self.versions: dict[str, dict[str, str]] = {}
        """Headers that name the version of a page; who has that version is answered 304."""
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                status, kind, content = site.pages.get(self.path, (404, "text/plain", b""))
                versions = site.versions.get(self.path, {})
                asked = {
                    "ETag": self.headers["If-None-Match"],
                    "Last-Modified": self.headers["If-Modified-Since"],
                }
                if any(asked[name] == version for name, version in versions.items()):
                    status, content = 304, b""
                self.send_response(status)
                for name, version in versions.items():
                    self.send_header(name, version)
                if kind:
                    self.send_header("Location" if status in (301, 302) else "Content-Type", kind)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def put(self, path: str, text: str | bytes, kind: str = "text/html", status: int = 200) -> str:
        """Serves the text, or with a status of a redirect sends to the address in `kind`, and returns its address."""
        self.pages[path] = (status, kind, text if isinstance(text, bytes) else text.encode())
        return self.url + path

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.stop()


@pytest.fixture
def store() -> Store:
    return open_store(read_settings())
