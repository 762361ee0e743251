"""Questions are answered from a store whose disk is full or read-only; what a recall would log is dropped, and a line says so."""

import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from memory_assets.interfaces.http import application
from memory_assets.memory import MemoryAgent
from memory_assets.memory.agent import announcements
from memory_assets.services.sources.transcripts import SINCE_FILE, read_since
from memory_assets_tests.attacks.kill_points import failing_behind
from memory_assets_tests.attacks.test_disk import DISKS, failing
from memory_assets_tests.mcp_process import McpProcess
from memory_assets_tests.small_disk import fill, small_disk
from memory_assets_tests.small_store import FACT, MEMORY, index, small_store

VERBS = {
    "recall": lambda agent: agent.recall(FACT),
    "open": lambda agent: agent.open(MEMORY),
}


@pytest.mark.parametrize("kind", DISKS)
@pytest.mark.parametrize("verb", VERBS)
def test_a_question_is_answered_from_a_disk_that_cannot_be_written(verb: str, kind: str):
    agent = MemoryAgent(small_store().settings)
    expected = VERBS[verb](MemoryAgent(agent.settings))
    logged = agent.store.ledger.events(["memory.recalled"])
    announcements()
    with pytest.MonkeyPatch.context() as patch:
        failing_behind(patch, 0, failing(kind))
        answer = VERBS[verb](agent)
    assert FACT in str(answer)
    assert getattr(answer, "results", ()) == getattr(expected, "results", ())
    assert agent.store.ledger.events(["memory.recalled"]) == logged
    assert announcements() == [
        f"The ledger cannot be written, so this recall is not counted ({os.strerror(DISKS[kind])})."
    ]


def test_a_question_over_http_is_answered_from_a_full_disk_with_a_warning():
    index(small_store())
    server = application("127.0.0.1", is_writing=False)
    with pytest.MonkeyPatch.context() as patch:
        failing_behind(patch, 0, failing("full"))
        with TestClient(server, base_url="http://127.0.0.1:3100") as http:
            answer = http.get("/recall", params={"question": FACT})
    assert answer.status_code == 200
    assert answer.json()["data"]["results"][0]["text"] == FACT
    assert any("not counted" in warning for warning in answer.json()["warnings"])


def test_an_agent_is_answered_from_a_disk_that_is_really_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with small_disk(tmp_path / "disk", 8_000_000) as disk:
        monkeypatch.setenv("MEMORY_DATA", str(disk / "store"))
        store = small_store()
        index(store)
        fill(disk)
        with McpProcess() as server:
            for number in range(2):
                result = server.call("memory_recall", number, question=FACT)["result"]
                (content,) = result["content"]
                assert not result["isError"]
                assert FACT in content["text"]
                assert (
                    "The ledger cannot be written, so this recall is not counted" in content["text"]
                )
            code, rest, errors = server.hang_up()
        assert (code, rest, "Traceback" in errors) == (0, [], False)
        assert store.ledger.events(["memory.recalled"]) == []


def test_a_disk_that_cannot_be_written_does_not_hide_from_when_on_transcripts_are_read():
    settings = small_store().settings
    (settings.data / SINCE_FILE).unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        failing_behind(patch, 0, failing("read-only"))
        since = read_since(settings)
    assert not (settings.data / SINCE_FILE).exists()
    assert since == read_since(settings)
    assert (settings.data / SINCE_FILE).exists()
