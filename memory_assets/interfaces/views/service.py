"""Renders the state of the service that starts at login."""

from typing import TYPE_CHECKING

from memory_assets.interfaces.views.lines import Parts, dim, line, warning
from memory_assets.interfaces.views.terminal import Raw

if TYPE_CHECKING:
    from memory_assets.services.forget.uninstalled import Uninstalled
    from memory_assets.services.login_service import ServiceState


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


def render_uninstalled(found: "Uninstalled") -> Parts:
    """Renders what was removed from each harness and from login, and what stays."""
    for change in found.hooks:
        would = "would be " if found.is_dry_run and change.is_change else ""
        yield line((f"{would}{change.state}", "bold"), f"  {change.path}")
        if change.is_change and change.note:
            yield dim(f"   {change.note}")
    if found.service is not None:
        would = "would be " if found.is_dry_run and found.service.text else ""
        yield line((f"{would}{found.service.state}", "bold"), f"  {found.service.path}")
    if found.erased is None:
        yield f"The memory stays in {found.data}; `memory uninstall --erase` deletes it."
    else:
        left = (
            f"; left, because this program did not write it: {', '.join(found.erased.left)}"
            if found.erased.left
            else ""
        )
        yield line(("deleted", "bold"), f"  {found.erased.path}{left}")
        if found.erased.objects:
            yield warning(
                f"The objects in {found.erased.objects} stay: delete that prefix with the "
                "tools of its server."
            )
    yield dim(
        f"Settings stay in {found.settings}. Backups, exports and pushed remotes are yours "
        "to delete."
    )
    yield dim("The program itself: `pip uninstall memory_assets`, or delete the checkout.")
