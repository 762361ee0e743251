"""Renders the state of the service that starts at login."""

from typing import TYPE_CHECKING

from memory_assets.interfaces.views.lines import Parts, line
from memory_assets.interfaces.views.terminal import Raw

if TYPE_CHECKING:
    from memory_assets.extras.service.login_service import ServiceState


def render_service(service: "ServiceState", *, is_dry: bool = False) -> Parts:
    """Renders the state with its file and its log, and the file's content where it is only
    shown.
    """
    yield line((f"{'would be ' if is_dry else ''}{service.state}", "bold"), f"  {service.path}")
    if is_dry and service.text:
        yield Raw(service.text.rstrip("\n"))
    elif service.text:
        state = ("runs", "green") if service.is_running else ("does not run", "yellow")
        yield line(state, f"  log: {service.log}")


def after_service(service: "ServiceState") -> str:
    """Returns how to start the service, or where a service that does not run says why."""
    if not service.text:
        return "`memory service install --dry-run` shows what would start at login."
    if service.is_running:
        return ""
    return f"{service.log} says why; `memory service install` starts it again."
