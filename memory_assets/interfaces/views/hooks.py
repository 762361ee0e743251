"""Draws what became of the settings of harnesses, or would."""

from typing import Any

from rich.console import Console
from rich.text import Text

from memory_assets.interfaces.views.common import Draw
from memory_assets.stages.deliver.install import FAILED, LEFT, OUTDATED

STYLES = {FAILED: "bold red", LEFT: "yellow", OUTDATED: "yellow"}


def draw_changes(found: dict[str, Any]) -> Draw:
    """Draws each file with how it stands, with the lines that would change where nothing was written yet."""

    def draw(console: Console) -> None:
        for change in found["files"]:
            heard = found["last_heard"].get(change.harness)
            would = "would be " if found["is_dry_run"] and change.is_change else ""
            console.print(Text(f"{would}{change.state}", style=STYLES.get(change.state, "bold")) + Text(f"  {change.path}"))
            if change.note:
                console.print(Text(f"   {change.note}", style="dim"))
            if heard and not change.is_change:
                console.print(Text(f"   last heard of {heard:%Y-%m-%d %H:%M} UTC", style="dim"))
            if would:
                console.print(Text(change.diff().rstrip("\n")))

    return draw
