"""A developer pushes, the server ingests: a colleague recalls what was learnt, and what was forgotten there is gone here."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest import MonkeyPatch

from memory_assets.extras.sharing.push import Pushed, Pusher
from memory_assets.interfaces.http import application
from memory_assets.memory import MemoryAgent
from memory_assets.runs import launch
from memory_assets.runs.due import capture_is_due
from memory_assets.stages.capture.intake import Machine
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.extras.sharing.team_store import (
    BO,
    MIRA,
    as_reader,
    shared_access,
    token_of,
)
from memory_assets_tests.http_server import served
from memory_assets_tests.once import only_whole
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.sessions import assistant, lines, transcript, user

FACT = "The staging database listens on port 6543."
OF_BO = "I prefer marmalade coloured diffs over grey ones."
LOST = "The zeppelin hangar database listens on port 7001."
ASKED = "which port does the staging database listen on"
SAID = (
    FACT,
    OF_BO,
    "Never push to the main branch without a review.",
    LOST,
    "Always run the smoke tests before a release.",
)


@pytest.fixture
def url(monkeypatch: MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("MEMORY_OWNER", MIRA)
    monkeypatch.setenv("MEMORY_HARNESS_MEMORIES", "false")
    open_store(read_settings())
    token_of(MIRA)
    with served(application("127.0.0.1", access=shared_access())) as address:
        yield address


def session(folder: Path) -> None:
    records: list[dict[str, Any]] = []
    for number, text in enumerate(SAID):
        records += [
            user("one", 2 * number, text, number),
            assistant("one", 2 * number + 1, "Noted.", number + 0.5),
        ]
    transcript(folder, "one").write_bytes(lines(*records))


class Team:
    """Bo's machine and the server, after a push and an ingest there."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.laptop = open_store(
            read_settings(data=folder / "laptop", owner=BO, people={"mira": BO})
        )
        session(folder / "transcripts")
        capture(self.laptop, folder / "transcripts", machine=Machine(Path("/home/mira")))
        self.secret = token_of(BO, scopes=["push"], name="push")
        self.server = MemoryAgent().store
        self.push()
        self.ingest()

    def push(self) -> Pushed:
        return Pusher(self.laptop, self.url, self.secret).push()

    def ingest(self) -> None:
        assert capture_is_due(self.server)
        launch.ingest(self.server, reflect=False)
        assert not capture_is_due(self.server)


@pytest.mark.slow
def test_what_one_machine_pushed_is_recalled_by_another(url: str, tmp_path: Path):
    memories = Team(url, tmp_path).server.tables.read("memories")
    assert {FACT, LOST} <= set(memories["text"]) and set(memories["person"]) == {BO}
    found = as_reader(MIRA).recall(ASKED).results[0]
    assert (found.text, found.project) == (FACT, "shop")
    assert "marmalade" not in str(as_reader(MIRA).recall("marmalade coloured diffs").results)
    assert "marmalade" in str(as_reader(BO).recall("which diffs do I prefer").results)
    assert not as_reader(MIRA).recall("smoke tests", corpus=["messages"]).results
    assert "one@" in str(as_reader(BO).explain(found.memory_id))
    assert "Noted" not in str(as_reader(MIRA).explain(found.memory_id))


@pytest.mark.slow
@only_whole("the first journey holds that what is pushed is recalled")
def test_what_is_forgotten_on_the_machine_is_nowhere_on_the_server_after_its_next_run(
    url: str, tmp_path: Path
):
    team = Team(url, tmp_path)
    assert as_reader(MIRA).remember(
        "The zoo is closed, said Mira.", category="operations", project="shop"
    )
    done = MemoryAgent(team.laptop.settings).forget(LOST, apply=True)
    assert any(f"memory data push {url}" in one for one in done.warnings)
    assert team.push().replaced == 1
    team.ingest()
    texts = set(team.server.tables.read("memories")["text"])
    assert FACT in texts and LOST not in texts and "The zoo is closed, said Mira." in texts
    assert "zeppelin" not in str(as_reader(BO).recall("zeppelin hangar").results)
    assert [
        path
        for path in team.server.root.rglob("*")
        if path.is_file() and b"zeppelin" in path.read_bytes().lower()
    ] == []


@pytest.mark.slow
@only_whole("the first journey holds that what is pushed is recalled")
def test_what_others_said_too_stays_theirs(url: str, tmp_path: Path):
    team = Team(url, tmp_path)
    as_reader(MIRA).remember(LOST, category="operations", project="shop")
    MemoryAgent(team.laptop.settings).forget(LOST, apply=True)
    team.push()
    team.ingest()
    rows = team.server.tables.read("memories").filter(text=LOST)
    assert rows["person"].to_list() == [MIRA]
    messages = team.server.tables.read("messages")["text"]
    assert not messages.str.contains("zeppelin").any() and messages.str.contains("6543").any()
