"""An ingest that found nothing to do is not repeated while nothing changed; whatever changes is looked at."""

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from memory_assets.interfaces.entry import main
from memory_assets.memory import MemoryAgent
from memory_assets.runs import build as building
from memory_assets.runs.build import build
from memory_assets.runs.launch import RunSummary
from memory_assets.runs.look import Look
from memory_assets.services.health import housekeeping
from memory_assets.store.store import Store
from memory_assets.store.unchanged import NOTE_FILE, is_unchanged
from memory_assets_tests.conftest import NOW
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import small_store, write

AT = NOW.timestamp()
ADRS = "docs/adr"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one transcript, which the settings name."""
    folder = tmp_path / "transcripts"
    folder.mkdir()
    (folder / "session.jsonl").write_text("{}\n")
    monkeypatch.setenv("MEMORY_SOURCES", str(folder))
    monkeypatch.setenv("MEMORY_ADR_FOLDERS", str(tmp_path / ADRS))
    return folder


@pytest.fixture
def store(sources: Path) -> Store:
    """A store in which an ingest found nothing to do."""
    made = small_store()
    made.note(housekeeping.NOTE, NOW.isoformat())
    Look.begin(made).end(made)
    assert is_unchanged(str(made.root), AT)
    return made


def append(path: Path, text: str = "\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def add_decision_record(sources: Path) -> None:
    pytest.importorskip("memory_assets.extras.library")
    append(sources.parent / ADRS / "0001-use-uv.md", "# 1. Use uv\n")


CHANGES: dict[str, Callable[[Store, Path], object]] = {
    "a longer transcript": lambda store, sources: append(sources / "session.jsonl", "{}\n"),
    "a new transcript": lambda store, sources: append(sources / "projects" / "new.jsonl", "{}\n"),
    "a deleted transcript": lambda store, sources: (sources / "session.jsonl").unlink(),
    "a rewritten transcript of the same size and time": lambda store, sources: rewrite(
        sources / "session.jsonl"
    ),
    "a linked folder": lambda store, sources: (sources / "link").symlink_to(sources.parent),
    "a link to itself": lambda store, sources: (sources / "loop").symlink_to(sources / "loop"),
    "an event of a hook": lambda store, sources: append(
        store.root / "spool" / "events.jsonl", "{}\n"
    ),
    "a saved fact": lambda store, sources: MemoryAgent().remember("The train leaves on Thursday."),
    "a ticked box": lambda store, sources: append(store.workspace / "REVIEW.md"),
    "an edited line": lambda store, sources: append(store.workspace / "MEMORY.md"),
    "a deleted table": lambda store, sources: (
        store.root / "tables" / "memories" / "data.parquet"
    ).unlink(),
    "a settings file": lambda store, sources: append(store.root / "memory.toml", "port = 3001\n"),
    "ignored folders": lambda store, sources: append(Path.home() / ".memoryignore", "acme/\n"),
    "a decision record": lambda store, sources: add_decision_record(sources),
}


def rewrite(path: Path) -> None:
    other, stat = path.with_suffix(".part"), path.stat()
    other.write_text("[]\n")
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_after_a_change_everything_is_looked_at(
    change: Callable[[Store, Path], object], store: Store, sources: Path
):
    change(store, sources)
    assert not is_unchanged(str(store.root), AT)


@pytest.mark.parametrize("name", ["MEMORY_OWNER", "CODEX_HOME", "MEMORY_MODEL"])
def test_another_environment_is_a_change(name: str, store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, "other")
    assert not is_unchanged(str(store.root), AT)


def test_the_note_holds_until_something_is_due_and_not_for_an_earlier_clock(store: Store):
    minutes = housekeeping.EVERY.total_seconds()
    assert is_unchanged(str(store.root), AT + minutes - 1)
    assert not is_unchanged(str(store.root), AT + minutes)
    assert not is_unchanged(str(store.root), AT - 1)


def test_an_open_session_or_a_proposal_that_expires_ends_it_sooner(sources: Path):
    store = small_store()
    store.note(housekeeping.NOTE, NOW.isoformat())
    ended_at = NOW - timedelta(minutes=50)
    write(
        store,
        "windows",
        "all",
        row("windows", window_id="w-1", status="open", day=None, ended_at=ended_at),
    )
    Look.begin(store).end(store)
    ends = AT + 60 * (store.settings.idle_minutes - 50)
    assert (is_unchanged(str(store.root), ends - 1), is_unchanged(str(store.root), ends)) == (
        True,
        False,
    )
    soon = NOW + timedelta(minutes=3)
    write(store, "decisions", "all", row("decisions", state="pending", expires_at=soon))
    Look.begin(store).end(store)
    assert is_unchanged(str(store.root), soon.timestamp() - 1)
    assert not is_unchanged(str(store.root), soon.timestamp())


def test_ingest_without_news_loads_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (store.root / NOTE_FILE).unlink()
    monkeypatch.setattr(building.launch, "ingest", lambda store: RunSummary([], 0.1))
    monkeypatch.setattr(building, "find_sources", lambda settings: ["session.jsonl"])
    assert build().is_unchanged
    monkeypatch.setattr("time.time", lambda: AT)
    monkeypatch.setattr("memory_assets.interfaces.cli.app.main", lambda words: 99)
    assert main(["ingest"]) == 0
    said = "Nothing new: every transcript was read already ("
    assert capsys.readouterr().out.startswith(said)
    append(store.workspace / "REVIEW.md")
    assert main(["ingest"]) == 99
