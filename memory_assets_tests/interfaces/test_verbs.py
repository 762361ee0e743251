"""What can be asked: each verb once, with the same parameters and bounds through every interface."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import Field
from starlette.testclient import TestClient
from typer.main import get_command

from memory_assets.interfaces import verbs
from memory_assets.interfaces.cli import app as cli
from memory_assets.interfaces.cli.commands import option_of
from memory_assets.interfaces.http import application
from memory_assets.interfaces.mcp import protocol
from memory_assets.interfaces.mcp.protocol import Protocol
from memory_assets.interfaces.verb import Verb
from memory_assets.interfaces.verbs import ADDED, COMMANDS, VERBS
from memory_assets.memory import MemoryAgent
from memory_assets.schema.requests import Request
from memory_assets_tests.bench.doors import MOST_OF_DEFINITIONS, definition_tokens
from memory_assets_tests.generated import describe, describe_tools
from memory_assets_tests.of_extras import TRIGGERS
from memory_assets_tests.small_store import small_store

PLACES = {
    "triggers": " ".join(TRIGGERS),
    "feedback": "data feedback",
}
WITHOUT_A_COMMAND = {
    "answer": "recall --answer",
    "review": "review",
    "decide": "review approve",
}


def options_of(verb: Verb) -> dict[str, Any]:
    """The parameters of the verb's command, by name."""
    command: Any = get_command(cli.make_app())
    for word in PLACES.get(verb.name, verb.name).split():
        command = command.commands[word]
    return {one.name: one for one in command.params}


@pytest.mark.parametrize(
    "verb",
    [one for one in (*VERBS, *COMMANDS) if one.name not in WITHOUT_A_COMMAND and one not in ADDED],
    ids=lambda verb: verb.name,
)
def test_the_command_line_has_the_parameters_of_the_request(verb: Verb):
    options = options_of(verb)
    assert list(verb.parameters) == [name for name in options if name in verb.parameters]
    for name, schema in verb.parameters.items():
        option = options[name]
        assert schema["description"] in option.help
        assert option.required == (name in verb.required)
        assert (option.multiple or option.nargs == -1) == (schema["type"] == "array")
        words = schema.get("items", schema).get("enum", ())
        assert ", ".join(words) in option.help
        if option.param_type_name == "option":
            assert option_of(name) in option.opts


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_tools_and_http_have_the_parameters_of_the_request_with_the_same_bounds(verb: Verb):
    tool = next(
        one for one in Protocol(is_writing=True).tools()["tools"] if one["name"] == verb.tool
    )
    with TestClient(
        application("127.0.0.1", is_writing=True), base_url="http://127.0.0.1"
    ) as client:
        path = client.get("/openapi.json").json()["paths"][f"/{verb.name}"]
    assert path["post"]["requestBody"]["content"]["application/json"]["schema"] == verb.schema()
    assert tool["inputSchema"] == verb.tool_schema()
    assert tool["inputSchema"]["properties"].keys() <= verb.parameters.keys()
    assert (
        set(tool["inputSchema"].get("required", ()))
        == set(verb.required)
        <= tool["inputSchema"]["properties"].keys()
    )
    if not verb.is_writing:
        query = {one["name"]: one["schema"] for one in path["get"].get("parameters", ())}
        assert query == dict(verb.parameters)


def test_the_definitions_of_all_tools_fit_their_budget():
    assert sum(definition_tokens().values()) <= MOST_OF_DEFINITIONS


def test_the_tools_that_a_server_shows_before_pydantic_is_imported_are_those_of_the_verbs():
    """`make docs` writes the file."""
    for path, tools in describe_tools().items():
        assert json.loads(path.read_text("utf-8")) == tools


def test_a_schema_names_what_is_needed_and_what_may_be_chosen():
    schema = verbs.DECIDE.schema()
    assert (schema["required"], schema["additionalProperties"]) == (
        ["decision", "proposals"],
        False,
    )
    assert schema["properties"]["decision"]["enum"] == ["approve", "reject", "edit"]
    assert schema["properties"]["proposals"]["items"] == {"type": "string"}
    assert verbs.RECALL.schema()["properties"]["limit"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 15,
        "description": "Maximum results: 1 to 10, up to 15 with the profile deep.",
    }


class CountRequest(Request):
    """Counts how often a word is said."""

    word: str = Field(description="The word to count.")
    most: int = Field(default=5, ge=1, le=9, description="Count at most this many.")


@dataclass(frozen=True)
class Counted:
    """How often it was said."""

    word: str
    count: int


@pytest.fixture
def a_new_verb(monkeypatch: pytest.MonkeyPatch) -> Iterator[Verb]:
    """A verb that exists for one test: a request, a method of the facade, a line among the verbs."""

    def count(self: MemoryAgent, request: str | CountRequest, **options: Any) -> Counted:
        asked = CountRequest.of(request, **options)
        return Counted(asked.word, min(asked.most, 7))

    monkeypatch.setattr(MemoryAgent, "count", count, raising=False)
    verb = Verb(
        "count",
        CountRequest,
        "Count a word",
        "Count a word.",
        "Count how often a word is said.",
        {"word": "uv"},
    )
    VERBS.append(verb)
    cli._commands.cache_clear()
    yield verb
    VERBS.remove(verb)
    cli._commands.cache_clear()


def test_a_new_verb_is_a_command_a_tool_and_an_address(
    a_new_verb: Verb,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
):
    small_store()
    found = {"word": "uv", "count": 3}
    assert cli.main(["count", "uv", "--most", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"] == found
    assert cli.main(["count", "uv"]) == 0
    assert capsys.readouterr().out.split() == ["word", "uv", "count", "5"]
    said = Protocol(is_structured=True).answer(
        "tools/call", {"name": "memory_count", "arguments": {"word": "uv", "most": 3}}
    )
    assert said["structuredContent"]["data"] == found
    with TestClient(application("127.0.0.1"), base_url="http://127.0.0.1") as client:
        assert client.get("/count", params={"word": "uv", "most": 3}).json()["data"] == found
        refused = client.get("/count", params={"word": "uv", "most": 10}).json()["error"]["message"]
    assert refused == "most must be between 1 and 9, not 10."
    assert cli.main(["count", "uv", "--most", "10"]) == 2
    assert capsys.readouterr().err == f"✗ {refused}\n"
    monkeypatch.setattr(protocol, "TOOLS", tmp_path / "tools.json")
    protocol.TOOLS.write_text(json.dumps([describe(verb) for verb in VERBS]))
    assert "memory_count" in [tool["name"] for tool in Protocol().tools()["tools"]]
