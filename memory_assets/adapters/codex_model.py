"""Codex as a model: `codex exec` answers with the person's own login.

Our prompt replaces Codex's instructions, and the material is the question; images are attached as
files. There are no session file, tools, hooks, notifications, MCP servers or skills. The person's
configuration is ignored, except for the model, its server and the login. Codex adds the AGENTS.md
in its home, which no setting leaves out.
"""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_assets.adapters import harness_model
from memory_assets.schema.protocols import ModelAnswer, ModelRequest

ISOLATION = (
    "exec", "--ignore-user-config", "--ignore-rules", "--ephemeral", "--skip-git-repo-check",
    "--sandbox", "read-only",
    "--json",
)  # fmt: skip
"""Options of one question without the person's configuration, without a session file, read-only."""

FEATURES = (
    *"hooks apps plugins multi_agent goals shell_tool unified_exec view_image".split(),
    *"image_generation sleep_tool skill_search tool_suggest".split(),
)
"""Features that are switched off: Codex would run them, or offer them to the model."""

SETTINGS = (
    *(f"features.{name}=false" for name in FEATURES), 'web_search="disabled"',
    "notify=[]", "mcp_servers={}",
    "include_permissions_instructions=false", "include_environment_context=false",
    "include_apps_instructions=false",
    "skills.include_instructions=false", "skills.bundled.enabled=false", "project_doc_max_bytes=0",
)  # fmt: skip

KEPT_SETTINGS = (
    *"model model_provider model_providers openai_base_url chatgpt_base_url".split(),
    *"cli_auth_credentials_store forced_login_method forced_chatgpt_workspace_id".split(),
)
"""Settings of the person's configuration that are kept: the model, its server and the login."""

SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


class CodexModel(harness_model.HarnessModel):
    """A model of Codex, such as `codex:gpt-5.4-mini`; `codex` is Codex's default model."""

    title = "Codex"
    program = "codex"
    log_in = "Run `codex login`."
    silence = 3.0
    """It prints nothing while the model writes."""

    def arguments(self, request: ModelRequest, folder: Path) -> list[str]:
        """Returns the arguments for one question without session, hooks, MCP servers or context;
        writes the prompt and the images into the folder.
        """
        (folder / "prompt.md").write_text(request.system, "utf-8")
        options = {name: value for name, value in _configuration().items() if name in KEPT_SETTINGS}
        if self.model:
            options["model"] = self.model
        options["model_instructions_file"] = str(folder / "prompt.md")
        settings = (f"{name}={_toml(value)}" for name, value in options.items())
        arguments = [*ISOLATION, "-o", str(folder / "answer.txt")]
        for setting in (*settings, *SETTINGS):
            arguments += ["-c", setting]
        for number, image in enumerate(request.images, 1):
            path = folder / f"image-{number}.{SUFFIXES.get(image.media_type, 'png')}"
            path.write_bytes(image.data)
            arguments.append(f"--image={path}")
        return [*arguments, "-"]

    def environ(self, request: ModelRequest) -> Mapping[str, str]:
        """Returns the key of the server that the person's settings choose."""
        key = str(chosen_server().get("env_key"))
        return {key: os.environ[key]} if key in os.environ else {}

    def parse(self, output: harness_model.ClientOutput, folder: Path) -> ModelAnswer:
        """Returns the answer, from the file of the last message, with the token counts in the
        events that the client prints.
        """
        events = list(harness_model.parse_events(output.out))
        answer = folder / "answer.txt"
        text = answer.read_text("utf-8", "replace") if answer.is_file() else ""
        if output.exit_code:
            raise self.failure(_last_error(events) or output.err)
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
    try:
        home = Path(os.environ.get("CODEX_HOME") or "~/.codex").expanduser()
        return tomllib.loads((home / "config.toml").read_text("utf-8"))
    except (OSError, ValueError, RuntimeError):  # the last of an unknown home
        return {}


def chosen_server() -> Mapping[str, Any]:
    """Returns the server that the person's settings define and choose, or the vendor's."""
    settings = _configuration()
    try:
        return dict(settings["model_providers"][settings["model_provider"]])
    except (KeyError, TypeError, ValueError):
        return {"base_url": settings.get("openai_base_url"), "requires_openai_auth": True}


def _toml(value: Any) -> str:
    """Returns the value as TOML on one line."""
    if isinstance(value, dict):
        members = (f"{json.dumps(str(name))} = {_toml(item)}" for name, item in value.items())
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _last_error(events: Sequence[Mapping[str, Any]]) -> str:
    """Returns the message of the last failure, or an empty one; earlier ones were retried."""
    for event in reversed(events):
        if event.get("type") in ("turn.failed", "error"):
            return str((event.get("error") or event).get("message", ""))
    return ""
