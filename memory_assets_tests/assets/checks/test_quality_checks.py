"""Quality as assets: numbers by day for plots, also in a run of several days; every check is red once and green once."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import dagster as dg
import pytest

from memory_assets.runs.staleness import stale_days
from memory_assets.store.store import Store
from memory_assets_tests.dagster_runs import run_assets
from memory_assets_tests.factories import message, row
from memory_assets_tests.small_store import DAY, FACT, WINDOW, small_store, write

NEXT = date(2026, 8, 4)
SAID = "No, use uv, never pip, to install packages here."


@pytest.fixture
def store() -> Store:
    return small_store()


def write_day(
    store: Store,
    day: date,
    *facts: Mapping[str, Any],
    parse_path: str = "rules",
    reason: str = "durable",
) -> None:
    """A day with one message and these facts about it, all of them allowed."""
    plain = {"day": day, "kind": "fact", "gate": "allow", "author": "owner", "text": FACT}
    plain |= {"message_ids": ["m1"], "window_id": WINDOW}
    rows = [
        row("observations", **{**plain, "id": f"{day}-{number}", **each})
        for number, each in enumerate(facts)
    ]
    verdict = {"day": day, "verdict": "allow", "reason": reason, "parse_path": parse_path}
    told = [row("verdicts", candidate_id=each["id"], **verdict) for each in rows]
    write(store, "messages", day.isoformat(), message(SAID, message_id="m1", day=day))
    write(store, "observations", day.isoformat(), *rows)
    write(store, "verdicts", day.isoformat(), *told)


def measure(store: Store, *, last: date = DAY) -> dg.ExecuteInProcessResult:
    """Materialises the days up to the last one, with all checks."""
    names = (
        "allowed_facts_are_grounded", "no_invented_clock_times", "the_owner_is_heard", "questions_outrank_no_statement",
        "state_changes_name_what_they_replace", "no_copied_tool_output", "facts_are_whole_sentences",
    )  # fmt: skip
    return run_assets(
        store, "quality", days=(DAY, last), checks=dict.fromkeys(names, "observations")
    )


def checks(result: dg.ExecuteInProcessResult) -> dict[str, dg.AssetCheckEvaluation]:
    return {found.check_name: found for found in result.get_asset_check_evaluations()}


def numbers(result: dg.ExecuteInProcessResult) -> dict[str | None, dict[str, Any]]:
    """The metadata of each day."""
    found = result.asset_materializations_for_node("quality")
    return {
        event.partition: {name: value.value for name, value in event.metadata.items()}
        for event in found
    }


def test_each_day_of_a_run_has_its_own_numbers(store: Store):
    write_day(
        store, DAY, {}, {"text": "Install packages with uv, never with pip.", "priority": "high"}
    )
    write_day(
        store,
        NEXT,
        {"text": "It is never pip here: use uv to install packages.", "priority": "low"},
    )
    found = numbers(measure(store, last=NEXT))
    first, second = found[DAY.isoformat()], found[NEXT.isoformat()]
    assert (first["candidates"], first["allowed"], first["allowed_dangling"]) == (2, 2, 0)
    assert (second["candidates"], second["allowed"], second["allowed_dangling"]) == (1, 1, 1)
    assert (first["high_priority_share"], second["high_priority_share"]) == (1.0, 0.0)
    assert (
        first["dagster/partition_row_count"] == store.tables.parts("quality")[DAY.isoformat()].rows
    )


def test_a_measured_day_is_due_again_only_when_what_it_was_measured_from_changed(store: Store):
    write_day(store, DAY, {})
    measure(store)
    written = store.tables.parts("quality")[DAY.isoformat()].written_at
    measure(store)
    assert store.tables.parts("quality")[DAY.isoformat()].written_at == written
    write_day(store, DAY, {}, {"text": "Another."})
    assert DAY in list(stale_days(store, "process_days"))
    measure(store)
    assert store.tables.parts("quality")[DAY.isoformat()].written_at > written


@pytest.mark.parametrize(
    ("check", "facts", "day"),
    [
        ("allowed_facts_are_grounded", [{"text": "The moon is made of green cheese."}], {}),
        ("no_invented_clock_times", [{"text": "Use uv, never pip, since 14:05."}], {}),
        ("the_owner_is_heard", [{"message_ids": ["m0"]}], {}),
        (
            "state_changes_name_what_they_replace",
            [{"text": "Packages: uv is used, the lock file was moved."}],
            {},
        ),
        (
            "questions_outrank_no_statement",
            [{"priority": "high", "quote": "Should we use uv?"}],
            {},
        ),
        ("facts_are_whole_sentences", [{"text": "Never pip:, use uv,, to install packages."}], {}),
        ("few_candidates_are_junk", [{}], {"reason": "a passing state"}),
        ("few_facts_are_repeats", [{}, {}], {}),
        ("answers_are_read_as_asked", [{}], {"parse_path": "raw"}),
        ("allowed_facts_stand_alone", [{"text": "It is never pip here: use uv."}], {}),
    ],
)
def test_a_broken_promise_turns_its_check_red_and_a_kept_one_green(
    store: Store, check: str, facts: list[dict], day: dict
):
    write_day(store, DAY, {})
    assert checks(measure(store))[check].passed
    write_day(store, DAY, *facts, **day)
    found = checks(measure(store))[check]
    assert not found.passed
    assert found.metadata["offending_rows"].value and f"{DAY}-0" in str(
        found.metadata["examples"].value
    )
    is_error = check in ("allowed_facts_are_grounded", "no_invented_clock_times")
    assert found.severity == (
        dg.AssetCheckSeverity.ERROR if is_error else dg.AssetCheckSeverity.WARN
    )
