"""Reflection as assets: days, then weeks and months from them, made anew when their days change; checks red and green once."""

from collections.abc import Iterable
from datetime import date
from typing import Any

import dagster as dg
import pytest

from memory_assets.assets.automation import accumulated_requests
from memory_assets.runs import due
from memory_assets.runs.due import days_accumulated
from memory_assets.runs.staleness import stale_days
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.words import count_tokens
from memory_assets_tests.dagster_runs import run_assets, run_check
from memory_assets_tests.factories import START, row
from memory_assets_tests.small_store import write

MONDAY, TUESDAY = date(2026, 8, 3), date(2026, 8, 4)


def fact(name: str, day: date = MONDAY, **changes: Any) -> dict[str, Any]:
    text = f"`make {name}` deploys the {name} service of the harbor to production."
    plain = {
        "kind": "fact",
        "gate": "allow",
        "priority": "high",
        "author": "owner",
        "category": "operations",
        "text": text,
    }
    plain |= {
        "project": "harbor",
        "person": "mira",
        "tokens": count_tokens(text),
        "event_at": START + (day - MONDAY),
    }
    return row(
        "observations", id=f"{name:0<8}-0000-5000-8000-000000000000", day=day, **plain | changes
    )


def observe(store: Store, day: date, *facts: dict[str, Any]) -> None:
    write(store, "observations", day.isoformat(), *facts)


@pytest.fixture
def store() -> Store:
    store = open_store(read_settings())
    write(store, "merges", "all")
    observe(store, MONDAY, *(fact(f"a{number}") for number in range(4)), fact("d0", gate="hold"))
    observe(store, TUESDAY, *(fact(f"b{number}", TUESDAY) for number in range(4)))
    return store


def run(store: Store, *names: str, first: date, last: date) -> dict[str, dg.AssetCheckEvaluation]:
    """Materialises the assets for the parts, with all their checks, which are returned by asset and name."""
    result = run_assets(store, *names, days=(first, last))
    return {
        f"{found.asset_key.to_user_string()}.{found.check_name}": found
        for found in result.get_asset_check_evaluations()
    }


def reflect_days(store: Store) -> dict[str, dg.AssetCheckEvaluation]:
    return run(store, "reflections", "dropped_facts", "proposals", first=MONDAY, last=TUESDAY)


def distil(store: Store) -> dict[str, dg.AssetCheckEvaluation]:
    checks = run(
        store, "weekly_distillates", "dropped_facts", "timeline", first=MONDAY, last=MONDAY
    )
    return checks | run(
        store, "monthly_distillates", "dropped_facts", first=date(2026, 8, 1), last=date(2026, 8, 1)
    )


def ids(names: Iterable[str]) -> list[str]:
    return sorted(fact(name)["id"] for name in names)


def test_days_become_a_week_and_a_month_and_every_fact_is_told_or_listed(store: Store):
    assert list(stale_days(store, "reflect")) == [MONDAY, TUESDAY]
    checks = reflect_days(store) | distil(store)
    assert [name for name, found in checks.items() if not found.passed] == []
    week, month = (
        store.tables.read(name).to_dicts() for name in ("weekly_distillates", "monthly_distillates")
    )
    ids_of_days = store.tables.read("reflections")["reflection_id"].to_list()
    assert [one["reflection_ids"] for one in (*week, *month)] == [ids_of_days] * 2
    told, listed = set(week[0]["observation_ids"]), store.tables.read("dropped_facts")
    of_week = set(listed.filter(span="week")["observation_id"])
    assert (
        told | of_week == set(ids(f"{day}{number}" for day in "ab" for number in range(4)))
        and not told & of_week
    )
    assert len(month[0]["observation_ids"]) < len(told)
    assert listed.filter(span="day").select("observation_id", "reason").rows() == [
        (ids(["d0"])[0], "held")
    ]


def test_a_finished_week_is_due_until_it_is_distilled_and_again_when_a_day_changes(
    store: Store, monkeypatch
):
    assert list(stale_days(store, "distil_weeks")) == []
    reflect_days(store)
    assert (list(stale_days(store, "distil_weeks")), list(stale_days(store, "distil_months"))) == (
        [MONDAY],
        [date(2026, 8, 1)],
    )
    distil(store)
    assert list(stale_days(store, "distil_weeks")) == list(stale_days(store, "distil_months")) == []
    before = store.tables.parts("weekly_distillates")
    distil(store)
    assert store.tables.parts("weekly_distillates") == before

    observe(store, TUESDAY, fact("c0", TUESDAY))
    assert list(stale_days(store, "reflect")) == [TUESDAY]
    reflect_days(store)
    assert list(stale_days(store, "distil_weeks")) == [MONDAY]
    distil(store)
    listed = store.tables.read("dropped_facts").filter(span="week")["observation_id"]
    assert not listed.is_in(ids(["b0", "b1", "b2", "b3"])).any()
    assert list(stale_days(store, "distil_weeks")) == []
    write(store, "segments", MONDAY.isoformat(), row("segments", segment_id="s1"))
    assert list(stale_days(store, "distil_weeks")) == [MONDAY]


def test_a_very_full_day_is_reflected_on_at_once_and_once_a_day(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    assert accumulated_requests(store) == []
    monkeypatch.setattr(due, "ACCUMULATED_TOKENS", sum(fact(f"b{n}")["tokens"] for n in range(4)))
    observe(store, MONDAY, fact("a0"))
    assert days_accumulated(store) == [TUESDAY]
    (request,) = accumulated_requests(store)
    assert (request.job_name, request.run_key) == ("reflect", "reflect-accumulated-2026-09-01")
    assert request.partition_key_range == dg.PartitionKeyRange("2026-08-04", "2026-08-04")
    reflect_days(store)
    assert accumulated_requests(store) == []


@pytest.mark.parametrize(
    ("table", "part", "check", "change"),
    [
        (
            "reflections",
            "2026-08-03",
            "reflections.citations_resolve",
            {"observation_ids": ["gone"]},
        ),
        (
            "reflections",
            "2026-08-03",
            "reflections.smaller_than_its_input",
            {"text": "word " * 100},
        ),
        (
            "weekly_distillates",
            "2026-08-03",
            "weekly_distillates.citations_resolve",
            {"observation_ids": ["gone"]},
        ),
        (
            "weekly_distillates",
            "2026-08-03",
            "weekly_distillates.shorter_than_its_days",
            {"output_tokens": 10_000},
        ),
        (
            "monthly_distillates",
            "2026-08-01",
            "monthly_distillates.shorter_than_its_days",
            {"output_tokens": 10_000},
        ),
        ("timeline", "2026-08-03", "timeline.every_sentence_cites", {"observation_ids": []}),
        ("timeline", "2026-08-03", "timeline.every_sentence_cites", {"observation_ids": ["gone"]}),
        ("timeline", "2026-08-03", "timeline.every_sentence_cites", {"commits": ["abcdef0"]}),
        ("timeline", "2026-08-03", "timeline.every_sentence_cites", {"message_ids": ["gone"]}),
        ("dropped_facts", "week-2026-08-03", "dropped_facts.nothing_vanished", None),
        ("dropped_facts", "day-2026-08-03", "dropped_facts.nothing_vanished", None),
    ],
)
def test_a_broken_promise_is_named(
    store: Store, table: str, part: str, check: str, change: dict[str, Any] | None
):
    observe(store, MONDAY, *(fact(f"a{number}") for number in range(4)), fact("e0", priority="low"))
    reflect_days(store)
    distil(store)
    kept = store.tables.read(table, [part]).to_dicts()
    write(store, table, part, *([{**kept[0], **change}] if change else []))
    assert not judge(store, check).passed


def judge(store: Store, check: str) -> dg.AssetCheckEvaluation:
    """Runs one check alone, on the tables as they lie."""
    return run_check(store, *check.split("."))
