"""Writes a finished week as a chapter: what was worked on, which rules and facts were established,
and commits, day by day.

Takes the week's segments, facts and messages; gives the table `timeline`, a row a sentence, and the
chapter as Markdown. What was worked on is a model's narrative, or without a model the first request
and the last state, quoted. Every sentence cites its observations, messages or commits. Commits are
those that git printed in the sessions; no repository is opened.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, tzinfo
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.frames import hash_of
from memory_assets.schema.protocols import Row
from memory_assets.stages.distill.spoken import spoken
from memory_assets.stages.reflect.subjects import WEEK
from memory_assets.text.sentences import split_sentences
from memory_assets.text.short_ids import short_id, short_message_id

MOST_SEGMENTS, MOST_FACTS, MOST_COMMITS = 3, 3, 5
"""Of one day of one project."""

_COMMIT = re.compile(r"^\[[^\s\]]+(?: \(root-commit\))? ([0-9a-f]{7,40})\] (\S.*)$", re.MULTILINE)
"""What `git commit` prints."""

NO_CITATIONS: dict[str, Any] = {"observation_ids": [], "message_ids": [], "commits": []}
"""The columns of what a sentence cites, all empty."""

Key = tuple[str, date, str]
"""Person, day, project."""


def build_timeline(
    first: date,
    observations: pl.DataFrame,
    segments: pl.DataFrame,
    messages: pl.DataFrame,
    windows: pl.DataFrame,
    zone: tzinfo,
) -> pl.DataFrame:
    """Returns the sentences of the week that begins on `first`; all frames hold rows of
    this week only, except `windows`.
    """
    facts: dict[Key, list[Row]] = defaultdict(list)
    for row in (
        observations.filter(kind="fact", gate="allow", priority="high")
        .sort("event_at", "id")
        .iter_rows(named=True)
    ):
        facts[_key(row, row["event_at"], zone)].append(row)
    narratives = {
        row["segment_id"]: row
        for row in observations.filter(kind="narrative").iter_rows(named=True)
    }
    worked: dict[Key, list[Row]] = defaultdict(list)
    for row in segments.sort("ended_at", "segment_id").iter_rows(named=True):
        worked[_key(row, row["ended_at"], zone)].append(row)
    commits = _commits(messages, windows, zone)
    rows = []
    for key in sorted({*facts, *worked, *commits}):
        person, on, project = key
        cited = (
            *_happened(worked[key], narratives),
            *_established(facts[key]),
            *_committed(list(commits[key].items())),
        )
        for sentence in cited:
            hash = hash_of(on, person, project, sentence["text"])
            rows.append(
                {
                    "day": first,
                    "on": on,
                    "project": project,
                    "person": person,
                    "ordinal": len(rows),
                    "sentence_id": f"tl_{hash[:12]}",
                    **sentence,
                }
            )
    return schemas.frame_of("timeline", {row["sentence_id"]: row for row in rows}.values()).sort(
        "ordinal"
    )


def render_chapter(first: date, sentences: pl.DataFrame) -> str:
    """Returns the chapter; a paragraph for each day and project."""
    last = WEEK.last_day(first)
    lines = [f"# Week {first.isocalendar().week} of {first.isocalendar().year}: {first} to {last}"]
    for (on, project), rows in sentences.sort("ordinal").group_by(
        "on", "project", maintain_order=True
    ):
        lines += [
            "",
            f"**{on:%A, %Y-%m-%d}, {project}.** "
            + " ".join(_sentence(row) for row in rows.iter_rows(named=True)),
        ]
    return "\n".join(lines) + "\n"


def name_of_chapter(first: date) -> str:
    """Returns the file of the chapter below the workspace."""
    return f"timeline/{first:%G-W%V}.md"


def _happened(worked: Sequence[Row], narratives: Mapping[str, Row]) -> Iterator[dict[str, Any]]:
    """Yields what the longest conversations were about, in order of time: their narratives, else
    request and state.
    """
    segments = [
        row for row in worked if row["segment_id"] in narratives or row["request"] or row["state"]
    ]
    longest = sorted(segments, key=lambda row: (-len(row["message_ids"]), row["segment_id"]))[
        :MOST_SEGMENTS
    ]
    for segment in (row for row in segments if row in longest):
        narrative = narratives.get(segment["segment_id"])
        yield from _cited(narrative) if narrative else _quoted(segment)


def _quoted(segment: Row) -> Iterator[dict[str, Any]]:
    """Yields the first request and the last state of the segment, each with its message."""
    for speaker, name in (("Owner", "request"), ("Assistant", "state")):
        if segment[name]:
            yield NO_CITATIONS | {
                "text": spoken(speaker, segment[name]),
                "message_ids": [segment[f"{name}_id"]],
            }


def _established(facts: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Yields the sentences of the facts of high priority, the owner's first."""
    for fact in sorted(
        facts, key=lambda row: (row["author"] != "owner", row["event_at"], row["id"])
    )[:MOST_FACTS]:
        yield from _cited(fact)


def _committed(commits: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Yields one sentence about what was committed."""
    if commits:
        subjects = ", ".join(f"“{subject}”" for _, subject in commits[:MOST_COMMITS])
        omitted = f" and {len(commits) - MOST_COMMITS} more" if len(commits) > MOST_COMMITS else ""
        yield NO_CITATIONS | {
            "text": f"Committed: {subjects}{omitted}.",
            "commits": [hash for hash, _ in commits],
        }


def _cited(row: Row) -> Iterator[dict[str, Any]]:
    """Yields the sentences of an observation, each with its id; a quotation is never cut."""
    for sentence in _whole_sentences(" ".join(row["text"].split())):
        ended = (
            sentence if sentence.rstrip("”’)*`").endswith((".", "!", "?", "…")) else f"{sentence}."
        )
        yield NO_CITATIONS | {"text": ended, "observation_ids": [row["id"]]}


def _whole_sentences(text: str) -> list[str]:
    """Returns the sentences of the text; a quotation is kept whole in the sentence that quotes
    it.
    """
    sentences: list[str] = []
    for piece in split_sentences(text):
        if sentences and (
            sentences[-1].count("“") > sentences[-1].count("”") or sentences[-1].count('"') % 2
        ):
            sentences[-1] = f"{sentences[-1]} {piece}"
        else:
            sentences.append(piece)
    return sentences


def _key(row: Row, at: datetime, zone: tzinfo) -> Key:
    return row["person"], at.astimezone(zone).date(), row["project"]


def _commits(
    messages: pl.DataFrame, windows: pl.DataFrame, zone: tzinfo
) -> dict[Key, dict[str, str]]:
    """Returns hash → subject of the commits that sessions made, by person, day and project."""
    windows_by_id = {
        row["window_id"]: row
        for row in windows.select("window_id", "project", "person").iter_rows(named=True)
    }
    commits: dict[Key, dict[str, str]] = defaultdict(dict)
    printed = messages.filter(
        (pl.col("kind") == "tool_result") & pl.col("text").str.contains(r"(?m)^\[[^\]]+\] \S")
    )
    for row in printed.sort("event_at", "message_id").iter_rows(named=True):
        for hash, subject in commits_in(row["text"]):
            commits[_key(windows_by_id[row["window_id"]], row["event_at"], zone)].setdefault(
                hash, subject
            )
    return commits


def commits_in(text: str) -> Iterable[tuple[str, str]]:
    """Returns the hash and subject of each commit that git reports in the text."""
    return _COMMIT.findall(text)


def _sentence(row: Row) -> str:
    messages = map(short_message_id, row["message_ids"])
    cites = ", ".join(
        [*map(short_id, row["observation_ids"]), *messages, *(hash[:7] for hash in row["commits"])]
    )
    return f"{row['text']} [{cites}]"
