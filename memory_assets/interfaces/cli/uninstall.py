"""`memory uninstall`: takes everything that this program added to the machine out again."""

import sys
from typing import Annotated, Any

import typer

from memory_assets.errors import QuestionError
from memory_assets.interfaces.cli.commands import SET_UP, Commands, view_reply
from memory_assets.interfaces.views.setup import render_uninstalled
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory.places import find_data

app = Commands()
CONFIRMATION = "erase my memory"


@app.command(rich_help_panel=SET_UP, epilog="Example: `memory uninstall --dry-run`")
def uninstall(
    erase: Annotated[
        bool,
        typer.Option("--erase", help=f"Also delete the memory; asks you to type `{CONFIRMATION}`."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be removed; remove nothing.")
    ] = False,
) -> Reply:
    """Remove the hooks of all harnesses and the service; the memory stays unless --erase is
    given.
    """
    if erase and not dry_run:
        _confirm(find_data())
    from memory_assets.memory import uninstall as facade

    removed = facade.uninstall(is_erasing=erase, is_dry=dry_run)
    has_failed = any(change.has_failed for change in removed.hooks)
    return view_reply(render_uninstalled, removed, exit_code=int(has_failed))


def _confirm(data: str) -> None:
    """Raises `QuestionError` unless the words are typed, or come through a pipe."""
    erased = "transcripts, memories, MEMORY.md with its history"
    print(f"This deletes everything in {data}: {erased}.", file=sys.stderr)
    print(f"Type `{CONFIRMATION}` to go on: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != CONFIRMATION:
        raise QuestionError("That was not typed. Nothing was removed.")


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's data."""
    from memory_assets.memory.uninstall import Uninstalled

    return {"uninstall": Uninstalled}
