"""What Claude Code and Codex remember by themselves, read from their Markdown files: one fact for each paragraph or list item.

Takes the text of a file, gives observations that no session made: their path and lines are those of the file, their words
count as a file's and make nobody's rule. They are a mirror: what is no longer in the file is no longer there. What a harness
remembers is in part what it heard in the sessions that are observed anyway, so it is merged with nothing, neither confirms nor
contradicts, and never becomes a proposal.
"""

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.records import Harness
from memory_assets.schema.tables import version_of
from memory_assets.stages.capture.masking.redact import mask_text
from memory_assets.stages.distill.items import entities_of
from memory_assets.stages.distill.rows import NAMESPACE, SCHEMA_VERSION, scope_of, text_hash
from memory_assets.stages.distill.taxonomy import TAXONOMY_VERSION, categorise
from memory_assets.text.tokens import count_tokens

READER_VERSION = version_of("harness_memories")

SHORTEST, LONGEST = 12, 2_000
"""Characters of an item: what the write gate calls too short, and what is a document and no fact."""

FEW_WORDS = 6
"""An item of fewer words is told with the heading that it stands under."""

CONFIDENCE = 0.5
"""A model inferred it, and nobody has looked at it."""

EARLIEST = datetime(2024, 1, 2, tzinfo=UTC)
"""Days begin in 2024; a file that claims to be older was copied by something that knew no better."""

_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class MemoryFile:
    """A file in which a harness keeps what it remembers."""

    harness: Harness
    path: Path
    beside: str
    """The folder of transcripts that it lies beside; empty where it is about no project."""
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class Item:
    """A paragraph or a list item, on one line, and the lines of the file that it stands on (from 0)."""

    text: str
    lines: tuple[int, ...]


def read_items(text: str) -> list[Item]:
    """Returns the facts of a Markdown file; front matter, headings, code, tables and comments are none."""
    blanked = _COMMENT.sub(lambda found: "\n" * found.group().count("\n"), text)
    items = (Item(_plain(words), lines) for words, lines in _blocks(blanked.splitlines()))
    return [item for item in items if len(item.text) <= LONGEST]


def rows_of(file: MemoryFile, text: str, *, project: str, person: str, now: datetime, zone: tzinfo) -> list[dict[str, Any]]:
    """Returns the observations that the file makes, secrets masked; they are as old as the last change of the file."""
    at = min(max(datetime.fromtimestamp(file.mtime_ns / 1e9, UTC), EARLIEST), now)
    found = {text_hash(masked): (masked, item) for item in read_items(text) for masked in [mask_text(item.text)[0]]}
    about = {"project": project, "person": person, "event_at": at, "day": at.astimezone(zone).date()}
    return [_row(file, digest, masked, item) | about for digest, (masked, item) in found.items()]


def with_harness_memories(observations: pl.DataFrame, remembered: pl.DataFrame) -> pl.DataFrame:
    """Returns the observations and what harnesses remember, forgotten or corrected as any other."""
    return pl.concat([observations, remembered]) if remembered.height else observations


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yields paragraphs and list items with their lines; one of a few words begins with its heading."""
    heading, words, taken = "", "", []
    is_code = False
    first = _front_matter(lines)
    for number, line in enumerate([*lines[first:], ""], first):
        bare = line.strip()
        if is_code and not bare.startswith("```"):
            continue
        item, title, fence = _ITEM.match(bare), _HEADING.fullmatch(bare), bare.startswith("```")
        if not bare or item or title or fence or bare.startswith(("|", "---")):
            if len(words) >= SHORTEST:
                yield (f"{heading}: {words}" if heading and len(words.split()) < FEW_WORDS else words), tuple(taken)
            words, taken = "", []
        if fence:
            is_code = not is_code
        elif title:
            heading = title.group(2) if len(title.group(1)) > 1 else ""
        elif bare and not bare.startswith(("|", "---")):
            words, taken = f"{words} {item.group(1) if item else bare}".strip(), [*taken, number]


def _front_matter(lines: Sequence[str]) -> int:
    """Returns how many lines the front matter takes."""
    if not lines or lines[0].strip() != "---":
        return 0
    return next((number + 1 for number, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)


def _plain(words: str) -> str:
    return " ".join(_LINK.sub(r"\1", words).replace("**", "").replace("\x00", "").split())


def _row(file: MemoryFile, digest: str, text: str, item: Item) -> dict[str, Any]:
    category, confidence = categorise(text, "fact", "file")
    return {
        "id": str(uuid.uuid5(NAMESPACE, f"{file.harness}/{file.path}/{digest}")),
        "session_id": f"memory of {file.harness}",
        "window_id": file.harness,
        "segment_id": file.harness,
        "path": str(file.path),
        "trigger": "ended",
        "kind": "fact",
        "text": text,
        "text_hash": digest,
        "priority": "medium",
        "gate": "allow",
        "gate_reason": "remembered by the harness",
        "gate_confidence": 1.0,
        "category": category,
        "category_confidence": confidence,
        "taxonomy_version": TAXONOMY_VERSION,
        "confidence": CONFIDENCE,
        "strength": "inferred",
        "sentiment": "neutral",
        "author": "file",
        "scope": scope_of(category) if file.beside else "everyone",
        "folder": "",
        "entities": list(entities_of(text)),
        "clock_times": [],
        "lines": list(item.lines),
        "message_ids": [],
        "quote": "",
        "tokens": count_tokens(text),
        "observer": file.harness,
        "prompt_hash": None,
        "schema_version": SCHEMA_VERSION,
    }


def frame_of(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Returns the rows as the table `harness_memories`."""
    return schemas.frame_of("harness_memories", rows).unique("id", keep="first", maintain_order=True).sort("path", "id")
