"""Which memories leave recall: stale ones after 90 days without access, archived ones after six months; each move is one event."""

from datetime import datetime, timedelta

import polars as pl
import pytest

from memory_assets.stages.maintain.retire import plan_archive, plan_cold
from memory_assets.store.ledger import ARCHIVED, COLD, RESTORED, Event
from memory_assets_tests.factories import START, frame, row


def at(days: float) -> datetime:
    return START + timedelta(days=days)


def memories(**states: str) -> pl.DataFrame:
    """Memories that were last said at the start."""
    return frame(
        "memories",
        *(row("memories", id=id, state=state, event_at=START) for id, state in states.items()),
    )


def moved(planned: list) -> list[str]:
    return [id for one in planned for id in one.payload["memory_ids"]]


@pytest.mark.parametrize(("days", "ids"), [(90, []), (91, ["a"])])
def test_a_stale_memory_is_archived_after_90_days_without_access(days: int, ids: list[str]):
    planned = plan_archive(memories(a="stale"), [], at(days))
    assert moved(planned) == ids
    assert all((one.kind, one.target) == (ARCHIVED, "weekly") for one in planned)


def test_only_stale_memories_are_archived_so_age_alone_never_suffices():
    others = memories(a="active", b="held", c="superseded", d="archived", e="cold", f="forgotten")
    assert plan_archive(others, [], at(2_000)) == []


def test_six_months_without_access_are_cold():
    archived, since = memories(a="archived", b="active"), {"a": at(91), "b": START}
    assert moved(plan_cold(archived, since, [], at(182))) == []
    (planned,) = plan_cold(archived, since, [], at(183))
    assert (planned.kind, planned.target, planned.payload["memory_ids"]) == (COLD, "monthly", ["a"])


def test_a_restored_memory_has_90_days_again_and_can_be_archived_again():
    stale, restored = (
        memories(a="stale"),
        [Event("1", at(120), "mira", RESTORED, "a", {"memory_ids": ["a"]})],
    )
    (first,) = plan_archive(stale, [], at(100))
    assert plan_archive(stale, restored, at(210)) == []
    (second,) = plan_archive(stale, restored, at(211))
    assert second.payload["memory_ids"] == ["a"]
    assert second.id != first.id
    assert plan_cold(memories(a="archived"), {"a": at(211)}, restored, at(302)) == []
