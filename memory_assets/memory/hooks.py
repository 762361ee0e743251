"""The hooks of harnesses: what they call, and how they are installed and removed.

Running one and sending an event need the standard library alone; what plans the changes of settings
files is imported when it is needed.
"""

from memory_assets.stages.deliver.events import FIELDS
from memory_assets.stages.deliver.hook import is_understood, run, send, sent

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from memory_assets.harnesses.hooks import HarnessSettings
    from memory_assets.stages.deliver.install import HookChange

__all__ = [
    "EVENTS",
    "carry_out",
    "is_understood",
    "plan_install",
    "plan_uninstall",
    "read_states",
    "run",
    "send",
    "sent",
]

EVENTS = tuple(FIELDS)
"""Names of the events that `send` takes."""


def plan_install(
    names: "Collection[str]", tools: "Sequence[str]", *, is_recalling: bool | None = None
) -> "list[HookChange]":
    """Plans our hooks and tools in the settings of these harnesses, by default of all.

    `tools` are those that only read. `is_recalling` switches the recall at each prompt; None leaves
    it as it is.
    """
    from memory_assets.stages.deliver import install

    return install.plan_install(_harnesses(names, tools, is_recalling), _data())


def plan_uninstall(
    names: "Collection[str]" = (), tools: "Sequence[str]" = ()
) -> "list[HookChange]":
    """Plans to remove our hooks and tools from the settings of these harnesses, by default of
    all.
    """
    from memory_assets.stages.deliver import install

    return install.plan_uninstall(_harnesses(names, tools), _data())


def read_states(names: "Collection[str]", tools: "Sequence[str]") -> "list[HookChange]":
    """Returns the present state of the settings of these harnesses, by default of all."""
    from memory_assets.stages.deliver import install

    return install.status(_harnesses(names, tools), _data())


def carry_out(changes: "Sequence[HookChange]") -> "list[HookChange]":
    """Writes the planned changes, and returns what became of each."""
    from memory_assets.stages.deliver import install

    return install.carry_out(changes, _data())


def _harnesses(
    names: "Collection[str]", tools: "Sequence[str]", is_recalling: bool | None = None
) -> "list[HarnessSettings]":
    from memory_assets.harnesses.hooks import harnesses
    from memory_assets.stages.deliver.install import find_recalling

    data = str(_data())
    present = harnesses(data)
    every_name = frozenset(harness.name for harness in present)
    recalling = find_recalling(present) if is_recalling is None else frozenset[str]()
    if is_recalling:
        recalling = every_name
    chosen = harnesses(data, tools=tools, recalling=recalling)
    return [harness for harness in chosen if harness.name in (names or every_name)]


def _data() -> "Path":
    from pathlib import Path

    from memory_assets.store.places import find_data

    return Path(find_data())
