"""Whether memory helps is said from the day on which a session first knew a rule, and only of enough sessions."""

from dataclasses import replace
from datetime import date, timedelta

import polars as pl
import pytest

from memory_assets.stages.maintain.helping import (
    NOTHING_JUDGED,
    HelpInputs,
    help_line,
    help_sentences,
    rule_rows,
)
from memory_assets_tests.factories import frame, row

SINCE, TODAY = date(2026, 10, 1), date(2026, 10, 10)


def verdict(number: int, state: str = "kept", known: str = "briefing", **changes) -> dict:
    day = SINCE + timedelta(days=number)
    about = {"rule_id": "m1", "session_id": f"s{number}", "project": "shop", "harness": "codex"}
    return row("obedience", **about, state=state, known=known, **{"day": day} | changes)


def returned(*days: date) -> pl.DataFrame:
    return pl.DataFrame({"day": days}, schema={"day": pl.Date})


KEPT_FOUR_OF_FIVE = frame(
    "obedience", verdict(0), verdict(1), verdict(2), verdict(3), verdict(4, "broken")
)


def test_one_line_says_how_many_sessions_kept_the_rules_and_what_was_said_again():
    again = returned(date(2026, 9, 20), date(2026, 9, 25), date(2026, 9, 30), date(2026, 10, 2))
    line = help_line(replace(NOTHING_JUDGED, obedience=KEPT_FOUR_OF_FIVE, returned=again), TODAY)
    assert line == (
        "since 2026-10-01: 1 rule, kept in 4 of 5 sessions; 1 correction returned (2 in as many days before)"
    )


def test_fewer_than_five_sessions_are_too_few_to_say():
    few = frame("obedience", verdict(0), verdict(1, "broken"))
    line = help_line(replace(NOTHING_JUDGED, obedience=few), TODAY)
    assert "kept in 1 of 2 sessions (too few to say);" in line


def test_nothing_is_said_before_a_session_knew_a_rule():
    inputs = replace(NOTHING_JUDGED, obedience=frame("obedience", verdict(0, known="before")))
    assert help_line(inputs, TODAY) == ""
    assert help_sentences(inputs, TODAY) == ["No session knew a rule yet that tool calls can show."]


def test_memories_shown_lines_used_and_minutes_of_failures_are_counted():
    shown = pl.DataFrame(
        {"day": [SINCE] * 3, "is_used": [True, False, None], "tokens": [10, 20, 30]}
    )
    days = [SINCE - timedelta(days=1)] * 5 + [SINCE] * 4
    failures = pl.DataFrame({"day": days, "minutes": [6.0] * 9})
    inputs = HelpInputs(
        KEPT_FOUR_OF_FIVE,
        returned(),
        returned(SINCE, TODAY),
        shown,
        failures,
        briefing_tokens=70,
        line_count=8,
        used_line_count=3,
    )
    assert help_sentences(inputs, TODAY)[2:] == [
        "Of 2 memories shown to sessions 1 were used; 60 tokens of them were put into contexts, "
        "and 70 of briefings in the last month.",
        "Questions asked in the words of an earlier session: 2.",
        "Lines of MEMORY.md used: 3 of 8.",
        "Minutes between a repeated failure and its cure: 6.0 before, too few to say since.",
    ]


@pytest.mark.parametrize(
    ("known", "shares"),
    [("before", ("0 of 1 (too few to say)", "–")), ("recalled", ("–", "0 of 1 (too few to say)"))],
)
def test_a_rule_has_a_line_for_each_project_and_harness(known: str, shares: tuple[str, str]):
    rows = rule_rows(
        frame("obedience", verdict(0, "broken", known), verdict(0, "kept", known, day=TODAY))
    )
    assert rows == [
        ("rule", "project", "harness", "kept before", "kept since"),
        ("mem_m1", "shop", "codex", *shares),
    ]
