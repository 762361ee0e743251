"""Codex as a model, with a stand-in that prints what `codex exec --json` of codex-cli 0.169.0 printed, shortened.

Seen: the last message is in the file of `-o`, the usage in the event `turn.completed`. A failure is an event `turn.failed`, after
`error` events for each retry, and the exit code 1. With `--ignore-user-config` no MCP server, hook or notification of the person's
configuration starts; the server and the login that it names are passed on. The AGENTS.md in its home is sent all the same.
"""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from memory_assets.adapters.codex_model import CodexModel
from memory_assets.errors import (
    ModelBusyError,
    ModelError,
    ModelLimitError,
    ModelRequestError,
    ModelSetupError,
)
from memory_assets.schema.protocols import Image, ModelAnswer, ModelRequest
from memory_assets_tests.adapters.clients import FakeClient

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="the stand-in is a script with a first line"
)
REQUEST = ModelRequest("You observe.", "the transcript says xyzzy", 8_000)
COMPLETED = {
    "type": "turn.completed",
    "usage": {"input_tokens": 100, "cached_input_tokens": 20, "output_tokens": 5},
}


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    made = FakeClient(tmp_path, "codex")
    monkeypatch.setenv("PATH", f"{made.folder}{os.pathsep}{os.environ['PATH']}")
    return made


def ask(
    client: FakeClient,
    tmp_path: Path,
    *events: dict[str, Any],
    name: str = "codex:small",
    request: ModelRequest = REQUEST,
    **plan: Any,
) -> ModelAnswer:
    lines = [json.dumps({"type": "thread.started"}), "no JSON", *map(json.dumps, events)]
    client.does(out="\n".join(lines) + "\n", **plan)
    return CodexModel(name, tmp_path / "harness.lock", timeout_seconds=20).ask(request)


def settings_of(client: FakeClient) -> dict[str, Any]:
    """The settings of the last call, as Codex reads them."""
    words = client.calls()[-1]["arguments"]
    given = [words[at + 1] for at, word in enumerate(words) if word == "-c"]
    return tomllib.loads("\n".join(given))


def test_the_client_is_called_without_session_hooks_tools_and_context(
    client: FakeClient, tmp_path: Path
):
    ask(client, tmp_path, COMPLETED, answer="hello")
    (call,) = client.calls()
    words, settings = call["arguments"], settings_of(client)
    assert words[0] == "exec"
    assert {
        "--ignore-user-config",
        "--ignore-rules",
        "--ephemeral",
        "--skip-git-repo-check",
        "read-only",
    } <= set(words)
    assert (settings["mcp_servers"], settings["notify"], settings["web_search"]) == (
        {},
        [],
        "disabled",
    )
    assert set(settings["features"].values()) == {False}
    assert {"hooks", "shell_tool", "unified_exec", "plugins", "apps"} <= settings["features"].keys()
    assert (
        settings["include_environment_context"],
        settings["skills"]["include_instructions"],
    ) == (False, False)
    assert (settings["model"], call["input"], words[-1]) == ("small", REQUEST.material, "-")
    assert Path(settings["model_instructions_file"]).name == "prompt.md"


def test_only_who_answers_is_taken_from_a_persons_settings(
    client: FakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    home = tmp_path / "codex-home"
    home.mkdir()
    monkeypatch.setenv("CODEX_HOME", str(home))
    (home / "config.toml").write_text(
        'model = "large"\nmodel_provider = "ours"\ndeveloper_instructions = "be brief"\n'
        '[model_providers.ours]\nname = "a \\"quoted\\" name"\nbase_url = "http://127.0.0.1:1/v1"\nhttp_headers = {"x-a" = "1"}\n'
        'env_key = "AZURE_OPENAI_API_KEY"\n'
        '[mcp_servers.trap]\ncommand = "trap"\n'
    )
    keys = {"AZURE_OPENAI_API_KEY": "k", "OPENAI_API_KEY": "another"}
    for name, key in keys.items():
        monkeypatch.setenv(name, key)
    ask(client, tmp_path, COMPLETED, answer="hello", name="codex")
    assert keys.keys() & client.calls()[-1]["environ"].keys() == {"AZURE_OPENAI_API_KEY"}
    settings = settings_of(client)
    assert (settings["model"], settings["model_provider"]) == ("large", "ours")
    ours = {
        "name": 'a "quoted" name',
        "base_url": "http://127.0.0.1:1/v1",
        "http_headers": {"x-a": "1"},
        "env_key": "AZURE_OPENAI_API_KEY",
    }
    assert settings["model_providers"] == {"ours": ours}
    assert "developer_instructions" not in settings
    assert settings["mcp_servers"] == {}
    ask(client, tmp_path, COMPLETED, answer="hello", name="codex:small")
    assert settings_of(client)["model"] == "small"
    (home / "config.toml").write_text("not [ TOML")
    ask(client, tmp_path, COMPLETED, answer="hello", name="codex")
    assert "model" not in settings_of(client)


def test_images_are_attached_as_files(client: FakeClient, tmp_path: Path):
    images = (Image("image/png", b"png"), Image("image/jpeg", b"jpg"))
    ask(client, tmp_path, COMPLETED, answer="seen", request=ModelRequest("s", "text", 10, images))
    attached = [word for word in client.calls()[0]["arguments"] if word.startswith("--image=")]
    assert [Path(word).name for word in attached] == ["image-1.png", "image-2.jpg"]


RETRY = "Reconnecting... 5/5 (unexpected status 500 Internal Server Error: xyzzy)"
HIT = "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), or try again at 1:26 AM."
ROOM = "Codex ran out of room in the model's context window. Start a new thread."
INVALID = (
    '{"type": "error", "error": {"type": "invalid_request_error", "message": "something xyzzy"}}'
)


@pytest.mark.parametrize(
    ("message", "kind", "says"),
    [
        (HIT, ModelLimitError, "The usage limit of Codex is reached; it is reset at 1:26 AM"),
        (
            "unexpected status 401 Unauthorized: xyzzy, url: http://x",
            ModelSetupError,
            "is not logged in.*Run `codex login`",
        ),
        ("Missing environment variable: `XYZZY`.", ModelSetupError, "is not logged in"),
        ("unexpected status 403 Forbidden: xyzzy", ModelSetupError, "its login is not accepted"),
        ("unexpected status 404 Not Found: xyzzy", ModelSetupError, "has no model 'small'"),
        (
            "Quota exceeded. Check your plan and billing details.",
            ModelSetupError,
            "has no credit left",
        ),
        (ROOM, ModelRequestError, "too long for codex:small"),
        (INVALID, ModelRequestError, "rejects a request"),
        (
            "exceeded retry limit, last status: 429 Too Many Requests",
            ModelBusyError,
            r"busy \(429\)",
        ),
        ("unexpected status 503 Service Unavailable: xyzzy", ModelBusyError, r"busy \(503\)"),
        ("Connection failed: error sending request", ModelBusyError, "cannot reach its server"),
        ("xyzzy", ModelError, "Run `codex` yourself to see why"),
    ],
)
def test_a_failure_says_what_to_do_and_quotes_nothing(
    message: str, kind: type, says: str, client: FakeClient, tmp_path: Path
):
    events = (
        {"type": "error", "message": RETRY},
        {"type": "turn.failed", "error": {"message": message}},
    )
    with pytest.raises(kind, match=says) as caught:
        ask(client, tmp_path, *events, exit_code=1)
    assert type(caught.value) is kind
    assert "xyzzy" not in str(caught.value).lower()


def test_an_empty_answer_comes_with_what_it_took(client: FakeClient, tmp_path: Path):
    answer = ask(client, tmp_path, COMPLETED, answer="", err="WARNING: proceeding")
    assert (answer.text, answer.output_tokens > 0) == ("", True)
