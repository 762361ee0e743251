"""The time that a question names, and the question without it."""

from datetime import UTC, datetime

import pytest

from memory_assets.stages.recall.parsed_question import Timed, parse_time

NOW = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)


def day(month: int, number: int, year: int = 2026) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "rest", "since", "until"),
    [
        ("What was decided since October?", "What was decided?", day(10, 1), None),
        (
            "What was decided in March about styling?",
            "What was decided about styling?",
            day(3, 1),
            day(4, 1),
        ),
        ("Which rules came after June 2025?", "Which rules came?", day(7, 1, 2025), None),
        ("Where were jobs queued before september?", "Where were jobs queued?", None, day(9, 1)),
        ("What broke in December?", "What broke?", day(12, 1, 2025), day(1, 1)),
        ("What did we learn in the last two weeks?", "What did we learn?", day(11, 1), None),
        ("What broke over the past 3 days?", "What broke?", day(11, 12), None),
        ("What broke yesterday?", "What broke?", day(11, 14), day(11, 15)),
        ("Rules since 2026-08-02", "Rules", day(8, 2), None),
    ],
)
def test_a_named_time_becomes_a_range(
    question: str, rest: str, since: datetime | None, until: datetime | None
):
    assert parse_time(question, NOW) == Timed(rest, since, until)


@pytest.mark.parametrize(
    "question", ["May I deploy?", "Does it march on?", "Rules since 2026-13-45", "Which port?", ""]
)
def test_a_question_without_a_time_stays_as_it_is(question: str):
    assert parse_time(question, NOW) == Timed(question)
