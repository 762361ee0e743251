"""Rules are the owner's, and lines of MEMORY.md; a session knew one that it was shown."""

from datetime import UTC, date, datetime

import polars as pl
import pytest

from memory_assets.stages.friction.known_rules import (
    NEVER,
    Exposure,
    KnownRule,
    find_rules,
    judge_day,
)
from memory_assets.stages.friction.visible_rules import read_rule
from memory_assets.stages.friction.week import SessionInfo, ToolCall, Week
from memory_assets_tests.factories import fact, frame, row

DAY = date(2026, 10, 2)
AT = datetime(2026, 10, 2, 9, tzinfo=UTC)
USE_UV = "Use uv, never pip."
SESSION = SessionInfo("s1", "shop", "/home/mira/code/shop", "mira")
OWNERS = {"author": "owner", "category": "rules-conventions"}


def known_rule(**changes) -> KnownRule:
    rule = read_rule(USE_UV)
    assert rule is not None
    return KnownRule(**{"id": "m1", "text": USE_UV, "rule": rule, "project": "shop"} | changes)


def judged(
    rule: KnownRule, exposure: Exposure = Exposure(), command: str = "pip install ruff"
) -> pl.DataFrame:
    call = ToolCall(SESSION, 3, "m3", AT, "Bash", command)
    return judge_day(DAY, (rule,), Week((call,), (), {"s1": SESSION}), {"s1": "codex"}, exposure)


def test_rules_are_the_active_ones_of_the_owner_and_the_lines_of_memory_md():
    memories = frame(
        "memories",
        fact("m1", USE_UV, **OWNERS),
        fact("m2", "Never run `npm publish`.", **OWNERS | {"state": "superseded"}),
        fact("m3", "Never run `npm publish`.", **OWNERS | {"author": "assistant"}),
        fact("m4", "Commit messages are short.", **OWNERS),
    )
    line = row(
        "entries",
        text="Never `git push --force`.",
        memory_id=None,
        proposal_id="p-1",
        entry_on=DAY,
        state="candidate",
    )
    former = {**line, "text": "Never run `npm publish`.", "memory_id": "m2"}
    entries = frame("entries", line, former).with_columns(project=pl.lit(""))
    rules = find_rules(memories, entries, {"p-1": AT})
    assert [(rule.text, rule.project, rule.line_since, rule.origin) for rule in rules] == [
        (USE_UV, "shop", NEVER, "memory"),
        ("Never `git push --force`.", "", AT, "line"),
        ("Never run `npm publish`.", "shop", AT, "line of a memory"),
    ]


def test_a_row_names_the_rule_the_session_and_the_call_that_broke_it():
    (row,) = judged(known_rule()).to_dicts()
    assert row == {
        "rule_id": "m1", "session_id": "s1", "day": DAY, "project": "shop", "harness": "codex", "state": "broken",
        "known": "before", "applied_count": 1, "broken_count": 1, "message_id": "m3", "command": "pip install ruff",
        "event_at": AT,
    }  # fmt: skip


def test_a_rule_of_another_project_is_not_judged():
    assert judged(known_rule(project="billing")).is_empty()


@pytest.mark.parametrize(
    ("exposure", "since", "known"),
    [
        (Exposure(), NEVER, "before"),
        (Exposure(texts={"s1": f"- (2026-10-01) {USE_UV}"}), NEVER, "briefing"),
        (Exposure(briefed=frozenset({"s1"})), datetime(2026, 10, 1, tzinfo=UTC), "briefing"),
        (Exposure(briefed=frozenset({"s1"})), datetime(2026, 10, 3, tzinfo=UTC), "before"),
        (Exposure(briefed=frozenset({"s2"})), datetime(2026, 10, 1, tzinfo=UTC), "before"),
        (Exposure(recalled={("s1", "m1"): AT}), NEVER, "recalled"),
        (Exposure(noted={("m1", "s1"): "briefing"}), NEVER, "briefing"),
    ],
)
def test_a_session_knew_a_rule_that_its_briefing_or_a_recall_had(
    exposure: Exposure, since: datetime, known: str
):
    assert judged(known_rule(line_since=since), exposure)["known"].to_list() == [known]
