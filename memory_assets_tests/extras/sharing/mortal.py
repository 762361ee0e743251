"""Runs `memory`, and kills the process the Nth time that it flushes a file, replaces one or sends a line.

python -m memory_assets_tests.extras.sharing.mortal N data push ssh://desktop
"""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

from memory_assets.extras.sharing.ssh import Wire
from memory_assets.interfaces.entry import main

_steps = count(1)
_last = int(sys.argv.pop(1))


def _step() -> None:
    if next(_steps) == _last:
        os.kill(os.getpid(), signal.SIGKILL)


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        _step()
        return function(*arguments, **options)

    return call


def _write(wire: Wire, line: bytes) -> None:
    """Sends the line in two halves, between which the process may end."""
    wire._target.write(line[: len(line) // 2])
    wire._target.flush()
    _step()
    wire._target.write(line[len(line) // 2 :] + b"\n")
    wire._target.flush()


if __name__ == "__main__":
    os.fsync = _counted(lambda _: None)
    os.replace = _counted(os.replace)
    Wire.write = _write
    sys.exit(main())
