"""Renders what rules files name that is gone."""

from typing import TYPE_CHECKING

from memory_assets.interfaces.views import lines

if TYPE_CHECKING:
    from memory_assets.memory.checking import Checked, GoneName

NO_FILES = "No CLAUDE.md, AGENTS.md or other file of rules, no README.md or CONTRIBUTING.md here."


def render_checked(checked: "Checked") -> lines.Parts:
    """Renders a line for each name that is gone, by file and line, and how many there are."""
    for unread in checked.unread:
        yield lines.warning(f"{unread}.")
    if not checked.files:
        yield NO_FILES
        return
    for finding in checked.findings:
        place = (f"{finding.file}:{finding.line}: ", "dim")
        yield lines.line(place, (finding.name, "bold"), f" {state_of(finding)}")
    count = len(checked.findings)
    names = f"{checked.names} name{'' if checked.names == 1 else 's'}"
    where = f"{names} in {', '.join(checked.files)}"
    if count:
        yield lines.warning(f"{count} of {where} {'is' if count == 1 else 'are'} gone.")
    else:
        yield f"{where}: none is gone."
    if checked.unknown:
        reason = "never tracked, or defined where it cannot be read"
        yield lines.dim(f"Nothing is known of {checked.unknown}: {reason}.")


def state_of(finding: "GoneName") -> str:
    """Returns what became of the name, in words."""
    if finding.state == "missing":
        return f"is missing ({finding.kind})"
    moved = f", renamed to {finding.moved_to}" if finding.moved_to else ""
    return f"is gone since {finding.since}{moved} ({finding.kind}, {finding.commit})"
