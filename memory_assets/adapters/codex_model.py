"""Codex as a model: `codex exec` answers with the person's own login.

No session file, no tools, no hooks, no notification, no MCP servers, no skills: our prompt takes
the place of its instructions, and the material is the question. Its configuration is ignored,
except for what says who answers. Images are attached as files. It adds the AGENTS.md in its home,
which no setting leaves out.
"""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_assets.adapters.harness_model import ClientOutput, HarnessModel, parse_events
from memory_assets.errors import ModelError
from memory_assets.schema.protocols import ModelAnswer, ModelRequest

NOTHING_OF_ITS_OWN = (
    "exec", "--ignore-user-config", "--ignore-rules", "--ephemeral", "--skip-git-repo-check",
    "--sandbox", "read-only",
    "--json",
)  # fmt: skip

FEATURES = (
    "hooks", "apps", "plugins", "multi_agent", "goals", "shell_tool", "unified_exec", "view_image",
    "image_generation",
    "sleep_tool", "skill_search", "tool_suggest",
)  # fmt: skip
"""What it would otherwise run, or offer to the model."""

SETTINGS = (
    *(f"features.{name}=false" for name in FEATURES), 'web_search="disabled"',
    "notify=[]", "mcp_servers={}",
    "include_permissions_instructions=false", "include_environment_context=false",
    "include_apps_instructions=false",
    "skills.include_instructions=false", "skills.bundled.enabled=false", "project_doc_max_bytes=0",
)  # fmt: skip

WHO_ANSWERS = (
    "model", "model_provider", "model_providers", "openai_base_url", "chatgpt_base_url",
    "cli_auth_credentials_store",
    "forced_login_method", "forced_chatgpt_workspace_id",
)  # fmt: skip
"""Settings of its configuration that are kept: the server and the login."""

SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


class CodexModel(HarnessModel):
    """A model of Codex, such as `codex:gpt-5.4-mini`; without a name the one that Codex uses by
    default.
    """

    title = "Codex"
    program = "codex"
    log_in = "Run `codex login`."

    def arguments(self, request: ModelRequest, folder: Path) -> list[str]:
        """Returns the arguments for one question without session, hooks, MCP servers or context."""
        (folder / "prompt.md").write_text(request.system, "utf-8")
        options = {name: value for name, value in _configuration().items() if name in WHO_ANSWERS}
        if self.model:
            options["model"] = self.model
        options["model_instructions_file"] = str(folder / "prompt.md")
        settings = (f"{name}={_toml(value)}" for name, value in options.items())
        arguments = [*NOTHING_OF_ITS_OWN, "-o", str(folder / "answer.txt")]
        for setting in (*settings, *SETTINGS):
            arguments += ["-c", setting]
        for number, image in enumerate(request.images, 1):
            path = folder / f"image-{number}.{SUFFIXES.get(image.media_type, 'png')}"
            path.write_bytes(image.data)
            arguments.append(f"--image={path}")
        return [*arguments, "-"]

    def parse(self, output: ClientOutput, folder: Path) -> ModelAnswer:
        """Returns the answer in the file of the last message; the usage is in the events that the
        client prints.
        """
        events = list(parse_events(output.out))
        answer = folder / "answer.txt"
        text = answer.read_text("utf-8", "replace") if answer.is_file() else ""
        if output.exit_code:
            raise self.failure(_last_error(events) or output.err)
        if not text.strip():
            raise ModelError(
                f"{self.title} returned an empty answer. The next run repeats the request."
            )
        usages = (event.get("usage") for event in reversed(events))
        usage = next((usage for usage in usages if isinstance(usage, dict)), {})
        cached = int(usage.get("cached_input_tokens") or 0)
        return ModelAnswer(
            text=text,
            model=self.name,
            input_tokens=int(usage.get("input_tokens") or 0) - cached,
            output_tokens=int(usage.get("output_tokens") or 0),
            cache_read_tokens=cached,
            raw={"events": events},
        )


def _configuration() -> Mapping[str, Any]:
    """Returns the person's configuration of Codex; empty where it is missing or cannot be read."""
    home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex").expanduser()
    try:
        return tomllib.loads((home / "config.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def _toml(value: Any) -> str:
    """Returns the value as TOML on one line."""
    if isinstance(value, dict):
        members = (f"{json.dumps(str(name))} = {_toml(item)}" for name, item in value.items())
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _last_error(events: Sequence[Mapping[str, Any]]) -> str:
    """Returns the message of the last failure; earlier ones were retried."""
    failures = [event for event in events if event.get("type") in ("turn.failed", "error")]
    last = failures[-1].get("error") or failures[-1] if failures else {}
    return str(last.get("message", ""))
