"""The answer of `memory uninstall`, and the removal of what optional capabilities added."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from memory_assets.schema.extras import extras
from memory_assets.services.forget.whole_store import Erased
from memory_assets.stages.deliver.install import HookChange


@runtime_checkable
class Removed(Protocol):
    """What an optional capability removed from the machine."""

    @property
    def state(self) -> str:
        """What happened, as a word."""
        ...

    @property
    def path(self) -> Path:
        """The file that it was about."""
        ...

    @property
    def text(self) -> str:
        """What the file contains, if it would be removed; else empty."""
        ...


@dataclass(frozen=True)
class Uninstalled:
    """What was removed, and what stays."""

    is_dry_run: bool
    hooks: list[HookChange]
    of_extras: Mapping[str, Removed | None]
    """By the name of the optional capability."""
    erased: Erased | None
    data: Path
    settings: Path

    def to_dict(self) -> dict[str, Any]:
        """Returns it for programs: what a capability removed is a field of its name."""
        values = vars(self).copy()
        del values["of_extras"]
        return {**values, **self.of_extras}


def uninstall_extras(data: Path, *, is_dry: bool) -> dict[str, Removed | None]:
    """Removes what optional capabilities added to the machine, or returns what would be removed."""
    return {
        extra.name: extra.load(extra.uninstall)(data, is_dry=is_dry)
        for extra in extras()
        if extra.uninstall
    }
