"""The spool is read in time, and lines that could not be parsed are reported until their file is deleted."""

from datetime import timedelta

import pytest

from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.events import ENDED
from memory_assets.stages.deliver.inbox import ASIDE
from memory_assets.store.store import Store
from memory_assets_tests.assets.checks.outcomes import failing
from memory_assets_tests.factories import START, row
from memory_assets_tests.small_store import small_store, write


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("MEMORY_NOW", (START + timedelta(minutes=20)).isoformat())
    return small_store()


def test_an_event_that_waits_for_hours_fails(store: Store):
    assert failing(store, "events") == []
    # long ago by this machine's clock
    spool.append(str(store.root), ENDED, {"sessionId": "s"}, version=1, at=START.timestamp())
    assert failing(store, "events") == ["spool_is_read"]


def test_a_line_put_aside_fails_until_its_file_is_deleted(store: Store):
    write(
        store,
        "dead_letters",
        "all",
        row("dead_letters", letter_id="l", file="l.txt", reason="no JSON"),
    )
    assert failing(store, "dead_letters") == []
    aside = store.root / spool.FOLDER / ASIDE / "l.txt"
    aside.parent.mkdir(parents=True)
    aside.write_text("half an eve")
    assert failing(store, "dead_letters") == ["nothing_was_put_aside"]
    aside.unlink()
    assert failing(store, "dead_letters") == []
