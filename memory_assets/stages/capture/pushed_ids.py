"""The ids of what other machines pushed: apart from those of every other machine, whatever the
transcripts there name.

Two machines may have sessions, messages and paths of the same name, such as a session that was
copied. Their ids then differ by the id of the store that sent them.
"""

import hashlib
import re

_SENT = re.compile(r"@[0-9a-f]{16}(?=/|$)")


def pushed_session(session_id: str, client: str) -> str:
    """Returns the id of a session of that store, such as `019e2844@3fa9c1b2a07d4e55/agent-1`;
    unchanged without a store.
    """
    session, slash, agent = session_id.partition("/")
    return f"{session}@{client}{slash}{agent}" if client else session_id


def original_session(session_id: str) -> str:
    """Returns the id that the session has on its machine."""
    return _SENT.sub("", session_id, count=1)


def pushed_message(message_id: str, client: str) -> str:
    """Returns the id of a message of that store; unchanged without a store."""
    return (
        f"msg_{hashlib.sha256(f'{client}/{message_id}'.encode()).hexdigest()[:20]}"
        if client
        else message_id
    )
