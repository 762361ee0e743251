"""A correction in a transcript is in the briefing of the next session, with no reflection and however short the session."""

from pathlib import Path

import pytest

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.runs import launch
from memory_assets.services.search.brief_inputs import lessons_of
from memory_assets.store.ledger import FORGOTTEN
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import DAY, small_store, write
from memory_assets_tests.stages.capture.sessions import assistant, dialogue, lines, transcript, user


@pytest.fixture
def store(tmp_path: Path) -> Store:
    sources = tmp_path / "sources"
    asked = [
        user("a", 0, "add httpx to the project", 0),
        assistant("a", 1, "I run pip install httpx.", 1),
    ]
    corrected = [
        user("a", 2, "no, use uv, not pip", 2),
        assistant("a", 3, "Understood, uv it is.", 3),
    ]
    transcript(sources, "a").write_bytes(lines(*asked, *corrected))
    transcript(sources, "b").write_bytes(lines(*dialogue("b", 6)))
    return open_store(read_settings(sources=str(sources), owner="mira"))


@pytest.mark.slow
def test_a_correction_is_in_the_next_briefing_without_a_reflection(store: Store):
    ran = launch.ingest(store, reflect=False)
    assert "reflect" not in ran.jobs
    assert (
        "## Lessons\n- Use uv, not pip.\n"
        in (store.workspace / "briefings" / "shop.md").read_text()
    )
    assert "Use uv, not pip." in (store.workspace / "lessons.md").read_text()
    workspace = GitWorkspace(store.workspace)
    assert workspace.at_head("lessons.md") == (store.workspace / "lessons.md").read_bytes()
    assert launch.ingest(store, reflect=False).jobs == []


def taught(text: str = "Use uv, not pip.") -> dict:
    return row(
        "lessons",
        lesson_id="les_1",
        day=DAY,
        text=text,
        person="mira",
        project="shop",
        message_id="m1",
    )


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("MEMORY_OWNER", "mira")
    store = small_store()
    write(store, "lessons", DAY.isoformat(), taught())
    return store


def test_what_is_forgotten_or_replaced_is_no_lesson_any_more(small: Store):
    assert [one["text"] for one in lessons_of(small)] == ["Use uv, not pip."]
    observed = row("observations", id="o1", day=DAY, message_ids=["m1"])
    write(small, "observations", DAY.isoformat(), observed)
    write(
        small,
        "memories",
        "all",
        row("memories", id="o1", observation_ids=["o1"], state="superseded", superseded_by="o2"),
    )
    assert lessons_of(small) == []
    write(small, "memories", "all")
    small.ledger.append(FORGOTTEN, "o1", {"messages": ["m1"]}, actor="mira")
    assert lessons_of(small) == []
