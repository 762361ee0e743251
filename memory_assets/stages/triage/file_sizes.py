"""Finds files of entries that are too long for a session that reads them at its start."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_assets.stages.triage.memory_md import MOST_BYTES, MOST_ENTRIES, read_entries
from memory_assets.stages.triage.projects import memory_files
from memory_assets.text.files import bytes_of


@dataclass(frozen=True)
class FileSize:
    """How much a file of entries holds."""

    path: str
    """Relative to the workspace."""
    entry_count: int
    byte_count: int

    @property
    def is_too_long(self) -> bool:
        """Whether it holds more than a session should read."""
        return self.entry_count > MOST_ENTRIES or self.byte_count > MOST_BYTES

    @property
    def text(self) -> str:
        """What it holds and what is enough, in words."""
        return (
            f"{self.path} holds {self.entry_count:,} entries and {self.byte_count:,} bytes; "
            f"{MOST_ENTRIES} and {MOST_BYTES:,} are enough for a session"
        )


def read_sizes(workspace: Path) -> Iterator[FileSize]:
    """Yields the size of each file of entries."""
    for path in memory_files(workspace):
        content = bytes_of(workspace / path) or b""
        entries = read_entries(content.decode("utf-8", "replace"))
        yield FileSize(path, len(entries), len(content))


def too_long_files(workspace: Path) -> tuple[str, ...]:
    """Returns which files are too long, in words."""
    return tuple(size.text for size in read_sizes(workspace) if size.is_too_long)
