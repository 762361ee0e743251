"""The log of the service: what its processes print, in files that rotate, so that it never grows
above a few megabytes.

`logs/service.log` grows to 1 MB and is then renamed to `service.log.1`, and so on; four older ones
are kept. launchd appends what fails at a start to `logs/service-start.log`, which a start removes
once it is as long.
"""

import threading
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


def copy_lines(stream: IO[str], root: Path) -> threading.Thread:
    """Copies the lines of the stream into the log until it ends, in a thread that is returned; a
    full disk loses lines.
    """
    from logging import LogRecord
    from logging.handlers import RotatingFileHandler

    start = make_folder(root / FOLDER) / START_FILE
    if start.is_file() and start.stat().st_size > MOST_BYTES:
        start.unlink()
    handler = RotatingFileHandler(
        log_path(root), maxBytes=MOST_BYTES, backupCount=OLDER_FILES, encoding="utf-8", delay=True
    )
    # The stream is read on: a full pipe would stop the service.
    handler.handleError = lambda record: None

    def copy() -> None:
        for line in stream:
            handler.emit(LogRecord("service", 0, "", 0, line.rstrip("\n"), None, None))
        handler.close()

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    return thread
