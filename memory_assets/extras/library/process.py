"""Reads a file in a process of its own (`worker`), which alone hangs, crashes or runs out of memory
if the file is hostile.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from memory_assets.adapters.optional_packages import install_command
from memory_assets.errors import DocumentError
from memory_assets.extras.library import contents
from memory_assets.extras.library.worker import LARGE, MISSING

MOST_SECONDS = 180.0
"""Time to read a file before the process is ended."""


def read_document(path: Path, seconds: float = MOST_SECONDS) -> contents.Contents:
    """Returns the contents of the file; raises `DocumentError` where it cannot be read."""
    answer = _run_worker(path, seconds)
    sections = tuple(contents.DocumentSection(**section) for section in answer["sections"])
    return contents.Contents(answer["kind"], answer["title"], sections)


def read_fetched(content: bytes, name: str, *how: str) -> dict[str, Any]:
    """Returns what a fetched page or feed contains; raises `DocumentError` where it cannot be read.

    `how` is `page` and its address, or `feed`; `name` is for the messages.
    """
    with tempfile.TemporaryDirectory(prefix="memory-fetched-") as folder:
        path = Path(folder, "content")
        path.write_bytes(content)
        return _run_worker(path, MOST_SECONDS, *how, name=name)


def _run_worker(path: Path, seconds: float, *how: str, name: str = "") -> dict[str, Any]:
    """Returns what the worker printed; raises `DocumentError` where it failed."""
    command = [sys.executable, "-P", "-m", f"{__package__}.worker", str(path), *how]
    source = name or path
    try:
        process = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False
        )
        answer: dict[str, Any] = json.loads(process.stdout)
    except subprocess.TimeoutExpired:
        raise DocumentError(
            f"Cannot add {source}: reading it takes more than {seconds:.0f} seconds. Split it."
        ) from None
    except ValueError:
        raise DocumentError(
            f"Cannot add {source}: the process that read it crashed. The file may be damaged."
        ) from None
    if "failed" in answer:
        raise DocumentError(_message_of(source, answer["failed"], answer["why"]))
    return answer


def check_file(path: Path) -> int:
    """Returns the size of the file in bytes.

    Raises `DocumentError` for a file that is too large, and for a path that is no file.
    """
    try:
        if path.is_dir():
            raise DocumentError(
                f"Cannot add {path}: it is a folder. Name its files, for example {path.name}/*.pdf."
            )
        if not path.is_file():
            raise DocumentError(f"Cannot add {path}: there is no such file.")
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DocumentError(f"Cannot add {path}: {reason}.") from error
    if size > contents.LARGEST_FILE:
        limit = contents.LARGEST_FILE // contents.MEGABYTE
        megabytes = size / contents.MEGABYTE
        raise DocumentError(
            f"Cannot add {path}: it has {megabytes:,.0f} MB, the limit is {limit} MB. Split it."
        )
    return size


def _message_of(path: Path | str, failed: str, why: str) -> str:
    if failed == MISSING:
        return (
            f"Cannot add {path}: the package '{why}' is not installed. Run "
            f"`{install_command('library')}`."
        )
    if failed == LARGE:
        return f"Cannot add {path}: reading it takes too much memory. Split it."
    return f"Cannot add {path}. {why}"
