"""Builds the table `records` from the archive: one light row for each line, without its text.

Only new lines are read. What a reader must remember between lines is kept with the part it belongs to, in the part's
`inputs`, so that reading goes on where it stopped; where that is not possible the source is read again from its start.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import orjson
import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.progress import track
from memory_assets.schema.protocols import Tables
from memory_assets.schema.tables import version_of
from memory_assets.stages.capture.formats.normal_form import Identifier, Parsed
from memory_assets.stages.capture.formats.readers import HEADER_LINES, open_reader, seed_of
from memory_assets.store.archive import Archive, Line, Range

INDEX_VERSION = version_of("records")
BATCH_ROWS = 5_000
"""Rows held in memory while a long transcript is indexed."""


def index_sources(archive: Archive, tables: Tables) -> list[str]:
    """Brings `records` up to date with the archive and returns the sources whose rows changed."""
    written = tables.parts("records")
    changed = []
    sources = archive.sources()
    for source, ranges in track(sources.items(), "Parsing transcripts", total=len(sources)):
        state = _State.from_inputs(written[source].inputs) if source in written else None
        if state is not None and state.ranges == len(ranges):
            continue
        _index(archive, tables, source, ranges, state)
        changed.append(source)
    for source in sorted(set(written) - set(sources)):
        tables.drop("records", source)
    return changed


def read_ids(archive: Archive, source: str) -> pl.DataFrame:
    """Returns generation, line and id of each message of the source, as its archived bytes give them now."""
    rows = _Reading(archive, archive.ranges(source), _State()).rows()
    told = [(row["generation"], row["line"], row["message_id"]) for row in rows if row["message_id"]]
    return pl.DataFrame(told, schema={"generation": pl.Int64, "line": pl.Int64, "message_id": pl.String}, orient="row")


@dataclass
class _State:
    """What reading goes on from: how many ranges were read, and what reader and identifier remember."""

    ranges: int = 0
    generation: int = -1
    seed: str = ""
    reader: dict[str, Any] = field(default_factory=dict)
    chain: str = ""

    @classmethod
    def from_inputs(cls, inputs: str) -> "_State | None":
        try:
            known = orjson.loads(inputs)
        except orjson.JSONDecodeError:
            return None
        return cls(**known["state"]) if known.get("version") == INDEX_VERSION else None

    def to_inputs(self) -> str:
        return orjson.dumps({"version": INDEX_VERSION, "state": self.__dict__}).decode()


class _CannotContinueError(Exception):
    """What was read before is needed: a compaction kept an entry from there, or it was read too early to know its root."""


def _index(archive: Archive, tables: Tables, source: str, ranges: list[Range], state: _State | None) -> None:
    if state is not None:
        try:
            _write(archive, tables, source, ranges, state, tables.read("records", [source]))
            return
        except _CannotContinueError:
            pass
    _write(archive, tables, source, ranges, _State(), None)


def _write(
    archive: Archive, tables: Tables, source: str, ranges: list[Range], state: _State, before: pl.DataFrame | None
) -> None:
    reading = _Reading(archive, ranges, state)

    def frames() -> Iterator[pl.DataFrame]:
        if before is not None:
            yield before
        rows = reading.rows()
        while batch := list(islice(rows, BATCH_ROWS)):
            yield schemas.frame_of("records", batch)

    tables.write("records", source, frames(), inputs=lambda: reading.state.to_inputs())


class _Reading:
    """Reads the ranges that are new, in order, and knows afterwards what to go on from."""

    def __init__(self, archive: Archive, ranges: list[Range], state: _State) -> None:
        self._archive = archive
        self._ranges = ranges
        self.state = state

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yields a row for each line of the ranges not read before."""
        new = self._ranges[self.state.ranges :]
        for generation in sorted({entry.generation for entry in new}):
            yield from self._rows_of(generation, [entry for entry in new if entry.generation == generation])
        self.state.ranges = len(self._ranges)

    def _rows_of(self, generation: int, new: list[Range]) -> Iterator[dict[str, Any]]:
        first = new[0]
        seed = self._seed(first)
        continues = generation == self.state.generation
        if continues and seed != self.state.seed:
            raise _CannotContinueError
        reader = open_reader(first.harness, first.path, self.state.reader if continues else None)
        identifier = Identifier(seed, self.state.chain if continues else None)
        line_of: dict[str, int] = {}
        for line in self._archive.lines(first.source_id, generation, first.line_from):
            parsed = reader.read(line.content)
            message_id = identifier.identify(parsed) if parsed.status == "message" else None
            if parsed.native_id is not None:
                line_of.setdefault(parsed.native_id, line.number)
            kept_from_line = line_of.get(parsed.kept_from) if parsed.kept_from else None
            if parsed.kept_from and kept_from_line is None and continues:
                raise _CannotContinueError
            yield _row(first, line, parsed, message_id, kept_from_line)
        self.state.generation, self.state.seed = generation, seed
        self.state.reader, self.state.chain = reader.state(), identifier.state

    def _seed(self, entry: Range) -> str:
        lines = islice(self._archive.lines(entry.source_id, entry.generation), HEADER_LINES)
        return seed_of(entry.harness, entry.path, [line.content for line in lines])


def _row(first: Range, line: Line, parsed: Parsed, message_id: str | None, kept_from_line: int | None) -> dict[str, Any]:
    return {
        "source_id": first.source_id,
        "generation": first.generation,
        "line": line.number,
        "byte_from": line.byte_from,
        "byte_to": line.byte_to,
        "resource_id": line.resource_id,
        "session_id": first.conversation_id,
        "record_type": parsed.record_type,
        "status": parsed.status,
        "message_id": message_id,
        "author": parsed.author if message_id else None,
        "kind": parsed.kind if message_id else None,
        "is_user_turn": parsed.is_user_turn,
        "event_at": parsed.event_at,
        "chars": len(parsed.text),
        "boundary": parsed.boundary,
        "kept_from_line": kept_from_line,
        "parent_session_id": parsed.parent_session_id,
        "cwd": parsed.cwd,
        "branch": parsed.branch,
        "repository": parsed.repository,
        "title": parsed.title,
        "version": parsed.version,
        "files_read": list(parsed.files_read),
        "files_modified": list(parsed.files_modified),
    }
