"""Writes the chapter of a finished week: what was worked on, facts of high priority, and commits,
day by day.

Takes the week's segments, facts and messages. Returns the table `timeline` with one row for each
sentence, and renders the chapter as Markdown. Work is described by a model's narrative, or without
a model by the segment's quotes. Every sentence cites its observations,
messages or commits. Commits are found in the output of git in the sessions; no repository is read.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, tzinfo
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.frames import hash_of
from memory_assets.schema.protocols import Row
from memory_assets.stages.distill.quotes import COMMIT, quotes_of, rendered
from memory_assets.stages.reflect.subjects import WEEK
from memory_assets.text.sentences import split_sentences
from memory_assets.text.short_ids import short_id, short_message_id

MOST_SEGMENTS, MOST_FACTS, MOST_COMMITS = 3, 3, 5
"""Most sentences about work, facts and commits on one day of one project."""

NO_CITATIONS: dict[str, Any] = {"observation_ids": [], "message_ids": [], "commits": []}
"""The columns with the citations of a sentence, all empty."""

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
    """Returns the sentences of the week that begins on `first`.

    All frames but `windows` must have rows of this week only.
    """
    facts: dict[Key, list[Row]] = defaultdict(list)
    important = observations.filter(kind="fact", gate="allow", priority="high")
    for row in important.sort("event_at", "id").iter_rows(named=True):
        facts[_key(row, row["event_at"], zone)].append(row)
    narrative_rows = observations.filter(kind="narrative").iter_rows(named=True)
    narratives = {row["segment_id"]: row for row in narrative_rows}
    segments_by_key: dict[Key, list[Row]] = defaultdict(list)
    for row in segments.sort("ended_at", "segment_id").iter_rows(named=True):
        segments_by_key[_key(row, row["ended_at"], zone)].append(row)
    commits = _commits(messages, windows, zone)
    rows = []
    for key in sorted({*facts, *segments_by_key, *commits}):
        person, on, project = key
        sentences = (
            *_work(segments_by_key[key], narratives),
            *_facts(facts[key]),
            *_commit_list(list(commits[key].items())),
        )
        for sentence in sentences:
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
    distinct = {row["sentence_id"]: row for row in rows}
    return schemas.frame_of("timeline", distinct.values()).sort("ordinal")


def render_chapter(first: date, sentences: pl.DataFrame) -> str:
    """Returns the chapter as Markdown, with a paragraph for each day and project."""
    week = first.isocalendar()
    lines = [f"# Week {week.week} of {week.year}: {first} to {WEEK.last_day(first)}"]
    groups = sentences.sort("ordinal").group_by("on", "project", maintain_order=True)
    for (on, project), rows in groups:
        text = " ".join(_sentence(row) for row in rows.iter_rows(named=True))
        lines += ["", f"**{on:%A, %Y-%m-%d}, {project}.** {text}"]
    return "\n".join(lines) + "\n"


def name_of_chapter(first: date) -> str:
    """Returns the path of the chapter in the workspace."""
    return f"timeline/{first:%G-W%V}.md"


def _work(segments: Sequence[Row], narratives: Mapping[str, Row]) -> Iterator[dict[str, Any]]:
    """Yields sentences about the longest segments, in order of time.

    They are the segment's narrative, or without one its quotes.
    """
    described = [row for row in segments if row["segment_id"] in narratives or row["quotes"]]
    ranked = sorted(described, key=lambda row: (-len(row["message_ids"]), row["segment_id"]))
    longest = ranked[:MOST_SEGMENTS]
    for segment in (row for row in described if row in longest):
        narrative = narratives.get(segment["segment_id"])
        yield from _cited(narrative) if narrative else _quoted(segment)


def _quoted(segment: Row) -> Iterator[dict[str, Any]]:
    """Yields the quotes of the segment, each with its message; commits have a list of their own."""
    for quote in quotes_of(segment):
        if quote.source != "commit":
            yield NO_CITATIONS | {"text": rendered(quote), "message_ids": [quote.message_id]}


def _facts(facts: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Yields the sentences of the first facts, the owner's before others."""
    ranked = sorted(facts, key=lambda row: (row["author"] != "owner", row["event_at"], row["id"]))
    for fact in ranked[:MOST_FACTS]:
        yield from _cited(fact)


def _commit_list(commits: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Yields one sentence with the subjects of the commits, if there are any."""
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
        has_stop = sentence.rstrip("”’)*`").endswith((".", "!", "?", "…"))
        text = sentence if has_stop else f"{sentence}."
        yield NO_CITATIONS | {"text": text, "observation_ids": [row["id"]]}


def _whole_sentences(text: str) -> list[str]:
    """Returns the sentences of the text; one that quotes several sentences is not split."""
    sentences: list[str] = []
    is_quoting = False
    for piece in split_sentences(text):
        if is_quoting:
            sentences[-1] = f"{sentences[-1]} {piece}"
        else:
            sentences.append(piece)
        last = sentences[-1]
        is_quoting = last.count("“") > last.count("”") or last.count('"') % 2 == 1
    return sentences


def _key(row: Row, at: datetime, zone: tzinfo) -> Key:
    return row["person"], at.astimezone(zone).date(), row["project"]


def _commits(
    messages: pl.DataFrame, windows: pl.DataFrame, zone: tzinfo
) -> dict[Key, dict[str, str]]:
    """Returns the commits of sessions, hash → subject, by person, day and project."""
    window_rows = windows.select("window_id", "project", "person").iter_rows(named=True)
    windows_by_id = {row["window_id"]: row for row in window_rows}
    commits: dict[Key, dict[str, str]] = defaultdict(dict)
    may_report = pl.col("text").str.contains(r"(?m)^\[[^\]]+\] \S")
    results = messages.filter(may_report, kind="tool_result").sort("event_at", "message_id")
    for row in results.iter_rows(named=True):
        for hash, subject in commits_in(row["text"]):
            key = _key(windows_by_id[row["window_id"]], row["event_at"], zone)
            commits[key].setdefault(hash, subject)
    return commits


def commits_in(text: str) -> Iterable[tuple[str, str]]:
    """Returns the hash and subject of each commit that git reports in the text."""
    return COMMIT.findall(text)


def _sentence(row: Row) -> str:
    observations = map(short_id, row["observation_ids"])
    messages = map(short_message_id, row["message_ids"])
    commits = (hash[:7] for hash in row["commits"])
    return f"{row['text']} [{', '.join([*observations, *messages, *commits])}]"
