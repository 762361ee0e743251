"""Servers that tests start on the loopback interface, each with its data in a folder of the test, and end afterwards."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from memory_assets.extras.scaling.deployment import CELERY_URL

WORKER = "memory_assets_tests.extras.scaling.impatient_celery"
"""The worker's application, whose queue does not wait an hour for a killed worker."""

START_SECONDS = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def chroma_server(folder: Path, port: int = 0) -> Iterator[str]:
    """Yields the address of a Chroma server that keeps its data in the folder."""
    port = port or free_port()
    address = f"http://127.0.0.1:{port}"
    words = f"run --host 127.0.0.1 --port {port} --path".split()
    command = [Path(sys.executable).with_name("chroma"), *words, str(folder)]
    with _running(
        command,
        lambda: urllib.request.urlopen(f"{address}/api/v2/heartbeat", timeout=1).close(),
        folder,
    ):
        yield address


class Gate:
    """A way to a server of this machine: shut, it cuts its connections and refuses new ones until it is opened again."""

    def __init__(self, address: str) -> None:
        self._server, self._held = (
            ("127.0.0.1", int(address.rsplit(":", 1)[1])),
            list[socket.socket](),
        )
        self._port = free_port()
        self.address = f"http://127.0.0.1:{self._port}"
        self.open()

    def open(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self._port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def shut(self) -> None:
        for one in (self._listener, *self._held):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._held.clear()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):  # it was shut
            while True:
                near, far = listener.accept()[0], socket.create_connection(self._server)
                self._held += [near, far]
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=_pass_on, args=ends, daemon=True).start()


def _pass_on(from_: socket.socket, to: socket.socket) -> None:
    with suppress(OSError):
        while content := from_.recv(1 << 16):
            to.sendall(content)
    with suppress(OSError):
        to.shutdown(socket.SHUT_WR)


def needs_postgres() -> None:
    """Skips the test where PostgreSQL or the packages that speak to it are not installed."""
    pytest.importorskip("dagster_postgres")
    if not found_program("initdb", *map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb"))):
        pytest.skip("PostgreSQL's initdb is not installed")


def needs_celery() -> None:
    """Skips the test where Redis, PostgreSQL or the packages that speak to them are not installed."""
    needs_postgres()
    pytest.importorskip("dagster_celery")
    if not found_program("redis-server"):
        pytest.skip("redis-server is not installed")


@contextmanager
def redis_server(folder: Path, port: int = 0) -> Iterator[str]:
    """Yields the address of a Redis server that keeps nothing on disk."""
    port = port or free_port()
    command = [
        "redis-server",
        "--port",
        port,
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
    ]
    with _running(
        command, lambda: socket.create_connection(("127.0.0.1", port), 1).close(), folder
    ):
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def celery_worker(folder: Path, environ: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Yields a Celery worker for the store of this environment, in a process group of its own, once it answers."""
    from celery import Celery

    name = f"{folder.name}-{uuid.uuid4().hex[:6]}@test"
    words = f"-A {WORKER} worker --concurrency 1 -n {name} --loglevel INFO".split()
    command = [Path(sys.executable).with_name("celery"), *words]
    app = Celery(broker=environ[CELERY_URL], backend=environ[CELERY_URL])

    def ask() -> None:
        assert app.control.ping(destination=[name], timeout=1)

    with _running(command, ask, folder, env=environ, start_new_session=True) as worker:
        yield worker


@contextmanager
def postgres_server(port: int = 0, folder: Path | None = None) -> Iterator[str]:
    """Yields the address of a PostgreSQL server with an empty database; root runs it as `nobody`, as it demands.

    `folder` is of an earlier server, which is started again.
    """
    initdb = Path(
        found_program("initdb", *map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb"))) or ""
    )
    port, home = (
        port or free_port(),
        folder or Path(tempfile.mkdtemp(prefix="memory-postgres-", dir="/tmp")),
    )
    user: dict[str, Any] = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}
    try:
        if user:
            shutil.chown(home, "nobody", "nogroup")
        if not (home / "data").is_dir():
            made = [
                initdb,
                "-D",
                home / "data",
                "-U",
                "dagster",
                "--auth=trust",
                "--no-sync",
                "--encoding=UTF8",
                "--locale=C",
            ]
            subprocess.run(
                [str(part) for part in made], check=True, capture_output=True, cwd=home, **user
            )
        command = [
            initdb.with_name("postgres"),
            "-D",
            home / "data",
            "-p",
            port,
            "-h",
            "127.0.0.1",
            "-k",
            home,
        ]
        command += ["-c", "fsync=off"]
        address = f"postgresql+psycopg2://dagster:{POSTGRES_PASSWORD}@127.0.0.1:{port}/postgres"
        with _running(
            command, lambda: socket.create_connection(("127.0.0.1", port), 1).close(), home, **user
        ):
            _wait_for_postgres(port)
            yield address
    finally:
        if folder is None:
            shutil.rmtree(home, ignore_errors=True)


POSTGRES_PASSWORD = "correct-horse-battery"
"""Which the test's server does not ask for; it must not be written anywhere."""


def _wait_for_postgres(port: int) -> None:
    import psycopg2

    until = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg2.connect(host="127.0.0.1", port=port, user="dagster", dbname="postgres").close()
            return
        except psycopg2.OperationalError:
            assert time.monotonic() < until, "PostgreSQL does not answer"
            time.sleep(0.1)


@contextmanager
def _running(
    command: list, ask: Callable[[], object], folder: Path, **how: Any
) -> Iterator["subprocess.Popen[bytes]"]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.log").open("wb") as log:
        server: Any = subprocess.Popen(
            [str(part) for part in command], stdout=log, stderr=log, cwd=folder, **how
        )
        try:
            _wait_for(ask, server)
            yield server
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(20)
            server.kill()
            server.wait()


def _wait_for(ask: Callable[[], object], server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            ask()
            return
        except Exception:
            assert server.poll() is None, f"{server.args} ended with {server.returncode}"
            assert time.monotonic() < until, f"{server.args} does not answer"
            time.sleep(0.1)


def found_program(*places: str) -> str | None:
    """Returns the first of these programs that is installed."""
    return next((found for place in places if (found := shutil.which(place))), None)


MOTO_VERSION = "5.2.5"
S3_SERVER = """
import sys
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
server = make_server("127.0.0.1", int(sys.argv[1]), DomainDispatcherApplication(create_backend_app), threaded=False)
server.serve_forever()
"""
"""One request at a time: moto compares the tag of a conditional write and writes in two steps."""


@contextmanager
def moto_server(folder: Path, bucket: str = "memories") -> Iterator[str]:
    """Yields the address of moto's S3 server with an empty bucket; its objects are in memory.

    moto needs older packages than this project, so it has an environment of its own, installed once.
    """
    environment = Path(tempfile.gettempdir(), f"memory-{os.getuid()}-moto-{MOTO_VERSION}")
    python = environment / "bin" / "python"
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", f"moto[s3,server]=={MOTO_VERSION}"],
            check=True,
        )
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [python, "-c", S3_SERVER, port]
    with _running(
        command, lambda: urllib.request.urlopen(f"{address}/moto-api/", timeout=1).close(), folder
    ):
        urllib.request.urlopen(urllib.request.Request(f"{address}/{bucket}", method="PUT")).close()
        yield address
