"""Makes the rows of the table `obedience`: a rule, a session in which it applied, and the verdict.

The rules are the owner's rules and preferences among the active memories, and the lines of
MEMORY.md. A session knew a rule if its briefing had the line, or a recall showed the memory.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from itertools import chain
from typing import Any, Literal

import polars as pl

from memory_assets.schema.frames import frame_of, hash_of
from memory_assets.stages.friction.obedience import Act, RuleVerdict, acts_of, judge
from memory_assets.stages.friction.visible_rules import VisibleRule, read_rule
from memory_assets.stages.friction.week import SessionInfo, Week
from memory_assets.text.words import shortened

RULE_CATEGORIES = ("rules-conventions", "preferences")
LONGEST_COMMAND = 200

HowKnown = Literal["briefing", "recalled", "before"]
Origin = Literal["memory", "line of a memory", "line"]
NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class KnownRule:
    """A rule of the owner that tool calls can show."""

    id: str
    text: str
    rule: VisibleRule
    project: str
    """The project that it is about; empty for all."""
    line_since: datetime = NEVER
    """Since when it is a line of MEMORY.md."""

    origin: Origin = "memory"
    """Whether it is an active memory; else the line of a former one, or a line alone."""
    source: str = ""
    """The text of the memory, which the line may word otherwise; of a line alone its own."""


@dataclass(frozen=True)
class Exposure:
    """What sessions were shown of memory."""

    briefed: frozenset[str] = frozenset()
    """Sessions that were given a briefing."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Session → the texts that were put into its context."""
    recalled: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    """Session and memory → when it was first shown."""
    noted: Mapping[tuple[str, str], HowKnown] = field(default_factory=dict)
    """Rule and session → what an earlier build found, whose traces are deleted after a month."""

    def how_known(
        self, rule: KnownRule, session: str, started_at: datetime, acted_at: datetime
    ) -> HowKnown:
        """Returns how the session, which began at that time, knew the rule when it acted."""
        is_line = rule.line_since <= started_at
        if rule.text in self.texts.get(session, "") or (is_line and session in self.briefed):
            return "briefing"
        if self.recalled.get((session, rule.id), NEVER) <= acted_at:
            return "recalled"
        return self.noted.get((rule.id, session), "before")


@dataclass(frozen=True)
class _Wording:
    source: str
    text: str
    line_since: datetime = NEVER
    origin: Origin = "memory"


def find_rules(
    memories: pl.DataFrame, entries: pl.DataFrame, promoted_at: Mapping[str, datetime]
) -> tuple[KnownRule, ...]:
    """Returns the rules that can be seen, each once; `promoted_at` has the times of proposals, the
    entries their `project`.
    """
    is_rule = pl.col("category").is_in(RULE_CATEGORIES)
    of_owner = memories.filter(is_rule, kind="fact", state="active", author="owner")
    projects = {
        row["id"]: row["project"] if row["scope"] == "project" else ""
        for row in memories.iter_rows(named=True)
    }
    wordings: dict[str, _Wording] = {
        id: _Wording(text, text) for id, text in of_owner.select("id", "text").iter_rows()
    }
    for row in entries.filter(pl.col("state") != "deprecated").iter_rows(named=True):
        since = promoted_at.get(row["proposal_id"] or "", _midnight(row["entry_on"]))
        id = row["memory_id"] or f"line_{hash_of(row['text'])}"
        former: Origin = "line of a memory" if row["memory_id"] else "line"
        memory = wordings.get(id, _Wording(row["text"], row["text"], origin=former))
        projects.setdefault(id, row["project"])
        wordings[id] = replace(memory, text=row["text"], line_since=since)
    rules = ((id, wording, read_rule(wording.text)) for id, wording in wordings.items())
    return tuple(
        KnownRule(id=id, rule=rule, project=projects.get(id, ""), **vars(wording))
        for id, wording, rule in rules
        if rule
    )


def judge_day(
    day: date,
    rules: tuple[KnownRule, ...],
    week: Week,
    harnesses: Mapping[str, str],
    exposure: Exposure,
) -> pl.DataFrame:
    """Returns the rows of the day; `harnesses` has the harness of each session."""
    rows: list[dict[str, Any]] = []
    for session_id, calls in week.calls_by_session().items():
        session = calls[0].session
        acts = list(chain.from_iterable(map(acts_of, calls)))
        for rule, verdict in _verdicts(rules, session, acts):
            row = {
                "rule_id": rule.id,
                "session_id": session_id,
                "day": day,
                "project": session.project,
                "harness": harnesses.get(session_id, "claude_code"),
                "state": verdict.state,
                "known": exposure.how_known(rule, session_id, calls[0].at, verdict.call.at),
                "applied_count": verdict.applied_count,
                "broken_count": verdict.broken_count,
                "message_id": verdict.call.message_id,
                "command": shortened(verdict.text, LONGEST_COMMAND),
                "event_at": verdict.call.at,
            }
            rows.append(row)
    return frame_of("obedience", rows).sort("rule_id", "session_id")


def _verdicts(
    rules: tuple[KnownRule, ...], session: SessionInfo, acts: list[Act]
) -> Iterator[tuple[KnownRule, RuleVerdict]]:
    for rule in rules:
        verdict = judge(rule.rule, acts) if rule.project in ("", session.project) else None
        if verdict:
            yield rule, verdict


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
