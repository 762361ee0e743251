"""Reads the memories that Claude Code and Codex keep in Markdown files: one fact per paragraph or
list item.

Takes the text of a file, and returns observations without a session. Their path and lines are those
of the file, and their author is "file", so that they never become rules of a person. They mirror
the file: a fact that is removed there disappears here. A harness partly remembers what it saw in
sessions that are observed, too. Its memories are therefore not merged, neither confirm nor
contradict, and never become a proposal.
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
from memory_assets.schema.extras import extras
from memory_assets.schema.records.distill import NAMESPACE
from memory_assets.schema.tables import version_of
from memory_assets.schema.vocabulary import Harness
from memory_assets.stages.distill.rows import scope_of
from memory_assets.stages.distill.taxonomy import TAXONOMY_VERSION, categorise
from memory_assets.stages.embed.notes import row_without_session
from memory_assets.store.settings import Settings
from memory_assets.text.masking.redact import mask_text
from memory_assets.text.published_block import strip_published
from memory_assets.text.words import squeezed, text_hash

READER_VERSION = version_of("harness_memories")

SHORTEST, LONGEST = 12, 2_000
"""Least and most characters of an item. The write gate discards shorter texts, and longer ones are
documents."""

FEW_WORDS = 6
"""An item with fewer words gets its heading as a prefix."""

CONFIDENCE = 0.5
"""Confidence of an item, which a model inferred and nobody reviewed."""

OF_DOCUMENTS = tuple(kind for extra in extras() for kind in extra.documented)
"""Kinds of documents (`row_of_document`), which are the `session_id` of their observations. They
are recalled, but are in no briefing.
"""

IS_SAID = ~pl.col("session_ids").list.eval(pl.element().is_in(OF_DOCUMENTS)).list.any()
"""Whether a memory comes from no document."""

DOCUMENTED = 0.8
"""Confidence of an observation from a document, which somebody wrote down as decided."""

EARLIEST = datetime(2024, 1, 2, tzinfo=UTC)
"""Earliest time of an observation, because days begin in 2024; older file times come from copies.
"""

_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class MemoryFile:
    """A memory file of a harness."""

    harness: Harness
    path: Path
    sessions: str
    """The folder with the sessions of its project; empty if it belongs to no project."""
    size: int
    mtime_ns: int


def parse_items(text: str) -> list[tuple[str, list[int]]]:
    """Returns the facts of a Markdown file, each as one line with its line numbers (from 0).

    A fact is a paragraph or a list item. Front matter, headings, code, tables, comments and
    published lines are left out.
    """
    unpublished = strip_published(text, keeps_numbers=True)
    blanked = _COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), unpublished)
    plain = (
        (_LINK.sub(r"\1", words).replace("**", "").replace("\x00", ""), at)
        for words, at in _blocks(blanked.splitlines())
    )
    items = ((squeezed(words), lines) for words, lines in plain)
    return [(item, lines) for item, lines in items if len(item) <= LONGEST]


def rows_of(
    file: MemoryFile, text: str, *, project: str, person: str, now: datetime, zone: tzinfo
) -> list[dict[str, Any]]:
    """Returns the file's observations, secrets masked, dated by the last change of the file."""
    items = [(mask_text(item)[0], lines) for item, lines in parse_items(text)]
    distinct = {text_hash(item): (item, lines) for item, lines in items}
    changed_at = datetime.fromtimestamp(file.mtime_ns / 1e9, UTC)
    about = _about(project, person, changed_at, now, zone)
    return [_row(file, digest, *item) | about for digest, item in distinct.items()]


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, list[int]]]:
    """Yields paragraphs and list items with their lines; a short one begins with its heading."""
    heading = ""
    block: list[tuple[int, str]] = []
    is_code = False
    for number, line in _outside_front_matter(lines):
        bare = line.strip()
        is_fence = bare.startswith("```")
        if is_code and not is_fence:
            continue
        is_code ^= is_fence
        item = _ITEM.match(bare)
        title = _HEADING.fullmatch(bare)
        is_text = bool(bare) and not title and not bare.startswith(("```", "|", "---"))
        if item or not is_text:
            yield from _block(heading, block)
            block = []
        if title:
            heading = title.group(2) if len(title.group(1)) > 1 else ""
        if is_text:
            block.append((number, item.group(1) if item else bare))


def _block(heading: str, lines: Sequence[tuple[int, str]]) -> Iterator[tuple[str, list[int]]]:
    """Yields the words of the lines with the lines' numbers, if they are enough for a memory."""
    words = " ".join(line for _, line in lines if line)
    if len(words) >= SHORTEST:
        needs_heading = heading and len(words.split()) < FEW_WORDS
        text = f"{heading}: {words}" if needs_heading else words
        yield text, [number for number, _ in lines]


def _outside_front_matter(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yields the lines with their numbers, and an empty one at the end."""
    first = 0
    if lines and lines[0].strip() == "---":
        ends = (number for number, line in enumerate(lines[1:], 1) if line.strip() == "---")
        first = next(ends, -1) + 1
    yield from enumerate([*lines[first:], ""], first)


def row_of_document(
    source: str, path: str, text: str, line: int, *, project: str, at: datetime, settings: Settings
) -> dict[str, Any]:
    """Returns the observation of a statement in a document of the owner's projects."""
    return {
        **_observed(source, path, text_hash(text), text, [line]),
        **_about(project, settings.owner, at.astimezone(UTC), settings.clock(), settings.zone),
        "session_id": source,
        "gate_reason": "decided in a document",
        "strength": "explicit",
        "scope": "project",
        "confidence": DOCUMENTED,
    }


def _about(project: str, person: str, at: datetime, now: datetime, zone: tzinfo) -> dict[str, Any]:
    event_at = min(max(at, EARLIEST), now)
    day = event_at.astimezone(zone).date()
    return {"project": project, "person": person, "event_at": event_at, "day": day}


def _row(file: MemoryFile, digest: str, text: str, lines: list[int]) -> dict[str, Any]:
    row = _observed(file.harness, str(file.path), digest, text, lines)
    return row | {"scope": scope_of(row["category"]) if file.sessions else "everyone"}


def _observed(source: str, path: str, digest: str, text: str, lines: list[int]) -> dict[str, Any]:
    category, confidence = categorise(text, "fact", "file")
    return {
        **row_without_session(source, text),
        "id": str(uuid.uuid5(NAMESPACE, f"{source}/{path}/{digest}")),
        "session_id": f"memory of {source}",
        "path": path,
        "priority": "medium",
        "gate_reason": "remembered by the harness",
        "category": category,
        "category_confidence": confidence,
        "taxonomy_version": TAXONOMY_VERSION,
        "confidence": CONFIDENCE,
        "strength": "inferred",
        "sentiment": "neutral",
        "author": "file",
        "lines": lines,
        "observer": source,
    }


def frame_of(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Returns the rows as the table `harness_memories`."""
    frame = schemas.frame_of("harness_memories", rows)
    return frame.unique("id", keep="first", maintain_order=True).sort("path", "id")
