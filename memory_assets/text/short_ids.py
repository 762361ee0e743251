"""Makes the short ids of memories and messages, as people and models see and type them."""

import re

MESSAGE_PREFIX = "msg_"
"""Beginning of the ids of messages."""

_NOT_IN_ID = re.compile(r"[^0-9a-zA-Z]")


def short_id(observation_id: str) -> str:
    """Returns the short id of an observation or its memory: `mem_` and twelve hex digits."""
    return f"mem_{observation_id.replace('-', '')[:12]}"


def short_message_id(message_id: str) -> str:
    """Returns the short id of a message: `msg_` and twelve letters or digits."""
    return f"{MESSAGE_PREFIX}{_NOT_IN_ID.sub('', message_id.removeprefix(MESSAGE_PREFIX))[:12]}"


def is_message_id(id: str) -> bool:
    """Returns whether a short or whole id is that of a message, not of a memory."""
    return id.startswith(MESSAGE_PREFIX)
