"""Finds the commit that followed what a session said, in the results of its tools.

git prints the branch, the abbreviated id and the subject of a commit that it makes.
"""

import re
from collections.abc import Mapping, Sequence

from memory_assets.stages.distill.rules.exchanges import Row

_MADE = re.compile(r"(?m)^\[[^\s\]]+(?: \([a-z-]+\))? ([0-9a-f]{7,40})\] ")


def next_commits(messages: Sequence[Row]) -> Mapping[str, str]:
    """Returns, by message, the id of the first commit made after it, if there is one."""
    commits: dict[str, str] = {}
    following = ""
    for message in reversed(messages):
        ids = _MADE.findall(message["text"]) if message["kind"] == "tool_result" else ()
        following = ids[0] if ids else following
        if following:
            commits[message["message_id"]] = following
    return commits
