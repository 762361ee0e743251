"""Other limits, asked of past rows: which flip, from what to what, and what people had made of them; nothing is written."""

from dataclasses import replace
from typing import Any

import pytest

from memory_assets.errors import QuestionError
from memory_assets.extras.lab.reruling import Limits, flips_of_gate, flips_of_triage, parse_limits
from memory_assets.stages.distill.day import WindowFindings, judge_windows
from memory_assets.stages.distill.rows import candidate_id
from memory_assets.stages.distill.rules.candidates import Candidate, Observed
from memory_assets.stages.distill.standards import MOST_ALLOWED, GateLimits, Standards
from memory_assets.stages.triage.auto import TriageLimits
from memory_assets_tests.factories import frame, row
from memory_assets_tests.stages.distill.test_write_gate import BASE

WINDOW = row("windows", window_id="w", status="observed", user_turn_count=1000)
WINDOWS = frame("windows", WINDOW)
ROOM = {"w": MOST_ALLOWED}
SEGMENT = {"window_id": "w", "segment_id": "s"}


RULE = "Always run `make check` before you commit."


def found(*candidates: Candidate) -> WindowFindings:
    observed = Observed("rules/4", "rules", ("",), ((0,),), candidates)
    return WindowFindings(WINDOW, [SEGMENT], observed)


def flips(
    one: WindowFindings, limits: GateLimits, outcomes: dict[str, str] | None = None
) -> list[tuple[str, str, str]]:
    stored = {
        candidate_id(j.candidate, one.segments): j.verdict
        for _, own in judge_windows([one], ROOM)
        for j in own
    }
    return [
        (f.was, f.becomes, f.outcome)
        for f in flips_of_gate([one], WINDOWS, limits, stored, outcomes or {})
    ]


def proposal(**changes: Any) -> dict[str, Any]:
    plain = {
        "proposal_id": "p-20260803-001",
        "text": RULE,
        "confidence": 0.7,
        "author": "owner",
        "session_ids": ["s1", "s2"],
    }
    return {**row("proposals"), "section": "Patterns", **plain, **changes}


def test_a_fact_that_a_stricter_limit_would_hold_is_told_with_what_people_made_of_it():
    one = found(BASE, replace(BASE, text="Redis keeps the cursor of the worker.", usefulness=0.95))
    id = candidate_id(BASE, one.segments)
    assert flips(one, GateLimits(least_useful=0.9), {id: "approved"}) == [
        ("allow", "hold", "approved")
    ]


def test_past_rows_are_compared_with_what_holds_today_and_not_with_what_is_usual():
    one, today = (
        found(replace(BASE, usefulness=0.75)),
        Standards(limits=GateLimits(least_useful=0.8)),
    )
    id = candidate_id(one.observed.candidates[0], one.segments)
    (flip,) = flips_of_gate([one], WINDOWS, GateLimits(), {id: "hold"}, {}, today)
    assert (flip.was, flip.becomes) == ("hold", "allow")
    assert parse_limits(["gate.most_allowed=3"], Limits(gate=today.limits)).gate.least_useful == 0.8


def test_the_present_limits_flip_nothing_and_rows_that_other_rules_made_are_left_out():
    one = found(BASE)
    assert flips(one, GateLimits()) == []
    made_by_others = {candidate_id(BASE, one.segments): "hold"}
    assert (
        list(flips_of_gate([one], WINDOWS, GateLimits(least_useful=0.9), made_by_others, {})) == []
    )
    assert list(flips_of_gate([one], WINDOWS, GateLimits(least_useful=0.9), {}, {})) == []


def test_a_proposal_flips_by_itself_and_is_told_with_its_decision():
    (flip,) = flips_of_triage(
        [proposal()],
        TriageLimits(promoted_above=0.6),
        frozenset(),
        {},
        {"p-20260803-001": "rejected"},
    )
    assert (flip.was, flip.becomes, flip.outcome) == ("pending", "promoted", "rejected")
    assert flip.why_was == "x said it in 2 sessions, last on 2026-08-03; not sure enough"


def test_what_rules_merged_or_promoted_on_trust_is_left_as_it_was():
    ruled = {"p-20260803-001": "merged"}
    assert (
        list(
            flips_of_triage([proposal()], TriageLimits(promoted_above=0.6), frozenset(), ruled, {})
        )
        == []
    )


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            "least_useful=0.8",
            "There is no limit 'least_useful'; name one as NAME=VALUE: gate.least_chars",
        ),
        ("gate.least_useful", "'' is no value of gate.least_useful; give a number."),
        ("gate.most_allowed=2.5", "'2.5' is no value of gate.most_allowed; give a whole number."),
        ("gate.least_useful=-1", "gate.least_useful cannot be -1; give a number from 0."),
        ("gate.least_useful=nan", "gate.least_useful cannot be nan; give a number from 0."),
    ],
)
def test_a_limit_that_cannot_be_is_named_with_those_that_can(named: str, message: str):
    with pytest.raises(QuestionError) as told:
        parse_limits([named])
    assert str(told.value).startswith(message)
