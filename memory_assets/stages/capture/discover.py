"""Finds transcript files in the harnesses' usual folders and in configured folders.

Reads names, sizes and times only; a `.jsonl` with an unknown name is recognised by its first line. `intake` finds what is new
in a file.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_assets.errors import TranscriptError
from memory_assets.schema.records import Harness
from memory_assets.store.places import harness_homes

DEEPEST = 12
"""Levels of folders that are searched below a configured one; from a home folder to sub-agents of Claude Code there are 7."""
SNIFFED_BYTES = 65_536

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


def find_transcripts(folders: Sequence[Path], *, since: datetime | None = None) -> list[TranscriptFile]:
    """Returns the transcripts in and below the folders that changed since then, sorted by path.

    Raises `TranscriptError` for a configured folder that cannot be read; folders below it that cannot be read are skipped.
    """
    found: dict[Path, TranscriptFile] = {}
    for folder in folders:
        for file in map(_look_at, _walk(folder.expanduser().absolute())):
            if file is not None:
                found[file.path] = file
    oldest = since.timestamp() * 1e9 if since else 0
    kept = [
        file
        for file in found.values()
        if file.mtime_ns >= oldest and not (file.compressed and file.path.with_suffix("") in found)
    ]
    return sorted(kept, key=lambda file: str(file.path))


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


def _walk(folder: Path, depth: int = 0) -> Iterator[os.DirEntry[str] | Path]:
    """Yields the files in and below the folder; linked folders are skipped, because they may be cycles."""
    if depth == 0 and folder.is_file():
        yield folder
        return
    try:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        if depth == 0:
            why = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
            advice = "Correct or remove it in MEMORY_SOURCES, or grant reading."
            raise TranscriptError(f"The transcript folder {folder} {why}. {advice}") from error
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _SKIPPED_FOLDERS and depth < DEEPEST:
                yield from _walk(Path(entry.path), depth + 1)
        elif entry.name.endswith((".jsonl", ".jsonl.zst")):
            yield entry


def _look_at(entry: os.DirEntry[str] | Path) -> TranscriptFile | None:
    path = entry if isinstance(entry, Path) else Path(entry.path)
    try:
        harness = harness_of(path)
        stat = entry.stat()
    except OSError:
        return None  # Deleted since the folder was listed, or a link to nothing.
    if harness is None or not path.is_file():
        return None
    return TranscriptFile(path, harness, stat.st_size, stat.st_mtime_ns, stat.st_ino, path.name.endswith(".zst"))


def _sniff(path: Path) -> Harness | None:
    try:
        with path.open("rb") as file:
            line = file.readline(SNIFFED_BYTES)
    except OSError:
        return None
    return next((harness for pattern, harness in _FIRST_LINES if pattern.search(line)), None)
