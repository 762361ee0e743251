"""What is stale follows from the declarations: their settings, functions and order are tested table by table."""

from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from memory_assets.runs.due import due_runs
from memory_assets.runs.inputs import ASKS, input_versions
from memory_assets.runs.materialise import materialise
from memory_assets.runs.staleness import is_stale, note_name, stale_days, stale_partitions
from memory_assets.schema.tables import JOBS, TABLES, WHOLE
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets_tests.factories import row
from memory_assets_tests.of_extras import CASES
from memory_assets_tests.small_store import DAY, WINDOW, bring_up_to_date, index, small_store, write

NOW = "2026-08-10T06:00:00+00:00"
"""The week of the only day is over, frictions are still looked for in it, and no proposal has expired."""

PAID = {"model", "observer_prompt"}
"""Settings whose change costs money: they wait for a run that names the days."""

DECLARED = [(table.name, setting) for table in TABLES.values() for setting in table.settings]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Store:
    """A store of one day, in which no table is stale."""
    monkeypatch.setenv("MEMORY_NOW", NOW)
    store = small_store()
    write(store, "reflections", DAY.isoformat(), row("reflections", day=DAY))
    for cases in CASES:
        cases.write_sources(store)
    write(store, "harness_memories", WHOLE)
    remembered = tmp_path / "home" / ".codex" / "memories" / "MEMORY.md"
    remembered.parent.mkdir(parents=True)
    remembered.write_text("The release train leaves on Thursday.\n")
    index(store)
    bring_up_to_date(store)
    return store


def other_value(settings: Settings, setting: str, folder: Path) -> Any:
    """Returns a value that the setting does not have, of the setting's own kind."""
    files = {"observer_prompt": "Write down what the owner says.", "taxonomy": _taxonomy()}
    if setting in files:
        (folder / setting).write_text(files[setting])
        return folder / setting
    present = getattr(settings, setting)
    named = {
        "timezone": "Europe/Berlin",
        "date_order": "mdy",
        "model": "claude-haiku-4-5",
        "least_useful": 0.9,
        "aliases": {"Buildkite": ["bk"]},
        "people": {"mira": "Mira Keller"},
        "sections": {"operations": "Runbooks"},
        "gold": _gold(folder),
        "harness_memories": False,
        "optional_categories": ["health"],
    }
    if setting in named:
        return named[setting]
    return present + 1 if isinstance(present, int) else f"{present}-2"


def _taxonomy() -> str:
    text = (resources.files("memory_assets.stages.distill") / "taxonomy.toml").read_text("utf-8")
    return text.replace('version = "v1"', 'version = "mine"')


def _gold(folder: Path) -> Path:
    (folder / "gold").mkdir(exist_ok=True)
    (folder / "gold" / "session.json").write_text("{}")
    return folder / "gold"


def changed_in(store: Store, setting: str, folder: Path) -> Store:
    """Returns the same store with another value of the setting."""
    value = other_value(store.settings, setting, folder)
    assert value != getattr(store.settings, setting)
    return Store(store.settings.model_copy(update={setting: value}), store.root)


def is_judged(name: str) -> bool:
    return TABLES[name].is_judged


def test_a_store_that_is_up_to_date_asks_for_nothing(store: Store):
    assert not is_stale(store, TABLES)
    assert [
        job for job, declared in JOBS.items() if declared.is_partitioned and stale_days(store, job)
    ] == []
    assert [run for job in JOBS for run in due_runs(store, job)] == []


def test_a_day_that_an_older_version_logged_is_logged_again(store: Store):
    table, day = TABLES["daily_log"], DAY.isoformat()
    log, window = store.workspace / "memory" / f"{day}.md", "ab" * 32
    for name, part in (
        ("windows", WHOLE),
        ("messages", day),
        ("segments", day),
        ("observations", day),
    ):
        rows = store.tables.read(name, [part]).with_columns(
            pl.col("window_id").str.replace(WINDOW, window)
        )
        store.tables.write(name, part, rows)
    bring_up_to_date(store)
    log.parent.mkdir()
    log.write_text(
        f"# {day}\n\n<!-- window {window[:12]} -->\nOld handoff.\n<!-- /window {window[:12]} -->\nMine.\n"
    )
    store.note(note_name(table, day), "of daily_log/1")
    assert [*stale_days(store, "process_days")] == [DAY]
    materialise(store, [table], [day])
    assert "Old handoff." not in log.read_text()
    assert "#### Handoff" in log.read_text() and "Mine." in log.read_text()
    assert stale_days(store, "process_days") == {}


def test_another_value_of_a_declared_setting_makes_each_partition_stale(
    store: Store, tmp_path: Path
):
    fresh = [
        (name, setting)
        for name, setting in DECLARED
        if is_judged(name)
        and setting not in PAID
        and not _is_stale_in_all_parts(changed_in(store, setting, tmp_path), name)
    ]
    assert fresh == []


def _is_stale_in_all_parts(store: Store, name: str) -> bool:
    wanted = input_versions(store, TABLES[name])
    return bool(wanted) and stale_partitions(store, TABLES[name]) == sorted(wanted)


def test_another_model_or_prompt_costs_money_and_is_noted_but_makes_nothing_stale(
    store: Store, tmp_path: Path
):
    with_model = changed_in(store, "model", tmp_path)
    assert not is_stale(with_model, TABLES)
    asking = set(ASKS)
    assert asking == {
        "merges",
        "observer_answers",
        "reflections",
        "weekly_distillates",
        "monthly_distillates",
    }
    changed = {
        name
        for name in asking
        if input_versions(with_model, TABLES[name]) != input_versions(store, TABLES[name])
    }
    assert changed == asking - {"monthly_distillates", "merges"}, (
        "the month is not over; merges have no input version"
    )
    other_prompt = changed_in(with_model, "observer_prompt", tmp_path)
    assert not is_stale(other_prompt, TABLES)
    table = TABLES["observer_answers"]
    assert input_versions(other_prompt, table) != input_versions(with_model, table)
