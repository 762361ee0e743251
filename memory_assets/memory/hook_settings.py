"""Our hooks and tools in the settings of harnesses: planned, then written or removed."""

from collections.abc import Collection, Sequence
from pathlib import Path

from memory_assets.harnesses.hooks import HarnessSettings, harnesses
from memory_assets.stages.deliver import install
from memory_assets.stages.deliver.install import HookChange
from memory_assets.store.places import find_data


def plan_install(
    names: Collection[str], tools: Sequence[str], *, is_recalling: bool | None = None
) -> list[HookChange]:
    """Plans our hooks and tools in the settings of these harnesses, by default of all.

    `tools` are the tools that may be called without asking, because they only read. `is_recalling`
    switches the recall at each prompt on or off; None leaves it as it is.
    """
    return install.plan_install(_harnesses(names, tools, is_recalling), _data())


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
    names: Collection[str], tools: Sequence[str], is_recalling: bool | None = None
) -> list[HarnessSettings]:
    """Returns the settings of the named harnesses, by default of all, with what we add to them."""
    data = str(_data())
    present = harnesses(data)
    recalling: Collection[str] = install.find_recalling(present)
    if is_recalling is not None:
        recalling = [harness.name for harness in present] if is_recalling else ()
    planned = harnesses(data, tools=tools, recalling=recalling)
    return [harness for harness in planned if not names or harness.name in names]


def _data() -> Path:
    return Path(find_data())
