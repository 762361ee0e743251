"""What if: other settings on past days, in a branch; today's store stays as it is until they are adopted, and then is by them."""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from memory_assets.errors import SettingsError, StoreError
from memory_assets.extras.lab import what_if
from memory_assets.extras.lab.views import render_what_if
from memory_assets.interfaces.views.terminal import plain_console, show
from memory_assets.memory import MemoryAgent
from memory_assets.runs import launch
from memory_assets.runs.build import fill
from memory_assets.runs.days import days_between
from memory_assets.runs.staleness import stale_days
from memory_assets.schema.frames import key_of
from memory_assets.schema.records import VALID_STATES
from memory_assets.services.settings.which_store import StoreChoice
from memory_assets.stages.distill.rules.rules import OBSERVER
from memory_assets.store.settings import Settings, read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.conftest import NOW, REPOSITORY
from memory_assets_tests.extras.lab.test_branches import bytes_of
from memory_assets_tests.journeys.test_model_journey import MODEL, about_windows, dutiful
from memory_assets_tests.messages_api import KEY, MessagesApi, serve
from memory_assets_tests.once import only_whole
from memory_assets_tests.story import lay_out_sample, start

pytestmark = pytest.mark.slow
Opened = Callable[[Path], Store]
"""Opens a copy of the store, which the test may change."""

CHANGES = {"facts_per_session": "0"}
"""The bluntest of all: what rules wrote loses what it rests on."""
PAGE = "projects/notes-site.md"
MADE_OF_OBSERVATIONS = ("segments", "observations", "verdicts", "merges", "memories")
SLOG = ("slog.lock", "workspace/slog.jsonl")
"""What is done with branches is logged."""
NOT_TODAYS = ("branches/", "answers/", "dagster/", *SLOG)


def settings_at(data: Path, sources: Path, **more: object) -> Settings:
    return read_settings(
        data=data, sources=str(sources), owner="mira", timezone="UTC", now=NOW, **more
    )


def built(data: Path, sources: Path, **more: object) -> Store:
    store = open_store(settings_at(data, sources, **more))
    launch.ingest(store)
    return store


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("what_if")


@pytest.fixture(scope="module")
def sources(folder: Path) -> Path:
    """Two sessions of one project, ten days apart, that say one rule: it is a line of the project's file that rules wrote."""
    return lay_out_sample(
        folder / "transcripts", "/pi/agent/sessions/--home-mira-code-notes-site--"
    )


@pytest.fixture(scope="module")
def unbranched(folder: Path, sources: Path) -> Path:
    return built(folder / "today", sources).root


@pytest.fixture(scope="module")
def branched(folder: Path, sources: Path, unbranched: Path) -> Path:
    shutil.copytree(unbranched, folder / "branched")
    what_if.make(open_store(settings_at(folder / "branched", sources)), None, None, CHANGES, "mine")
    return folder / "branched"


@pytest.fixture
def opened(sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    monkeypatch.chdir(tmp_path)

    def copy(root: Path) -> Store:
        shutil.copytree(root, tmp_path / "store")
        return open_store(settings_at(tmp_path / "store", sources))

    return copy


def todays(store: Store) -> dict[str, bytes]:
    return {
        name: content
        for name, content in bytes_of(store.root).items()
        if not name.startswith(NOT_TODAYS)
    }


def assert_same_tables_of_observations(found: Store, expected: Store) -> None:
    for table in MADE_OF_OBSERVATIONS:
        ours, theirs = (one.tables.read(table).sort(key_of(table)) for one in (found, expected))
        assert_frame_equal(ours, theirs, rel_tol=0.0, abs_tol=1e-5)


def page_of(found: what_if.WhatIf) -> what_if.Side:
    return next(side for side in found.files if side.path == PAGE)


def test_a_branch_shows_what_differs_and_today_is_untouched(
    opened: Opened, unbranched: Path, branched: Path
):
    store = opened(branched)
    assert todays(store) == todays(open_store(settings_at(unbranched, Path())))
    found = what_if.show(store, "mine")
    assert (found.observations.after, found.memories.after, found.cost.calls) == (0, 0, 0)
    assert found.observations.count("lost") == found.observations.before > 0
    assert {change.why for change in found.observations.changes} == {
        "now held: more useful facts fill the session's share"
    }
    assert [(one.name, one.state) for one in what_if.list_branches(store)] == [("mine", "made")]


@only_whole("an adoption that is killed and finished ends with the same tables")
def test_adopted_tables_are_those_of_a_store_that_always_had_it(
    opened: Opened, branched: Path, folder: Path, sources: Path
):
    store = opened(branched)
    found = what_if.show(store, "mine")
    adopted = what_if.adopt(store, "mine")
    today = open_store(settings_at(store.root, sources))
    assert adopted.path.read_text() == "facts_per_session = 0\n"
    assert today.settings.facts_per_session == 0
    assert_same_tables_of_observations(
        today, built(folder / "from the beginning", sources, facts_per_session=0)
    )
    assert (today.workspace / PAGE).read_text() == page_of(found).after
    assert (what_if.list_branches(today), (today.root / "branches").exists()) == ((), False)
    assert (stale_days(today, "process_days"), stale_days(today, "reflect")) == ({}, {})


def test_killed_it_is_made_on_and_ends_as_an_undisturbed_one(
    opened: Opened, unbranched: Path, branched: Path, sources: Path
):
    undisturbed = what_if.show(open_store(settings_at(branched, sources)), "mine")
    store = opened(unbranched)
    process = start("lab what-if --set facts_per_session=0 --name mine", store.root, sources)
    runs = store.root / "branches" / "mine" / "dagster" / "history"
    while not runs.is_dir():  # the branch is begun, and its first run under way
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert what_if.list_branches(store)[0].state == "making"
    with pytest.raises(StoreError, match="is not complete"):
        what_if.show(store, "mine")
    found = what_if.make(store, None, None, CHANGES, "mine")
    assert replace(found, seconds=0.0) == replace(undisturbed, seconds=0.0)


def test_the_next_run_ends_a_killed_adoption(
    opened: Opened, branched: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
):
    store = opened(branched)
    found = what_if.show(store, "mine")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(launch, "rematerialise", killed)
        with pytest.raises(KeyboardInterrupt):
            what_if.adopt(store, "mine")
    fill(StoreChoice(settings_at(store.root, sources), "the next run"))
    today = open_store(settings_at(store.root, sources))
    assert (today.settings.facts_per_session, what_if.list_branches(today)) == (0, ())
    allowed = today.tables.read("observations").filter(
        (pl.col("gate") == "allow") & (pl.col("kind") == "fact")
    )
    assert allowed.height == found.observations.after
    assert (today.workspace / PAGE).read_text() == page_of(found).after


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with serve(dutiful) as running:
        yield running


def test_adopting_asks_no_model_again(
    opened: Opened, unbranched: Path, api: MessagesApi, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    store = opened(unbranched)
    day, later = days_between(store.tables, None, None)
    changes = {"model": MODEL, "model_url": api.url}
    wanted, before = what_if.estimate(store, day, day, changes, None), todays(store)
    assert api.questions() == []
    found = what_if.make(store, day, day, changes, "model")
    assert len(about_windows(api)) == wanted.cost.calls == 1
    asked = len(api.questions())
    assert (found.cost.calls, (found.cost.usd or 0) > 0, todays(store)) == (asked, True, before)
    what_if.drop(store, "model")
    again = what_if.make(store, day, day, changes, "model")
    assert (len(api.questions()), again.cost.calls, again.observations) == (
        asked,
        0,
        found.observations,
    )
    adopted = what_if.adopt(store, "model")
    assert (len(api.questions()), adopted.cost.calls) == (asked, 0)
    observers = store.tables.read("observations").select("day", "observer").unique().sort("day")
    assert observers.rows() == [(day, MODEL), (later, OBSERVER)]


def test_what_cannot_be_tried_is_told_with_what_can(
    opened: Opened, unbranched: Path, tmp_path: Path
):
    store = opened(unbranched)
    for changes, says in (
        ({}, "No setting was given"),
        ({"port": "4000"}, "port cannot be tried on past days"),
        ({"least_useful": "much"}, r"least_useful: .*\(got 'much'\)"),
        ({"least_useful": "0.7"}, "least_useful already has that value"),
        ({"observer_prompt": str(tmp_path / "none.md")}, "No model is configured"),
        ({"taxonomy": str(tmp_path / "none.toml")}, "Cannot read the taxonomy"),
    ):
        with pytest.raises(SettingsError, match=says):
            what_if.make(store, None, None, changes, None)
    far = date(2020, 1, 1)
    with pytest.raises(
        StoreError,
        match="There are no transcripts between 2020-01-01 and 2020-01-01; there are some from",
    ):
        what_if.make(store, far, far, CHANGES, None)
    assert what_if.list_branches(store) == ()


def test_what_no_setting_touches_is_not_counted_as_a_change(opened: Opened, unbranched: Path):
    """A note that was saved since the last build, and the facts of days outside of the range."""
    store = opened(unbranched)
    MemoryAgent(store.settings).remember("The site is deployed by Netlify.")
    first, *_, last = sorted(
        day.isoformat() for day in store.tables.read("observations")["day"].unique()
    )
    found = what_if.make(store, date.fromisoformat(last), None, {"facts_per_session": "1"}, "later")
    days = store.tables.read("observations")
    facts = set(days.filter(pl.col("day") == date.fromisoformat(last))["id"])
    of_day = store.tables.read("memories").filter(
        pl.col("state").is_in(VALID_STATES) & (pl.col("kind") == "fact"),
        pl.col("observation_ids").list.set_intersection([*facts]).list.len() > 0,
    )
    assert first < last and found.memories.before == of_day.height > 0
    assert found.memories.count("added") == 0
    assert "Netlify" not in str(found.memories.changes)


@only_whole("the documentation shows what the bundled sample gives")
def test_the_example_of_the_documentation_is_what_the_sample_gives(tmp_path: Path):
    store = built(tmp_path / "store", lay_out_sample(tmp_path / "transcripts"))
    found = what_if.make(store, None, None, {"facts_per_session": "1"}, None)
    printed = StringIO()
    show(render_what_if(found, 0), plain_console(printed))
    page = (REPOSITORY / "docs" / "settings.md").read_text()
    example = page.partition("facts_per_session-1: ")[2].partition("```")[0]
    assert [*map(str.split, printed.getvalue().splitlines())][:5] == [
        *map(str.split, f"facts_per_session-1: {example}".splitlines())
    ]
