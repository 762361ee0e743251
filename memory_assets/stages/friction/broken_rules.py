"""Finds rules that sessions break although their briefing had them, each with what enforces it.

A harness enforces what it can, by its own kind of rule. What it cannot is repeated in AGENTS.md.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby

import polars as pl

from memory_assets.harnesses.declaration import EnforcedRule, Enforcement
from memory_assets.harnesses.harness_list import HARNESSES
from memory_assets.schema.frames import hash_of
from memory_assets.schema.vocabulary import Harness
from memory_assets.stages.friction.finding import (
    AGENTS_MD,
    RULES_SECTION,
    Occurrence,
    RecurringProblem,
)
from memory_assets.stages.friction.known_rules import KnownRule
from memory_assets.stages.friction.week import SessionInfo

FEWEST_SESSIONS = 2


def find_broken_rules(
    rows: pl.DataFrame, rules: Sequence[KnownRule], sessions: Mapping[str, SessionInfo]
) -> list[RecurringProblem]:
    """Returns the rules that two sessions broke after they were in the briefing; `rows` are those
    of the week in the table `obedience`.
    """
    is_of_week = pl.col("session_id").is_in(list(sessions))
    informed = rows.filter(is_of_week, known="briefing").sort("rule_id", "event_at")
    by_rule = groupby(informed.iter_rows(named=True), lambda row: row["rule_id"])
    judged = {rule_id: list(group) for rule_id, group in by_rule}
    problems: list[RecurringProblem] = []
    for rule in rules:
        of_rule = judged.get(rule.id, [])
        broken = [row for row in of_rule if row["state"] == "broken"]
        occurrences = tuple(
            Occurrence(sessions[row["session_id"]], (row["message_id"],), row["event_at"])
            for row in broken
        )
        session_count = len({row["session_id"] for row in broken})
        if session_count >= FEWEST_SESSIONS:
            total = len({row["session_id"] for row in of_rule})
            count = f"{session_count} of {total} sessions that had it in their briefing"
            file, section, text = enforce(rule, broken[-1]["harness"])
            title = f"“{rule.text}” was broken in {count}"
            what = (rule.id, title, section, text, occurrences, file)
            problems.append(RecurringProblem("broken_rule", *what))
    return problems


def enforce(rule: KnownRule, harness: Harness) -> Enforcement:
    """Returns the file of the harness, its section and the text that enforce the rule."""
    enforced = EnforcedRule(
        hash_of(rule.id), rule.text, _commands(rule), rule.rule.files, bool(rule.rule.then)
    )
    enforce_in = HARNESSES[harness].enforce
    repeated = Enforcement(AGENTS_MD, RULES_SECTION, rule.text)
    enforcement = enforce_in(enforced) if enforce_in else repeated
    return enforcement if enforcement.text else repeated


def _commands(rule: KnownRule) -> list[str]:
    """Returns how the commands begin that surely are some; `*`, which stands for any program,
    begins none.
    """
    commands = rule.rule.forbidden or rule.rule.then
    sure = (command for command in commands if command.is_sure)
    return [command.text for command in sure if command.words[0] != "*"]
