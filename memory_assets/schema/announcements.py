"""What a person should know although nobody asked: damage that was found on the way to an answer.

Any layer announces; the interface that answers takes what there is and shows it beside the answer.
"""

import threading
from itertools import count

_found: dict[str, tuple[int, str]] = {}
"""Number and text of each announcement, by what it is about."""
_numbers = count(1)
_guard = threading.Lock()


def announce(text: str, about: str = "") -> None:
    """Adds one line to what the next answer shows; of several `about` the same, only the last one
    is shown.
    """
    with _guard:
        _found[about or text] = (next(_numbers), text)


def moment() -> int:
    """Returns the present, for `announced_since`."""
    return next(_numbers)


def announced_since(moment: int) -> list[str]:
    """Returns what was announced since then, in order, without taking it."""
    with _guard:
        return [text for number, text in sorted(_found.values()) if number > moment]


def take() -> list[str]:
    """Returns what was announced in this process since the last call, in order."""
    with _guard:
        taken = sorted(_found.values())
        _found.clear()
    return [text for _, text in taken]
