"""Our hooks and tools in the settings of harnesses: planned, then written or removed."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from memory_assets.harnesses.hook_events import PROMPT, TOOL
from memory_assets.harnesses.hooks import HarnessSettings, harnesses
from memory_assets.stages.deliver import install
from memory_assets.stages.deliver.install import HookChange
from memory_assets.store.places import find_data


def plan_install(
    names: Collection[str],
    tools: Sequence[str],
    *,
    is_recalling: bool | None = None,
    is_before_tools: bool | None = None,
) -> list[HookChange]:
    """Plans our hooks and tools in the settings of these harnesses, by default of all.

    `tools` are the tools that may be called without asking, because they only read. `is_recalling`
    switches the recall at each prompt on or off, `is_before_tools` the line before tools; None
    leaves it as it is.
    """
    switches = {PROMPT: is_recalling, TOOL: is_before_tools}
    return install.plan_install(_harnesses(names, tools, switches), _data())


def plan_uninstall(names: Collection[str] = (), tools: Sequence[str] = ()) -> list[HookChange]:
    """Plans to remove our hooks and tools from the settings of harnesses, by default of all."""
    return install.plan_uninstall(_harnesses(names, tools), _data())


def read_states(names: Collection[str], tools: Sequence[str]) -> list[HookChange]:
    """Returns the present state of the settings of these harnesses, by default of all."""
    return install.status(_harnesses(names, tools), _data())


def carry_out(changes: Sequence[HookChange]) -> list[HookChange]:
    """Writes the planned changes, and returns what became of each."""
    return install.carry_out(changes, _data())


def _harnesses(
    names: Collection[str],
    tools: Sequence[str],
    switches: Mapping[str, bool | None] = MappingProxyType({PROMPT: None, TOOL: None}),
) -> list[HarnessSettings]:
    """Returns the settings of the named harnesses, by default of all, with what we add to them."""
    data = str(_data())
    present = harnesses(data)
    everywhere = [harness.name for harness in present]
    chosen = {
        event: install.find_chosen(present, event) if is_on is None else everywhere
        for event, is_on in switches.items()
        if is_on is not False
    }
    planned = harnesses(data, tools=tools, chosen=chosen)
    return [harness for harness in planned if not names or harness.name in names]


def _data() -> Path:
    return Path(find_data())
