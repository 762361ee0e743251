"""Every step is logged: what it wrote and how long it took, or the error that stopped it; the table answers in one query."""

from collections.abc import Iterator
from datetime import timedelta
from unittest.mock import patch

import polars as pl
import pytest

from memory_assets.errors import TableError
from memory_assets.runs.builders import BUILDERS
from memory_assets.runs.materialise import materialise
from memory_assets.runs.steps.quality import TELEMETRY_KEPT
from memory_assets.schema.tables import TABLES, WHOLE, Table, built_together
from memory_assets.store.store import Store
from memory_assets.store.telemetry import StepEvent, log_step, read_steps
from memory_assets_tests.factories import frame_of_part, row
from memory_assets_tests.small_store import DAY, small_store

TODAY = DAY.isoformat()
STEPS = built_together(TABLES.values())


@pytest.fixture(scope="module")
def module_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MEMORY_DATA", str(tmp_path_factory.mktemp("store")))
        yield small_store()


def build_telemetry(store: Store) -> pl.DataFrame:
    materialise(store, [TABLES["telemetry"]], [WHOLE])
    return store.tables.read("telemetry")


@pytest.mark.parametrize("tables", STEPS, ids=[tables[-1].name for tables in STEPS])
def test_a_fault_in_any_step_leaves_an_error(module_store: Store, tables: list[Table]):
    def fail(*_: object) -> None:
        raise TableError("said by somebody: the password is swordfish")

    before = len(list(read_steps(module_store.root)))
    with patch.dict(BUILDERS, {tables[-1].name: fail}), pytest.raises(TableError):
        materialise(module_store, tables, ["2026-08-03"])
    (event,) = [*read_steps(module_store.root)][before:]
    lead = tables[-1]
    assert (event["component"], event["action"], event["level"]) == (lead.stage, lead.name, "error")
    assert event["problem"] == "TableError"
    assert "swordfish" not in str(event)


def test_the_facts_that_were_discarded_this_week_are_one_query():
    store, tables = (
        small_store(),
        [TABLES[name] for name in ("segments", "verdicts", "observations")],
    )
    decided = ("allow", "allow", "hold", "discard", "discard", "discard")
    rows = (row("verdicts", candidate_id=str(n), verdict=one) for n, one in enumerate(decided))
    made = {
        "verdicts": frame_of_part("verdicts", TODAY, *rows),
        **{name: store.tables.read(name, [TODAY]) for name in ("segments", "observations")},
    }
    with patch.dict(BUILDERS, observations=lambda store, run: lambda part: made):
        materialise(store, tables, [TODAY])
    week = build_telemetry(store).filter(pl.col("at") >= store.settings.clock() - timedelta(days=7))
    found = (
        week.filter(pl.col("action") == "observations")
        .select("extracted", "allowed", "held", "discarded")
        .sum()
    )
    assert found.row(0) == (6, 2, 1, 3)


def test_the_table_keeps_what_the_log_has_deleted_and_drops_what_is_old():
    store = small_store()
    now = store.settings.clock()
    for action, at in (("memories", now), ("merges", now - TELEMETRY_KEPT - timedelta(days=1))):
        log_step(store.root, StepEvent(at, "embed", action, True, 5.0))
    build_telemetry(store)
    (store.root / "logs" / "steps.jsonl").unlink()
    assert "memories" in build_telemetry(store)["action"].to_list()
    assert "merges" not in build_telemetry(store)["action"].to_list()


def test_a_day_that_nothing_requires_is_not_written_and_one_that_lost_its_rows_is_emptied():
    store = small_store()
    gap = (DAY - timedelta(days=2)).isoformat()
    materialise(store, [TABLES["passages"]], [gap, TODAY])
    assert list(store.tables.parts("passages")) == [TODAY]
    of_gap = store.tables.read("passages", [TODAY]).with_columns(
        day=pl.lit(DAY - timedelta(days=2))
    )
    store.tables.write("passages", gap, of_gap, inputs="x")
    materialise(store, [TABLES["passages"]], [gap, TODAY])
    assert store.tables.parts("passages")[gap].rows == 0
