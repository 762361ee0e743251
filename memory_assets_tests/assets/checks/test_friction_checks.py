"""Verdicts and frictions cite existing messages, name a change, and have one number for all days."""

import pytest

from memory_assets.store.store import Store
from memory_assets_tests.assets.checks.outcomes import failing
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import DAY, IDS, small_store, write

ON = DAY.isoformat()
FOUND = {
    "proposal_id": "p-1",
    "day": DAY,
    "kind": "recurring_failure",
    "message_ids": IDS[:2],
    "target": "A.md",
    "new": "Uv.",
}


def friction(store: Store, **changes: object) -> None:
    write(store, "friction", ON, row("friction", **FOUND | changes))


@pytest.mark.parametrize(
    ("changes", "failed"),
    [
        ({}, []),
        ({"message_ids": [IDS[0], "gone"]}, ["citations_resolve"]),
        ({"new": ""}, ["actionable"]),
        ({"target": ""}, ["actionable"]),
    ],
)
def test_a_friction_cites_messages_and_names_a_change(changes: dict, failed: list[str]):
    store = small_store()
    friction(store, **changes)
    assert failing(store, "friction", [ON]) == failed


def test_a_friction_on_two_days_fails():
    store = small_store()
    friction(store)
    write(store, "friction", "2026-08-04", row("friction", **FOUND))
    assert failing(store, "friction") == ["numbered_once"]


@pytest.mark.parametrize(
    ("changes", "failed"),
    [
        ({}, []),
        ({"message_id": "gone"}, ["calls_exist"]),
        ({"state": "broken"}, ["briefed_rules_are_kept"]),
        ({"state": "broken", "known": "before"}, []),
    ],
)
def test_a_verdict_on_a_rule_names_a_call_and_a_briefed_rule_is_kept(
    changes: dict, failed: list[str]
):
    store = small_store()
    kept = {"day": DAY, "message_id": IDS[1], "state": "kept", "known": "briefing"}
    write(store, "obedience", ON, row("obedience", **kept | changes))
    assert failing(store, "obedience", [ON]) == failed
