"""Finds the session that a person names by the beginning of its id, and names a session in a
command.
"""

from collections.abc import Sequence

from memory_assets.errors import UnknownIdError

LATEST_SESSIONS = 5
"""Sessions that an error names."""

FEWEST_CHARS = 13
"""Of a session's id in a command: ids that begin with the time differ up to there if a millisecond
is between them.
"""


def replay_command(session_id: str, all_ids: Sequence[str], turn: int | None = None) -> str:
    """Returns the command that replays the session or the turn, with the beginning of the id that
    names it.
    """
    others = [one for one in all_ids if one != session_id and not one.startswith(f"{session_id}/")]
    sizes = range(min(FEWEST_CHARS, len(session_id)), len(session_id) + 1)
    named = next(
        (
            session_id[:size]
            for size in sizes
            if not any(one.startswith(session_id[:size]) for one in others)
        ),
        session_id,
    )
    return f"memory data replay {named}" + ("" if turn is None else f" --turn {turn}")


def find_session(given: str, ids: Sequence[str]) -> str:
    """Returns the session that the text names or begins; a session comes before its sub-agents."""
    if given in ids:
        return given
    found = [one for one in ids if given and one.startswith(given)]
    tops = [
        one for one in found if all(other == one or other.startswith(f"{one}/") for other in found)
    ]
    if len(found) == 1 or tops:
        return (tops or found)[0]
    if not ids:
        raise UnknownIdError("There is no session yet. Run `memory up` to take in transcripts.")
    if found:
        raise UnknownIdError(
            f"{len(found):,} sessions begin with '{given[:80]}': {_named(found)}. Give more "
            "of the id."
        )
    raise UnknownIdError(
        f"No session is known as '{given[:80]}'. The latest are {_named(ids)}. `memory data "
        "show sessions` lists more."
    )


def _named(ids: Sequence[str]) -> str:
    return ", ".join(list(reversed(ids))[:LATEST_SESSIONS]) + (
        ", …" if len(ids) > LATEST_SESSIONS else ""
    )
