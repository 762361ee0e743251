"""Renders the state of the service that starts at login."""

from typing import TYPE_CHECKING

from memory_assets.interfaces.views.lines import Parts, line
from memory_assets.interfaces.views.terminal import Raw

if TYPE_CHECKING:
    from memory_assets.extras.service.login_service import ServiceState


def render_service(service: "ServiceState", *, is_dry: bool = False) -> Parts:
    """Renders the state of the service and its file; in a dry run, also the file's contents."""
    state = f"would be {service.state}" if is_dry else service.state
    yield line((state, "bold"), f"  {service.path}")
    if is_dry and service.text:
        yield Raw(service.text.rstrip("\n"))
    elif service.text:
        activity = ("runs", "green") if service.is_running else ("does not run", "yellow")
        yield line(activity, f"  log: {service.log}")


def after_service(service: "ServiceState") -> str:
    """Returns how to install the service, or where to read why it does not run."""
    if not service.text:
        return "`memory service install --dry-run` shows what would start at login."
    if service.is_running:
        return ""
    return f"{service.log} says why; `memory service install` starts it again."
