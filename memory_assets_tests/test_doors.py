"""Three doors, one answer: what the command line, the server of tools and HTTP say to the same question is the same JSON."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from memory_assets import cli
from memory_assets.asking import Desk
from memory_assets.http_api import application
from memory_assets.mcp_protocol import Protocol
from memory_assets_tests.small_store import FACT, MEMORY, PROPOSAL, index, small_store

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def by_command(capsys: pytest.CaptureFixture[str]) -> Ask:
    def ask(*words: str) -> dict[str, Any]:
        cli.main([*words, "--json"])
        return json.loads(capsys.readouterr().out)

    return ask


def by_tool(tool: str, **arguments: Any) -> dict[str, Any]:
    return Protocol().answer("tools/call", {"name": tool, "arguments": arguments})["structuredContent"]


def by_http(verb: str, **arguments: Any) -> dict[str, Any]:
    with TestClient(application(Desk(), "127.0.0.1"), base_url="http://127.0.0.1") as client:
        return client.get(f"/{verb}", params=arguments).json()


def timeless(reply: dict[str, Any]) -> dict[str, Any]:
    """The reply without the seconds that the answer took."""
    cost = (reply["data"] or {}).get("cost", {})
    cost.pop("seconds", None)
    return reply


QUESTIONS: list[tuple[list[str], dict[str, Any]]] = [
    (["how do we install packages"], {"question": "how do we install packages"}),
    (["pip", "--profile", "deep"], {"question": "pip", "profile": "deep"}),
    (["pip", "-n", "1", "--project", "shop"], {"question": "pip", "limit": 1, "project": "shop"}),
    (
        ["uv", "--category", "rules-conventions", "--priority", "high"],
        {"question": "uv", "category": ["rules-conventions"], "priority": ["high"]},
    ),
    (
        ["uv", "--since", "2026-08-03", "--until", "2026-08-03"],
        {"question": "uv", "since": "2026-08-03", "until": "2026-08-03"},
    ),
    (
        ["uv", "--include", "held", "--kind", "fact", "--person", "mira"],
        {"question": "uv", "include": ["held"], "kind": ["fact"], "person": "mira"},
    ),
    (["pip", "--budget"], {"question": "pip", "budget": True}),
    (["what are our conventions"], {"question": "what are our conventions"}),
    (["and that one?", "--recent", "It was pip."], {"question": "and that one?", "recent": ["It was pip."]}),
    (["pip", "--corpus", "messages"], {"question": "pip", "corpus": ["messages"]}),
    (["what is the capital of France"], {"question": "what is the capital of France"}),
    ([""], {"question": ""}),
    (["uv", "--since", "soon"], {"question": "uv", "since": "soon"}),
    (["uv", "--category", "cooking"], {"question": "uv", "category": ["cooking"]}),
]


@pytest.mark.parametrize(("words", "arguments"), QUESTIONS, ids=[" ".join(words) or "empty" for words, _ in QUESTIONS])
def test_a_recall_is_the_same_at_every_door(words: list[str], arguments: dict[str, Any], by_command: Ask):
    index(small_store())
    commanded = timeless(by_command("recall", *words, "--probe"))
    assert commanded == timeless(by_tool("memory_recall", **arguments, probe=True))
    assert commanded == timeless(by_http("recall", **arguments, probe=True))


def test_the_answer_is_that_of_the_memory(by_command: Ask):
    index(small_store())
    assert by_command("recall", "how do we install packages")["data"]["results"][0]["text"] == FACT


@pytest.mark.parametrize("question", ["how do we install packages", "what is the capital of France", ""])
def test_a_reflection_is_the_same_at_every_door(question: str, by_command: Ask):
    index(small_store())
    commanded = timeless(by_command("reflect", question, "--probe"))
    assert commanded == timeless(by_tool("memory_reflect", question=question, probe=True))
    assert commanded == timeless(by_http("reflect", question=question, probe=True))


@pytest.mark.parametrize(
    ("command", "tool", "verb", "arguments"),
    [
        (["explain", MEMORY], "memory_explain", "explain", {"target": MEMORY}),
        (["explain", PROPOSAL], "memory_explain", "explain", {"target": PROPOSAL}),
        (["explain", "nothing"], "memory_explain", "explain", {"target": "nothing"}),
        (["graph", "uv"], "memory_graph", "graph", {"name": "uv"}),
        (["review"], "memory_review", "review", {}),
        (["brief"], "memory_briefing", "brief", {}),
        (["status"], "memory_status", "status", {}),
    ],
)
def test_every_other_verb_is_the_same_too(command: list[str], tool: str, verb: str, arguments: dict[str, Any], by_command: Ask):
    small_store()
    assert by_command(*command) == by_tool(tool, **arguments) == by_http(verb, **arguments)


def test_without_a_memory_every_door_says_the_same(by_command: Ask):
    for command, tool, verb in (("review", "memory_review", "review"), ("brief", "memory_briefing", "brief")):
        assert by_command(command) == by_tool(tool) == by_http(verb)
