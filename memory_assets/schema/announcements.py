"""What a person should know although nobody asked: damage that was found on the way to an answer.

Any layer announces; the interface that answers takes what there is and shows it beside the answer.
"""

import threading

_found: dict[str, str] = {}
_guard = threading.Lock()


def announce(text: str, about: str = "") -> None:
    """Adds one line to what the next answer shows; of several `about` the same, only the last one is shown."""
    with _guard:
        _found[about or text] = text


def announced() -> list[str]:
    """Returns the same without taking it."""
    with _guard:
        return list(_found.values())


def take() -> list[str]:
    """Returns what was announced in this process since the last call, in order."""
    with _guard:
        taken = list(_found.values())
        _found.clear()
    return taken
