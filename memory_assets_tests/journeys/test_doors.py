"""Three doors, one answer: what the command line, the server of tools and HTTP say to the same question is the same JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from memory_assets.interfaces.cli import app as cli
from memory_assets.interfaces.http import application
from memory_assets.interfaces.mcp.protocol import Protocol
from memory_assets_tests.small_store import MEMORY, PROPOSAL, index, small_store

Ask = Callable[..., dict[str, Any]]
ON = "2026-08-03"


@pytest.fixture
def by_command(capsys: pytest.CaptureFixture[str]) -> Ask:
    def ask(*words: str) -> dict[str, Any]:
        cli.main([*words, "--json"])
        return json.loads(capsys.readouterr().out)

    return ask


def by_tool(tool: str, is_writing: bool = False, **arguments: Any) -> dict[str, Any]:
    call = {"name": tool, "arguments": arguments}
    return Protocol(is_writing=is_writing, is_structured=True).answer("tools/call", call)[
        "structuredContent"
    ]


def by_http_writing(verb: str, **arguments: Any) -> dict[str, Any]:
    with TestClient(
        application("127.0.0.1", is_writing=True), base_url="http://127.0.0.1"
    ) as client:
        return client.post(f"/{verb}", json=arguments).json()


def by_http(verb: str, **arguments: Any) -> dict[str, Any]:
    with TestClient(application("127.0.0.1"), base_url="http://127.0.0.1") as client:
        return client.get(f"/{verb}", params=arguments).json()


def timeless(reply: dict[str, Any]) -> dict[str, Any]:
    """The reply without the seconds that the answer took."""
    cost = (reply["data"] or {}).get("cost", {})
    cost.pop("seconds", None)
    return reply


QUESTIONS: list[tuple[list[str], dict[str, Any]]] = [
    (["how do we install packages"], {"question": "how do we install packages"}),
    (["pip", "--profile", "deep"], {"question": "pip", "profile": "deep"}),
    (["pip", "-n", "1", "--project", "x"], {"question": "pip", "limit": 1, "project": "x"}),
    (
        ["uv", "--category", "rules-conventions", "--priority", "high"],
        {"question": "uv", "category": ["rules-conventions"], "priority": ["high"]},
    ),
    (
        ["uv", "--since", ON, "--until", ON],
        {"question": "uv", "since": ON, "until": ON},
    ),
    (
        ["uv", "--include", "held", "--kind", "fact", "--person", "mira"],
        {"question": "uv", "include": ["held"], "kind": ["fact"], "person": "mira"},
    ),
    (["pip", "--budget"], {"question": "pip", "budget": True}),
    (["what are our conventions"], {"question": "what are our conventions"}),
    (
        ["and that one?", "--recent", "It was pip."],
        {"question": "and that one?", "recent": ["It was pip."]},
    ),
    (["pip", "--corpus", "messages"], {"question": "pip", "corpus": ["messages"]}),
    (["what is the capital of France"], {"question": "what is the capital of France"}),
    ([""], {"question": ""}),
    (["uv", "--since", "soon"], {"question": "uv", "since": "soon"}),
    (["uv", "--category", "cooking"], {"question": "uv", "category": ["cooking"]}),
]


@pytest.mark.parametrize(
    ("words", "arguments"), QUESTIONS, ids=[" ".join(words) or "empty" for words, _ in QUESTIONS]
)
def test_a_recall_is_the_same_at_every_door(
    words: list[str], arguments: dict[str, Any], by_command: Ask
):
    index(small_store())
    commanded = timeless(by_command("recall", *words, "--probe"))
    assert commanded == timeless(
        by_tool(
            "memory_recall",
            **{"profile": "balanced", "candidates": False} | arguments,
            probe=True,
        )
    )
    assert commanded == timeless(by_http("recall", **arguments, probe=True))


@pytest.mark.parametrize(
    ("command", "tool", "verb", "arguments"),
    [
        (["explain", MEMORY], "memory_explain", "explain", {"target": MEMORY}),
        (["explain", PROPOSAL], "memory_explain", "explain", {"target": PROPOSAL}),
        (["explain", "mem_ffffffff"], "memory_explain", "explain", {"target": "mem_ffffffff"}),
        (["explain", "Use uv"], "memory_explain", "explain", {"target": "Use uv"}),
        (
            ["explain", "nobody said this"],
            "memory_explain",
            "explain",
            {"target": "nobody said this"},
        ),
        (
            ["explain", "uv", "--question", "pip"],
            "memory_explain",
            "explain",
            {"target": "uv", "question": "pip"},
        ),
        (["explain", ""], "memory_explain", "explain", {"target": ""}),
        (["lab", "triggers"], "memory_triggers", "triggers", {}),
        (
            ["lab", "triggers", "--on", "2026-08-10"],
            "memory_triggers",
            "triggers",
            {"on": "2026-08-10"},
        ),
        (["review"], "memory_review", "review", {}),
        (["brief"], "memory_brief", "brief", {}),
        (["status"], "memory_status", "status", {}),
    ],
)
def test_every_other_verb_is_the_same_too(
    command: list[str], tool: str, verb: str, arguments: dict[str, Any], by_command: Ask
):
    small_store()
    assert by_command(*command) == by_tool(tool, **arguments) == by_http(verb, **arguments)


SECRET = "The key is sk-ant-api03-" + "Zq7Wm2Xc9Vb4Nn6Lk1Jh8Gf5Dd3Ss0Aa" * 2
OF_EACH_LINE = ("event_id", "at", "memory_ids")


@pytest.mark.parametrize(
    ("words", "verb", "arguments"),
    [
        (
            ["remember", "Herons nest.", "--priority", "high"],
            "remember",
            {"text": "Herons nest.", "priority": "high"},
        ),
        (["remember", SECRET], "remember", {"text": SECRET}),
        (["remember", ""], "remember", {"text": ""}),
        (
            ["remember", "x", "--category", "cooking"],
            "remember",
            {"text": "x", "category": "cooking"},
        ),
        (
            ["remember", "Use pixi.", "--instead-of", MEMORY],
            "remember",
            {"text": "Use pixi.", "instead_of": MEMORY},
        ),
        (
            ["remember", "Pixi.", "--instead-of", "mem_ffffffff"],
            "remember",
            {"text": "Pixi.", "instead_of": "mem_ffffffff"},
        ),
        (["forget", "never pip"], "forget", {"target": "never pip"}),
        (["forget", "nobody said this"], "forget", {"target": "nobody said this"}),
        (
            ["data", "feedback", MEMORY, "--used", "--session", "s"],
            "feedback",
            {"memory_ids": [MEMORY], "used": True, "session": "s"},
        ),
    ],
    ids=lambda value: (
        ""
        if isinstance(value, dict)
        else " ".join(value)[:30]
        if isinstance(value, list)
        else value
    ),
)
def test_what_is_told_is_written_alike_at_every_door(
    words: list[str],
    verb: str,
    arguments: dict[str, Any],
    by_command: Ask,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    """Each door gets a store of its own: what is written at one is remembered at the next."""

    def kept(name: str, ask: Ask, *told: Any, **given: Any) -> dict[str, Any]:
        monkeypatch.setenv("MEMORY_DATA", str(tmp_path / name))
        small_store()
        reply = ask(*told, **given)
        return {
            **reply,
            "data": {
                name: value
                for name, value in (reply["data"] or {}).items()
                if name not in OF_EACH_LINE
            },
        }

    commanded = kept("command", by_command, *words)
    assert commanded == kept("tool", by_tool, f"memory_{verb}", is_writing=True, **arguments)
    assert commanded == kept("http", by_http_writing, verb, **arguments)
