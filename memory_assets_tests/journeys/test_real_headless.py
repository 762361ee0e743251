"""A person with the real Qwen Code or Copilot CLI: from `memory hooks install` over sessions to `memory hooks uninstall`."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memory_assets.memory import MemoryAgent
from memory_assets_tests.clients import Copilot, Headless, Qwen, client, drawn
from memory_assets_tests.journeys.test_real_clients import (
    AFTER,
    BRIEFING,
    FACT,
    FIRST,
    QUESTION,
    RESUMED,
    TOOL,
    Person,
    seen_by,
)
from memory_assets_tests.story import run
from memory_assets_tests.streaming_api import Called, StreamingApi, stream

pytestmark = pytest.mark.slow

CLIENTS: dict[str, type[Headless]] = {"qwen": Qwen, "copilot": Copilot}
FILES = {
    "qwen": {"settings.json": '{"$version": 4, "memory": {"enableManagedAutoMemory": false}}\n'},
    "copilot": {"settings.json": '{"theme": "dark"}', "mcp-config.json": '{"mcpServers": {}}\n'},
}
COMPACT = {"qwen": "/compress", "copilot": "/compact"}
SUMMARY = "<state_snapshot>Deploys follow `make tides`.</state_snapshot>"
RECALL = {"question": QUESTION}
CALL = {
    "qwen": Called(
        "tool_call", {"name": "mcp__memory__memory_recall", "arguments": RECALL}, text="I ask."
    ),
    "copilot": Called("memory-memory_recall", RECALL, text="I ask."),
}


def model(program: str) -> Callable[[dict[str, Any]], str | Called]:
    """Recalls once when it is asked to, sums up when that is the question, and understands everything else."""

    def answer(body: dict[str, Any]) -> str | Called:
        last = seen_by({"messages": body["messages"][-1]})
        if "state_snapshot" in last or "summary" in last:
            return SUMMARY
        return CALL[program] if TOOL in last else "Understood."

    return answer


def environment(program: str, api: StreamingApi) -> dict[str, str]:
    """What makes the client ask our server instead of its vendor's."""
    return {
        "qwen": {
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": f"{api.url}/v1",
            "OPENAI_MODEL": "ours-1",
        },
        "copilot": {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{api.url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "k",
            "COPILOT_MODEL": "ours-1",
        },
    }[program]


@pytest.mark.parametrize("program", drawn(CLIENTS))
def test_a_person_is_at_home_in_the_real_client(program: str, tmp_path: Path):
    with stream(model(program)) as api:
        person = Person(tmp_path, client(program), api)
        folder = person.home / f".{program}"
        folder.mkdir()
        for name, text in FILES[program].items():
            (folder / name).write_text(text)
        person.environ |= environment(program, api)
        person.memory("hooks", "install", "--recall-each-prompt")
        session = str(uuid4())
        held = CLIENTS[program](person.environ, person.work, session)
        held.ask(FIRST)
        held.ask(TOOL)
        held.ask(RESUMED)
        until_compacted = [seen_by(body) for body in api.questions() if body.get("tools")]
        held.ask(COMPACT[program])
        held.ask(AFTER)
        last = seen_by(api.questions()[-1])
    told = [text for text in until_compacted if FIRST in text]
    assert [text.count(BRIEFING) for text in told] == [1] * len(told)
    assert f"1. {FACT}" in told[-1]
    assert RESUMED in told[-1]
    assert (last.count(BRIEFING), SUMMARY in last, AFTER in last) == (1, True, True)
    _assert_remembered(person, program, session)
    person.memory("hooks", "uninstall")
    assert {name: (folder / name).read_text() for name in FILES[program]} == FILES[program]


def _assert_remembered(person: Person, program: str, session: str) -> None:
    """The session is known with its folder and compaction, and what its owner said is recalled."""
    later = datetime.now(UTC) + timedelta(hours=3)
    run("ingest", person.store.root, person.home, MEMORY_NOW=later.isoformat())
    tables = person.store.tables
    records = tables.read("records")
    assert records.filter(status="unknown")["record_type"].to_list() == []
    windows = tables.read("windows").filter(harness=program)
    assert set(windows["session_id"]) == {session}
    assert set(windows["folder"]) == {str(person.work)}
    assert "compaction" in set(windows["trigger"])
    messages = tables.read("messages").filter(session_id=session)
    assert messages.filter(author="owner")["text"].sort().to_list() == sorted(
        [FIRST, TOOL, RESUMED, AFTER]
    )
    assert [FACT in text for text in messages.filter(author="injected", kind="tool_result")["text"]]
    assert messages.filter(author="assistant")["model"].unique().to_list() == ["ours-1"]
    found = MemoryAgent().recall("What do I run before I deploy the predictor?", now=later)
    assert FIRST in [result.text for result in found.results]
