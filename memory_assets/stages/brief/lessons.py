"""Selects the active lessons: the owner's lessons, without those that were repeated or reversed
later, the newest first.

Takes the table `lessons`. Also returns the lessons as lines of the briefing and as the file
lessons.md.
"""

import re
from collections.abc import Callable, Collection, Sequence
from difflib import SequenceMatcher

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.stages.embed.conflicts import supersedes
from memory_assets.stages.triage.wording import general_line
from memory_assets.text.words import STOP, stem

MOST_SHOWN = 10
"""Most lessons in the briefing; lessons.md has all of them."""

SAME = 0.75
"""Least share of common words, in the same order, of two lines that say the same."""

_WORD = re.compile(r"[^\W\d_][\w./-]*\w|[\w-]*\d[\w.-]*")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SENSE = frozenset({"not", "no", "before", "after", "without", "with", "only"})
"""Function words that can reverse the meaning of a rule."""

HEAD = """# Lessons

What corrections and rules taught, the newest first. This file is rebuilt from your sessions: to keep or change a line for good,
write it into MEMORY.md or say it in a session.
"""  # noqa: E501


def active_lessons(lessons: pl.DataFrame, owner: str, hidden: Collection[str] = ()) -> list[Row]:
    """Returns the owner's active lessons.

    `hidden` are messages with forgotten or replaced content.
    """
    valid = lessons.filter(~pl.col("message_id").is_in(list(hidden)), person=owner)
    newest_first = valid.sort(["said_at", "lesson_id"], descending=[True, False])
    active: list[Row] = []
    for lesson in newest_first.iter_rows(named=True):
        if not any(_replaces(later, lesson) for later in active):
            active.append(lesson)
    return active


def _replaces(later: Row, earlier: Row) -> bool:
    """Returns whether the later lesson repeats, reverses or replaces the earlier one of the same
    project.
    """
    if later["project"] != earlier["project"]:
        return False
    is_repeated = later["text"].lower() == earlier["text"].lower()
    return is_repeated or supersedes(later["text"], earlier["text"], later["project"])


def lesson_lines(lessons: Sequence[Row], memory_lines: Sequence[str]) -> list[str]:
    """Returns the lessons as lines of the briefing, worded as in MEMORY.md.

    Lessons that need their context, or that do not hold in general, are left out, and so are those
    that `memory_lines`, the lines of MEMORY.md, or earlier lessons have.
    """
    lines: list[str] = []
    for line in filter(None, (general_line(lesson["text"]) for lesson in lessons)):
        if len(lines) < MOST_SHOWN and not said_in([*memory_lines, *lines])(line):
            lines.append(f"- {line}")
    return lines


def said_in(lines: Sequence[str]) -> Callable[[str], bool]:
    """Returns a function that tests whether one of the lines says the same as a text.

    Nearly the same words in the same order say the same: "uv, not pip" and "pip, not uv" differ.
    """
    word_lists = [words for words in map(_words, lines) if words]

    def is_said(text: str) -> bool:
        words = _words(text)
        return any(_is_near(words, line_words) for line_words in word_lists)

    return is_said


def repeated_in(lines: Sequence[str]) -> Callable[[str], bool]:
    """Returns a function that tests whether one of the lines has most of the words of a text."""
    word_sets = [frozenset(_words(line)) for line in lines]

    def is_repeated(text: str) -> bool:
        words = frozenset(_words(text))
        shared_counts = (len(words & line_words) for line_words in word_sets)
        return bool(words) and any(count >= SAME * len(words) for count in shared_counts)

    return is_repeated


def _is_near(words: Sequence[str], other_words: Sequence[str]) -> bool:
    """Returns whether nearly all words are common, in the same order, and no number differs."""
    distinct = {*words}
    other_distinct = {*other_words}
    shared_count = len(distinct & other_distinct)
    has_enough = 2 * shared_count >= SAME * (len(distinct) + len(other_distinct))
    if not has_enough or any(map(str.isdigit, "".join(distinct ^ other_distinct))):
        return False
    return SequenceMatcher(None, words, other_words, autojunk=False).ratio() >= SAME


def _words(text: str) -> tuple[str, ...]:
    """Returns the stems of the content words and of `_SENSE` words, in order, without dates."""
    words = (word for word in _WORD.findall(text.lower()) if not _DAY.fullmatch(word))
    return tuple(stem(word) for word in words if word not in STOP or word in _SENSE)


def render_lessons(lessons: Sequence[Row]) -> str:
    """Returns the content of lessons.md; empty if there are none."""
    if not lessons:
        return ""
    lines = [HEAD]
    for project in dict.fromkeys(lesson["project"] for lesson in lessons):
        project_lessons = [lesson for lesson in lessons if lesson["project"] == project]
        lines += [f"## {project}", "", *(_line(lesson) for lesson in project_lessons), ""]
    return "\n".join(lines)


def _line(lesson: Row) -> str:
    origin = f"session {lesson['session_id']}, record {lesson['line']}"
    comment = f"<!-- {lesson['lesson_id']}: {origin} -->"
    return f"- ({lesson['said_at']:%Y-%m-%d}) {lesson['text']} {comment}"
