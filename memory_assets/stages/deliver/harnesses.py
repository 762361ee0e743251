"""The harnesses that hooks are installed for: where each keeps its settings, and which parts of ours go there."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from memory_assets.stages.deliver.hook import NOTIFY, SENT_AT, START
from memory_assets.stages.deliver.parts import JsonHooks, OwnFile, Part, TomlNotify
from memory_assets.store.places import harness_homes

PI_FILE = "memory-assets.ts"
PI_MARK = "// by `memory hooks install`"
TRUST = "Codex runs a hook only once you trust it: say `/hooks` in Codex, and again after each change of them."
EVENTS = (START, *(event for event in SENT_AT if event != NOTIFY))


@dataclass(frozen=True)
class Harness:
    """A coding agent and the folder of its settings."""

    name: str
    title: str
    home: Path
    parts: tuple[Part, ...]


def harnesses(store: str, home: Path | None = None, environ: Mapping[str, str] = os.environ) -> tuple[Harness, ...]:
    """Returns the three harnesses with our parts for the store, wherever their folders are or would be."""
    homes = harness_homes(home or Path.home(), environ)
    claude, codex, pi = homes["claude_code"], homes["codex"], homes["pi"]
    extension = OwnFile(pi / "extensions" / PI_FILE, _pi_extension(store), PI_MARK)
    notify = TomlNotify(codex / "config.toml", _hook("codex", NOTIFY, store))
    return (
        Harness("claude_code", "Claude Code", claude, (_hooks(claude / "settings.json", "claude_code", store),)),
        Harness("pi", "pi", pi, (extension,)),
        Harness("codex", "Codex", codex, (_hooks(codex / "hooks.json", "codex", store, advice=TRUST), notify)),
    )


def command() -> list[str]:
    """Returns the words that start `memory`, whatever folder and search path a harness has."""
    script = Path(sys.executable).with_name("memory.exe" if os.name == "nt" else "memory")
    # -P: a folder that somebody works in must not be able to put modules of its own in place of ours.
    return [str(script)] if script.is_file() else [sys.executable, "-P", "-m", "memory_assets.interfaces.entry"]


def _hooks(path: Path, harness: str, store: str, advice: str = "") -> JsonHooks:
    return JsonHooks(path, harness, {event: _hook(harness, event, store) for event in EVENTS}, advice)


def _hook(harness: str, event: str, store: str) -> list[str]:
    # The store is named, so that the shell that a harness starts in does not decide about it.
    return [*command(), "hooks", "run", harness, event, "--store", store]


def _pi_extension(store: str) -> str:
    template = files("memory_assets.stages.deliver").joinpath("pi_extension.ts").read_text("utf-8")
    return template.replace('"COMMAND"', _listed(command())).replace('"STORE"', json.dumps(store)).replace("// MARK", PI_MARK)


def _listed(words: Sequence[str]) -> str:
    return json.dumps(list(words), ensure_ascii=False)
