"""What became of a name that a text mentions."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from memory_assets.schema.protocols import Removal

State = Literal["holds", "moved", "changed", "gone", "missing", "unknown"]


@dataclass(frozen=True)
class Verdict:
    """What became of a name."""

    state: State
    since: date | None = None
    """The day from which it is gone, where the history says."""
    commit: str = ""
    moved_to: str = ""

    @property
    def is_gone(self) -> bool:
        """Whether what is named is not there."""
        return self.state in ("moved", "gone", "missing")


HOLDS = Verdict("holds")
UNKNOWN = Verdict("unknown")


def removed(removal: Removal | None, otherwise: Verdict) -> Verdict:
    """Returns that the name is gone or moved since the removal, if there is one."""
    if removal is None:
        return otherwise
    state = "moved" if removal.moved_to else "gone"
    return Verdict(state, removal.day, removal.commit, removal.moved_to)
