"""`memory config deployment`: Dagster's configuration of a deployment."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from memory_assets.interfaces.cli.commands import Commands, view_reply
from memory_assets.interfaces.views.lines import Parts, bold, dim
from memory_assets.interfaces.views.terminal import Reply

if TYPE_CHECKING:
    from memory_assets.extras.scaling.deployment import DagsterConfiguration

app = Commands()


@app.command(epilog="Example: `memory config deployment postgres`")
def deployment(
    name: Annotated[
        Literal["local", "postgres"], typer.Argument(metavar="NAME", help="`local` or `postgres`.")
    ],
    write: Annotated[bool, typer.Option("--write", help="Write it into the store.")] = False,
) -> Reply:
    """Print the dagster.yaml of a deployment: local files or PostgreSQL."""
    from memory_assets.extras.scaling.deployment import configure
    from memory_assets.services.settings.which_store import present_settings

    configuration = configure(present_settings(), name, write=write)
    next_step = f"`memory config deployment {name} --write` writes it."
    if write:
        variables = configuration.variables
        setting = f"Set {' and '.join(variables)} for every process. Then " if variables else ""
        next_step = f"{setting}`memory ingest`."
    return view_reply(_render, configuration, next_step=next_step)


def _render(configuration: "DagsterConfiguration") -> Parts:
    """Renders the file: its text if it was not written, else the lines that changed."""
    if not configuration.is_written:
        yield dim(f"# {configuration.path}")
        yield configuration.content.rstrip("\n")
        return
    yield configuration.diff.rstrip("\n") or "Nothing changes."
    yield ""
    state = "written" if configuration.diff else "unchanged"
    yield bold(state, f": {configuration.path}")
    if configuration.before:
        yield dim(f"   the file before it: {configuration.before}")


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's answer with `--json`."""
    from memory_assets.extras.scaling.deployment import DagsterConfiguration

    return {"config deployment": DagsterConfiguration}
