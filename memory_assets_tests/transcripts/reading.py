"""Reads the hand-written sessions beside this file."""

from pathlib import Path

from memory_assets.harnesses.normal_form import Identifier, Parsed
from memory_assets.harnesses.readers import HEADER_LINES, open_reader, seed_of
from memory_assets.stages.capture.discover import harness_of

HERE = Path(__file__).parent


def transcript(name: str) -> Path:
    """Returns the one hand-written session whose path holds the name."""
    (path,) = [
        path
        for path in HERE.rglob("*.jsonl")
        if name in str(path.relative_to(HERE)) and path.name != "journal.jsonl"
    ]
    return path


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1]


def read_all(path: Path) -> list[Parsed]:
    """Returns each line of the transcript in normal form."""
    reader = open_reader(harness_of(path) or "codex", str(path))
    return [reader.read(line) for line in lines_of(path)]


def messages_of(path: Path) -> list[Parsed]:
    return [parsed for parsed in read_all(path) if parsed.status == "message"]


def ids_of(path: Path) -> list[str]:
    """Returns the ids of the messages, in order."""
    harness, lines = harness_of(path) or "codex", lines_of(path)
    identifier = Identifier(seed_of(harness, str(path), lines[:HEADER_LINES]))
    return [identifier.identify(parsed) for parsed in messages_of(path)]


def said(path: Path) -> list[tuple[str | None, str]]:
    """Returns who said what, in order."""
    return [(parsed.author, parsed.text) for parsed in messages_of(path)]
