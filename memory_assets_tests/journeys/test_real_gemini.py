"""A person with the real Gemini CLI: from `memory hooks install` over sessions to `memory hooks uninstall`."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memory_assets.memory import MemoryAgent
from memory_assets_tests.clients import Gemini, client, drawn
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
from memory_assets_tests.streaming_api import Called, stream

pytestmark = pytest.mark.slow

SUMMARY = "<state_snapshot>Deploys follow `make tides`.</state_snapshot>"
SETTINGS = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
SMALL = {"model": {"compressionThreshold": 0.00001}}
"""Every session is compressed before its next prompt."""


def answer(body: dict[str, Any]) -> str | Called:
    """Recalls once when it is asked to, sums up when that is the question, and understands everything else."""
    last = seen_by({"messages": body["contents"][-1]})
    if "<state_snapshot>" in last:
        return SUMMARY
    if TOOL in last:
        return Called("mcp_memory_memory_recall", {"question": QUESTION}, text="I ask.")
    return "Understood."


@pytest.mark.skipif(not drawn(["gemini"]), reason="this run drives another client")
def test_a_person_is_at_home_in_the_real_gemini(tmp_path: Path):
    with stream(answer) as api:
        person = Person(tmp_path, client("gemini"), api)
        settings = person.home / ".gemini" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps(SETTINGS))
        person.environ |= {
            "GEMINI_API_KEY": "k",
            "GOOGLE_GEMINI_BASE_URL": api.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        before = settings.read_bytes()
        person.memory("hooks", "install", "--recall-each-prompt")
        installed = settings.read_bytes()
        session = str(uuid4())
        place = (person.environ, person.work, session)
        first = Gemini(*place)
        first.ask(FIRST)
        first.ask(TOOL)
        Gemini(*place, how="resume").ask(RESUMED)
        until_compacted = [
            seen_by({"messages": entry["body"]["contents"]}) for entry in api.requests
        ]
        settings.write_text(json.dumps(json.loads(installed) | SMALL))
        Gemini(*place, how="resume").ask(AFTER)
    assert [text.count(BRIEFING) for text in until_compacted] == [1] * len(until_compacted)
    assert [FIRST in text for text in until_compacted] == [True] * len(until_compacted)
    assert f"1. {FACT}" in until_compacted[-1]
    run("ingest", person.store.root, person.home)
    tables = person.store.tables
    assert tables.read("records").filter(status="unknown")["record_type"].to_list() == []
    windows = tables.read("windows").filter(harness="gemini")
    assert set(windows["session_id"]) == {session}
    assert set(windows["folder"]) == {str(person.work)}
    assert "compaction" in set(windows["trigger"])
    owner = tables.read("messages").filter(author="owner", session_id=session)["text"]
    assert owner.sort().to_list() == sorted([FIRST, TOOL, RESUMED])
    found = MemoryAgent().recall("What do I run before I deploy the predictor?")
    assert FIRST in [result.text for result in found.results]
    settings.write_bytes(installed)
    person.memory("hooks", "uninstall")
    assert settings.read_bytes() == before
