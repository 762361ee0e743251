"""`memory uninstall`: takes everything that this program added to the machine out again."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_assets.errors import QuestionError
from memory_assets.harnesses.hooks import harnesses
from memory_assets.interfaces.cli.commands import SET_UP, Json, shown
from memory_assets.interfaces.views.setup import render_uninstalled
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.stages.deliver import install
from memory_assets.store.places import find_data, user_settings_file

if TYPE_CHECKING:
    from memory_assets.services.forget.whole_store import Erased

app = typer.Typer()
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
    as_json: Json = False,
) -> Reply:
    """Remove the hooks of all harnesses and the service; the memory stays unless --erase is
    given.
    """
    data = Path(find_data())
    if erase and not dry_run:
        _confirm(data)
    changes = install.plan_uninstall(harnesses(str(data)), data)
    done = changes if dry_run else install.carry_out(changes, data)
    from memory_assets.services.forget.uninstalled import Uninstalled, uninstall_extras

    of_extras = uninstall_extras(data, is_dry=dry_run)
    erased = _erase() if erase and not dry_run else None
    found = Uninstalled(dry_run, done, of_extras, erased, data, Path(user_settings_file()).parent)
    return shown(
        render_uninstalled,
        found,
        exit_code=int(any(change.state == install.FAILED for change in done)),
    )


def _confirm(data: Path) -> None:
    """Raises `QuestionError` unless the words are typed, or come through a pipe."""
    print(
        f"This deletes everything in {data}: transcripts, memories, MEMORY.md with its history.",
        file=sys.stderr,
    )
    print(f"Type `{CONFIRMATION}` to go on: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != CONFIRMATION:
        raise QuestionError("That was not typed. Nothing was removed.")


def _erase() -> "Erased":
    from memory_assets.services.forget.whole_store import erase
    from memory_assets.store.settings import read_settings

    return erase(read_settings())
