"""The log of a shared memory: one JSON line for each call, with who called what and how it ended,
never with texts.

`logs/audit.jsonl` grows to 1 MB and is then renamed to `audit.jsonl.1`, and so on; four older ones
are kept.
"""

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from io import TextIOWrapper
from logging import LogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path

from memory_assets.store.service_log import FOLDER, MOST_BYTES, OLDER_FILES
from memory_assets.text.files import make_folder

FILE = "audit.jsonl"


@dataclass(frozen=True)
class Call:
    """One call of a verb."""

    token: str
    """Id of the token; empty without a valid one."""
    person: str
    name: str
    verb: str
    status: int
    ms: int


class AuditLog:
    """Appends calls to the log of the store; a full disk loses lines and stops nothing."""

    def __init__(self, root: Path, clock: Callable[[], datetime]) -> None:
        self.path = make_folder(root / FOLDER) / FILE
        self._clock = clock
        self._handler = _Handler(
            self.path, maxBytes=MOST_BYTES, backupCount=OLDER_FILES, encoding="utf-8", delay=True
        )
        # The answer to a call does not depend on the log.
        self._handler.handleError = lambda record: None

    def __call__(self, call: Call) -> None:
        """Appends the call."""
        line = json.dumps(
            {"at": self._clock().isoformat(timespec="milliseconds"), **asdict(call)},
            ensure_ascii=False,
        )
        self._handler.handle(LogRecord("audit", 0, "", 0, line, None, None))


class _Handler(RotatingFileHandler):
    """Opens the file for its owner alone."""

    def _open(self) -> TextIOWrapper:
        return os.fdopen(
            os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600),
            "a",
            encoding="utf-8",
        )
