"""A person with the real OpenCode: from `memory hooks install` over sessions to `memory hooks uninstall`."""

import json
from pathlib import Path
from typing import Any

import pytest

from memory_assets.memory import MemoryAgent
from memory_assets_tests.clients import OpenCode, client, drawn
from memory_assets_tests.journeys.test_real_clients import (
    AFTER,
    BRIEFING,
    FACT,
    FIRST,
    FORKED,
    QUESTION,
    RESUMED,
    TOOL,
    Person,
    seen_by,
)
from memory_assets_tests.story import run
from memory_assets_tests.streaming_api import Called, stream

pytestmark = pytest.mark.slow


def settings_for(url: str) -> str:
    """The settings of a person who has a model server of their own."""
    options = {"baseURL": f"{url}/v1", "apiKey": "k"}
    provider = {"npm": "@ai-sdk/anthropic", "options": options, "models": {"ours-1": {}}}
    settings = {"provider": {"ours": provider}, "model": "ours/ours-1", "autoupdate": False}
    return "// mine\n" + json.dumps(settings, indent=2) + "\n"


@pytest.mark.skipif(not drawn(["opencode"]), reason="this run drives another client")
def test_a_person_is_at_home_in_the_real_opencode(tmp_path: Path):
    called = []

    def answer(body: dict[str, Any]) -> str | Called:
        if TOOL in seen_by(body) and body.get("tools") and not called:
            called.append(body)
            return Called("memory_memory_recall", {"question": QUESTION}, text="I ask.")
        return "Understood."

    with stream(answer) as api:
        person = Person(tmp_path, client("opencode"), api)
        person.environ["OPENCODE_DISABLE_MODELS_FETCH"] = "1"
        folder = person.home / ".config" / "opencode"
        folder.mkdir(parents=True)
        settings = folder / "opencode.json"
        settings.write_text(settings_for(api.url))
        before = settings.read_bytes()
        person.memory("hooks", "install")
        first = OpenCode(person.environ, person.work)
        first.ask(FIRST)
        first.ask(TOOL)
        first.compact()
        first.ask(AFTER)
        fork = first.fork()
        first.end()
        second = OpenCode(person.environ, person.work, first.session, how="resume")
        second.ask(RESUMED)
        second.session = fork
        second.ask(FORKED)
        second.end()
        asked = [body for body in api.questions() if body.get("tools")]
    seen = [seen_by(body) for body in asked]
    assert [text.count(BRIEFING) for text in seen] == [1] * len(seen)
    assert f"1. {FACT}" in seen_by(asked[2])
    run("ingest", person.store.root, person.home)
    tables = person.store.tables
    assert tables.read("records").filter(status="unknown")["record_type"].to_list() == []
    windows = tables.read("windows").filter(harness="opencode")
    assert set(windows["session_id"]) == {first.session, fork}
    assert set(windows["folder"]) == {str(person.work)}
    assert "compaction" in set(windows["trigger"])
    records = tables.read("records").filter(author="owner").unique("message_id")
    assert records.height == 5
    found = MemoryAgent().recall("What do I run before I deploy the predictor?")
    assert FIRST in [result.text for result in found.results]
    person.memory("hooks", "uninstall")
    assert settings.read_bytes() == before
    assert list(folder.rglob("memory*")) == []
