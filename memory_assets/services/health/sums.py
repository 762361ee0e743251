"""Counts files, records, messages and facts by harness, and checks that the numbers of each stage
add up.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from memory_assets.stages.maintain.checks import Check, judge
from memory_assets.store.parquet_tables import ParquetTables

POSITION = ["source_id", "generation", "line"]
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
    "records": ["source_id", "generation", "line", "status", "record_type", "message_id"],
    "windows": ["window_id", "source_id", "harness", "status", "message_ids", "lines"],
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
    "record status": "records = messages + known + unknown + broken",
    "messages": "messages = in windows + shared with other sessions",
    "closed windows": "messages of closed windows are rows of `messages`",
    "open windows": "messages of open windows are rows of `messages_open`",
    "segments": "messages of observed windows = messages in segments",
    "gate": "candidates allowed or held = observations",
    "embeddings": "every observation has its vector",
    "memories": "every observation and note is in exactly one memory",
    "memories once": "no observation is in two memories",
}


@dataclass(frozen=True)
class Sums:
    """The counts of each harness, and the equations that must hold between them."""

    harnesses: tuple[HarnessCounts, ...]
    checks: tuple[Check, ...]


def read_sums(
    tables: ParquetTables, resources: pl.DataFrame, memories: pl.DataFrame, noted: int
) -> Sums:
    """Returns the counts by harness and the outcome of every equation.

    `resources` are the rows of the archive; `memories` the present ones, with what was saved since
    the last run; `noted` is the number of notes in the ledger and of memories of harnesses, which
    are part of memories, too.
    """
    frames = {"resources": resources, "memories": memories} | {
        name: tables.read(name, columns=columns) for name, columns in COLUMNS.items()
    }
    harness_of = resources.select("source_id", "harness").unique().sort("source_id")
    records = _located(frames).join(harness_of, on="source_id", how="left")
    counts = tuple(
        _count(frames, records, harness) for harness in sorted(harness_of["harness"].unique())
    )
    return Sums(counts, tuple(_equations(frames, counts, noted)))


def _located(frames: Frames) -> pl.DataFrame:
    """Returns the records with the place of their message: in a window, a repetition (shared), or
    in no window (lost).
    """
    owned = (
        frames["windows"]
        .select("source_id", "message_ids", "lines")
        .explode("message_ids", "lines")
        .drop_nulls()
    )
    owned = owned.select(
        "source_id", pl.col("message_ids").alias("message_id"), pl.col("lines").alias("line")
    )
    records = frames["records"].join(
        owned.select("message_id").unique().with_columns(known=True), on="message_id", how="left"
    )
    records = records.join(
        owned.with_columns(own=True), on=["source_id", "line", "message_id"], how="left"
    )
    first = pl.struct(pl.col("own").is_null(), *POSITION).rank("ordinal").over("message_id") == 1
    is_message = pl.col("status") == "message"
    is_windowed = pl.col("known").is_not_null()
    place = pl.when(~is_message).then(pl.lit("none")).when(~is_windowed).then(pl.lit("lost"))
    return records.with_columns(
        place=place.when(first).then(pl.lit("window")).otherwise(pl.lit("shared"))
    )


def _count(frames: Frames, records: pl.DataFrame, harness: str) -> HarnessCounts:
    resources = frames["resources"].filter(pl.col("harness") == harness)
    mine = records.filter(pl.col("harness") == harness)
    windows = frames["windows"].filter(pl.col("harness") == harness)
    ids = windows.select("window_id")
    status = _by(mine, "status")
    place = _by(mine, "place")
    sizes = windows.group_by("status").agg(pl.col("message_ids").list.len().sum()).sort("status")
    segments = frames["segments"].join(ids, on="window_id")
    of_observed = segments.join(windows.filter(status="observed"), on="window_id", how="semi")
    return HarnessCounts(
        harness=harness,
        files=resources["source_id"].n_unique(),
        bytes=int((resources["byte_to"] - resources["byte_from"]).sum()),
        records=mine.height,
        messages=status.get("message", 0),
        **{name: status.get(name, 0) for name in ("known", "unknown", "broken")},
        unknown_types=_by(mine.filter(pl.col("status") == "unknown"), "record_type"),
        **{name: place.get(name, 0) for name in ("shared", "lost")},
        windows=_by(windows, "status"),
        window_messages=dict(sizes.iter_rows()),
        segments=segments.height,
        segment_messages=int(of_observed["message_ids"].list.len().sum()),
        facts=_by(frames["observations"].filter(kind="fact").join(ids, on="window_id"), "gate"),
        candidates=_by(frames["verdicts"].join(ids, on="window_id"), "verdict"),
    )


def _equations(frames: Frames, counts: Sequence[HarnessCounts], noted: int) -> Iterator[Check]:
    yield from _sums_of_messages(frames, counts)
    observations = frames["observations"]
    stored = frames["verdicts"].filter(pl.col("verdict") != "discard").height
    yield _same("gate", stored, observations.height)
    hashes = observations["text_hash"].unique()
    embedded = hashes.is_in(frames["embeddings"]["text_hash"].unique().implode())
    yield _same("embeddings", hashes.len(), int(embedded.sum()))
    merged = frames["memories"]["observation_ids"].explode().drop_nulls()
    yield _same("memories", observations.height + noted, merged.len())
    yield _same("memories once", merged.n_unique(), merged.len())
    states = _by(frames["decisions"], "state")
    proposed = sum(frames[name].height for name in ("proposals", "amendments", "friction"))
    sum_of_states = "proposals = " + (" + ".join(states) or "decisions")
    yield _same("decisions", proposed, sum(states.values()), sum_of_states)


def _sums_of_messages(frames: Frames, counts: Sequence[HarnessCounts]) -> Iterator[Check]:
    resources, records = frames["resources"], frames["records"]
    lines = int((resources["line_to"] - resources["line_from"]).sum())
    yield _same("records", lines, records.height)
    with_status = sum(c.messages + c.known + c.unknown + c.broken for c in counts)
    yield _same("record status", records.height, with_status)
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
    fault = f"{expected:,} expected, {actual:,} found" if expected != actual else ""
    return judge(name, promise or EQUATIONS[name], fault, f"{actual:,}", REMEDY)


def _by(frame: pl.DataFrame, column: str) -> dict[str, int]:
    return dict(frame.group_by(column).len().sort(column).iter_rows())
