"""Claude Code as a model, with a stand-in that prints what `claude` 2.1.330 printed against a local server, shortened.

Seen: the last event is the result; a failure of the API is a result with `is_error`, its HTTP status in `api_error_status` and the
client's own words in `result`, printed as an assistant event with `error`, too. A limit is an event `rate_limit_event` with the
moment of its reset. An answer that reaches the limit of tokens is asked for three more times, each part an assistant event. A
refusal keeps its stop reason. Without a login nothing is sent. An unknown option ends the client with one line on stderr.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memory_assets.adapters.claude_code_model import ClaudeCodeModel
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
SETUP, REJECTED, BUSY = ModelSetupError, ModelRequestError, ModelBusyError
REQUEST = ModelRequest("You observe.", "the transcript says xyzzy", 8_000)
USAGE = {
    "input_tokens": 100,
    "output_tokens": 5,
    "cache_read_input_tokens": 7,
    "cache_creation_input_tokens": 9,
}


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    made = FakeClient(tmp_path, "claude")
    monkeypatch.setenv("PATH", f"{made.folder}{os.pathsep}{os.environ['PATH']}")
    return made


def said(text: str, error: str | None = None) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}} | (
        {"error": error} if error else {}
    )


def result(text: str, **changes: Any) -> dict[str, Any]:
    usage = {"claude-haiku-5-5": {"outputTokens": 5}, "other": {"outputTokens": 1}}
    plain = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "api_error_status": None,
        "stop_reason": "end_turn",
    }
    return {**plain, "result": text, "usage": USAGE, "modelUsage": usage, **changes}


def failed(text: str, status: int | None, error: str = "unknown") -> list[dict[str, Any]]:
    wrong = result(
        text, is_error=True, api_error_status=status, stop_reason="stop_sequence", modelUsage={}
    )
    return [said(text, error), wrong]


def ask(
    client: FakeClient,
    tmp_path: Path,
    events: list[dict],
    request: ModelRequest = REQUEST,
    **plan: Any,
) -> ModelAnswer:
    lines = [json.dumps({"type": "system", "subtype": "init"}), "no JSON", *map(json.dumps, events)]
    client.does(
        out="\n".join(lines) + "\n",
        **{"exit_code": int(bool(events) and events[-1].get("is_error", False)), **plan},
    )
    return ClaudeCodeModel("claude-code:haiku", tmp_path / "harness.lock", timeout_seconds=20).ask(
        request
    )


def test_the_client_is_called_without_tools_session_hooks_and_context(
    client: FakeClient, tmp_path: Path
):
    ask(client, tmp_path, [result("hello")])
    (call,) = client.calls()
    words = call["arguments"]
    for option in (
        "-p",
        "--safe-mode",
        "--no-session-persistence",
        "--strict-mcp-config",
        "--disable-slash-commands",
    ):
        assert option in words
    given = {word: words[at + 1] for at, word in enumerate(words[:-1]) if word.startswith("--")}
    assert (given["--tools"], given["--model"]) == ("", "haiku")
    assert call["files"] == {given["--system-prompt-file"]: "You observe."}
    content = [{"type": "text", "text": REQUEST.material}]
    assert json.loads(call["input"]) == {
        "type": "user",
        "message": {"role": "user", "content": content},
    }
    assert (
        call["environ"]["CLAUDE_CODE_MAX_OUTPUT_TOKENS"],
        call["environ"]["CLAUDE_CODE_MAX_RETRIES"],
    ) == ("32000", "2")


def test_images_come_before_the_text_each_with_its_number(client: FakeClient, tmp_path: Path):
    ask(
        client,
        tmp_path,
        [result("seen")],
        ModelRequest("s", "text", 10, (Image("image/png", b"png"),)),
    )
    label, image, text = json.loads(client.calls()[0]["input"])["message"]["content"]
    assert (label["text"], image["source"]["data"], text["text"]) == ("Image 1:", "cG5n", "text")


def test_a_refusal_and_a_cut_answer_are_answers_with_their_stop_reason(
    client: FakeClient, tmp_path: Path
):
    own = "API Error: Haiku 5.5 can't help with this. Start a new session to continue."
    refused = ask(
        client,
        tmp_path,
        [said(own, "invalid_request"), result(own, is_error=True, stop_reason="refusal")],
    )
    assert (refused.text, refused.stop_reason) == ("", "refusal")
    own = "API Error: Claude's response exceeded the 32000 output token maximum."
    parts = [said("first, "), said("second"), said(own, "max_output_tokens")]
    cut = ask(client, tmp_path, [*parts, result(own, is_error=True, stop_reason="stop_sequence")])
    assert (cut.text, cut.stop_reason) == ("first, second", "max_tokens")


LIMIT = {
    "type": "rate_limit_event",
    "rate_limit_info": {"status": "rejected", "resetsAt": 1795396891},
}
HIT = "You've hit your 5-hour limit · resets 1:21am (UTC)"


@pytest.mark.parametrize(
    ("events", "kind", "says"),
    [
        (
            [LIMIT, *failed(HIT, 429, "rate_limit")],
            ModelLimitError,
            "it is reset at 2026-11-23 01:21 UTC",
        ),
        (failed(HIT, 429, "rate_limit"), ModelLimitError, r"it is reset at 1:21am \(UTC\)"),
        (
            failed("Not logged in · Please run /login", None),
            SETUP,
            r"is not logged in.*Start `claude` and log in \(/login\)",
        ),
        (
            failed("Invalid API key · Fix external API key", 401),
            SETUP,
            "its login is not accepted",
        ),
        (
            failed("Failed to authenticate. API Error: 403 no xyzzy", 403),
            SETUP,
            "its login is not accepted",
        ),
        (
            failed("There's an issue with the selected model (xyzzy).", 404),
            SETUP,
            "has no model 'haiku'",
        ),
        (failed("Credit balance is too low", 400), SETUP, "has no credit left"),
        (
            failed("Prompt is too long · the request is ~300000 tokens", 400),
            REJECTED,
            "too long for claude-code:haiku",
        ),
        (
            failed("API Error: 400 something xyzzy", 400),
            REJECTED,
            r"rejects a request \(400\)",
        ),
        (failed("API Error: 529 Overloaded.", 529), BUSY, r"is busy \(529\)"),
        (
            failed(
                "API Error: Server is temporarily limiting requests (not your usage limit)", 429
            ),
            BUSY,
            r"busy \(429\)",
        ),
        (
            failed("API Error: Unable to connect to API (ECONNREFUSED)", None),
            BUSY,
            "cannot reach its server",
        ),
        (failed("xyzzy", None), ModelError, "Run `claude` yourself to see why"),
        ([], ModelError, "Run `claude` yourself"),
    ],
)
def test_a_failure_says_what_to_do_and_quotes_nothing(
    events: list,
    kind: type,
    says: str,
    client: FakeClient,
    tmp_path: Path,
):
    with pytest.raises(kind, match=says) as caught:
        ask(client, tmp_path, events)
    assert type(caught.value) is kind
    assert "xyzzy" not in str(caught.value)


def test_a_client_that_lacks_an_option_is_too_old(client: FakeClient, tmp_path: Path):
    with pytest.raises(ModelSetupError, match="Update it, then try again"):
        ask(client, tmp_path, [], err="error: unknown option '--safe-mode'\n", exit_code=1)
