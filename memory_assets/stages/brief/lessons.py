"""Selects the active lessons: what the owner taught, without what they took back, each once and the newest first.

Takes the table `lessons`; returns the active ones, the lines of the briefing, and the file lessons.md.
"""

from collections.abc import Collection, Sequence

import polars as pl

from memory_assets.schema.protocols import Row

MOST_SHOWN = 10
"""Lessons in the briefing; lessons.md has all."""

HEAD = """# Lessons

What corrections and rules taught, the newest first. This file is rebuilt from your sessions: to keep or change a line for good,
write it into MEMORY.md or say it in a session.
"""


def active_lessons(lessons: pl.DataFrame, owner: str, hidden: Collection[str] = ()) -> list[Row]:
    """Returns the owner's active lessons; `hidden` are messages with forgotten or replaced content."""
    own = lessons.filter((pl.col("person") == owner) & ~pl.col("message_id").is_in(list(hidden)))
    kept: list[Row] = []
    for lesson in own.sort(["said_at", "lesson_id"], descending=[True, False]).iter_rows(named=True):
        if not any(_replaces(later, lesson) for later in kept):
            kept.append(lesson)
    return kept


def _replaces(later: Row, earlier: Row) -> bool:
    """Returns whether the later lesson repeats or reverses the earlier one of the same project."""
    if later["project"] != earlier["project"]:
        return False
    if later["text"].lower() == earlier["text"].lower():
        return True
    sets_apart = bool(later["wanted"] and earlier["wanted"])
    return sets_apart and (later["wanted"] == earlier["unwanted"] or later["unwanted"] == earlier["wanted"])


def lesson_lines(lessons: Sequence[Row], memory_md: str, project: str | None = None) -> list[str]:
    """Returns the lines of the briefing, without lessons in MEMORY.md."""
    near = [one for one in lessons if project is None or one["project"] == project]
    new = [one for one in near if one["text"].rstrip(".") not in memory_md]
    return [f"- {one['text']} [{one['project']}]" for one in new[:MOST_SHOWN]]


def render_lessons(lessons: Sequence[Row]) -> str:
    """Returns the content of lessons.md; empty if there are none."""
    if not lessons:
        return ""
    lines = [HEAD]
    for project in dict.fromkeys(lesson["project"] for lesson in lessons):
        own = [lesson for lesson in lessons if lesson["project"] == project]
        lines += [f"## {project}", "", *(_line(lesson) for lesson in own), ""]
    return "\n".join(lines)


def _line(lesson: Row) -> str:
    where = f"session {lesson['session_id']}, record {lesson['line']}"
    return f"- ({lesson['said_at']:%Y-%m-%d}) {lesson['text']} <!-- {lesson['lesson_id']}: {where} -->"
