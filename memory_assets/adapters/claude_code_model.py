"""Claude Code as a model: `claude -p` answers with the person's own login.

The model gets our prompt as its system prompt and the material as the question. It has no tools,
session file, hooks, plugins, MCP servers, memory files or commands. The client adds a paragraph
about its empty folder, the platform and the date.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_assets.adapters import harness_model
from memory_assets.adapters.anthropic_model import content_blocks
from memory_assets.schema.protocols import ModelAnswer, ModelRequest

ISOLATION = (
    "--safe-mode", "--no-session-persistence", "--strict-mcp-config", "--disable-slash-commands",
    "--tools", "",
)  # fmt: skip
"""Options that leave out the person's configuration, sessions, MCP servers, commands and tools."""

STREAMS = (
    "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
    "--include-partial-messages",
)  # fmt: skip
"""Input and output as events: only these carry images, and the time at which a limit is reset.
Parts of messages show that the model is at work.
"""

MIN_OUTPUT_TOKENS = 32_000
"""An answer may always have this many tokens, even if the request allows fewer. When an answer is
cut at the limit, the client itself asks for the rest of it, up to three times.
"""

RETRIES = 2
"""The client's default would retry a wrong key for minutes."""

DISABLED = (
    *"CLAUDE_CODE_DISABLE_THINKING CLAUDE_CODE_DISABLE_ATTACHMENTS".split(),
    *"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC DISABLE_AUTOUPDATER".split(),
)
"""Variables that switch off a feature of the client."""


class ClaudeCodeModel(harness_model.HarnessModel):
    """A model of Claude Code, such as `claude-code:haiku`."""

    title = "Claude Code"
    program = "claude"
    log_in = "Start `claude` and log in (/login)."

    def arguments(self, request: ModelRequest, folder: Path) -> list[str]:
        """Returns the arguments for one question without tools, session, hooks or context; writes
        the prompt into the folder.
        """
        (folder / "prompt.md").write_text(request.system, "utf-8")
        prompt = ["--system-prompt-file", str(folder / "prompt.md")]
        model = ["--model", self.model] if self.model else []
        return ["-p", *ISOLATION, *prompt, *model, *STREAMS]

    def question(self, request: ModelRequest) -> str:
        """Returns the user's message as an event."""
        message = {"role": "user", "content": content_blocks(request)}
        return json.dumps({"type": "user", "message": message}) + "\n"

    def environ(self, request: ModelRequest) -> Mapping[str, str]:
        """Returns variables that limit the answer and switch off all other features."""
        return {
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max(request.max_tokens, MIN_OUTPUT_TOKENS)),
            "CLAUDE_CODE_MAX_RETRIES": str(RETRIES),
            **dict.fromkeys(DISABLED, "1"),
        }

    def parse(self, output: harness_model.ClientOutput, folder: Path) -> ModelAnswer:
        """Returns the answer in the events that the client prints."""
        events = list(harness_model.parse_events(output.out))
        result = next((event for event in reversed(events) if event.get("type") == "result"), None)
        if result is None:
            raise self.failure(output.err or output.out)
        text = str(result.get("result") or "")
        stop_reason = str(result.get("stop_reason") or "end_turn")
        if result.get("is_error"):
            text = "".join(_texts(events))
            early_end = _early_end(events, stop_reason)
            if early_end is None:
                status = result.get("api_error_status")
                raise self.failure(str(result.get("result")), status, _reset_at(events))
            stop_reason = early_end
        usage = result.get("usage") or {}
        return ModelAnswer(
            text=text,
            model=_model_of(result) or self.name,
            input_tokens=_tokens(usage, "input_tokens"),
            output_tokens=_tokens(usage, "output_tokens"),
            stop_reason=stop_reason,
            cache_read_tokens=_tokens(usage, "cache_read_input_tokens"),
            cache_write_tokens=_tokens(usage, "cache_creation_input_tokens"),
            raw=result,
        )


def _tokens(usage: Mapping[str, Any], kind: str) -> int:
    return int(usage.get(kind) or 0)


def _early_end(events: Sequence[Mapping[str, Any]], stop_reason: str) -> str | None:
    """Returns why the model ended its answer early: `max_tokens` if the answer was cut, or
    `refusal`. None if the client failed, and there is no answer.
    """
    errors = {str(event.get("error")) for event in events if event.get("type") == "assistant"}
    if "max_output_tokens" in errors:
        return "max_tokens"
    return stop_reason if stop_reason == "refusal" else None


def _texts(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields the texts of the model, without the client's messages about failures."""
    for event in events:
        if event.get("type") == "assistant" and not event.get("error"):
            blocks = event["message"]["content"]
            yield from (block["text"] for block in blocks if block.get("type") == "text")


def _reset_at(events: Sequence[Mapping[str, Any]]) -> datetime | None:
    """Returns when the limit that rejected the question is reset; None if the events do not say."""
    reports = (event for event in events if event.get("type") == "rate_limit_event")
    for limit in (report.get("rate_limit_info") or {} for report in reports):
        moment = limit.get("resetsAt")
        if limit.get("status") == "rejected" and isinstance(moment, int | float):
            return datetime.fromtimestamp(moment, UTC)
    return None


def _model_of(result: Mapping[str, Any]) -> str | None:
    """Returns the model that wrote most of the answer; None if the client does not say."""
    usage = result.get("modelUsage")
    if not isinstance(usage, dict) or not usage:
        return None
    return str(max(usage, key=lambda name: usage[name].get("outputTokens", 0)))
