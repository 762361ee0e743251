"""A server of git repositories over https on the loopback interface, with git's own program behind it."""

import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import environ
from pathlib import Path

HEADERS = {
    "CONTENT_TYPE": "Content-Type",
    "HTTP_CONTENT_ENCODING": "Content-Encoding",
    "GIT_PROTOCOL": "Git-Protocol",
}


@contextmanager
def git_server(folder: Path, cert: str, key: str) -> Iterator[int]:
    """Yields the port of a server of the repositories in the folder."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

        def log_message(self, *_: object) -> None:
            """Writes nothing."""

        def _answer(self, body: bytes) -> None:
            path, _, query = self.path.partition("?")
            given = {
                name: self.headers[header]
                for name, header in HEADERS.items()
                if self.headers[header]
            }
            about = {
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_LENGTH": str(len(body)),
            }
            about |= {
                "PATH": environ["PATH"],
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                **given,
            }
            done = subprocess.run(
                ["git", "http-backend"], env=about, input=body, capture_output=True, check=False
            )
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(fields.pop("Status", "200").split()[0]))
            for name, value in {**fields, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
