"""Finds rules that sessions break although their briefing had them, each with what enforces it.

A harness enforces what it can: Claude Code denies or asks by a permission rule, Codex by a prefix
rule, pi by an extension. Without commands to deny, the rule is repeated in AGENTS.md.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby

import polars as pl

from memory_assets.schema.frames import hash_of
from memory_assets.stages.friction.finding import (
    AGENTS_MD,
    RULES_SECTION,
    Occurrence,
    RecurringProblem,
)
from memory_assets.stages.friction.known_rules import KnownRule
from memory_assets.stages.friction.week import SessionInfo

FEWEST_SESSIONS = 2
Enforcement = tuple[str, str, str]
"""File, section and text."""

_EXTENSION = """\
const forbidden = new RegExp({pattern});
export default function (pi) {{
  pi.on("tool_call", (event) => {{
    if (forbidden.test(String(event.input.command ?? ""))) {{
      return {{ block: true, reason: {reason} }};
    }}
  }});
}}
"""


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


def enforce(rule: KnownRule, harness: str) -> Enforcement:
    """Returns the file of the harness, its section and the text that enforce the rule."""
    enforced = {"claude_code": _permissions, "codex": _prefix_rules, "pi": _extension}[harness](
        rule
    )
    return enforced if enforced[-1] else (AGENTS_MD, RULES_SECTION, rule.text)


def _permissions(rule: KnownRule) -> Enforcement:
    folders = (path.rstrip("/") + "/**" * path.endswith("/") for path in rule.rule.files)
    lines = [*map("Edit({})".format, folders), *map("Bash({}:*)".format, _commands(rule))]
    return ".claude/settings.json", "ask" if rule.rule.then else "deny", "\n".join(lines)


def _prefix_rules(rule: KnownRule) -> Enforcement:
    decision = "prompt" if rule.rule.then else "forbidden"
    behind = f'decision="{decision}", justification={_quoted(rule.text)})'
    patterns = (_quoted(command.split()) for command in _commands(rule))
    lines = (f"prefix_rule(pattern={pattern}, {behind}" for pattern in patterns)
    return f".codex/rules/{hash_of(rule.id)}.rules", "", "\n".join(lines)


def _extension(rule: KnownRule) -> Enforcement:
    names = "|".join(map(re.escape, _commands(rule)))
    pattern = _quoted(rf"(?:^|[;&|(]\s*)(?:{names})(?!\S)")
    text = _EXTENSION.format(pattern=pattern, reason=_quoted(rule.text))
    is_denied = names and not rule.rule.then
    return f".pi/extensions/{hash_of(rule.id)}.ts", "", text if is_denied else ""


def _commands(rule: KnownRule) -> list[str]:
    """Returns how the commands begin that surely are some; `*`, which stands for any program,
    begins none.
    """
    commands = rule.rule.forbidden or rule.rule.then
    sure = (command for command in commands if command.is_sure)
    return [command.text for command in sure if command.words[0] != "*"]


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
