"""Has a file read by a process of its own and takes the answer; that process can hang, crash or run
out of memory alone.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from memory_assets.adapters.optional_packages import install_command
from memory_assets.errors import DocumentError
from memory_assets.extras.library.contents import LARGEST_FILE, MEGABYTE, Contents, DocumentSection
from memory_assets.extras.library.worker import LARGE, MISSING

MOST_SECONDS = 180.0


def read_document(path: Path, seconds: float = MOST_SECONDS) -> Contents:
    """Returns what the file contains; raises `DocumentError` where it cannot be read."""
    answer = _ask(path, seconds)
    return Contents(
        answer["kind"],
        answer["title"],
        tuple(DocumentSection(**section) for section in answer["sections"]),
    )


def read_fetched(content: bytes, name: str, *how: str) -> dict[str, Any]:
    """Returns what a page (`page`, its address) or a feed (`feed`) contains; raises `DocumentError`
    where it cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="memory-fetched-") as folder:
        path = Path(folder, "content")
        path.write_bytes(content)
        return _ask(path, MOST_SECONDS, *how, name=name)


def _ask(path: Path, seconds: float, *how: str, name: str = "") -> dict[str, Any]:
    command = [sys.executable, "-P", "-m", f"{__package__}.worker", str(path), *how]
    shown = name or path
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise DocumentError(
            f"Cannot add {shown}: reading it takes more than {seconds:.0f} seconds. Split it."
        ) from None
    except ValueError:
        raise DocumentError(
            f"Cannot add {shown}: the process that read it crashed. The file may be damaged."
        ) from None
    if "failed" in answer:
        raise DocumentError(_in_words(shown, answer["failed"], answer["why"]))
    return answer


def check_file(path: Path) -> int:
    """Returns the size of the file; raises `DocumentError` for one that is too large, and for what
    is no file.
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
        raise DocumentError(
            f"Cannot add {path}: {getattr(error, 'strerror', None) or error}."
        ) from error
    if size > LARGEST_FILE:
        limit = LARGEST_FILE // MEGABYTE
        raise DocumentError(
            f"Cannot add {path}: it has {size / MEGABYTE:,.0f} MB, the limit is {limit} MB. "
            "Split it."
        )
    return size


def _in_words(path: Path | str, failed: str, why: str) -> str:
    if failed == MISSING:
        return (
            f"Cannot add {path}: the package '{why}' is not installed. Run "
            f"`{install_command('library')}`."
        )
    if failed == LARGE:
        return f"Cannot add {path}: reading it takes too much memory. Split it."
    return f"Cannot add {path}. {why}"
