"""Finds transcript files in the harnesses' usual folders and in configured folders, and reads their raw bytes.

Finding reads names, sizes and times only; a `.jsonl` with an unknown name is recognised by its first line. `intake` finds what
is new in a file. Offsets are those of the decompressed bytes. Only one chunk of whole lines is in memory at a time; a longer
line makes a longer chunk.
"""

import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO, cast

import zstandard

from memory_assets.errors import TranscriptError
from memory_assets.schema.records import Harness
from memory_assets.store.places import harness_homes

DEEPEST = 12
"""Levels of folders that are searched below a configured one; from a home folder to sub-agents of Claude Code there are 7."""
SNIFFED_BYTES = 65_536
CHUNK_BYTES = 8_000_000

_NOT_TRANSCRIPTS = frozenset({"journal.jsonl", "history.jsonl", "session_index.jsonl"})
_SKIPPED_FOLDERS = frozenset({"node_modules", ".git", ".venv", "tool-results", "__pycache__"})

_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_NAMES: tuple[tuple[re.Pattern[str], Harness], ...] = (
    (re.compile(r"rollout-.+\.jsonl(?:\.zst)?"), "codex"),
    (re.compile(r"\d{4}-\d{2}-\d{2}T[^_]*_.+\.jsonl"), "pi"),
    (re.compile(rf"(?:{_UUID}|agent-[^.]+)\.jsonl"), "claude_code"),
)
_FIRST_LINES: tuple[tuple[re.Pattern[bytes], Harness], ...] = (
    (re.compile(rb'"type"\s*:\s*"session_meta".*"payload"\s*:|"payload"\s*:.*"type"\s*:\s*"session_meta"'), "codex"),
    (re.compile(rb'\A\s*\{\s*"type"\s*:\s*"session"\s*,'), "pi"),
    (re.compile(rb'"(?:sessionId|leafUuid|parentUuid)"\s*:'), "claude_code"),
)


@dataclass(frozen=True)
class TranscriptFile:
    """A transcript on disk, as its folder lists it."""

    path: Path
    harness: Harness
    size: int
    mtime_ns: int
    inode: int
    compressed: bool

    def open(self) -> BinaryIO:
        """Opens the file for reading its decompressed bytes."""
        stream = self.path.open("rb")
        if not self.compressed:
            return stream
        reader = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True, closefd=True)
        return io.BufferedReader(cast(io.RawIOBase, reader))

    def first_lines(self, count: int) -> list[bytes]:
        """Returns the file's first lines."""
        with self.open() as stream:
            return list(islice(stream, count))

    def is_beginning_of(self, long: "TranscriptFile") -> bool:
        """Returns whether the other file begins with all bytes of this one."""
        with self.open() as one, long.open() as other:
            while chunk := one.read(CHUNK_BYTES):
                if other.read(len(chunk)) != chunk:
                    return False
        return True


def find_transcripts(folders: Sequence[Path], *, since: datetime | None = None) -> list[TranscriptFile]:
    """Returns the transcripts in and below the folders that changed since then, sorted by path.

    Raises `TranscriptError` for a configured folder that cannot be read; folders below it that cannot be read are skipped.
    """
    paths = (path for folder in folders for path in _walk(folder.expanduser().absolute()))
    found = {path: file for path in paths if (file := _look_at(path)) is not None}
    oldest = since.timestamp() * 1e9 if since else 0
    kept = (file for file in found.values() if not (file.compressed and file.path.with_suffix("") in found))
    return sorted((file for file in kept if file.mtime_ns >= oldest), key=lambda file: str(file.path))


def usual_places(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Returns the existing folders in which the three harnesses store transcripts."""
    homes = harness_homes(home, environ)
    codex, of_pi = homes["codex"], environ.get("PI_CODING_AGENT_SESSION_DIR")
    pi_sessions = Path(of_pi).expanduser() if of_pi else homes["pi"] / "sessions"
    places = [homes["claude_code"] / "projects", codex / "sessions", codex / "archived_sessions", pi_sessions]
    return [place for place in places if place.is_dir()]


def harness_of(path: Path) -> Harness | None:
    """Returns the harness of a transcript, by its name, else by its first line; None where it is not a transcript."""
    if path.name in _NOT_TRANSCRIPTS or not path.name.endswith((".jsonl", ".jsonl.zst")):
        return None
    for pattern, harness in _NAMES:
        if pattern.fullmatch(path.name):
            return harness
    return _sniff(path) if path.suffix == ".jsonl" else None


def _walk(folder: Path) -> Iterator[Path]:
    """Yields the transcripts' files in and below the folder; linked folders are skipped, because they may be cycles."""

    def fail(error: OSError) -> None:
        if error.filename == str(folder):
            why = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
            advice = "Correct or remove it in MEMORY_SOURCES, or grant reading."
            raise TranscriptError(f"The transcript folder {folder} {why}. {advice}") from error

    if folder.is_file():
        yield folder
        return
    for parent, folders, names in os.walk(folder, onerror=fail):
        is_deepest = len(Path(parent).parts) - len(folder.parts) == DEEPEST
        folders[:] = [] if is_deepest else [name for name in folders if name not in _SKIPPED_FOLDERS]
        yield from (Path(parent, name) for name in names if name.endswith((".jsonl", ".jsonl.zst")))


def _look_at(path: Path) -> TranscriptFile | None:
    try:
        harness = harness_of(path)
        stat = path.stat()
    except OSError:
        return None  # Deleted since the folder was listed, or a link to nothing.
    if harness is None or not S_ISREG(stat.st_mode):
        return None
    return TranscriptFile(path, harness, stat.st_size, stat.st_mtime_ns, stat.st_ino, path.name.endswith(".zst"))


def _sniff(path: Path) -> Harness | None:
    try:
        with path.open("rb") as file:
            line = file.readline(SNIFFED_BYTES)
    except OSError:
        return None
    return next((harness for pattern, harness in _FIRST_LINES if pattern.search(line)), None)


def skip_to(stream: BinaryIO, position: int) -> None:
    """Moves a stream forward to the byte; compressed streams are read up to it."""
    if stream.seekable():
        stream.seek(position)
        return
    rest = position - stream.tell()
    while rest > 0 and (chunk := stream.read(min(rest, CHUNK_BYTES))):
        rest -= len(chunk)


def line_chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Yields the rest of a stream in chunks of whole lines, then the bytes after the last newline, if any."""
    pieces: list[bytes] = []
    while chunk := stream.read(CHUNK_BYTES):
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join([*pieces, chunk[:end]])
            pieces.clear()
        pieces.append(chunk[end:])
    if rest := b"".join(pieces):
        yield rest
