"""Writes the daily log: for people, in the formats of A21, one section for each window.

Takes what was observed in a window; gives Markdown, and a log in which the window's section is replaced or appended.
Whatever else stands in the file, by hand or from other parts, survives byte for byte.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema.records import Priority

MARKS: dict[Priority, str] = {"high": "🔴", "medium": "🟡", "low": "🟢"}

WINDOW_DIGITS = 12
"""Of a window's id; enough to tell the windows of a day apart."""

TITLE_CHARS = 60

_SECTION = re.compile(r"<!-- window ([0-9a-f]{12}) -->\n.*?<!-- /window \1 -->(?:\n|\Z)", re.S)


def render_section(
    window: Mapping[str, Any],
    segments: pl.DataFrame,
    observations: pl.DataFrame,
    *,
    session: Mapping[str, Any] | None = None,
    current_task: str | None = None,
    zone: ZoneInfo,
) -> str:
    """Returns the section of one window, between its two markers; held facts and narratives are left out.

    `session` is the window's row of `sessions`, where there is one: it names the session and counts its files.
    """
    mark = window["window_id"][:WINDOW_DIGITS]
    own = segments.filter(pl.col("window_id") == window["window_id"]).sort("ordinal")
    facts = observations.filter(
        (pl.col("window_id") == window["window_id"]) & (pl.col("kind") == "fact") & (pl.col("gate") == "allow")
    ).sort("event_at", "id")
    name = _name(window, session)
    parts = [f"### 🔭 Observations (session: {name}, {window['ended_at'].astimezone(zone):%H:%M})", "", *_head(window, session)]
    for segment in own.iter_rows(named=True):
        parts += _segment(segment, facts.filter(pl.col("segment_id") == segment["segment_id"]), zone)
    if facts.is_empty():
        parts += ["Nothing worth keeping.", ""]
    parts += [f"**Current task**: {_one_line(current_task)}", ""] if current_task else []
    body = _without_markers("\n".join(parts))
    return f"<!-- window {mark} -->\n{body}<!-- /window {mark} -->\n"


def update_log(text_before: str, sections: Mapping[str, str] | Sequence[str], *, title: str | None = None) -> str:
    """Returns the log with each section in the place of the one with its marker, or at the end.

    Sections of the same windows that are already there are replaced, other text stays as it is.
    """
    text = text_before or (f"# {title}\n" if title else "")
    for section in sections.values() if isinstance(sections, Mapping) else sections:
        text = _put(text, section)
    return text


def remove_sections(text_before: str, window_ids: Sequence[str]) -> str:
    """Returns the log without the sections of these windows: they belong to another day now."""
    gone = {window_id[:WINDOW_DIGITS] for window_id in window_ids}
    return _SECTION.sub(lambda found: "" if found[1] in gone else found[0], text_before)


def windows_in(text: str) -> list[str]:
    """Returns the marks of the windows that have a section, in order."""
    return [found[1] for found in _SECTION.finditer(text)]


def _put(text: str, section: str) -> str:
    mark = _SECTION.match(section)
    assert mark is not None, "a section comes from render_section"
    for found in _SECTION.finditer(text):
        if found[1] == mark[1]:
            return text[: found.start()] + section + text[found.end() :]
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + section


def _head(window: Mapping[str, Any], session: Mapping[str, Any] | None) -> list[str]:
    lines = [f"**Trigger**: {'compaction' if window['trigger'] == 'compaction' else 'shutdown'}"]
    if session:
        lines.append(f"**Files**: {len(session['files_modified'])} modified, {len(session['files_read'])} read")
    return [*lines, "", f"Date: {window['day'].isoformat()}", ""]


def _segment(segment: Mapping[str, Any], facts: pl.DataFrame, zone: ZoneInfo) -> list[str]:
    if facts.is_empty():
        return []
    lines = [f"#### {_title(segment['narrative'])}", f"*{_one_line(segment['narrative']).replace('*', '')}*", ""]
    for fact in facts.iter_rows(named=True):
        lines.append(f"* {MARKS[fact['priority']]} ({fact['event_at'].astimezone(zone):%H:%M}) {_one_line(fact['text'])}")
    return [*lines, ""]


def _title(narrative: str) -> str:
    """Returns the narrative's beginning, as a heading."""
    bare = (
        _one_line(narrative)
        .removeprefix("The owner: ")
        .strip("“”\"' ")
        .replace("“", "")
        .replace("”", "")
        .replace("*", "")
        .lstrip("#")
    )
    sentence = re.split(r"(?<=[.!?])\s", bare)[0].rstrip(".")
    return sentence if len(sentence) <= TITLE_CHARS else sentence[: TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"


def _name(window: Mapping[str, Any], session: Mapping[str, Any] | None) -> str:
    return _one_line((session or {}).get("name") or window["title"] or window["session_id"])


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _without_markers(text: str) -> str:
    """Returns the text with nothing in it that could be taken for a marker."""
    return text.replace("<!--", "<! --").replace("-->", "-- >")
