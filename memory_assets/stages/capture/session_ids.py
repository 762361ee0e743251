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
    others = [
        other_id
        for other_id in all_ids
        if other_id != session_id and not other_id.startswith(f"{session_id}/")
    ]
    sizes = range(min(FEWEST_CHARS, len(session_id)), len(session_id) + 1)
    named = next(
        (
            session_id[:size]
            for size in sizes
            if not any(other_id.startswith(session_id[:size]) for other_id in others)
        ),
        session_id,
    )
    return f"memory data replay {named}" + ("" if turn is None else f" --turn {turn}")


def _is_parent_of_all(session_id: str, ids: Sequence[str]) -> bool:
    """Returns whether the ids are this session and its sub-agents."""
    return all(id == session_id or id.startswith(f"{session_id}/") for id in ids)


def find_session(given: str, ids: Sequence[str]) -> str:
    """Returns the session that the text names or begins; a session comes before its sub-agents."""
    if given in ids:
        return given
    matches = [id for id in ids if given and id.startswith(given)]
    parents = [id for id in matches if _is_parent_of_all(id, matches)]
    if parents:
        return parents[0]
    if not ids:
        raise UnknownIdError("There is no session yet. Run `memory up` to take in transcripts.")
    if matches:
        raise UnknownIdError(
            f"{len(matches):,} sessions begin with '{given[:80]}': {_named(matches)}. Give more "
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
