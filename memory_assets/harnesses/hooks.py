"""Lists the harnesses that hooks are installed for, with their settings and our parts of them."""

import os
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from memory_assets.harnesses.claude_code import hooks as claude_code
from memory_assets.harnesses.codex import hooks as codex
from memory_assets.harnesses.homes import harness_homes
from memory_assets.harnesses.hook_commands import HookTarget
from memory_assets.harnesses.hook_parts import HookPart
from memory_assets.harnesses.pi import hooks as pi
from memory_assets.schema.vocabulary import Harness
from memory_assets.store.places import home_folder

HOOKED: tuple[tuple[Harness, str, Callable[[HookTarget], tuple[HookPart, ...]]], ...] = (
    ("claude_code", "claude", claude_code.hook_parts),
    ("pi", "pi", pi.hook_parts),
    ("codex", "codex", codex.hook_parts),
)
"""Name, the command of the client, and the function that returns our parts."""


@dataclass(frozen=True)
class HarnessSettings:
    """A coding agent and the folder of its settings."""

    name: Harness
    program: str
    """The command of its client."""
    home: Path
    is_here: bool
    """Whether it has settings, or its client, which makes them, is on the search path."""
    parts: tuple[HookPart, ...]


def harnesses(
    store: str,
    home: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    tools: Sequence[str] = (),
    chosen: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> tuple[HarnessSettings, ...]:
    """Returns the three harnesses with our parts for the store, also those that are not installed.

    `tools` are those that only read: Claude Code may call them without asking. `chosen` are
    optional events with the harnesses that have hooks at them.
    """
    home = home or Path(home_folder())
    homes = harness_homes(home, environ)
    search_path = environ.get("PATH", "")
    settings = []
    for name, program, hook_parts in HOOKED:
        folder = homes[name]
        is_here = folder.is_dir() or shutil.which(program, path=search_path) is not None
        events = [event for event, names in chosen.items() if name in names]
        target = HookTarget(name, folder, home, environ, store, tools, events)
        settings.append(HarnessSettings(name, program, folder, is_here, hook_parts(target)))
    return tuple(settings)
