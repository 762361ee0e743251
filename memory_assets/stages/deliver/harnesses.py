"""The harnesses that hooks are installed for: where each keeps its settings, and our parts of
them.
"""

import json
import os
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from memory_assets.stages.deliver.codex_parts import CodexConfig, CodexHooks
from memory_assets.stages.deliver.hook import NOTIFY, PROMPT, SENT_AT, START
from memory_assets.stages.deliver.parts import (
    PROMPTS,
    RECALLING,
    SERVER,
    HookPart,
    JsonHooks,
    JsonServer,
    OwnFile,
)
from memory_assets.store.places import harness_homes

PI_FILE = "memory-assets.ts"
NOT_RECALLING = RECALLING.replace("true", "false")
PI_MARK = "// by `memory hooks install`"
EVENTS = (START, *(event for event in SENT_AT if event != NOTIFY))
MATCHERS = {"claude_code": {"PreCompact": "auto"}}
"""Where a hook is not for every occasion. Claude Code puts a line with the command of a PreCompact
hook into the context of a session that its person compacts; there, the start after the compaction
has the transcript read."""


@dataclass(frozen=True)
class HarnessSettings:
    """A coding agent and the folder of its settings."""

    name: str
    title: str
    program: str
    """The command of its client."""
    home: Path
    is_here: bool
    """Whether it has settings already, or its client is on the search path: it makes them when it
    is started first.
    """
    parts: tuple[HookPart, ...]


def harnesses(
    store: str,
    home: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    tools: Sequence[str] = (),
    recalling: Collection[str] = (),
) -> tuple[HarnessSettings, ...]:
    """Returns the three harnesses with our parts for the store, also those that are not installed.

    `tools` are those that only read: Claude Code may call them without asking. `recalling` are the
    harnesses that recall at each prompt.
    """
    home = home or Path.home()
    homes = harness_homes(home, environ)
    claude, codex, pi = homes["claude_code"], homes["codex"], homes["pi"]
    servers = (claude if environ.get("CLAUDE_CONFIG_DIR") else home) / ".claude.json"
    rules = [f"mcp__{SERVER}__{tool}" for tool in tools]

    def is_here(folder: Path, program: str) -> bool:
        return folder.is_dir() or shutil.which(program, path=environ.get("PATH", "")) is not None

    def entry(harness: str) -> dict[str, object]:
        program, *arguments = _server(store, is_recalling=harness in recalling)
        return {"command": program, "args": arguments}

    return (
        HarnessSettings(
            "claude_code",
            "Claude Code",
            "claude",
            claude,
            is_here(claude, "claude"),
            (
                _hooks(
                    claude / "settings.json",
                    "claude_code",
                    store,
                    rules=rules,
                    is_recalling="claude_code" in recalling,
                ),
                JsonServer(
                    path=servers, entry={"type": "stdio", **entry("claude_code"), "env": {}}
                ),
            ),
        ),
        HarnessSettings(
            "pi",
            "pi",
            "pi",
            pi,
            is_here(pi, "pi"),
            (
                OwnFile(
                    path=pi / "extensions" / PI_FILE,
                    content=_pi_extension(store, is_recalling="pi" in recalling),
                    mark=PI_MARK,
                ),
                # The extension starts the server that answers prompts: releases without a client
                # have none else. `direct`: the model sees the tools, instead of having to search
                # for them.
                JsonServer(path=pi / "mcp.json", entry={**entry(""), "exposure": "direct"}),
            ),
        ),
        HarnessSettings(
            "codex",
            "Codex",
            "codex",
            codex,
            is_here(codex, "codex"),
            (
                _hooks(
                    codex / "hooks.json",
                    "codex",
                    store,
                    beside=codex / "config.toml",
                    is_recalling="codex" in recalling,
                ),
                CodexConfig(
                    path=codex / "config.toml",
                    notify=_hook("codex", NOTIFY, store),
                    server=_server(store, is_recalling="codex" in recalling),
                ),
            ),
        ),
    )


def command() -> list[str]:
    """Returns the words that start `memory`, whatever the working folder and search path of a
    harness are.
    """
    script = Path(sys.executable).with_name("memory.exe" if os.name == "nt" else "memory")
    # -P: the working folder must not be able to replace our modules by its own.
    return (
        [str(script)]
        if script.is_file()
        else [sys.executable, "-P", "-m", "memory_assets.interfaces.entry"]
    )


def _hooks(path: Path, harness: str, store: str, *, is_recalling: bool, **more: Any) -> JsonHooks:
    commands = {
        event: _hook(harness, event, store)
        for event in (*EVENTS, *([PROMPT] if is_recalling else ()))
    }
    kind = CodexHooks if harness == "codex" else JsonHooks
    return kind(
        path=path, harness=harness, commands=commands, matchers=MATCHERS.get(harness, {}), **more
    )


def _server(store: str, *, is_recalling: bool = False) -> list[str]:
    return [*command(), "serve", "mcp", *([PROMPTS] if is_recalling else ()), "--store", store]


def _hook(harness: str, event: str, store: str) -> list[str]:
    # The store is named, so that it does not depend on the environment of the harness.
    return [*command(), "hooks", "run", harness, event, "--store", store]


def _pi_extension(store: str, *, is_recalling: bool = False) -> str:
    template = files("memory_assets.stages.deliver").joinpath("pi_extension.ts").read_text("utf-8")
    words = json.dumps(command(), ensure_ascii=False)
    filled = (
        template.replace('"COMMAND"', words)
        .replace('"STORE"', json.dumps(store))
        .replace("// MARK", PI_MARK)
    )
    return filled.replace(NOT_RECALLING, RECALLING) if is_recalling else filled
