"""Finds a session by the beginning of its id, and writes such a beginning into a command."""

from collections.abc import Sequence

from memory_assets.errors import UnknownIdError

LATEST_SESSIONS = 5
"""Most sessions that an error names."""

FEWEST_CHARS = 13
"""Characters of a session's id that a command shows at least. In ids that begin with the time, they
are the milliseconds.
"""


def session_of(conversation_id: str) -> str:
    """Returns the session of a transcript, also of one of its agents."""
    return conversation_id.partition("/")[0]


def replay_command(session_id: str, all_ids: Sequence[str], turn: int | None = None) -> str:
    """Returns the command that replays the session, or one turn of it.

    The session is named by the beginning of its id that no other session shares; its sub-agents do
    not count as others.
    """
    other_ids = [id for id in all_ids if not _is_parent_of_all(session_id, [id])]
    sizes = range(min(FEWEST_CHARS, len(session_id)), len(session_id))
    beginnings = (session_id[:size] for size in sizes)
    unique = (text for text in beginnings if not any(id.startswith(text) for id in other_ids))
    option = "" if turn is None else f" --turn {turn}"
    return f"memory data replay {next(unique, session_id)}{option}"


def _is_parent_of_all(session_id: str, ids: Sequence[str]) -> bool:
    """Returns whether the ids are this session and its sub-agents."""
    return all(id == session_id or id.startswith(f"{session_id}/") for id in ids)


def find_session(given: str, ids: Sequence[str]) -> str:
    """Returns the one session whose id begins with the text; if several do, their common parent.

    Raises `UnknownIdError` if no session or several sessions match.
    """
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
    """Returns the last ids of the list, the latest first."""
    ellipsis = ", …" if len(ids) > LATEST_SESSIONS else ""
    return ", ".join(list(reversed(ids))[:LATEST_SESSIONS]) + ellipsis
