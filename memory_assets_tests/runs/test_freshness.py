"""Deadlines: stopped input is late for each table in time, and without input nothing is."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_assets.errors import StoreError
from memory_assets.runs.due import due_runs
from memory_assets.runs.freshness import (
    INFLOWS,
    Waiting,
    check_deadlines,
    find_waiting,
    keep_waiting,
)
from memory_assets.runs.record import last_build, last_run
from memory_assets.runs.steps.maintain import health_inputs
from memory_assets.schema.tables import JOBS, TABLES, Table, deadline_of
from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.silence import alarm, late_input
from memory_assets.stages.maintain.health_report import is_overdue
from memory_assets.store.store import Store
from memory_assets_tests.of_extras import CASES
from memory_assets_tests.once import built_once, sampled
from memory_assets_tests.simulated import advance, at_moment, run, store_at, write_session

START = datetime(2026, 8, 3, 12, 0, tzinfo=UTC)
"""A Monday."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store in which a session of a week ago was processed, and its transcript."""

    def build(folder: Path) -> None:
        write_session(folder / "sources", 1, START - timedelta(hours=2))
        store = store_at(START, data=folder / "store", sources=str(folder / "sources"), timezone="UTC", owner="mira",
                         harness_memories=False)  # fmt: skip
        for _ in range(2):
            advance(store)
        spool.append(
            str(store.root), "memory/friction.requested", {}, version=1, at=START.timestamp()
        )
        advance(at_moment(store, START))

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        return built_once(tmp_path_factory, "fresh-store", build)


@pytest.fixture
def store(built: Path, tmp_path: Path) -> Store:
    """A copy of that store."""
    shutil.copytree(built / "store", tmp_path / "store", dirs_exist_ok=True)
    shutil.copytree(built / "sources", tmp_path / "sources")
    store = store_at(START, sources=str(tmp_path / "sources"), owner="mira", harness_memories=False,
                     **{name: value for cases in CASES for name, value in cases.settings(tmp_path).items()})  # fmt: skip
    advance(store)  # the transcript has moved
    return store


def waits(store: Store) -> dict[str, Waiting]:
    return {one.name: one for one in find_waiting(store)}


def is_red(store: Store, name: str, now: datetime) -> bool:
    """Whether the doctor names it at the moment."""
    return any(
        check.name == name and not check.passed for check in check_deadlines(at_moment(store, now))
    )


CLOCKED = [job.name for job in JOBS.values() if job.every_days]


@pytest.mark.parametrize("name", CLOCKED)
def test_what_the_clock_starts_is_due_once_its_time_has_passed_and_its_input_changed(
    name: str, store: Store
):
    passed = START + timedelta(days=JOBS[name].every_days)
    assert due_runs(at_moment(store, passed - timedelta(minutes=1)), name) == []
    assert due_runs(at_moment(store, passed), name)
    advance(at_moment(store, passed))
    for later in (passed, passed + timedelta(days=400)):
        assert due_runs(at_moment(store, later), name) == []


INPUTS = {name: put for cases in CASES for name, put in cases.INPUTS.items()}
"""What gives tables of optional capabilities new input, where that is no session."""


def built_together_with(table: Table) -> list[str]:
    lead = table.built_with or table.name
    return [other.name for other in TABLES.values() if lead in (other.name, other.built_with)]


def stop(store: Store, name: str) -> None:
    """Lets new input come for the table, which is not built from it."""
    table, now = TABLES[name], store.settings.clock()
    if name in INPUTS:
        INPUTS[name](store)
        keep_waiting(store)
        advance(
            at_moment(store, now + timedelta(minutes=90)),
            built_together_with(table),
        )
        return
    if name == "events":
        spool.append(
            str(store.root), "memory/friction.requested", {}, version=1, at=now.timestamp()
        )
        run(store, "brief")
        return
    write_session(Path(store.settings.sources), 2, now)
    later = at_moment(store, now + timedelta(minutes=90))  # the session is idle: its window closes
    broken = built_together_with(table)
    for _ in range(2):
        advance(later, broken)


UNASKED = {
    "dead_letters", "harness_memories", "verifications",  # no input in this store, and no repository
    "model_reviews", "evaluation",  # no model, no labelled sessions
    "weekly_distillates", "monthly_distillates", "timeline",  # their week and month are not over
    "friction",  # too few observations
}  # fmt: skip
"""Tables that a second session is no input for."""


OF_THE_CLOCK = [name for name, table in TABLES.items() if JOBS[table.jobs[0]].every_days]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", sampled([name for name in TABLES if name not in {*UNASKED, *OF_THE_CLOCK}], 3)
)
def test_a_table_whose_input_is_stopped_turns_red_within_its_deadline_and_not_before(
    name: str, store: Store
):
    assert name not in waits(store)
    begun = START + timedelta(hours=1)
    stop(at_moment(store, begun), name)
    after = timedelta(minutes=91)
    (since,) = [
        one.since for one in find_waiting(at_moment(store, begun + after)) if one.name == name
    ]
    deadline = deadline_of(TABLES[name])
    assert begun <= since <= begun + after
    assert not is_red(store, name, since + deadline)
    assert is_red(store, name, since + deadline + timedelta(seconds=1))
    assert is_red(store, name, begun + after + deadline)
    advance(at_moment(store, begun + after))
    if name in INFLOWS:
        run(at_moment(store, begun + after), TABLES[name].jobs[0])
    assert name not in waits(at_moment(store, begun + after))


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(OF_THE_CLOCK, 2))
def test_a_table_that_the_clock_starts_turns_red_within_its_deadline_after_its_time(
    name: str, store: Store
):
    table = TABLES[name]
    passed = at_moment(store, START + timedelta(days=JOBS[table.jobs[0]].every_days))
    assert name not in waits(at_moment(store, passed.settings.clock() - timedelta(minutes=1)))
    advance(passed, built_together_with(table))
    late = waits(passed)[name].since + deadline_of(table)
    assert late == passed.settings.clock() + deadline_of(table)
    assert not is_red(store, name, late)
    assert is_red(store, name, late + timedelta(seconds=1))
    advance(passed)
    assert name not in waits(passed)


def test_chroma_may_be_older_than_the_embeddings_between_two_nights_and_its_age_is_shown(
    store: Store,
):
    def chroma(store: Store) -> tuple[bool, str]:
        (check,) = [one for one in check_deadlines(store) if one.name == "chroma"]
        return check.passed, check.found

    assert chroma(store) == (True, "older than the embeddings of 2026-08-03 12:00 UTC")
    next_night = at_moment(store, START + timedelta(days=1))
    advance(next_night)
    assert chroma(next_night) == (True, "up to date")


def test_what_waits_is_kept_for_the_report_and_the_briefing_says_so_when_the_time_has_come(
    store: Store,
):
    begun = START + timedelta(hours=1)
    write_session(Path(store.settings.sources), 2, begun)
    keep_waiting(at_moment(store, begun))
    assert health_inputs(at_moment(store, begun)).waiting["resources"] == begun
    root, deadline = str(store.root), begun + timedelta(hours=24)
    assert late_input(root, deadline.timestamp()) is None
    line = alarm(root, deadline.timestamp() + 1)
    assert line is not None
    assert line.startswith(
        "Memory is silent: job capture and 5 more did not process its input since 2026-08-03 13:00 UTC"
    )
    advance(at_moment(store, begun + timedelta(minutes=90)))
    keep_waiting(at_moment(store, begun + timedelta(minutes=90)))
    assert late_input(root, deadline.timestamp() + 1) is None
    assert "resources" not in health_inputs(store).waiting


def test_the_report_shows_what_waits_now_where_no_update_noted_it(store: Store):
    begun = START + timedelta(hours=1)
    write_session(Path(store.settings.sources), 2, begun)
    spool.append(
        str(store.root), "memory/friction.requested", {}, version=1, at=begun.timestamp() + 60
    )
    later = at_moment(store, begun + timedelta(days=3))
    inputs = health_inputs(later)
    assert inputs.waiting["resources"] == begun
    assert inputs.waiting["events"] == begun + timedelta(minutes=1)
    assert is_overdue(inputs, "resources") and is_overdue(inputs, "events")
    keep_waiting(later)
    advance(later)
    assert {"resources", "events"}.isdisjoint(health_inputs(later).waiting)
    Path(store.settings.sources).rename(Path(store.settings.sources).with_name("moved"))
    assert health_inputs(later).waiting["resources"] == begun  # as noted


def test_a_clock_that_was_set_back_does_not_hide_what_waits(store: Store):
    begun = START + timedelta(hours=1)
    write_session(Path(store.settings.sources), 2, begun)
    keep_waiting(at_moment(store, begun + timedelta(hours=2)))
    back = keep_waiting(at_moment(store, begun - timedelta(hours=5)))
    assert {one.since for one in back} == {begun - timedelta(hours=5)}
    assert is_red(store, "resources", begun + timedelta(hours=25))


def test_a_run_that_failed_leaves_no_trace_in_the_record(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    before, ran = last_build(store, "memories"), last_run(store, "rebuild_memories")
    assert ran == START

    def full(*_: object, **__: object) -> None:
        raise StoreError("no space")

    later = at_moment(store, START + timedelta(hours=1))
    monkeypatch.setattr(later.tables, "write", full)
    with pytest.raises(StoreError):
        run(later, "rebuild_memories")
    assert last_build(store, "memories") == before
    assert last_run(store, "rebuild_memories") == START
