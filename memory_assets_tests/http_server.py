"""An application served on the loopback interface, in a thread of the test."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from memory_assets.interfaces.guard import App
from memory_assets.interfaces.ports import address_of, listen


@contextmanager
def served(app: App, **options: Any) -> Iterator[str]:
    """Serves the application with these options of uvicorn and yields its address."""
    listening = listen("127.0.0.1", 3300)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", **options))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield address_of(listening)
    server.should_exit = True
    thread.join(20)
