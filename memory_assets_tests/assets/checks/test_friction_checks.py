"""Frictions cite existing messages, name a change, and have one number for all days."""

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
