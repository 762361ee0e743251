"""The harnesses that hooks are installed for: where each keeps its settings, and our parts of them."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from memory_assets.stages.deliver.hook import NOTIFY, SENT_AT, START
from memory_assets.stages.deliver.parts import SERVER, CodexConfig, HookPart, JsonHooks, JsonServer, OwnFile
from memory_assets.store.places import harness_homes

PI_FILE = "memory-assets.ts"
PI_MARK = "// by `memory hooks install`"
TRUST = "Codex runs a hook only after you trust it: run `/hooks` in Codex, also after each change of the hooks."
EVENTS = (START, *(event for event in SENT_AT if event != NOTIFY))


@dataclass(frozen=True)
class HarnessSettings:
    """A coding agent and the folder of its settings."""

    name: str
    title: str
    home: Path
    parts: tuple[HookPart, ...]


def harnesses(
    store: str, home: Path | None = None, environ: Mapping[str, str] = os.environ, tools: Sequence[str] = ()
) -> tuple[HarnessSettings, ...]:
    """Returns the three harnesses with our parts for the store, also those that are not installed.

    `tools` are those that only read: Claude Code may call them without asking.
    """
    home = home or Path.home()
    homes = harness_homes(home, environ)
    claude, codex, pi = homes["claude_code"], homes["codex"], homes["pi"]
    servers = (claude if environ.get("CLAUDE_CONFIG_DIR") else home) / ".claude.json"
    rules = [f"mcp__{SERVER}__{tool}" for tool in tools]
    program, *arguments = _server(store)
    entry = {"command": program, "args": arguments}
    return (
        HarnessSettings(
            "claude_code",
            "Claude Code",
            claude,
            (
                _hooks(claude / "settings.json", "claude_code", store, rules=rules),
                JsonServer(path=servers, entry={"type": "stdio", **entry, "env": {}}),
            ),
        ),
        HarnessSettings(
            "pi",
            "pi",
            pi,
            (
                OwnFile(path=pi / "extensions" / PI_FILE, content=_pi_extension(store), mark=PI_MARK),
                JsonServer(path=pi / "mcp.json", entry=entry),
            ),
        ),
        HarnessSettings(
            "codex",
            "Codex",
            codex,
            (
                _hooks(codex / "hooks.json", "codex", store, advice=TRUST),
                CodexConfig(path=codex / "config.toml", notify=_hook("codex", NOTIFY, store), server=_server(store)),
            ),
        ),
    )


def command() -> list[str]:
    """Returns the words that start `memory`, whatever the working folder and search path of a harness are."""
    script = Path(sys.executable).with_name("memory.exe" if os.name == "nt" else "memory")
    # -P: the working folder must not be able to replace our modules by its own.
    return [str(script)] if script.is_file() else [sys.executable, "-P", "-m", "memory_assets.interfaces.entry"]


def _hooks(path: Path, harness: str, store: str, *, advice: str = "", rules: Sequence[str] = ()) -> JsonHooks:
    commands = {event: _hook(harness, event, store) for event in EVENTS}
    return JsonHooks(path=path, harness=harness, commands=commands, advice=advice, rules=rules)


def _server(store: str) -> list[str]:
    return [*command(), "serve", "mcp", "--store", store]


def _hook(harness: str, event: str, store: str) -> list[str]:
    # The store is named, so that it does not depend on the environment of the harness.
    return [*command(), "hooks", "run", harness, event, "--store", store]


def _pi_extension(store: str) -> str:
    template = files("memory_assets.stages.deliver").joinpath("pi_extension.ts").read_text("utf-8")
    words = json.dumps(command(), ensure_ascii=False)
    return template.replace('"COMMAND"', words).replace('"STORE"', json.dumps(store)).replace("// MARK", PI_MARK)
