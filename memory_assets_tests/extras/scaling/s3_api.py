"""A server with the part of the S3 API that a store needs, in this process: objects in memory, conditions of writes honoured."""

import hashlib
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

from memory_assets_tests.extras.scaling.servers import moto_server
from memory_assets_tests.once import TEST_ALL

KEY_ID, BUCKET = "testing", "memories"
SERVERS = ("own", "moto") if TEST_ALL else ("own",)
"""This one, and moto's under `make test-all`."""


class S3Api(ThreadingHTTPServer):
    """Knows one bucket and one key."""

    daemon_threads = True

    def __init__(self, bucket: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bucket, self.objects, self.guard = bucket, {}, threading.Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: S3Api

    def log_message(self, *_: object) -> None:
        """Writes nothing."""

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code></Error>".encode())

    def _handle(self) -> None:
        place = urlsplit(self.path)
        bucket, _, key = unquote(place.path).removeprefix("/").partition("/")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.server.guard:
            if f"Credential={KEY_ID}/" not in self.headers.get("Authorization", ""):
                self._refuse(403, "InvalidAccessKeyId")
            elif bucket != self.server.bucket:
                self._refuse(404, "NoSuchBucket")
            else:
                getattr(self, f"_{self.command.lower()}")(
                    key, parse_qs(place.query, keep_blank_values=True), body
                )

    do_GET = do_PUT = do_POST = do_DELETE = _handle  # noqa: N815

    def _get(self, key: str, query: dict[str, list[str]], _: bytes) -> None:
        if "list-type" in query:
            return self._list(query.get("prefix", [""])[0])
        if key not in self.server.objects:
            return self._refuse(404, "NoSuchKey")
        content, at = self.server.objects[key]
        if self.headers.get("If-None-Match") == _tag(content):
            return self._answer(304)
        return self._answer(
            200, content, ETag=_tag(content), Last_Modified=f"{at:%a, %d %b %Y %H:%M:%S} GMT"
        )

    def _put(self, key: str, _: dict[str, list[str]], body: bytes) -> None:
        there = self.server.objects.get(key)
        wanted = self.headers.get("If-Match")
        if (self.headers.get("If-None-Match") == "*" and there) or (
            wanted and (there is None or wanted != _tag(there[0]))
        ):
            return self._refuse(412, "PreconditionFailed")
        self.server.objects[key] = body, datetime.now(UTC)
        return self._answer(200, ETag=_tag(body))

    def _post(self, _: str, query: dict[str, list[str]], body: bytes) -> None:
        assert "delete" in query
        keys = re.findall(r"<Key>(.*?)</Key>", body.decode())
        for key in keys:
            self.server.objects.pop(unescape(key, {"&apos;": "'", "&quot;": '"'}), None)
        deleted = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        self._answer(200, f"<DeleteResult>{deleted}</DeleteResult>".encode())

    def _delete(self, key: str, _: dict[str, list[str]], __: bytes) -> None:
        self.server.objects.pop(key, None)
        self._answer(204)

    def _list(self, prefix: str) -> None:
        rows = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{at:%Y-%m-%dT%H:%M:%S.000Z}</LastModified>"
            f"<ETag>{escape(_tag(content))}</ETag><Size>{len(content)}</Size></Contents>"
            for key, (content, at) in sorted(self.server.objects.items())
            if key.startswith(prefix)
        )
        self._answer(
            200,
            f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>".encode(),
        )


def _tag(content: bytes) -> str:
    return f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"'


def variables(address: str, remote: Path) -> dict[str, str]:
    """Returns the variables of a store in the server's bucket, with a new remote for the workspace."""
    if not remote.exists():
        subprocess.run(
            ["git", "init", "--quiet", "--bare", "--initial-branch=main", remote], check=True
        )
    keys = {
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": "secret-of-the-test",
        "AWS_REGION": "us-east-1",
    }
    return {
        **keys,
        "MEMORY_STORE": f"s3://{BUCKET}/one",
        "MEMORY_STORE_ENDPOINT": address,
        "MEMORY_REMOTE": str(remote),
    }


@contextmanager
def s3_server(name: str, folder: Path) -> Iterator[str]:
    """Yields the address of one of the servers, with an empty bucket."""
    if name == "own":
        with s3_api() as api:
            yield api.address
    else:
        with moto_server(folder) as address:
            yield address


@contextmanager
def s3_api(bucket: str = BUCKET) -> Iterator[S3Api]:
    """Yields a server with an empty bucket."""
    server = S3Api(bucket)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
