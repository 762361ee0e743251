"""Ids of the sessions and messages that other machines pushed into this store.

Two machines may have sessions and messages with the same ids, such as a session that was copied.
The id of the store that sent them is therefore made part of their ids here.
"""

import hashlib
import re

_SENT = re.compile(r"@[0-9a-f]{16}(?=/|$)")


def pushed_session(session_id: str, client: str) -> str:
    """Returns the id of a session that the store `client` sent; unchanged if that is empty.

    For instance `019e2844@3fa9c1b2a07d4e55/agent-1`.
    """
    session, slash, agent = session_id.partition("/")
    return f"{session}@{client}{slash}{agent}" if client else session_id


def original_session(session_id: str) -> str:
    """Returns the id that the session has on the machine that sent it."""
    return _SENT.sub("", session_id, count=1)


def pushed_message(message_id: str, client: str) -> str:
    """Returns the id of a message that the store `client` sent; unchanged if that is empty."""
    if not client:
        return message_id
    digest = hashlib.sha256(f"{client}/{message_id}".encode()).hexdigest()
    return f"msg_{digest[:20]}"
