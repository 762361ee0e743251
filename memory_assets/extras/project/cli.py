"""`memory project`: the memory of a project, for the people who work on it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_assets.interfaces.cli.commands import Json, group
from memory_assets.interfaces.cli.model_choice import is_terminal
from memory_assets.interfaces.views.lines import Part
from memory_assets.interfaces.views.terminal import Raw, Reply, console, show
from memory_assets.memory import MemoryAgent
from memory_assets.text.words import counted

if TYPE_CHECKING:
    from memory_assets.extras.project.publish import Publication

app = group("Share what is known of a project with the people who work on it.")


@app.command(epilog="Example: `memory project publish`")
def publish(
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
    promoted: Annotated[
        bool, typer.Option("--promoted", help="Also publish lines that no person approved.")
    ] = False,
    as_json: Json = False,
) -> Reply:
    """Write the approved lines of this project into its AGENTS.md or CLAUDE.md, after showing the
    diff.
    """
    from memory_assets.extras.project.publish import publish_lines
    from memory_assets.store.ready import here

    store = MemoryAgent().store
    shown = publish_lines(store, here(), is_promoted=promoted)
    parts = list(render_publication(shown))
    warnings = list(shown.warnings)
    can_ask = is_terminal() and not as_json
    if not shown.diff or not (yes or can_ask):
        warnings += ["Nothing was written. Add `--yes` to write it."] if shown.diff else []
        return Reply(shown, parts, warnings=warnings)
    if not yes:
        show([*parts, *warnings], console())
        parts = warnings = []
        if not typer.confirm(f"Write this into {shown.path}?"):
            return Reply(shown, ["Nothing was written."])
    publish_lines(store, here(), is_promoted=promoted, expected=shown)
    written = f"Published {counted(len(shown.lines), 'line')} in {shown.path}. Commit the file."
    return Reply(replace(shown, is_written=True), [*parts, written], warnings=warnings)


def render_publication(shown: "Publication") -> Iterator[Part]:
    """Yields the diff, and what is not published."""
    count = counted(len(shown.lines), "published line")
    yield Raw(shown.diff) if shown.diff else f"{shown.path} is up to date: {count}."
    for reason, lines in shown.left_out.items():
        yield f"Not published, because {reason}:"
        yield from (f"  {line}" for line in lines)


def answer_types() -> dict[str, Any]:
    """Returns the type of the command's data."""
    from memory_assets.extras.project.publish import Publication

    return {"project publish": Publication}
