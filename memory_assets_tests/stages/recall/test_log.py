"""How questions were answered: by tier, with the cost, and without their words."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from memory_assets.stages.recall.log import by_day, log_recalls, payload_of, shares
from memory_assets.stages.recall.results import Answer
from memory_assets.store.ledger import Event

AT = datetime(2026, 8, 3, 23, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def event(number: int, answer: Answer | None = None, at: datetime = AT, **payload: Any) -> Event:
    told = payload_of(answer) if answer else {}
    return Event(
        f"{number:09d}",
        at,
        "mira",
        "memory.recalled",
        f"query{number}",
        {"memory_ids": [], **told, **payload},
    )


def test_each_tier_is_counted_and_so_are_questions_that_nothing_answered():
    answers = [Answer("q", "balanced", (), 0, tier=tier) for tier in (1, 2, 2, 3)] + [
        Answer("q", "lean", (), 0, is_known=False)
    ]
    found = log_recalls([event(n, answer) for n, answer in enumerate(answers)], BERLIN)
    assert shares(found) == {"summaries": 1, "memories": 2, "word for word": 1, "not in memory": 1}


def test_the_question_is_nowhere_in_the_log():
    answer = Answer(
        "where does the heron nest?", "balanced", (), 0, asked="heron nest", notes=("heron",)
    )
    assert "heron" not in str(payload_of(answer))


def test_a_day_is_the_owners():
    answer = Answer("q", "balanced", (), 0, tier=2)
    unknown = Answer("q", "balanced", (), 0, is_known=False)
    found = log_recalls(
        [
            event(1, answer),
            event(2, unknown, AT + timedelta(hours=1)),
            event(3, answer, AT - timedelta(days=1)),
        ],
        BERLIN,
    )
    assert [(str(day), count, share) for day, count, share in by_day(found)] == [
        ("2026-08-03", 1, {"memories": 1.0}),
        ("2026-08-04", 2, {"memories": 0.5, "not in memory": 0.5}),
    ]
