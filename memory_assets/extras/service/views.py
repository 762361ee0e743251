"""Renders the state of the service that starts at login."""

from typing import TYPE_CHECKING

from memory_assets.interfaces.views.lines import Parts, line
from memory_assets.interfaces.views.terminal import Raw

if TYPE_CHECKING:
    from memory_assets.extras.service.login_service import ServiceState


def render_service(found: "ServiceState", *, is_dry: bool = False) -> Parts:
    """Renders the state with its file and its log, and the file's content where it is only
    shown.
    """
    yield line((f"{'would be ' if is_dry else ''}{found.state}", "bold"), f"  {found.path}")
    if is_dry and found.text:
        yield Raw(found.text.rstrip("\n"))
        return
    if found.text:
        yield line(
            ("runs", "green") if found.is_running else ("does not run", "yellow"),
            f"  log: {found.log}",
        )


def after_service(found: "ServiceState") -> str:
    """Returns how to start the service, or where a service that does not run says why."""
    if not found.text:
        return "`memory service install --dry-run` shows what would start at login."
    return (
        ""
        if found.is_running
        else f"{found.log} says why; `memory service install` starts it again."
    )
