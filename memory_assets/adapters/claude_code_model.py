"""Claude Code as a model: `claude -p` answers with the person's own login.

No tools, no session file, no hooks, no plugins, no MCP servers, no memory files, no commands: the
model gets our prompt as its system prompt and the material as the question. The client adds a
paragraph about its empty folder, the platform and the date.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_assets.adapters.anthropic_model import image_blocks
from memory_assets.adapters.harness_model import ClientOutput, HarnessModel, parse_events
from memory_assets.errors import ModelError
from memory_assets.schema.protocols import ModelAnswer, ModelRequest

NOTHING_OF_ITS_OWN = (
    "--safe-mode", "--no-session-persistence", "--strict-mcp-config", "--disable-slash-commands",
    "--tools", "",
)  # fmt: skip

STREAMS = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
"""Only events carry images in, and the time at which a limit is reset out."""

LEAST_ROOM = 32_000
"""Output tokens: the client asks three more times for the rest of an answer that was cut."""

RETRIES = 2
"""The client's own default retries a wrong key for minutes."""


class ClaudeCodeModel(HarnessModel):
    """A model of Claude Code, such as `claude-code:haiku`."""

    title = "Claude Code"
    program = "claude"
    log_in = "Start `claude` and log in (/login)."

    def arguments(self, request: ModelRequest, folder: Path) -> list[str]:
        """Returns the arguments for one question without tools, session, hooks or context."""
        (folder / "prompt.md").write_text(request.system, "utf-8")
        model_arguments = ["--model", self.model] if self.model else []
        return [
            "-p",
            *NOTHING_OF_ITS_OWN,
            "--system-prompt-file",
            str(folder / "prompt.md"),
            *model_arguments,
            *STREAMS,
        ]

    def question(self, request: ModelRequest) -> str:
        """Returns the user's message as an event."""
        images = [
            block
            for number, image in enumerate(request.images, 1)
            for block in image_blocks(number, image)
        ]
        content = [*images, {"type": "text", "text": request.material}]
        return json.dumps({"type": "user", "message": {"role": "user", "content": content}}) + "\n"

    def environ(self, request: ModelRequest) -> Mapping[str, str]:
        """Returns the limit of the answer, and switches off everything that is no answer."""
        return {
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max(request.max_tokens, LEAST_ROOM)),
            "CLAUDE_CODE_MAX_RETRIES": str(RETRIES),
            "CLAUDE_CODE_DISABLE_THINKING": "1",
            "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def parse(self, output: ClientOutput, folder: Path) -> ModelAnswer:
        """Returns the answer in the events that the client prints."""
        events = list(parse_events(output.out))
        result = next((event for event in reversed(events) if event.get("type") == "result"), None)
        if result is None:
            raise self.failure(output.err or output.out)
        text = str(result.get("result") or "")
        stop_reason = str(result.get("stop_reason") or "end_turn")
        if result.get("is_error"):
            text = "".join(_said(events))
            stop_reason = _interrupted(events, stop_reason)
            if not stop_reason:
                raise self.failure(
                    str(result.get("result")), result.get("api_error_status"), _reset_at(events)
                )
        elif not text.strip():
            raise ModelError(
                f"{self.title} returned an empty answer ({stop_reason}). The next run "
                "repeats the request."
            )
        return ModelAnswer(
            text=text,
            model=_model_of(result) or self.name,
            input_tokens=_tokens(result, "input_tokens"),
            output_tokens=_tokens(result, "output_tokens"),
            stop_reason=stop_reason,
            cache_read_tokens=_tokens(result, "cache_read_input_tokens"),
            cache_write_tokens=_tokens(result, "cache_creation_input_tokens"),
            raw=result,
        )


def _tokens(result: Mapping[str, Any], kind: str) -> int:
    usage = result.get("usage") or {}
    return int(usage.get(kind) or 0)


def _interrupted(events: Sequence[Mapping[str, Any]], stop_reason: str) -> str:
    """Returns the stop reason of a refusal or a cut answer, which the client reports as errors;
    empty for others.
    """
    errors = {str(event.get("error")) for event in events if event.get("type") == "assistant"}
    return (
        "max_tokens"
        if "max_output_tokens" in errors
        else stop_reason
        if stop_reason == "refusal"
        else ""
    )


def _said(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields what the model wrote, without the client's words about failures."""
    for event in events:
        if event.get("type") == "assistant" and not event.get("error"):
            yield from (
                block["text"]
                for block in event["message"]["content"]
                if block.get("type") == "text"
            )


def _reset_at(events: Sequence[Mapping[str, Any]]) -> datetime | None:
    """Returns when the limit that rejects questions is reset."""
    limits = (
        event.get("rate_limit_info") or {}
        for event in events
        if event.get("type") == "rate_limit_event"
    )
    moments = [limit.get("resetsAt") for limit in limits if limit.get("status") == "rejected"]
    return next(
        (
            datetime.fromtimestamp(moment, UTC)
            for moment in moments
            if isinstance(moment, int | float)
        ),
        None,
    )


def _model_of(result: Mapping[str, Any]) -> str | None:
    """Returns the model that wrote most of the answer."""
    usage = result.get("modelUsage")
    if not isinstance(usage, dict) or not usage:
        return None
    return str(max(usage, key=lambda name: usage[name].get("outputTokens", 0)))
