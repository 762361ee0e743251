"""The store emits what its runs established: a day with many observations, and each reflection, once for each state."""

import json

from memory_assets.runs.due import ACCUMULATED_TOKENS
from memory_assets.runs.steps.deliver import events
from memory_assets.runs.steps.distill import emit_accumulated
from memory_assets.runs.steps.reflect import emit_reflected
from memory_assets.store.store import Store
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import DAY, small_store, write

TODAY = DAY.isoformat()


def emitted(store: Store) -> list[tuple[str, str, dict]]:
    """The rows of the table `events`: name, subject, details."""
    rows = events(store, None)("all").frame.iter_rows(named=True)  # pyright: ignore[reportArgumentType,reportAttributeAccessIssue]
    return [(one["name"], one["subject"], json.loads(one["details"])) for one in rows]


def test_a_day_with_too_many_observations_to_wait_is_emitted_once():
    store = small_store()
    for tokens in (ACCUMULATED_TOKENS // 2 - 1, ACCUMULATED_TOKENS // 2):
        write(
            store,
            "observations",
            TODAY,
            *(row("observations", id=id, day=DAY, tokens=tokens) for id in ("a", "b")),
        )
        emit_accumulated(store, "observations", [TODAY])
        emit_accumulated(store, "observations", [TODAY])
    counts = {"totalTokens": ACCUMULATED_TOKENS, "observationCount": 2}
    assert emitted(store) == [("memory/observations.accumulated", TODAY, counts)]


def test_a_reflection_is_emitted_with_its_sizes_and_again_when_it_changes():
    store = small_store()
    write(store, "proposals", TODAY, row("proposals", proposal_id="p-1", day=DAY))
    for written in (50, 50, 40):
        made = row(
            "reflections", reflection_id="r", day=DAY, input_tokens=200, output_tokens=written
        )
        write(store, "reflections", TODAY, made)
        emit_reflected(store, "proposals", [TODAY])
    sizes = {"inputTokens": 200, "outputTokens": 50, "compressionRatio": 0.25, "proposalCount": 1}
    changed = {**sizes, "outputTokens": 40, "compressionRatio": 0.2}
    found = sorted(emitted(store), key=lambda one: -one[2]["outputTokens"])
    assert found == [("memory/observations.reflected", TODAY, one) for one in (sizes, changed)]
