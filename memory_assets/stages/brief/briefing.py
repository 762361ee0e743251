"""Renders the briefing: what the next session should know at once, kept ready as a file.

Takes MEMORY.md as it is on disk, the present memories, the number of pending proposals, and, if known, tasks in progress, an
excerpt of the log, and the triggers of that day or the next. It contains no clock time, so it stays the same byte for byte
until its content changes, and prompt caches survive. It keeps within its budget in order of importance: triggers, rules,
lessons, the rest of MEMORY.md, the task, 🔴 facts, the log. It names what was cut. The full one has a larger budget, which
derives from the context, and in place of the recent 🔴 facts all facts that fit, by priority and last use.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import Priority
from memory_assets.stages.brief.due import Trigger
from memory_assets.stages.brief.lessons import lesson_lines
from memory_assets.stages.distill.daily_log import MARKS
from memory_assets.text.words import CHARS_A_TOKEN

BUDGET_TOKENS = 2_000
PACK_SHARE = 0.075
"""Of the context, the budget of the full briefing (DUET)."""

RECENT_FACTS = 12
WEIGHT: dict[Priority, float] = {"high": 3.0, "medium": 2.0, "low": 1.0}
FADES_A_DAY = 0.01
"""What a day since its last use takes from the logarithm of a fact's weight: a 🔴 fact ranks as a 🟡 one used 41 days later."""

NAMED_CUTS = 4
MOST_DUE = 5
MOST_TASKS = 3
RECALLED_WITH_EACH = 2
THE_REST = "All of it is in MEMORY.md and the daily logs; `memory recall QUESTION` finds what helps."
IN_FULL = f"`memory brief --full` has more. {THE_REST}"
THIS_SESSION = "## This session so far"
FIRST_SECTIONS = ("Hard Rules",)
"""Sections of MEMORY.md that come first, wherever they are in the file; the owner's follows them."""


@dataclass(frozen=True)
class BriefingSection:
    """One section of the briefing; `lines` can be cut from the end."""

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
    tasks: Sequence[Row] = (),
    log: Sequence[str] = (),
    due: Sequence[Trigger] = (),
    lessons: Sequence[Row] = (),
    budget_tokens: int = BUDGET_TOKENS,
    is_full: bool = False,
) -> str:
    """Returns the briefing within the budget; `as_of` is the day of the newest memory.

    With a project, only its facts and the owner's own are shown, and the sections of its file (`project_md`) follow those of
    MEMORY.md; `tasks` are the tasks in progress, the latest first, `log` holds lines of the last day's log, `due` the due
    triggers, `lessons` the active lessons.
    """
    head = [f"# Memory briefing{f' (known up to {as_of})' if as_of else ''}"]
    if pending:
        head.append(f"📋 {pending} pending memory proposal{'' if pending == 1 else 's'} in REVIEW.md: review when ready.")
    known = _joined(memory_md, project_md)
    of_memory = _memory_parts(known, owner)
    rules = [part for part in of_memory if part.title.casefold() in {"", *(name.casefold() for name in FIRST_SECTIONS)}]
    parts = [
        BriefingSection("Coming up", due_lines(due, project)),
        *rules,
        BriefingSection("Lessons", lesson_lines(lessons, known, project)),
        *(part for part in of_memory if part not in rules),
        BriefingSection("In progress", _tasks(tasks, project)),
        BriefingSection("What is known", _known(memories, known, owner, project))
        if is_full
        else BriefingSection("Recent facts", _recent(memories, known, owner, project)),
        BriefingSection("Last log", [line.rstrip() for line in log if line.strip()]),
    ]
    rest = THE_REST if is_full else IN_FULL
    return _fit(head, [part for part in parts if part.lines], budget_tokens * CHARS_A_TOKEN, rest)


def _tasks(tasks: Sequence[Row], project: str | None) -> list[str]:
    """Returns a line for each task, with the day of its session, so that a reader can tell how old it is."""
    shown = [one for one in tasks if project is None or one["project"] == project][:MOST_TASKS]
    return [f"- {task_line(one)} [{one['project']}, {one['day']}]" for one in shown]


def task_line(task: Row) -> str:
    """Returns the task and the next step, in one line."""
    return f"{task['task']} → {task['next_step']}" if task["next_step"] else str(task["task"])


def render_session(row: Row, task: Row | None = None, *, is_full: bool = False) -> str:
    """Returns the part of a continued session, which follows the briefing; `row` is from `session_reflections`."""
    text = row["full_text"] if is_full else row["text"]
    left_out, asked = row["fact_count"] - len(text.splitlines()), f"--session {row['session_id']} --include held"
    more = f"\n_{left_out} more: `memory recall QUESTION {asked}` finds them._" if left_out else ""
    ends = f"\nIn progress: {task_line(task)}" if task else ""
    return f"{THIS_SESSION}\n{text}{more}{ends}\n"


def due_lines(due: Sequence[Trigger], project: str | None = None) -> list[str]:
    """Returns the due triggers with their memories; the day is a date, so that the lines are the same today and tomorrow."""
    lines = []
    for one in [one for one in due if project is None or one.project == project][:MOST_DUE]:
        lines.append(f"- ⏰ {one.trigger_on:%a %Y-%m-%d}: “{one.text}” [{one.project}, said {one.said_at:%Y-%m-%d}]")
        lines += [f"  - {text}" for text in one.memories[:RECALLED_WITH_EACH]]
    return lines


def _fit(head: Sequence[str], parts: Sequence[BriefingSection], budget: int, rest: str) -> str:
    """Returns the sections in order, each as far as it fits; a line that does not fit ends its section, not the briefing."""
    everything = [*head, *(line for part in parts for line in _block(part, part.lines))]
    if _length(everything) <= budget:
        return "\n".join(everything) + "\n"
    left = budget - _length([*head, "", _longest_note(parts, rest)])
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
    return "\n".join([*lines, "", _cut_note(cut, rest)]) + "\n"


def _block(part: BriefingSection, lines: Sequence[str]) -> list[str]:
    return ["", *([f"## {part.title}"] if part.title else []), *lines]


def _cut_note(parts: Sequence[BriefingSection], rest: str) -> str:
    names = [_name(part) for part in parts]
    more = f" and {len(names) - NAMED_CUTS} more" if len(names) > NAMED_CUTS else ""
    named = ", ".join(names[:NAMED_CUTS]) + more
    return f"_Cut to fit: {named}. {rest}_"


def _longest_note(parts: Sequence[BriefingSection], rest: str) -> str:
    """Returns the longest possible note on cut sections, to reserve room before the cuts are known."""
    return _cut_note(sorted(parts, key=lambda part: len(_name(part)), reverse=True), rest)


def _name(part: BriefingSection) -> str:
    return (part.title or "the beginning of MEMORY.md")[:40]


def _length(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _joined(memory_md: str, project_md: str) -> str:
    """Returns MEMORY.md followed by the sections of a project's file, without the text above them."""
    plain = project_md.removeprefix("\ufeff").replace("\r\n", "\n")
    sections = plain[plain.find("## ") :] if "## " in plain else ""
    return f"{memory_md}\n{sections}" if sections else memory_md


def _memory_parts(memory_md: str, owner: str) -> list[BriefingSection]:
    """Returns the sections of MEMORY.md, rules first, without title and blank lines."""
    top: list[str] = []
    lines, sections = top, dict[str, tuple[str, list[str]]]()
    for line in memory_md.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"):
        if line.startswith("## "):
            title = line[3:].strip()
            _, lines = sections.setdefault(title.casefold(), (title, []))
        elif line.strip() and not line.startswith("# "):
            lines.append(line.rstrip())
    first = [name.casefold() for name in (*FIRST_SECTIONS, owner)]
    ordered = sorted(sections, key=lambda name: first.index(name) if name in first else len(first))
    return [BriefingSection("", top), *(BriefingSection(*sections[name]) for name in ordered)]


def _shown(memories: pl.DataFrame, owner: str, project: str | None) -> pl.DataFrame:
    """Returns the active facts of everyone and the owner, and with a project only its own and personal ones."""
    is_near = pl.lit(True) if project is None else (pl.col("project") == project) | (pl.col("scope") == "person")
    is_readable = (pl.col("scope") != "person") | (pl.col("person") == owner)
    return memories.filter((pl.col("state") == "active") & (pl.col("kind") == "fact") & is_readable & is_near)


def _recent(memories: pl.DataFrame, memory_md: str, owner: str, project: str | None) -> list[str]:
    """Returns the newest 🔴 facts that MEMORY.md does not have."""
    shown = _shown(memories, owner, project).filter(priority="high").sort(["event_at", "id"], descending=[True, False])
    return _fact_lines(shown.head(RECENT_FACTS * 4), memory_md)[:RECENT_FACTS]


def _known(memories: pl.DataFrame, memory_md: str, owner: str, project: str | None) -> list[str]:
    """Returns the facts that MEMORY.md does not have, the most important and most recently used first."""
    used = pl.max_horizontal("event_at", "last_used_at").dt.epoch("s") / 86_400
    weight = pl.col("priority").replace_strict({name: math.log(of) for name, of in WEIGHT.items()}, return_dtype=pl.Float64)
    return _fact_lines(_shown(memories, owner, project).sort(-(weight + FADES_A_DAY * used), "id"), memory_md)


def _fact_lines(facts: pl.DataFrame, memory_md: str) -> list[str]:
    return [
        f"- {MARKS[row['priority']]} ({row['event_at']:%Y-%m-%d}) {row['text']} [{row['project']}]"
        for row in facts.iter_rows(named=True)
        if row["text"] not in memory_md
    ]
