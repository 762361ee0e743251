"""Renders the library: entries of the slog."""

from typing import TYPE_CHECKING

from memory_assets.interfaces.views.lines import Parts, bold, counted, dim

if TYPE_CHECKING:
    from memory_assets.services.slog import SlogAnswer


def render_slog(answer: "SlogAnswer") -> Parts:
    """Renders the entries by time, the latest last, and how to go on."""
    for one in answer.entries:
        reason = f" ({one.reason})" if one.reason else ""
        yield bold(f"{one.timestamp[:16].replace('T', ' ')} {one.action} {one.tool}", f"  {one.detail}{reason}")
    if not answer.entries:
        yield "No entry was found."
    if answer.is_added:
        yield dim("Logged.")
    elif answer.count > len(answer.entries):
        yield dim(f"{len(answer.entries)} of {counted(answer.count, 'entry').replace('entrys', 'entries')}, the latest.")
    for rel, command in answer.links:
        yield dim(f"{rel}: `{command}`")
