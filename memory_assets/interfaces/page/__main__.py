"""Serves the page beside the Dagster UI, on the port of its argument, until stdin closes."""

import os
import signal
import sys
import threading

from memory_assets.errors import StoreError
from memory_assets.interfaces import ports
from memory_assets.interfaces.guard import run
from memory_assets.interfaces.page.app import application
from memory_assets.memory import page
from memory_assets.memory.places import find_store


def _end_with_parent() -> None:
    """Ends this process when the process that started it ends: that closes stdin."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> int:
    """Serves the page; returns the exit code."""
    port = int(sys.argv[1])
    try:
        listener = ports.listen(ports.LOOPBACK[0], port, most_ports=1)
    except StoreError as error:
        print(f"memory: the page is not served: {error}", file=sys.stderr)
        return 1
    threading.Thread(target=_end_with_parent, daemon=True).start()
    root = find_store()
    page.begin(root, ports.address_of(listener))
    try:
        return run(application(port), listener)
    finally:
        page.end(root)


if __name__ == "__main__":
    sys.exit(main())
