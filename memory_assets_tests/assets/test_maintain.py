"""The nightly run as a job: it reads what nobody read, boosts and counts the day that has ended; twice is the same as once."""

import hashlib
import os
import re
from datetime import date, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg
import pytest

from memory_assets.assets import automation
from memory_assets.definitions import assemble
from memory_assets.runs.days import Stretch
from memory_assets.runs.due import DueRun, due_runs, memories_are_stale, night_runs
from memory_assets.runs.launch import Runner
from memory_assets.runs.record import begin_night, begun_night
from memory_assets.runs.staleness import stale_days
from memory_assets.schema.tables import table_names
from memory_assets.store.ledger import BOOSTED
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.assets.checks.outcomes import passes
from memory_assets_tests.dagster_runs import metadata_of, run_assets
from memory_assets_tests.factories import message, row
from memory_assets_tests.small_store import FACT, small_store, write
from memory_assets_tests.stages.capture.sessions import (
    START,
    assistant,
    dialogue,
    lines,
    transcript,
    user,
)

DAY, RULE = START.date(), "Always use uv instead of pip to install packages in this repository."


def session(id: str) -> bytes:
    said = [user(id, 0, RULE, 0), assistant(id, 1, "Understood, uv it is.", 1)]
    return lines(*said, *dialogue(id, 6, first=2, minutes=2))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    sources = tmp_path / "sources"
    transcript(sources, "a").write_bytes(session("a"))
    return open_store(read_settings(sources=str(sources), now=START + timedelta(hours=17)))


def run_night(store: Store, day: date = DAY) -> list[str]:
    """Runs what the schedule requests for the day, and returns the jobs."""
    with Runner(store) as runner:
        for run in night_runs(store, day):
            runner.run(run.job, run.stretch)
    return runner.summary().jobs


def contents(store: Store) -> dict[str, object]:
    """Everything but times of writing: rows by table, the ledger, and the files of the workspace."""
    rows = {
        name: {part: info.fingerprint for part, info in store.tables.parts(name).items()}
        for name in table_names()
    }
    files = {
        path.name: path.read_bytes()
        for path in store.workspace.rglob("*.md")
        if ".git" not in path.parts
    }
    return {**rows, "ledger": store.ledger.events(), "files": files}


@pytest.mark.slow
def test_a_night_reads_a_session_that_nobody_read_and_twice_equals_once(store: Store):
    assert run_night(store) == ["nightly"]
    first = contents(store)
    (missed,) = store.tables.read("missed").to_dicts()
    assert (missed["day"], missed["kind"], missed["session_id"]) == (DAY, "session", "a")
    (counted,) = store.tables.read("nightly_stats").to_dicts()
    assert (counted["day"], counted["missed"], counted["extracted"]) == (DAY, 1, 1)
    assert passes(store, "nightly_stats", "nothing_stays_missed", [str(DAY)])
    memory = store.tables.read("memories").filter(kind="fact", state="active").row(0, named=True)
    assert (memory["text"], memory["boost"]) == (RULE, 0.1)
    assert counted["promoted"] == len(store.ledger.events([BOOSTED])[0].payload["memory_ids"]) > 0
    assert counted["active"] == store.tables.read("memories").filter(state="active").height
    assert run_night(store) == ["nightly"]
    assert contents(store) == first
    assert memories_are_stale(store), "the summaries follow the memories in the next run"
    with Runner(store) as runner:
        runner.run_due("rebuild_memories")
    assert RULE in "".join(store.tables.read("category_summaries")["text"])
    assert not memories_are_stale(store)


def said(id: str, day: date, text: str) -> dict:
    return row(
        "observations", id=id, text=text, day=day, kind="fact", gate="allow", event_at=START + (day - DAY), category="operations",
        text_hash=hashlib.sha256(text.encode()).hexdigest(), session_id=id,
    )  # fmt: skip


def test_the_steps_of_a_night_change_nothing_when_they_run_again(store: Store):
    write(
        store,
        "windows",
        "all",
        row("windows", window_id="w", session_id="s", day=DAY, status="observed", message_count=2),
    )
    write(store, "observations", str(DAY), said("1", DAY, RULE))
    steps = ("missed", "boosts", "memories", "nightly_stats")
    result = run_assets(store, *steps, days=(DAY, DAY), raise_on_error=False)
    assert metadata_of(result, "missed")["missed_sessions"] == 1
    assert metadata_of(result, "boosts")["promoted"] == 1
    assert store.tables.read("memories")["boost"].to_list() == [0.1]
    (counted,) = store.tables.read("nightly_stats").to_dicts()
    assert (counted["missed"], counted["extracted"], counted["promoted"], counted["active"]) == (
        1,
        0,
        1,
        1,
    )
    assert not passes(store, "nightly_stats", "nothing_stays_missed", [str(DAY)]), (
        "nobody read the window"
    )
    first = contents(store)
    result = run_assets(store, *steps, days=(DAY, DAY), raise_on_error=False)
    assert metadata_of(result, "boosts")["promoted"] == 0
    assert contents(store) == first
    write(store, "messages", str(DAY), message(window_id="w"))
    write(store, "segments", str(DAY), row("segments", window_id="w"))
    run_assets(store, "nightly_stats", days=(DAY, DAY))
    assert passes(store, "nightly_stats", "nothing_stays_missed", [str(DAY)])


def test_a_night_that_was_killed_begins_again_with_the_same_day(store: Store):
    begin_night(store, DAY - timedelta(3))
    assert night_runs(store, DAY)[0].stretch == Stretch(DAY - timedelta(3), DAY)
    run_assets(store, "nightly_stats", days=(DAY - timedelta(3), DAY))
    assert begun_night(store) is None


def test_a_night_begins_with_the_earliest_unread_day_and_older_ones_have_their_own_runs(
    store: Store, tmp_path: Path
):
    with Runner(store) as runner:
        runner.run("capture")
    written = transcript(Path(store.settings.sources), "b")
    written.write_bytes(session("b"))
    yesterday = (START - timedelta(days=1)).timestamp()
    os.utime(written, (yesterday, yesterday))
    assert night_runs(store, DAY)[0].stretch == Stretch(DAY - timedelta(1), DAY), (
        "a transcript waits for capture"
    )
    written.unlink()
    later, much_later = DAY + timedelta(3), DAY + timedelta(40)
    assert [*stale_days(store, "process_days")] == [DAY]
    assert night_runs(store, later) == [DueRun("nightly", Stretch(DAY, later), str(later))]
    stretches = [(run.job, run.stretch) for run in night_runs(store, much_later)]
    assert stretches == [
        ("process_days", Stretch(DAY, DAY)),
        ("nightly", Stretch(much_later, much_later)),
    ]
    assert due_runs(store, "nightly") == [], "the clock alone starts it"


def test_the_health_report_is_a_page_with_pictures_and_a_preview_in_the_ui():
    small = small_store()
    made = metadata_of(run_assets(small, "health_report"), "health_report")
    folder = small.workspace / "health"
    assert Path(str(made["page"])) == folder / "2026-08.html"
    text = (folder / "2026-08.md").read_text()
    pictures = re.findall(r"\]\((.*?)\)", text)
    assert pictures and all(
        (folder / picture).read_text().startswith("<svg") for picture in pictures
    )
    assert (folder / "2026-08.html").read_text().count("<svg") == len(pictures)
    assert "## Growth" in str(made["report"]) and "![" not in str(made["report"])
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    run_assets(small, "health_report")
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before
    everything = "".join(content.decode() for content in before.values())
    assert FACT not in everything and "uv" not in re.findall(r"\w+", everything)


def test_the_schedule_starts_the_night_at_two_in_the_owners_zone(store: Store):
    (nightly,) = [
        one for one in automation.make_schedules("Europe/Berlin") if one.name == "nightly"
    ]
    assert (nightly.cron_schedule, nightly.execution_timezone, nightly.job_name) == (
        "0 2 * * *",
        "Europe/Berlin",
        "nightly",
    )
    at = (START + timedelta(days=1)).replace(hour=2).astimezone(ZoneInfo("UTC"))
    loaded = assemble(store.settings, DAY, store).get_repository_def()
    context = dg.build_schedule_context(
        dg.DagsterInstance.ephemeral(),
        scheduled_execution_time=at,
        repository_def=loaded,
        resources={"store": store},
    )
    (request,) = loaded.get_schedule_def("nightly").evaluate_tick(context).run_requests or []
    assert (request.partition_key_range.start, request.partition_key_range.end) == (
        str(DAY),
        str(DAY),
    )
