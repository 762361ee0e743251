"""Renders what a build did, and the state of the store."""

from typing import TYPE_CHECKING

from rich.text import Text

from memory_assets.interfaces.views.lines import Parts
from memory_assets.interfaces.views.terminal import Raw

if TYPE_CHECKING:
    from memory_assets.runs.build import Built
    from memory_assets.services.health.status import Status


def render_built(built: "Built") -> Parts:
    """Renders what is new and where it is."""
    if built.is_unchanged:
        yield f"Nothing new: every transcript was read already ({built.seconds:.1f} s)."
    else:
        yield f"{built.reason}."
        new = ", ".join(f"{count:+,} {name}" for name, count in built.learnt.items()) or "no new rows"
        yield Text(f"Done in {built.seconds:.1f} s: {new}.", style="green")
    yield from render_status(built.status)


def render_status(status: "Status") -> Parts:
    """Renders the state of the store and where its files are."""
    from memory_assets.services.health.status import render_status as rendered

    yield Raw(f"{rendered(status)}\n⚠ {status.alarm}" if status.alarm else rendered(status))


def render_status_line(status: "Status") -> Parts:
    """Renders one line for a status bar."""
    pending = f" · {status.pending} to review" if status.pending else ""
    yield "memory: empty" if status.is_empty else f"memory: {status.rows['memories']} memories{pending}"
