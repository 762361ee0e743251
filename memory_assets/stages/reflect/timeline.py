"""Writes a finished week as a chapter: what was worked on, which rules and facts were established, and commits, day by day.

Takes the week's narratives, facts, segments and messages; gives the table `timeline`, a row a sentence, and the chapter as
Markdown. Every sentence cites its observations or commits. Commits are those that git printed in the sessions; no repository is
opened.
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
from memory_assets.stages.reflect.subjects import WEEK
from memory_assets.text.sentences import split_sentences
from memory_assets.text.short_ids import short_id

MOST_NARRATIVES, MOST_FACTS, MOST_COMMITS = 3, 3, 5
"""Of one day of one project."""

_COMMIT = re.compile(r"^\[[^\s\]]+(?: \(root-commit\))? ([0-9a-f]{7,40})\] (\S.*)$", re.MULTILINE)
"""What `git commit` prints."""

Key = tuple[str, date, str]
"""Person, day, project."""


def build_timeline(
    first: date, observations: pl.DataFrame, segments: pl.DataFrame, messages: pl.DataFrame, windows: pl.DataFrame, zone: tzinfo
) -> pl.DataFrame:
    """Returns the sentences of the week that begins on `first`; the frames hold its days alone, `windows` may hold more."""
    lengths = dict(segments.select("segment_id", pl.col("message_ids").list.len()).iter_rows())
    observed: dict[Key, list[Row]] = defaultdict(list)
    for row in observations.sort("event_at", "id").iter_rows(named=True):
        observed[_key(row, row["event_at"], zone)].append(row)
    commits = _commits(messages, windows, zone)
    rows = []
    for key in sorted({*observed, *commits}):
        person, on, project = key
        seen = observed[key]
        cited = (sentence for row in (*_happened(seen, lengths), *_established(seen)) for sentence in _cited(row))
        for sentence in (*cited, *_committed(list(commits[key].items()))):
            about = {"day": first, "on": on, "project": project, "person": person, "ordinal": len(rows)}
            rows.append(about | {"sentence_id": f"tl_{hash_of(on, person, project, sentence['text'])[:12]}"} | sentence)
    return schemas.frame_of("timeline", {row["sentence_id"]: row for row in rows}.values()).sort("ordinal")


def render_chapter(first: date, sentences: pl.DataFrame) -> str:
    """Returns the chapter; a paragraph for each day and project."""
    last = WEEK.last_day(first)
    lines = [f"# Week {first.isocalendar().week} of {first.isocalendar().year}: {first} to {last}"]
    for (on, project), own in sentences.sort("ordinal").group_by("on", "project", maintain_order=True):
        lines += ["", f"**{on:%A, %Y-%m-%d}, {project}.** " + " ".join(_sentence(row) for row in own.iter_rows(named=True))]
    return "\n".join(lines) + "\n"


def name_of_chapter(first: date) -> str:
    """Returns the file of the chapter below the workspace."""
    return f"timeline/{first:%G-W%V}.md"


def _happened(seen: Sequence[Row], lengths: Mapping[str, int]) -> list[Row]:
    """Returns the narratives of the longest conversations, in order of time."""
    narratives = [row for row in seen if row["kind"] == "narrative"]
    longest = sorted(narratives, key=lambda row: (-lengths.get(row["segment_id"], 0), row["id"]))[:MOST_NARRATIVES]
    return [row for row in narratives if row in longest]


def _established(seen: Sequence[Row]) -> list[Row]:
    """Returns the 🔴 facts, the owner's first."""
    high = [row for row in seen if (row["kind"], row["gate"], row["priority"]) == ("fact", "allow", "high")]
    return sorted(high, key=lambda row: (row["author"] != "owner", row["event_at"], row["id"]))[:MOST_FACTS]


def _committed(commits: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Yields one sentence about what was committed."""
    if commits:
        named = ", ".join(f"“{subject}”" for _, subject in commits[:MOST_COMMITS])
        more = f" and {len(commits) - MOST_COMMITS} more" if len(commits) > MOST_COMMITS else ""
        yield {"text": f"Committed: {named}{more}.", "observation_ids": [], "commits": [hash for hash, _ in commits]}


def _cited(row: Row) -> Iterator[dict[str, Any]]:
    """Yields the sentences of an observation, each with its id; a quotation is never cut."""
    for sentence in _unquoted_sentences(" ".join(row["text"].split())):
        ended = sentence if sentence.rstrip("”’)*`").endswith((".", "!", "?", "…")) else f"{sentence}."
        yield {"text": ended, "observation_ids": [row["id"]], "commits": []}


def _unquoted_sentences(text: str) -> list[str]:
    """Returns the sentences of the text; those of a quotation are one with the sentence that quotes them."""
    whole: list[str] = []
    for piece in split_sentences(text):
        if whole and (whole[-1].count("“") > whole[-1].count("”") or whole[-1].count('"') % 2):
            whole[-1] = f"{whole[-1]} {piece}"
        else:
            whole.append(piece)
    return whole


def _key(owner: Row, at: datetime, zone: tzinfo) -> Key:
    return owner["person"], at.astimezone(zone).date(), owner["project"]


def _commits(messages: pl.DataFrame, windows: pl.DataFrame, zone: tzinfo) -> dict[Key, dict[str, str]]:
    """Returns hash → subject of the commits that sessions made, by person, day and project."""
    about = {row["window_id"]: row for row in windows.select("window_id", "project", "person").iter_rows(named=True)}
    found: dict[Key, dict[str, str]] = defaultdict(dict)
    printed = messages.filter((pl.col("kind") == "tool_result") & pl.col("text").str.contains(r"(?m)^\[[^\]]+\] \S"))
    for row in printed.sort("event_at", "message_id").iter_rows(named=True):
        for hash, subject in commits_in(row["text"]):
            found[_key(about[row["window_id"]], row["event_at"], zone)].setdefault(hash, subject)
    return found


def commits_in(text: str) -> Iterable[tuple[str, str]]:
    """Returns the hash and subject of each commit that git reports in the text."""
    return _COMMIT.findall(text)


def _sentence(row: Row) -> str:
    cites = ", ".join([*map(short_id, row["observation_ids"]), *(hash[:7] for hash in row["commits"])])
    return f"{row['text']} [{cites}]"
