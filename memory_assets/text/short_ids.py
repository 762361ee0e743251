"""Makes the short ids of memories and messages, as people and models see and type them."""

import re

_NOT_IN_ID = re.compile(r"[^0-9a-zA-Z]")


def short_id(observation_id: str) -> str:
    """Returns the short id of an observation or its memory: `mem_` and twelve hex digits."""
    return f"mem_{observation_id.replace('-', '')[:12]}"


def short_message_id(message_id: str) -> str:
    """Returns the short id of a message: `msg_` and twelve letters or digits."""
    return f"msg_{_NOT_IN_ID.sub('', message_id.removeprefix('msg_'))[:12]}"
