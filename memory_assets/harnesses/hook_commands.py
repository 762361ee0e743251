"""The commands that start our hooks and our server of tools in a harness, and scripts with them."""

import json
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from memory_assets.harnesses.hook_events import EVENTS, PROMPT
from memory_assets.harnesses.hook_parts import PROMPTS, RECALLING

MARK = "// by `memory hooks install`"
"""The line that marks a script as ours."""


@dataclass(frozen=True)
class HookTarget:
    """A harness, and the store that its hooks and its server of tools are bound to."""

    harness: str
    folder: Path
    """Folder of the harness's settings."""
    home: Path
    """The person's home."""
    environ: Mapping[str, str]
    store: str
    tools: Sequence[str]
    """Names of the tools that only read."""
    optional_events: Collection[str] = ()
    """Events that have a hook because a person chose it."""

    @property
    def is_recalling(self) -> bool:
        """Whether memories are recalled at each prompt."""
        return PROMPT in self.optional_events

    def hook_commands(self) -> dict[str, list[str]]:
        """Returns the command of each event at which a hook runs."""
        return {event: self.hook_command(event) for event in (*EVENTS, *self.optional_events)}

    def hook_command(self, event: str, *options: str) -> list[str]:
        """Returns the command of the hook of an event, with options.

        It names the store, so that it does not depend on the environment of the harness.
        """
        return [*command(), "hooks", "run", self.harness, event, *options, "--store", self.store]

    def server_command(self, *, is_recalling: bool | None = None) -> list[str]:
        """Returns the command of the server of tools, by default as `is_recalling` says."""
        recalls = self.is_recalling if is_recalling is None else is_recalling
        prompts = [PROMPTS] if recalls else []
        return [*command(), "serve", "mcp", *prompts, "--store", self.store]

    def server_entry(self, *, is_recalling: bool | None = None) -> dict[str, object]:
        """Returns the server of tools as JSON settings have it."""
        program, *arguments = self.server_command(is_recalling=is_recalling)
        return {"command": program, "args": arguments}


def render_script(target: HookTarget, package: str, name: str) -> str:
    """Returns the source of a script of the package, with our command and the store in it."""
    source = files(package).joinpath(name).read_text("utf-8")
    source = source.replace('"COMMAND"', json.dumps(command(), ensure_ascii=False))
    source = source.replace('"STORE"', json.dumps(target.store)).replace("// MARK", MARK)
    not_recalling = RECALLING.replace("true", "false")
    return source.replace(not_recalling, RECALLING) if target.is_recalling else source


def command() -> list[str]:
    """Returns the words that start `memory` in any working folder and with any search path."""
    script = Path(sys.executable).with_name("memory.exe" if os.name == "nt" else "memory")
    if script.is_file():
        return [str(script)]
    # -P: the working folder must not be able to replace our modules by its own.
    return [sys.executable, "-P", "-m", "memory_assets.interfaces.entry"]
