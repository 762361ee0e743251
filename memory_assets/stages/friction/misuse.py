"""Finds programs that agents run although a rule forbids them.

Takes the week and the rules: dated lines of MEMORY.md, and what people said in the week's sessions.
A rule names what is forbidden ("use uv, never pip"); a call that runs it counts if the rule was
known before, or if the person's next turn corrected it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_assets.english.changes import Change, read_changes
from memory_assets.english.openings import strip_opening
from memory_assets.stages.friction.finding import RULES_SECTION, Occurrence, RecurringProblem
from memory_assets.stages.friction.obedience import Act, acts_of, judge
from memory_assets.stages.friction.visible_rules import (
    EVERYDAY_WORDS,
    CommandPattern,
    VisibleRule,
    read_rule,
)
from memory_assets.stages.friction.week import ToolCall, Utterance, Week

FEWEST_SESSIONS = 2
"""The second session that breaks a rule shows that the rule alone is not enough."""


@dataclass(frozen=True)
class Prohibition:
    """A command that must not be run."""

    rule: VisibleRule
    said_at: datetime
    project: str | None
    """The project it holds for; None: all."""

    @property
    def gone(self) -> str:
        """The command."""
        return self.rule.forbidden[0].text

    @property
    def came(self) -> str:
        """What to run instead; empty if nobody said."""
        return next((command.text for command in self.rule.preferred), "")

    def forbids(self, acts: Sequence[Act]) -> bool:
        """Returns whether it forbids what a call does."""
        verdict = judge(self.rule, acts)
        return verdict is not None and verdict.state == "broken"


def find_misuse(week: Week, entries: Iterable[tuple[str, datetime]]) -> list[RecurringProblem]:
    """Returns the programs that were run against a rule in two sessions or more; `entries` are
    dated lines.
    """
    rules = list(_rules_of(week, entries))
    said = week.utterances_by_session()
    by_program: dict[str, list[tuple[ToolCall, Prohibition, Utterance | None]]] = defaultdict(list)
    for call in week.calls:
        acts = list(acts_of(call))
        here = (rule for rule in rules if rule.project in (None, call.session.project))
        broken = [(rule, _correction(call, rule, said)) for rule in here if rule.forbids(acts)]
        if counted := next((one for one in broken if one[0].said_at <= call.at or one[1]), None):
            by_program[counted[0].gone].append((call, *counted))
    found = [_problem(gone, broken) for gone, broken in sorted(by_program.items())]
    return [problem for problem in found if len(problem.session_ids) >= FEWEST_SESSIONS]


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
    rule = read_rule(strip_opening(text))
    rules = [rule] if rule and rule.forbidden else map(_rule_of_change, read_changes(text))
    for rule in filter(None, rules):
        for command in rule.forbidden:
            yield Prohibition(replace(rule, forbidden=(command,)), said_at, project)


def _rule_of_change(change: Change) -> VisibleRule | None:
    """Returns the rule to run what replaced a program, if the change may be about programs."""
    names = (change.gone, change.came)
    if not EVERYDAY_WORDS.isdisjoint(names):
        return None
    forbidden, preferred = (CommandPattern(tuple(name.split())) for name in names)
    return VisibleRule(forbidden=(forbidden,), preferred=(preferred,))


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
