"""Builds the table `records` from the archive: one small row for each line, without its text.

Only new lines are read: the state of a source's reader is stored in the `inputs` of the source's
partition, and reading continues from it. If that is not possible, the source is read again from its
start. Messages of turns that the person took back lose their ids, so that no other table has them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from operator import itemgetter
from typing import Any

import orjson
import polars as pl

from memory_assets.harnesses.normal_form import Identifier, Parsed
from memory_assets.harnesses.readers import HEADER_LINES, open_reader, seed_of
from memory_assets.schema import frames as schemas
from memory_assets.schema.progress import track
from memory_assets.schema.tables import version_of
from memory_assets.stages.capture import pushed_ids
from memory_assets.stages.capture.rewinds import Rewinds, TwoBranchesError
from memory_assets.store.archive import Archive, Line, Range
from memory_assets.store.parquet_tables import ParquetTables

INDEX_VERSION = version_of("records")
BATCH_ROWS = 5_000
"""Rows held in memory while a long transcript is indexed."""


def index_sources(
    archive: Archive, tables: ParquetTables, *, keeps_rewound: bool = False
) -> list[str]:
    """Updates `records` from the archive and returns the sources whose rows changed.

    With `keeps_rewound`, turns that the person took back are part of the conversation.
    """
    written = tables.parts("records")
    changed = []
    sources = archive.sources()
    for source, ranges in track(sources.items(), "Parsing transcripts", total=len(sources)):
        state = _State.from_inputs(written[source].inputs if source in written else "")
        if state.wants_rewound != keeps_rewound:
            state = _State(wants_rewound=keeps_rewound, keeps_rewound=keeps_rewound)
        if state.ranges != len(ranges):
            _update(archive, tables, source, ranges, state)
            changed.append(source)
    for source in sorted(set(written) - set(sources)):
        tables.drop("records", source)
    return changed


def _update(
    archive: Archive, tables: ParquetTables, source: str, ranges: list[Range], state: "_State"
) -> None:
    """Adds the rows of new ranges, or replaces all rows where reading cannot continue."""
    try:
        _write(archive, tables, source, ranges, state)
    except _CannotContinueError:
        _update(archive, tables, source, ranges, state.beginning())
    except TwoBranchesError:
        beginning = replace(state.beginning(), keeps_rewound=True)
        _update(archive, tables, source, ranges, beginning)


def read_ids(archive: Archive, source: str) -> pl.DataFrame:
    """Returns generation, line and id of each message in the archived bytes of the source."""
    rows = _new_rows(archive, archive.ranges(source), _State(keeps_rewound=True))
    schema = {"generation": pl.Int64, "line": pl.Int64, "message_id": pl.String}
    ids = map(itemgetter(*schema), (row for row in rows if row["message_id"]))
    return pl.DataFrame(ids, schema, orient="row")


@dataclass
class _State:
    """Where reading of a source stopped, to continue from there."""

    ranges: int = 0
    """How many ranges of the source have been read."""
    generation: int = -1
    seed: str = ""
    reader: dict[str, Any] = field(default_factory=dict)
    """The state of the harness's reader."""
    chain: str = ""
    """The state of the identifier, which hashes each message with those before it."""
    rewinds: dict[str, Any] = field(default_factory=dict)
    rewound: list[tuple[int, int, int]] = field(default_factory=list)
    """Lines that were taken back and whose rows do not say so yet: generation, first, and last."""
    wants_rewound: bool = False
    """The setting by which the rows were made."""
    keeps_rewound: bool = False
    """Whether turns that were taken back stay, by the setting or because both branches go on."""

    def beginning(self) -> "_State":
        """Returns the state before the first line."""
        return _State(wants_rewound=self.wants_rewound, keeps_rewound=self.keeps_rewound)

    @classmethod
    def from_inputs(cls, inputs: str) -> "_State":
        try:
            fields = orjson.loads(inputs)
        except orjson.JSONDecodeError:
            return cls()
        return cls(**fields["state"]) if fields.get("version") == INDEX_VERSION else cls()

    def to_inputs(self) -> str:
        # A process that is killed before the rows say what was taken back begins again.
        version = None if self.rewound else INDEX_VERSION
        return orjson.dumps({"version": version, "state": self.__dict__}).decode()


class _CannotContinueError(Exception):
    """Earlier lines of the source must be read again.

    A compaction kept one of them in context, or the new lines name another root session.
    """


def _write(
    archive: Archive, tables: ParquetTables, source: str, ranges: list[Range], state: _State
) -> None:
    """Adds the rows of the ranges that the state has not read yet to the rows of the source.

    With an empty state, replaces the rows of the source.
    """
    earlier_rows = [tables.read("records", [source])] if state.ranges else []
    rows = _new_rows(archive, ranges, state)
    batches = iter(lambda: list(islice(rows, BATCH_ROWS)), [])
    frames = chain(earlier_rows, (schemas.frame_of("records", batch) for batch in batches))
    tables.write("records", source, frames, inputs=state.to_inputs)
    if state.rewound:
        conversation = _without_rewound(tables.read("records", [source]), state.rewound)
        state.rewound = []
        tables.write("records", source, [conversation], inputs=state.to_inputs)


def _without_rewound(rows: pl.DataFrame, spans: Sequence[tuple[int, int, int]]) -> pl.DataFrame:
    """Returns the rows; those in the spans are no messages and no boundaries."""
    is_rewound = pl.any_horizontal(
        (pl.col("generation") == generation) & pl.col("line").is_between(first, last)
        for generation, first, last in spans
    )
    is_message = is_rewound & pl.col("message_id").is_not_null()
    emptied = pl.col("message_id", "author", "kind", "boundary")
    return rows.with_columns(
        pl.when(~is_rewound).then(emptied),
        status=pl.when(is_message).then(pl.lit("rewound")).otherwise("status"),
        is_user_turn=pl.col("is_user_turn") & ~is_rewound,
    )


def _new_rows(archive: Archive, ranges: list[Range], state: _State) -> Iterator[dict[str, Any]]:
    """Yields a row for each line of the ranges that the state has not read yet.

    Advances the state to the end of the ranges.
    """
    firsts = {entry.generation: entry for entry in reversed(ranges[state.ranges :])}
    for _, first in sorted(firsts.items()):
        yield from _rows_of(archive, first, state)
    state.ranges = len(ranges)


def _rows_of(archive: Archive, first: Range, state: _State) -> Iterator[dict[str, Any]]:
    """Yields the rows of a generation, from the lines of the range `first` on."""
    header = islice(archive.lines(first.source_id, first.generation), HEADER_LINES)
    seed = seed_of(first.harness, first.path, [line.content for line in header])
    continues = first.generation == state.generation
    if continues and seed != state.seed:
        raise _CannotContinueError
    earlier = state if continues else _State()
    session = pushed_ids.original_session(first.conversation_id)
    reader = open_reader(first.harness, first.path, earlier.reader, session_id=session)
    identifier = Identifier(seed, earlier.chain)
    rewinds = Rewinds(earlier.rewinds, first.generation, is_off=state.keeps_rewound)
    ranges = {entry.id: entry for entry in archive.ranges(first.source_id)}
    line_of: dict[str, int] = {}
    for line in archive.lines(first.source_id, first.generation, first.line_from):
        parsed = reader.read(line.content)
        message_id = _assign_ids(parsed, identifier, first)
        if parsed.native_id is not None:
            line_of.setdefault(parsed.native_id, line.number)
        kept_from_line = line_of.get(parsed.kept_from or "")
        if parsed.kept_from and kept_from_line is None and continues:
            raise _CannotContinueError
        state.rewound += rewinds.read(line.number, parsed, message_id)
        _set_folder(parsed, ranges[line.resource_id])
        yield _row(first, line, parsed, message_id, kept_from_line)
    state.generation = first.generation
    state.seed = seed
    state.reader = reader.state
    state.chain = identifier.state
    state.rewinds = earlier.rewinds


def _set_folder(parsed: Parsed, range_: Range) -> None:
    """Sets the working folder and its repository as capture found them, if no record does."""
    parsed.cwd = parsed.cwd or range_.folder or None
    if parsed.repository is None:
        parsed.repository = (range_.repositories or {}).get(parsed.cwd or "")


def _assign_ids(parsed: Parsed, identifier: Identifier, range_: Range) -> str | None:
    """Returns the id of a message, or None if the record is no message; sets its parent session.

    If another machine pushed the range, both ids are marked with that machine's store.
    """
    sender = range_.pushed.client if range_.pushed else ""
    if parsed.parent_session_id:
        parsed.parent_session_id = pushed_ids.pushed_session(parsed.parent_session_id, sender)
    if parsed.status != "message":
        return None
    return pushed_ids.pushed_message(identifier.identify(parsed), sender)


_COPIED = (
    "record_type", "status", "is_user_turn", "event_at", "boundary", "parent_session_id", "cwd",
    "branch", "repository", "title", "summary", "version", "model",
)  # fmt: skip


def _row(
    first: Range, line: Line, parsed: Parsed, message_id: str | None, kept_from_line: int | None
) -> dict[str, Any]:
    return {
        **{name: getattr(parsed, name) for name in _COPIED},
        **{name: getattr(line, name) for name in ("byte_from", "byte_to", "resource_id")},
        "source_id": first.source_id,
        "generation": first.generation,
        "line": line.number,
        "session_id": first.conversation_id,
        "message_id": message_id,
        "author": parsed.author if message_id else None,
        "kind": parsed.kind if message_id else None,
        "chars": len(parsed.text),
        "kept_from_line": kept_from_line,
        "files_read": list(parsed.files_read),
        "files_modified": list(parsed.files_modified),
    }
