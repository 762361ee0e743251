"""Logs that rotate, and that of the service: what its processes print.

`logs/service.log` grows to 1 MB. It is then renamed to `service.log.1`, an older one to
`service.log.2`, and so on; four older ones are kept. launchd appends what fails at a start to
`logs/service-start.log`. A start removes that file once it is longer than 1 MB.
"""

import os
import threading
from io import TextIOWrapper
from logging import LogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO

from memory_assets.text.files import make_folder

FOLDER = "logs"
FILE = "service.log"
START_FILE = "service-start.log"
MOST_BYTES = 1_000_000
OLDER_FILES = 4


def log_path(root: Path) -> Path:
    """Returns the newest file of the log."""
    return root / FOLDER / FILE


class RotatingLog(RotatingFileHandler):
    """Appends lines to a file that rotates; a line that cannot be written is lost."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path, maxBytes=MOST_BYTES, backupCount=OLDER_FILES, encoding="utf-8", delay=True
        )

    def append(self, line: str) -> None:
        """Appends the line."""
        self.handle(LogRecord("", 0, "", 0, line, None, None))

    def handleError(self, record: LogRecord) -> None:  # noqa: N802
        """Does nothing when a line cannot be written."""

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = os.open(self.baseFilename, flags, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8")


def copy_lines(stream: IO[str], root: Path) -> threading.Thread:
    """Starts a thread that copies the lines of the stream into the log until the stream ends, and
    returns the thread.

    On a full disk the stream is read on: a full pipe would stop the service.
    """
    start = make_folder(root / FOLDER) / START_FILE
    if start.is_file() and start.stat().st_size > MOST_BYTES:
        start.unlink()
    log = RotatingLog(log_path(root))

    def copy() -> None:
        for line in stream:
            log.append(line.rstrip("\n"))
        log.close()

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    return thread
