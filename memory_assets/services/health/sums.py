"""Counts what became of every byte of a transcript, by harness, and checks that nothing got lost on the way.

Takes the tables, returns one row of counts for each harness and the equations between them. Pure: no clock, no disk.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from memory_assets.schema.protocols import Tables
from memory_assets.stages.maintain.checks import Check

POSITION = ["source_id", "generation", "line"]


@dataclass(frozen=True)
class Counts:
    """What was found of one harness, from files to observations."""

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
    """Messages that a fork, a replay or an older generation repeats; the earliest session owns them."""
    lost: int
    """Messages in no window; there should be none."""
    windows: dict[str, int]
    window_messages: dict[str, int]
    """Messages by the status of their window."""
    segments: int
    segment_messages: int
    observations: dict[str, int]
    candidates: dict[str, int]


@dataclass(frozen=True)
class Frames:
    """The columns that the counts are made from."""

    resources: pl.DataFrame
    records: pl.DataFrame
    windows: pl.DataFrame
    messages: pl.DataFrame
    messages_open: pl.DataFrame
    segments: pl.DataFrame
    observations: pl.DataFrame
    verdicts: pl.DataFrame
    memories: pl.DataFrame
    embeddings: pl.DataFrame
    proposals: pl.DataFrame
    amendments: pl.DataFrame
    friction: pl.DataFrame
    decisions: pl.DataFrame
    noted: int = 0
    """Notes in the ledger and what harnesses remember, which are part of memories, too."""


COLUMNS: dict[str, Sequence[str]] = {
    "resources": ["id", "source_id", "harness", "generation", "byte_from", "byte_to", "line_from", "line_to"],
    "records": ["source_id", "generation", "line", "status", "record_type", "message_id"],
    "windows": ["window_id", "session_id", "source_id", "harness", "status", "message_ids", "lines"],
    "messages": ["message_id", "window_id"],
    "messages_open": ["message_id", "window_id"],
    "segments": ["segment_id", "window_id", "message_ids"],
    "observations": ["id", "window_id", "gate", "kind", "text_hash"],
    "verdicts": ["candidate_id", "window_id", "verdict"],
    "memories": ["id", "observation_ids"],
    "embeddings": ["text_hash", "model"],
    "proposals": ["proposal_id"],
    "amendments": ["proposal_id"],
    "friction": ["proposal_id"],
    "decisions": ["proposal_id", "state"],
}


def read_frames(tables: Tables, resources: pl.DataFrame | None = None, noted: int = 0) -> Frames:
    """Returns the columns that the counts need; `resources` may come straight from the archive."""
    frames = {name: tables.read(name, columns=columns) for name, columns in COLUMNS.items()}
    if resources is not None:
        frames["resources"] = resources.select(COLUMNS["resources"])
    return Frames(**frames, noted=noted)


@dataclass(frozen=True)
class Sums:
    """The counts of each harness, and the equations that must hold between them."""

    harnesses: tuple[Counts, ...]
    checks: tuple[Check, ...] = field(default_factory=tuple)


def sums_of(frames: Frames) -> Sums:
    """Returns the counts by harness and every equation with its outcome."""
    harness_of = frames.resources.select("source_id", "harness").unique().sort("source_id")
    records = _located(frames).join(harness_of, on="source_id", how="left")
    counts = tuple(_count(frames, records, harness) for harness in sorted(harness_of["harness"].unique()))
    return Sums(counts, tuple(_equations(frames, counts)))


def _located(frames: Frames) -> pl.DataFrame:
    """Returns the records with the place of their message: the record its window counts, a repetition of it, or no window."""
    owned = frames.windows.select("source_id", "message_ids", "lines").explode("message_ids", "lines").drop_nulls()
    owned = owned.select("source_id", pl.col("message_ids").alias("message_id"), pl.col("lines").alias("line"))
    records = frames.records.join(owned.select("message_id").unique().with_columns(known=True), on="message_id", how="left")
    records = records.join(owned.with_columns(own=True), on=["source_id", "line", "message_id"], how="left")
    first = pl.struct(pl.col("own").is_null(), *POSITION).rank("ordinal").over("message_id") == 1
    is_message, is_windowed = pl.col("status") == "message", pl.col("known").is_not_null()
    place = pl.when(~is_message).then(pl.lit("none")).when(~is_windowed).then(pl.lit("lost"))
    return records.with_columns(place=place.when(first).then(pl.lit("window")).otherwise(pl.lit("shared")))


def _count(frames: Frames, records: pl.DataFrame, harness: str) -> Counts:
    resources = frames.resources.filter(pl.col("harness") == harness)
    mine = records.filter(pl.col("harness") == harness)
    windows = frames.windows.filter(pl.col("harness") == harness).with_columns(pl.col("message_ids").list.len().alias("size"))
    ids = windows.select("window_id")
    status = _by(mine, "status")
    segments = frames.segments.join(ids, on="window_id")
    return Counts(
        harness=harness,
        files=resources["source_id"].n_unique(),
        bytes=int((resources["byte_to"] - resources["byte_from"]).sum()),
        records=mine.height,
        messages=status.get("message", 0),
        known=status.get("known", 0),
        unknown=status.get("unknown", 0),
        broken=status.get("broken", 0),
        unknown_types=_by(mine.filter(pl.col("status") == "unknown"), "record_type"),
        shared=mine.filter(pl.col("place") == "shared").height,
        lost=mine.filter(pl.col("place") == "lost").height,
        windows=_by(windows, "status"),
        window_messages=dict(windows.group_by("status").agg(pl.col("size").sum()).sort("status").iter_rows()),
        segments=segments.height,
        segment_messages=int(segments["message_ids"].list.len().sum()),
        observations=_by(frames.observations.join(ids, on="window_id"), "gate"),
        candidates=_by(frames.verdicts.join(ids, on="window_id"), "verdict"),
    )


def _equations(frames: Frames, counts: Sequence[Counts]) -> list[Check]:
    lines = int((frames.resources["line_to"] - frames.resources["line_from"]).sum())
    recorded = frames.records.height
    return [_same("records", "every archived line has one record", lines, recorded), *_conversation(frames, counts)]


def _conversation(frames: Frames, counts: Sequence[Counts]) -> list[Check]:
    messages = sum(c.messages for c in counts)
    windowed = sum(sum(c.window_messages.values()) for c in counts)
    shared, lost = sum(c.shared for c in counts), sum(c.lost for c in counts)
    observed = sum(c.window_messages.get("observed", 0) for c in counts)
    opened = sum(c.window_messages.get("open", 0) for c in counts)
    segmented = sum(c.segment_messages for c in counts)
    return [
        _same("record status", "records = messages + known + unknown + broken", frames.records.height, _statuses(counts)),
        _same("messages", "messages = in windows + shared with other sessions", messages, windowed + shared),
        Check(
            "no message lost", "every message is in a window", lost == 0, f"{lost:,} lost" if lost else "", MEND if lost else ""
        ),
        _same("closed windows", "messages of closed windows are rows of `messages`", windowed - opened, frames.messages.height),
        _same("open windows", "messages of open windows are rows of `messages_open`", opened, frames.messages_open.height),
        _same("segments", "messages of observed windows = messages in segments", observed, segmented),
        *_knowledge(frames),
    ]


def _knowledge(frames: Frames) -> list[Check]:
    kept = frames.verdicts.filter(pl.col("verdict") != "discard")
    hashes, embedded = frames.observations["text_hash"].unique(), frames.embeddings["text_hash"].unique()
    folded = frames.memories["observation_ids"].explode().drop_nulls()
    states, told = _by(frames.decisions, "state"), frames.observations.height + frames.noted
    proposed = frames.proposals.height + frames.amendments.height + frames.friction.height
    return [
        _same("gate", "candidates allowed or held = observations", kept.height, frames.observations.height),
        _same("embeddings", "every observation has its vector", hashes.len(), int(hashes.is_in(embedded.implode()).sum())),
        _same("memories", "every observation and note is in exactly one memory", told, folded.len()),
        _same("memories once", "no observation is in two memories", folded.n_unique(), folded.len()),
        _same("decisions", "proposals = " + (" + ".join(states) or "decisions"), proposed, sum(states.values())),
    ]


def _statuses(counts: Sequence[Counts]) -> int:
    return sum(c.messages + c.known + c.unknown + c.broken for c in counts)


def _same(name: str, promise: str, expected: int, found: int) -> Check:
    fits = expected == found
    return Check(name, promise, fits, f"{found:,}" if fits else f"{expected:,} expected, {found:,} found", "" if fits else MEND)


MEND = "Run `memory ingest`; if it stays so, `memory data rebuild` makes all tables anew from the archive."


def _by(frame: pl.DataFrame, column: str) -> dict[str, int]:
    return dict(frame.group_by(column).len().sort(column).iter_rows())
