"""Counts files, records, messages and facts by harness, and checks that the numbers of each stage
add up.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from memory_assets.stages.maintain.checks import Check, judge
from memory_assets.store.parquet_tables import ParquetTables

POSITION = ["source_id", "generation", "line"]
"""The columns that say where a record is in the archive."""

REMEDY = "Run `memory ingest`; if the check still fails, run `memory data rebuild`."


@dataclass(frozen=True)
class HarnessCounts:
    """The counts of one harness, from files to facts."""

    harness: str
    files: int
    bytes: int
    records: int
    messages: int
    known: int
    unknown: int
    broken: int
    rewound: int
    unknown_types: dict[str, int]
    shared: int
    """Messages repeated by a fork, a replay or an older generation; they belong to the session that
    has them first.
    """
    lost: int
    """Messages in no window; there should be none."""
    windows: dict[str, int]
    window_messages: dict[str, int]
    """Messages by the status of their window."""
    segments: int
    segment_messages: int
    """Messages in segments of observed windows; short sessions have only those segments in which
    something was taught.
    """
    facts: dict[str, int]
    candidates: dict[str, int]


Frames = Mapping[str, pl.DataFrame]
"""The columns that the counts are made from, by table."""

COLUMNS = {
    "records": "source_id generation line status record_type message_id".split(),
    "windows": "window_id source_id harness status message_ids lines".split(),
    "messages": ["message_id", "window_id"],
    "messages_open": ["message_id", "window_id"],
    "segments": ["segment_id", "window_id", "message_ids"],
    "observations": ["id", "window_id", "gate", "kind", "text_hash"],
    "verdicts": ["candidate_id", "window_id", "verdict"],
    "embeddings": ["text_hash", "model"],
    "proposals": ["proposal_id"],
    "amendments": ["proposal_id"],
    "friction": ["proposal_id"],
    "decisions": ["proposal_id", "state"],
}

EQUATIONS = {
    "records": "every archived line has one record",
    "record status": "records = messages + known + unknown + broken + rewound",
    "messages": "messages = in windows + shared with other sessions",
    "closed windows": "messages of closed windows are rows of `messages`",
    "open windows": "messages of open windows are rows of `messages_open`",
    "segments": "messages of observed windows = messages in segments",
    "gate": "candidates allowed or held = observations",
    "embeddings": "every observation has its vector",
    "memories": "every observation and note is in exactly one memory",
    "memories once": "no observation is in two memories",
}
"""Check → what it promises."""


@dataclass(frozen=True)
class Sums:
    """The counts of each harness, and the equations that must hold between them."""

    harnesses: tuple[HarnessCounts, ...]
    checks: tuple[Check, ...]


def read_sums(
    tables: ParquetTables, resources: pl.DataFrame, memories: pl.DataFrame, note_count: int
) -> Sums:
    """Returns the counts by harness and the outcome of every equation.

    `resources` are the rows of the archive. `memories` are the present ones, with what was saved
    since the last run. `note_count` is the number of notes in the ledger and of memories of
    harnesses: they are merged into memories like observations.
    """
    frames = {name: tables.read(name, columns=columns) for name, columns in COLUMNS.items()}
    frames |= {"resources": resources, "memories": memories}
    harness_of = resources.select("source_id", "harness").unique().sort("source_id")
    records = _with_place(frames).join(harness_of, on="source_id", how="left")
    harnesses = sorted(harness_of["harness"].unique())
    counts = tuple(_count(frames, records, harness) for harness in harnesses)
    return Sums(counts, tuple(_equations(frames, counts, note_count)))


def _with_place(frames: Frames) -> pl.DataFrame:
    """Returns the records with the place of their message: `window`; `shared` for a repetition of a
    message that is in a window; `lost` for one in no window; `none` for a record without a message.
    """
    windows = frames["windows"].select("source_id", "message_ids", "lines")
    messages = windows.explode("message_ids", "lines").drop_nulls()
    messages = messages.rename({"message_ids": "message_id", "lines": "line"})
    ids = messages.select("message_id").unique().with_columns(has_window=True)
    lines = messages.with_columns(is_named=True)
    records = frames["records"].join(ids, on="message_id", how="left")
    records = records.join(lines, on=["source_id", "line", "message_id"], how="left")
    # Of the records of one message, the line that its window names counts as the first.
    order = pl.struct(pl.col("is_named").is_null(), *POSITION)
    is_first = order.rank("ordinal").over("message_id") == 1
    place = (
        pl.when(pl.col("status") != "message")
        .then(pl.lit("none"))
        .when(pl.col("has_window").is_null())
        .then(pl.lit("lost"))
        .when(is_first)
        .then(pl.lit("window"))
        .otherwise(pl.lit("shared"))
    )
    return records.with_columns(place=place)


def _count(frames: Frames, records: pl.DataFrame, harness: str) -> HarnessCounts:
    resources = frames["resources"].filter(pl.col("harness") == harness)
    records = records.filter(pl.col("harness") == harness)
    windows = frames["windows"].filter(pl.col("harness") == harness)
    ids = windows.select("window_id")
    status = _by(records, "status")
    place = _by(records, "place")
    size = pl.col("message_ids").list.len().sum()
    sizes = windows.group_by("status").agg(size).sort("status")
    segments = frames["segments"].join(ids, on="window_id")
    observed = windows.filter(status="observed")
    observed_segments = segments.join(observed, on="window_id", how="semi")
    return HarnessCounts(
        harness=harness,
        files=resources["source_id"].n_unique(),
        bytes=int((resources["byte_to"] - resources["byte_from"]).sum()),
        records=records.height,
        messages=status.get("message", 0),
        known=status.get("known", 0),
        unknown=status.get("unknown", 0),
        broken=status.get("broken", 0),
        rewound=status.get("rewound", 0),
        unknown_types=_by(records.filter(pl.col("status") == "unknown"), "record_type"),
        shared=place.get("shared", 0),
        lost=place.get("lost", 0),
        windows=_by(windows, "status"),
        window_messages=dict(sizes.iter_rows()),
        segments=segments.height,
        segment_messages=int(observed_segments["message_ids"].list.len().sum()),
        facts=_by(frames["observations"].filter(kind="fact").join(ids, on="window_id"), "gate"),
        candidates=_by(frames["verdicts"].join(ids, on="window_id"), "verdict"),
    )


def _equations(frames: Frames, counts: Sequence[HarnessCounts], note_count: int) -> Iterator[Check]:
    yield from _sums_of_messages(frames, counts)
    observations = frames["observations"]
    stored = frames["verdicts"].filter(pl.col("verdict") != "discard").height
    yield _same("gate", stored, observations.height)
    hashes = observations["text_hash"].unique()
    embedded = hashes.is_in(frames["embeddings"]["text_hash"].unique().implode())
    yield _same("embeddings", hashes.len(), int(embedded.sum()))
    merged = frames["memories"]["observation_ids"].explode().drop_nulls()
    yield _same("memories", observations.height + note_count, merged.len())
    yield _same("memories once", merged.n_unique(), merged.len())
    states = _by(frames["decisions"], "state")
    proposed = sum(frames[name].height for name in ("proposals", "amendments", "friction"))
    sum_of_states = "proposals = " + (" + ".join(states) or "decisions")
    yield _same("decisions", proposed, sum(states.values()), sum_of_states)


def _sums_of_messages(frames: Frames, counts: Sequence[HarnessCounts]) -> Iterator[Check]:
    resources = frames["resources"]
    lines = int((resources["line_to"] - resources["line_from"]).sum())
    record_count = frames["records"].height
    yield _same("records", lines, record_count)
    with_status = sum(c.messages + c.known + c.unknown + c.broken + c.rewound for c in counts)
    yield _same("record status", record_count, with_status)
    windowed = sum(sum(c.window_messages.values()) for c in counts)
    shared = sum(c.shared for c in counts)
    yield _same("messages", sum(c.messages for c in counts), windowed + shared)
    lost = sum(c.lost for c in counts)
    fault = f"{lost:,} lost" if lost else ""
    yield judge("no message lost", "every message is in a window", fault, remedy=REMEDY)
    observed = sum(c.window_messages.get("observed", 0) for c in counts)
    opened = sum(c.window_messages.get("open", 0) for c in counts)
    yield _same("closed windows", windowed - opened, frames["messages"].height)
    yield _same("open windows", opened, frames["messages_open"].height)
    yield _same("segments", observed, sum(c.segment_messages for c in counts))


def _same(name: str, expected: int, actual: int, promise: str = "") -> Check:
    """Returns the check that both numbers are equal, with the promise given or of `EQUATIONS`."""
    fault = f"{expected:,} expected, {actual:,} found" if expected != actual else ""
    return judge(name, promise or EQUATIONS[name], fault, f"{actual:,}", REMEDY)


def _by(frame: pl.DataFrame, column: str) -> dict[str, int]:
    """Returns the number of rows by the value of the column."""
    return dict(frame.group_by(column).len().sort(column).iter_rows())
