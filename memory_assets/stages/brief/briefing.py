"""Renders the briefing: what the next session should know at once, kept ready as a file.

Takes MEMORY.md and a project's file as they are on disk, the present memories, the number of
pending proposals, where the project's last sessions stopped, its lessons, and its triggers of
that day or the next. Without a project, nothing of any project is shown but the names of the active
ones. It contains no clock time, so it stays the same byte for byte until its content changes, and
prompt caches survive. It keeps within its budget in order of importance: triggers, rules, lessons,
the rest of both files, last sessions, recent facts. It names what was cut. The full one has a
larger budget, which derives from the context, and in place of a few recent facts all that fit,
ranked by ln(priority) + ln(bias) + last use over half-life. Texts are quoted material: no line can
open or close markup.
"""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import polars as pl

from memory_assets.harnesses.human_words import BRIEFING
from memory_assets.schema.protocols import Row
from memory_assets.schema.vocabulary import MARKS, Priority
from memory_assets.stages.brief.due import Trigger
from memory_assets.stages.brief.fitting import (
    WHOLE_LINE,
    BriefingSection,
    fit_sections,
    memory_sections,
)
from memory_assets.stages.brief.lessons import lesson_lines, repeated_in, said_in
from memory_assets.stages.brief.outdated import Changes
from memory_assets.stages.embed.conflicts import find_conflict
from memory_assets.stages.embed.harness_memories import IS_SAID
from memory_assets.stages.embed.merge import NORMS
from memory_assets.stages.recall.results import one_line
from memory_assets.stages.reflect.present import what_holds
from memory_assets.stages.triage import wording
from memory_assets.stages.triage.refusal import why_refused
from memory_assets.text.words import counted

BUDGET_TOKENS = 2_000
PACK_SHARE = 0.075
"""Of the context, the budget of the full briefing (DUET)."""

RECENT_FACTS = 5
MOST_KNOWN = 2_000
RECENT = timedelta(days=30)
"""Before the newest memory of the project; older facts are found by recall."""

WEIGHT: dict[Priority, float] = {"high": 3.0, "medium": 2.0, "low": 1.0}
HALF_LIFE_DAYS = 100
"""Days since its last use over this are taken from a fact's weight: a 🔴 fact ranks as a 🟡 one
used 41 days later (DUET).
"""

REFLECTION_BIAS = 1.3
"""Of a fact that the reflection of its day kept (DUET)."""

MOST_DUE = 5
RECALLED_WITH_EACH = 2
THE_REST = (
    "All of it is in MEMORY.md and the daily logs; `memory recall QUESTION` finds what helps."
)
IN_FULL = f"`memory brief --full` has more. {THE_REST}"
THIS_SESSION = "## This session so far"
SHORTEST = 12
"""Characters of a recent fact."""

_TO_DO = re.compile(
    r"(?i)\b(?:must|never|always|do not|don't|should|needs?|requires?|only|instead of"
    r"|rather than)\b|^(?:use|run|set|pin)\b"
)
_WHY = re.compile(
    r"(?i)\b(?:because|so that|otherwise|or else|without (?:it|that)|unless|, so|root "
    r"cause)\b|: it \w"
)

_LABELS = re.compile(
    r"(?i)(?:^|;\s*)(?:primary|(?P<is_second>secondary)):\s*(?P<is_none>(?:none|nothing)\b.*)?"
)
"""How a model names the task and what else is open."""


@dataclass(frozen=True)
class ActiveProject:
    """A project that the owner worked on lately, and the sessions of these days."""

    name: str
    session_count: int
    first_on: date
    last_on: date


def render_briefing(
    memory_md: str,
    memories: pl.DataFrame,
    *,
    project_md: str = "",
    pending: int,
    undistilled: int = 0,
    outdated: str = "",
    expiring: Sequence[date] = (),
    owner: str,
    as_of: date | None,
    project: str | None = None,
    tasks: Sequence[Row] = (),
    due: Sequence[Trigger] = (),
    lessons: Sequence[Row] = (),
    refused: Sequence[str] = (),
    reflected: Collection[str] = (),
    active: Sequence[ActiveProject] = (),
    budget_tokens: int = BUDGET_TOKENS,
    is_full: bool = False,
) -> str:
    """Returns the briefing within the budget; `as_of` is the day of the newest memory.

    Of `tasks` (where sessions stopped, the latest first), `due` triggers and active `lessons`,
    those of the project are shown; the sections of its file (`project_md`) follow those of
    MEMORY.md, lines that a later fact ended with a mark. Ended sessions, and lessons and facts that
    triage `refused` as lines of the project, are not shown; `reflected` are the memories that
    reflections kept. `active` projects are named where there is no project. Of the `pending`
    proposals, `expiring` has the days on which some expire soon; `undistilled` sessions no
    model read, `outdated` counts lines that name what is gone.
    """
    work = _of_project(project, tasks)
    as_of = max(filter(None, (as_of, *(row["day"] for row in work))), default=None)
    rules, others = memory_sections(_joined(memory_md, project_md), owner)
    memory_lines = [line for section in (*rules, *others) for line in section.lines]
    learned = lesson_lines(_of_project(project, lessons), [*memory_lines, *refused])
    above = [*memory_lines, *learned, *refused]
    facts = _shown(memories, owner, project)
    changes = Changes.among(facts, project)
    changes.mark_ended((*rules, *others))
    sessions = changes.without_ended(map(work_line, work))
    coming = [trigger for trigger in due if trigger.project == project]
    names = [] if project else [*map(project_line, active)]
    if is_full:
        known_facts = BriefingSection("What is known", _known(facts, above, reflected))
    else:
        recent = _recent(facts, above, sessions, project, as_of)
        known_facts = BriefingSection("Recent facts", recent)
    parts = [
        BriefingSection("Coming up", due_lines(coming)),
        *rules,
        BriefingSection("Lessons", learned),
        *others,
        BriefingSection("Last sessions", sessions),
        BriefingSection("Active projects", names),
        known_facts,
    ]
    head = [_title(project, as_of), *_waiting(pending, undistilled, expiring, outdated)]
    return fit_sections(head, parts, budget_tokens, THE_REST if is_full else IN_FULL)


def _title(project: str | None, as_of: date | None) -> str:
    of_project = f": {one_line(project)}" if project else ""
    latest = f" (known up to {as_of})" if as_of else ""
    return f"{BRIEFING}{of_project}{latest}"


def _of_project(project: str | None, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["project"] == project]


def _waiting(pending: int, undistilled: int, expiring: Sequence[date], outdated: str) -> list[str]:
    """Returns what waits for the owner."""
    lines: list[str] = []
    if pending:
        count = counted(pending, "pending memory proposal")
        lines.append(f"📋 {count} in REVIEW.md: review when ready.{_soon(expiring)}")
    if undistilled:
        sessions = counted(undistilled, "session")
        lines.append(f"🗒 No model has read {sessions}: the owner can ask for `memory_distill`.")
    if outdated:
        lines.append(f"🔍 {outdated}: `memory review`.")
    return lines


def _soon(expiring: Sequence[date]) -> str:
    if not expiring:
        return ""
    ending = "s" if len(expiring) == 1 else ""
    return f" {len(expiring)} of them expire{ending} by {max(expiring)}."


def project_line(project: ActiveProject) -> str:
    """Returns the name of an active project with its last sessions."""
    count = project.session_count
    if count <= 1:
        return f"- {project.name}: {count} session{'' if count else 's'} on {project.last_on}"
    since = f"since {project.first_on}, the last on {project.last_on}"
    return f"- {project.name}: {count} sessions {since}"


def work_line(work: Row) -> str:
    """Returns where a session stopped, in one line, with its day and branch, so that a reader can
    tell how old it is.
    """
    where = f"{work['day']}, branch {work['branch']}" if work["branch"] else work["day"]
    quoted = {name: one_line(str(text), WHOLE_LINE) for name, text in work.items()}
    return f"- ({where}) {task_line(quoted)}"


def _relabelled(label: re.Match[str]) -> str:
    if not label["is_second"] or label["is_none"]:
        return ""
    ending = label.string[: label.start()].rstrip()[-1:]
    return f"{'.' if ending.isalnum() else ''} Also open: "


def task_line(work: Row) -> str:
    """Returns the task, or what the session was about, with its state and the next step."""
    task = _LABELS.sub(_relabelled, work["task"]).strip().replace(".;", ";")
    title = f"{work['title']}:" if work["title"] and not task else ""
    next_step = f"Next: {work['next_step']}" if work["next_step"] else ""
    parts = [task or title or work["request"], work["state"], next_step]
    return " ".join(filter(None, parts))


def render_session(row: Row, task: Row | None = None, *, is_full: bool = False) -> str:
    """Returns the part of a continued session, which follows the briefing; `row` is from
    `session_reflections`.
    """
    text = row["full_text"] if is_full else row["text"]
    left_out = row["fact_count"] - len(text.splitlines())
    command = f"`memory recall QUESTION --session {row['session_id']} --include held`"
    more = f"\n_{left_out} more: {command} finds them._" if left_out else ""
    ends = f"\nIn progress: {one_line(task_line(task))}" if task and task["task"] else ""
    return f"{THIS_SESSION}\n{text}{more}{ends}\n"


def due_lines(due: Sequence[Trigger]) -> list[str]:
    """Returns the due triggers with their memories; the day is a date, so that the lines are the
    same today and tomorrow.
    """
    lines = []
    for trigger in due[:MOST_DUE]:
        on = f"{trigger.trigger_on:%a %Y-%m-%d}"
        lines.append(f"- ⏰ {on}: “{trigger.text}” (said {trigger.said_at:%Y-%m-%d})")
        lines += [f"  - {text}" for text in trigger.memories[:RECALLED_WITH_EACH]]
    return lines


def _joined(memory_md: str, project_md: str) -> str:
    """Returns MEMORY.md followed by the sections of a project's file, without the text above
    them.
    """
    plain = project_md.removeprefix("\ufeff").replace("\r\n", "\n")
    sections = plain[plain.find("## ") :] if "## " in plain else ""
    return f"{memory_md}\n{sections}" if sections else memory_md


def _shown(memories: pl.DataFrame, owner: str, project: str | None) -> pl.DataFrame:
    """Returns the active facts of the project, without those of documents, and the owner's personal
    ones from everywhere.
    """
    is_own = (pl.col("scope") == "person") & (pl.col("person") == owner)
    is_here = pl.col("project") == (project or "")
    is_of_project = (pl.col("scope") != "person") & is_here
    return memories.filter(is_own | is_of_project, IS_SAID, state="active", kind="fact")


def _recent(
    facts: pl.DataFrame,
    above: Sequence[str],
    sessions: Sequence[str],
    project: str | None,
    as_of: date | None,
) -> list[str]:
    """Returns the newest 🔴 facts of the project's last month, of a day the most useful first.

    Each stands alone, and nothing above it says the same.
    """
    since = as_of - RECENT if as_of else date.min
    near = facts.filter(pl.col("event_at").dt.date() >= since)
    important = near.filter(project=project or "", priority="high")
    newest_first = important.sort(["event_at", "id"], descending=[True, False])
    is_above = said_in(above)
    is_in_session = repeated_in(sessions)
    shown: dict[str, Row] = {}
    for row in newest_first.iter_rows(named=True):
        line = fact_line(row)
        if not line or is_above(line) or is_in_session(line) or said_in([*shown])(line):
            continue
        if not any(find_conflict(text, line) for text in shown):
            shown[line] = row
    best = sorted(shown, key=lambda line: _rank(shown[line], line), reverse=True)
    return [_recent_line(shown[line], line) for line in best[:RECENT_FACTS]]


def _rank(row: Row, line: str) -> tuple[date, int]:
    return row["event_at"].date(), _usefulness(row, line)


def _recent_line(row: Row, line: str) -> str:
    mark = "🔴 " if _is_confirmed(row) else ""
    return f"- {mark}({row['event_at']:%Y-%m-%d}) {line}"


def fact_line(memory: Row) -> str:
    """Returns the fact as a line of MEMORY.md; empty if triage would refuse it, or if it does not
    stand alone.
    """
    text = memory["text"]
    line = wording.line_of(text)
    is_own_rule = memory["author"] == "owner" and memory["category"] in NORMS
    if is_own_rule and not wording.general_line(text):
        return ""
    proposal = {**memory, "text": line, "said": text}
    is_repeated = _is_confirmed(memory)
    refused = why_refused(proposal, is_repeated=is_repeated, shortest=SHORTEST)
    asks = wording.question_about(line) is not None
    is_unclear = asks or wording.is_about_unnamed(line)
    return "" if refused or is_unclear or not what_holds(line) else line


def _is_confirmed(memory: Row) -> bool:
    """Returns whether two sessions or more say it."""
    return len(memory["session_ids"]) > 1


def _usefulness(memory: Row, line: str) -> int:
    """Returns how much a fact helps: it is confirmed, the owner's own, says what to do, or why."""
    helps = [_is_confirmed(memory), memory["author"] == "owner"]
    helps += [bool(pattern.search(line)) for pattern in (_TO_DO, _WHY)]
    return sum(helps)


def _known(facts: pl.DataFrame, above: Sequence[str], reflected: Collection[str]) -> list[str]:
    """Returns the facts that nothing above them says, the most important and most recently used
    first.
    """
    used = pl.max_horizontal("event_at", "last_used_at").dt.epoch("s") / 86_400
    weights = {name: math.log(weight) for name, weight in WEIGHT.items()}
    priority = pl.col("priority").replace_strict(weights, return_dtype=pl.Float64)
    is_reflected = pl.when(pl.col("id").is_in(list(reflected)))
    bias = is_reflected.then(math.log(REFLECTION_BIAS)).otherwise(0.0)
    order = -(priority + bias + used / HALF_LIFE_DAYS)
    ordered = facts.sort(order, "id").head(MOST_KNOWN)
    is_above = said_in(above)
    return [
        f"- {MARKS[row['priority']]} ({row['event_at']:%Y-%m-%d}) {row['text']}"
        for row in ordered.iter_rows(named=True)
        if not is_above(row["text"])
    ]
