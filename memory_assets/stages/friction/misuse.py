"""Finds programs that agents run although a rule forbids them.

Takes the week and the rules: dated lines of MEMORY.md, and what people said in the week's sessions.
A rule names what is forbidden ("use uv, never pip"); a call that runs it counts if the rule was
known before, or if the person's next turn corrected it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_assets.english.changes import read_changes
from memory_assets.stages.friction.commands import CommandStep, parse_steps
from memory_assets.stages.friction.finding import RULES_SECTION, Occurrence, RecurringProblem
from memory_assets.stages.friction.week import ToolCall, Utterance, Week
from memory_assets.text.words import word_set

FEWEST_SESSIONS = 2
"""The second session that breaks a rule shows that the rule alone is not enough."""

_FORBIDS = re.compile(
    r"(?i)\b(?:never|not|no|(?:don'?t|do not|must not|stop) (?:ever )?(?:us(?:e|ing)|run(?:ning)?"
    r"|call(?:ing)?)|instead of|rather than|avoid)\s+"
    r"(?:(?:use|using|run(?:ning)?|with|plain|the)\s+)?"
    r"(?:`([A-Za-z][\w.+-]*\w(?: [^`]+)?)`|['\"]?([A-Za-z][\w.+-]*\w(?:(?: [a-z]+)? --?[\w-]+)?))"
)
EVERYDAY_WORDS = word_set("""true false test set wait read time find type which cut less more do
    done file date touch kill go make just task man info watch open code at host fly now sort split
    join head tail cat echo source export history exec command node as in up top who last look
    install script env if for then while till write mesg link dig nice yes clear reset sleep patch
    tree black""")
"""Programs that are also English words: "not true" forbids no program."""

_TAKES = re.compile(
    r"(?i)\b(?:use|using|with|on|via|through)\s+(?:the\s+)?(?!(?:your|my|our|their|his|her"
    r"|its|any|every|all|this|that|these|those|an?)\b)"
    r"[`'\"]?([A-Za-z][\w.+-]*\w)"
)


@dataclass(frozen=True)
class Prohibition:
    """What must not be run, and what to run instead (empty if nobody said)."""

    gone: str
    """A program, or one with the words that make it forbidden: `git push --force`."""
    came: str
    said_at: datetime
    project: str | None
    """The project it holds for; None: all."""

    def forbids(self, step: CommandStep) -> bool:
        """Returns whether it forbids the command."""
        program, *words = self.gone.split()
        return step.program == program and set(words) <= set(step.words)


def find_misuse(week: Week, entries: Iterable[tuple[str, datetime]]) -> list[RecurringProblem]:
    """Returns the programs that were run against a rule in two sessions or more; `entries` are
    dated lines.
    """
    rules = list(_rules_of(week, entries))
    said = week.utterances_by_session()
    by_program: dict[str, list[tuple[ToolCall, Prohibition, Utterance | None]]] = defaultdict(list)
    for call in week.calls:
        here = (rule for rule in rules if rule.project in (None, call.session.project))
        broken = [
            (rule, _correction(call, rule, said))
            for rule in here
            if any(map(rule.forbids, parse_steps(call.command)))
        ]
        if counted := next((one for one in broken if one[0].said_at <= call.at or one[1]), None):
            by_program[counted[0].gone].append((call, *counted))
    found = [_problem(gone, broken) for gone, broken in sorted(by_program.items())]
    return [problem for problem in found if len(problem.session_ids) >= FEWEST_SESSIONS]


def forbidden_in(text: str) -> set[str]:
    """Returns the programs and commands that the text forbids, in lower case."""
    found = {(marked or plain).lower() for marked, plain in _FORBIDS.findall(text)}
    found |= {change.gone for change in read_changes(text)}
    narrower = {command.split()[0] for command in found if " " in command}
    named = {
        command
        for command in found
        if command not in EVERYDAY_WORDS or f"`{command}`" in text.lower()
    }
    return named - narrower


def _rules_of(week: Week, entries: Iterable[tuple[str, datetime]]) -> Iterator[Prohibition]:
    projects = {session.project for session in week.sessions.values() if session.project}
    for text, said_at in entries:
        named = (
            project for project in projects if re.search(rf"\b{re.escape(project)}\b", text, re.I)
        )
        yield from _rules(text, said_at, next(named, None))
    for turn, sentence in week.statements():
        yield from _rules(sentence, turn.at, turn.session.project)


def _rules(text: str, said_at: datetime, project: str | None) -> Iterator[Prohibition]:
    changes = {change.gone: change.came for change in read_changes(text)}
    for gone in forbidden_in(text):
        taken = (word.lower() for word in _TAKES.findall(text) if word.lower() != gone)
        yield Prohibition(gone, changes.get(gone) or next(taken, ""), said_at, project)


def _correction(
    call: ToolCall, rule: Prohibition, said: dict[str, list[Utterance]]
) -> Utterance | None:
    """Returns the person's next turn, if it names what the rule is about."""
    turns = (turn for turn in said.get(call.session.id, ()) if turn.is_owner)
    turn = next((turn for turn in turns if turn.place > call.place), None)
    names = "|".join(re.escape(word) for word in (rule.gone, rule.came) if word)
    return turn if turn and re.search(rf"\b(?:{names})\b", turn.text, re.I) else None


def _problem(
    gone: str, broken: Sequence[tuple[ToolCall, Prohibition, Utterance | None]]
) -> RecurringProblem:
    came = next((rule.came for _, rule, _ in reversed(broken) if rule.came), "")
    return RecurringProblem(
        kind="tool_misuse",
        subject=f"run {gone}",
        title=f"`{gone}` is run although a rule says not to",
        section=RULES_SECTION,
        new=f"Use `{came}`, never `{gone}`." if came else f"Never run `{gone}`.",
        occurrences=tuple(_occurrence(call, turn) for call, _, turn in broken),
    )


def _occurrence(call: ToolCall, turn: Utterance | None) -> Occurrence:
    shown = [*call.message_ids, *([turn.message_id] if turn else [])]
    return Occurrence(call.session, tuple(shown), call.at, (turn or call).at - call.at)
