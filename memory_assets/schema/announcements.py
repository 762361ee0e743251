"""Announcements to a person that are no part of an answer, such as damage that was found.

Any layer announces; the interface shows the announcements beside its next answer.
"""

import threading
from itertools import count

_announcements: dict[str, tuple[int, str]] = {}
"""What an announcement is about → its number and its text."""
_numbers = count(1)
_guard = threading.Lock()


def announce(text: str, about: str = "") -> None:
    """Adds one line to the announcements; it replaces an earlier line about the same subject."""
    with _guard:
        _announcements[about or text] = (next(_numbers), text)


def moment() -> int:
    """Returns a number for the present moment, for `announced_since`."""
    return next(_numbers)


def announced_since(moment: int) -> list[str]:
    """Returns the lines that were announced since the moment, in order; they stay."""
    with _guard:
        return [text for number, text in sorted(_announcements.values()) if number > moment]


def take() -> list[str]:
    """Removes and returns the lines that were announced in this process, in order."""
    with _guard:
        announcements = sorted(_announcements.values())
        _announcements.clear()
    return [text for _, text in announcements]
