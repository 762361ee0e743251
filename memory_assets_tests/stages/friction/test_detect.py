"""Numbers: given once; the same over a moving week; never again once rejected; a new one if a change did not help."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from memory_assets.stages.friction.detect import follow, number, rows_of
from memory_assets.stages.friction.finding import Occurrence, RecurringProblem
from memory_assets.stages.friction.week import SessionInfo
from memory_assets.stages.reflect.proposals import Numbers
from memory_assets.stages.triage.projects import project_of
from memory_assets.store.ledger import Event

DAY = date(2026, 8, 10)


def finding(
    subject: str = "run pip",
    kind="tool_misuse",
    messages: tuple[str, ...] = ("m1", "m2"),
    **changes,
) -> RecurringProblem:
    """`pip` in two sessions of a shop."""
    occurrences = tuple(
        Occurrence(
            SessionInfo(f"s{n}", "shop", "/home/mira/code/shop", "mira"),
            (id,),
            datetime(2026, 8, 8, 9 + n, tzinfo=UTC),
            timedelta(minutes=3),
        )
        for n, id in enumerate(messages)
    )
    plain = {"title": "pip runs", "section": "Hard Rules", "old": "", "new": "Use uv."}
    return RecurringProblem(
        kind=kind, subject=subject, occurrences=occurrences, **{**plain, **changes}
    )


def event(kind: str, target: str, payload: dict | None = None, on: date = DAY) -> Event:
    return Event(
        "e",
        datetime.combine(on, datetime.min.time(), UTC) + timedelta(hours=8),
        "friction",
        kind,
        target,
        payload or {},
    )


def given(new: Numbers) -> list[Event]:
    return [event("proposal.numbered", id, payload) for id, payload in new]


def ids(
    day: date, findings: list[RecurringProblem], events: list[Event]
) -> tuple[list[str], list[str]]:
    own, new = number(day, findings, events, UTC)
    return [id for id, _ in own], [id for id, _ in new]


def test_the_same_day_made_again_gives_the_same_numbers():
    _, new = number(DAY, [finding(), finding("run npm", messages=("m3", "m4"))], [], UTC)
    assert [id for id, _ in new] == ["f-20260810-001", "f-20260810-002"]
    again = ids(DAY, [finding("run npm", messages=("m3", "m4")), finding()], given(new))
    assert again == (["f-20260810-002", "f-20260810-001"], [])


def test_counts_and_evidence_follow_later_sessions_and_the_words_stay():
    numbered, _ = number(DAY, [finding(), finding("run npm", messages=("m8", "m9"))], [], UTC)
    later = [
        finding(messages=("m1", "m2", "m3"), new="Use uv everywhere."),
        finding("pip", kind="recurring_failure"),
    ]
    ((first, grown), (_, other)) = follow(numbered, later)
    assert (first, grown.message_ids, grown.new) == (
        "f-20260810-001",
        ("m1", "m2", "m3"),
        "Use uv.",
    )
    assert other.message_ids == ("m8", "m9")
    (reworded,) = follow(numbered[:1], [finding("never pip", messages=("m1", "m2", "m4"))])
    assert reworded[1].message_ids == ("m1", "m2", "m4")


def test_in_other_words_it_is_the_same_where_a_message_is():
    _, new = number(DAY, [finding("Comments are sentences.", "repeated_correction")], [], UTC)
    assert ids(
        DAY + timedelta(days=1),
        [finding("Whole sentences!", "repeated_correction", ("m2", "m8"))],
        given(new),
    ) == ([], [])
    assert ids(
        DAY + timedelta(days=1),
        [finding("Whole sentences!", "repeated_correction", ("m8", "m9"))],
        given(new),
    )[1] == ["f-20260811-001"]


@pytest.mark.parametrize(
    ("kind", "payload", "is_raised"),
    [
        ("proposal.approved", {}, True),
        ("proposal.decided", {"state": "expired"}, True),
        ("proposal.rejected", {}, False),
    ],
)
def test_after_a_decision_it_is_raised_again_only_where_nobody_said_no(
    kind: str, payload: dict, is_raised: bool
):
    _, new = number(DAY, [finding()], [], UTC)
    events = [*given(new), event(kind, "f-20260810-001", payload)]
    later = finding(messages=("m7", "m8"))
    assert ids(DAY + timedelta(days=6), [later], events) == ([], [])
    assert ids(DAY + timedelta(days=7), [later], events)[1] == (
        ["f-20260817-001"] if is_raised else []
    )


def test_a_problem_is_of_its_project_unless_it_happens_in_several():
    one, several = finding(), finding("run npm", messages=("m3", "m4"))
    elsewhere = replace(several.occurrences[1].session, project="quay")
    several = replace(
        several,
        occurrences=(several.occurrences[0], replace(several.occurrences[1], session=elsewhere)),
    )
    rows = rows_of(DAY, [("f-1", one), ("f-2", several)], session_count=2, observed={}, zone=UTC)
    assert rows["project"].to_list() == ["shop", ""]
    assert [project_of(row) for row in rows.to_dicts()] == ["shop", ""]
