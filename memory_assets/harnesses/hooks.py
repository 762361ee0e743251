"""Lists the harnesses that hooks are installed for, with their settings and our parts of them."""

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from memory_assets.harnesses.harness_list import READ
from memory_assets.harnesses.hook_commands import HookTarget
from memory_assets.harnesses.hook_parts import HookPart
from memory_assets.schema.vocabulary import Harness
from memory_assets.store.places import home_folder


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
    """Returns the harnesses with our parts for the store, also those that are not installed.

    `tools` are those that only read: Claude Code may call them without asking. `chosen` are
    optional events with the harnesses that have hooks at them.
    """
    home = home or Path(home_folder())
    search_path = environ.get("PATH", "")
    settings = []
    for harness in READ:
        if harness.hook_parts is None:
            continue
        name = harness.name
        folder = harness.settings.find(home, environ)
        is_here = folder.is_dir() or shutil.which(harness.program, path=search_path) is not None
        events = [event for event, names in chosen.items() if name in names]
        target = HookTarget(name, folder, home, environ, store, tools, events)
        parts = harness.hook_parts(target)
        settings.append(HarnessSettings(name, harness.program, folder, is_here, parts))
    return tuple(settings)
