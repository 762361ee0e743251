"""The folders of optional capabilities, for what has to start fast: `schema/extras.py`."""

import os

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "extras")


def extra_names() -> list[str]:
    """Returns the names of the folders that are there, in order."""
    entries = os.listdir(FOLDER) if os.path.isdir(FOLDER) else []
    return sorted(name for name in entries if _is_file(name, "__init__.py"))


def _is_file(extra: str, name: str) -> bool:
    return os.path.isfile(os.path.join(FOLDER, extra, name))
