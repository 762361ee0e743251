"""`memory data replay`: the turns of a session."""

from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_assets.interfaces.cli.commands import Commands, completing
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory import MemoryAgent
from memory_assets.text.words import counted

if TYPE_CHECKING:
    from memory_assets.extras.replay.replay import Replay

app = Commands()


@app.command(epilog="Example: `memory data replay 019e2844 --turn last`")
def replay(
    session: Annotated[
        str,
        typer.Argument(
            help="A session: its id, or the beginning of it.",
            autocompletion=completing(kind="session"),
        ),
    ],
    turn: Annotated[
        str | None,
        typer.Option(
            "--turn", metavar="NUMBER", help="Show the state at this turn: a number, or last."
        ),
    ] = None,
    first: Annotated[
        int | None,
        typer.Option("--from", min=0, help="List turns from this one on; default: the last 500."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Write a page instead: of the turn, else of all turns."
        ),
    ] = None,
) -> Reply:
    """List the turns of a session, or show everything about one of them."""
    from memory_assets.extras.replay.replay import Replay, replay_command
    from memory_assets.extras.replay.views import (
        last_turn_hint,
        next_turn_hint,
        render_session,
        render_turn,
    )

    agent = MemoryAgent()
    session_replay = Replay(agent.store, session)
    zone = agent.settings.zone
    command = replay_command(session_replay.id, session_replay.ids)
    if html is not None:
        return _write_page(session_replay, turn, html, zone)
    if turn is None:
        data = session_replay.session()
        parts = render_session(data, zone, first)
        next_step = last_turn_hint(data, command)
    else:
        data = session_replay.turn(turn)
        parts = render_turn(data, zone)
        next_step = next_turn_hint(data, command)
    return Reply(data, parts, warnings=data.warnings, next_step=next_step, is_paged=True)


def _write_page(replay: "Replay", turn: str | None, file: Path, zone: tzinfo) -> Reply:
    """Writes the page of the turn, else of all turns, into the file."""
    from memory_assets.extras.replay.page import render_page
    from memory_assets.extras.replay.results import ReplayPage
    from memory_assets.text.files import write_atomically

    session = replay.session()
    numbers = [summary.turn for summary in session.turns]
    if turn is not None:
        numbers = [replay.number_of(turn)]
    page = render_page(session, replay.turns(numbers), zone, is_one_turn=turn is not None)
    write_atomically(file, page.encode("utf-8", "replace"))
    data = ReplayPage(session.session_id, file, len(numbers))
    sentence = f"{counted(len(numbers), 'turn')} of session {session.session_id} in {file}"
    return Reply(data, [sentence], warnings=session.warnings)


def answer_types() -> dict[str, Any]:
    """Returns the type of the command's data."""
    from memory_assets.extras.replay.results import ReplayPage, SessionReplay, TurnReplay

    return {"data replay": SessionReplay | TurnReplay | ReplayPage}
