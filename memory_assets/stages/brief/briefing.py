"""The briefing, kept ready as a file: what the next session should know at once.

What comes in is MEMORY.md as it lies on disk, the present memories, how many proposals wait, and, where known, the task at
hand, an excerpt of the log, and what comes up that day or the next. It holds no clock, so it stays the same byte for byte until
something in it changes, and prompt caches survive. It keeps within its budget in the order of importance: what comes up, rules,
lessons, what else MEMORY.md says, the task, 🔴 facts, the log. What is cut is named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import polars as pl

from memory_assets.stages.brief.due import Trigger
from memory_assets.stages.brief.lessons import Lesson, lesson_lines
from memory_assets.text.tokens import CHARS_A_TOKEN

BUDGET_TOKENS = 2_000
RECENT_FACTS = 12
NAMED_CUTS = 4
MOST_DUE = 5
RECALLED_WITH_EACH = 2
THE_REST = "All of it is in MEMORY.md and the daily logs; `memory recall QUESTION` finds what helps."
THIS_SESSION = "## This session so far"
FIRST_SECTIONS = ("Hard Rules",)
"""Sections of MEMORY.md that come before the others, whatever their place in the file; the owner's follows them."""


@dataclass(frozen=True)
class Part:
    """One section of the briefing; `lines` may be cut from the end."""

    title: str
    lines: Sequence[str]


def render_briefing(
    memory_md: str,
    memories: pl.DataFrame,
    *,
    project_md: str = "",
    pending: int,
    owner: str,
    as_of: date | None,
    project: str | None = None,
    task: str | None = None,
    log: Sequence[str] = (),
    due: Sequence[Trigger] = (),
    lessons: Sequence[Lesson] = (),
    budget_tokens: int = BUDGET_TOKENS,
) -> str:
    """Returns the briefing within the budget; `as_of` is the day of the newest memory.

    With a project, only its facts and the owner's own are shown, and the sections of its own file (`project_md`) come with
    those of MEMORY.md; `log` are lines of the last day's log, `due` are the triggers that come up, `lessons` those that hold.
    """
    head = [f"# Memory briefing{f' (known up to {as_of})' if as_of else ''}"]
    if pending:
        head.append(f"📋 {pending} pending memory proposal{'' if pending == 1 else 's'} in REVIEW.md: review when ready.")
    known = _joined(memory_md, project_md)
    of_memory = _memory_parts(known, owner)
    rules = [part for part in of_memory if part.title.casefold() in {"", *(name.casefold() for name in FIRST_SECTIONS)}]
    parts = [
        Part("Coming up", due_lines(due, project)),
        *rules,
        Part("Lessons", lesson_lines(lessons, known, project)),
        *(part for part in of_memory if part not in rules),
        Part("Current task", [task] if task else []),
        Part("Recent facts", _recent(memories, known, owner, project)),
        Part("Last log", [line.rstrip() for line in log if line.strip()]),
    ]
    return _fit(head, [part for part in parts if part.lines], budget_tokens * CHARS_A_TOKEN)


def render_session(told: Mapping[str, Any]) -> str:
    """Returns what stands below the briefing of a session that goes on; `told` is its row of `session_reflections`."""
    left_out, asked = told["fact_count"] - told["told_count"], f"--session {told['session_id']} --include held"
    more = f"\n_{left_out} more: `memory recall QUESTION {asked}` finds them._" if left_out else ""
    return f"{THIS_SESSION}\n{told['text']}{more}\n"


def due_lines(due: Sequence[Trigger], project: str | None = None) -> list[str]:
    """Returns what comes up, each with what to recall; the day is named, so that the lines are the same today and tomorrow."""
    near = [one for one in due if project is None or one.project == project]
    return [line for one in near[:MOST_DUE] for line in _due(one)]


def _due(one: Trigger) -> list[str]:
    said = f"said {one.said_at:%Y-%m-%d}"
    first = f"- ⏰ {one.trigger_on:%a %Y-%m-%d}: “{one.text}” [{one.project}, {said}]"
    return [first, *(f"  - {text}" for text in one.memories[:RECALLED_WITH_EACH])]


def _fit(head: Sequence[str], parts: Sequence[Part], budget: int) -> str:
    """Returns the parts in order, each as far as it fits; a line that does not fit ends its part, not the briefing."""
    everything = [*head, *(line for part in parts for line in _block(part, part.lines))]
    if _length(everything) <= budget:
        return "\n".join(everything) + "\n"
    left = budget - _length([*head, "", _longest_note(parts)])
    lines, cut = [*head], []
    for part in parts:
        taken: list[str] = []
        while len(taken) < len(part.lines) and _length(_block(part, [*taken, part.lines[len(taken)]])) <= left:
            taken.append(part.lines[len(taken)])
        if len(taken) < len(part.lines):
            cut.append(part)
        if taken:
            lines += _block(part, taken)
            left -= _length(_block(part, taken))
    return "\n".join([*lines, "", _cut_note(cut)]) + "\n"


def _block(part: Part, lines: Sequence[str]) -> list[str]:
    return ["", *([f"## {part.title}"] if part.title else []), *lines]


def _cut_note(parts: Sequence[Part]) -> str:
    names = [_name(part) for part in parts]
    more = f" and {len(names) - NAMED_CUTS} more" if len(names) > NAMED_CUTS else ""
    named = ", ".join(names[:NAMED_CUTS]) + more
    return f"_Cut to fit: {named}. {THE_REST}_"


def _longest_note(parts: Sequence[Part]) -> str:
    """Returns the longest note that cutting can need: which parts are cut is known only when the room for it is."""
    return _cut_note(sorted(parts, key=lambda part: len(_name(part)), reverse=True))


def _name(part: Part) -> str:
    return (part.title or "the beginning of MEMORY.md")[:40]


def _length(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _joined(memory_md: str, project_md: str) -> str:
    """Returns MEMORY.md with the sections of a project's file behind its own; what stands above them is not repeated."""
    plain = project_md.removeprefix("\ufeff").replace("\r\n", "\n")
    sections = plain[plain.find("## ") :] if "## " in plain else ""
    return f"{memory_md}\n{sections}" if sections else memory_md


def _memory_parts(memory_md: str, owner: str) -> list[Part]:
    """Returns the sections of MEMORY.md with the rules first, without its title and blank lines."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    lines = parts[0][1]
    for line in memory_md.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"):
        if line.startswith("## "):
            title = line[3:].strip()
            same = next((own for name, own in parts if name and name.casefold() == title.casefold()), None)
            lines = [] if same is None else same
            parts += [] if same is not None else [(title, lines)]
        elif line.strip() and not line.startswith("# "):
            lines.append(line.rstrip())
    first = [name.casefold() for name in (*FIRST_SECTIONS, owner)]
    ranks = {name: rank for rank, name in enumerate(first)}
    ordered = sorted(parts[1:], key=lambda part: ranks.get(part[0].casefold(), len(first)))
    return [Part(title, lines) for title, lines in [parts[0], *ordered]]


def _recent(memories: pl.DataFrame, memory_md: str, owner: str, project: str | None) -> list[str]:
    is_near = pl.lit(True) if project is None else (pl.col("project") == project) | (pl.col("scope") == "person")
    shown = memories.filter(
        (pl.col("state") == "active")
        & (pl.col("kind") == "fact")
        & (pl.col("priority") == "high")
        & ((pl.col("scope") != "person") | (pl.col("person") == owner))
        & is_near
    ).sort(["event_at", "id"], descending=[True, False])
    rows = [row for row in shown.head(RECENT_FACTS * 4).iter_rows(named=True) if row["text"] not in memory_md]
    return [f"- 🔴 ({row['event_at']:%Y-%m-%d}) {row['text']} [{row['project']}]" for row in rows[:RECENT_FACTS]]
