"""Lists the folders of optional capabilities, for commands that must start fast; `schema/extras.py`
reads the declarations in them.
"""

import os

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "extras")


def extra_names() -> list[str]:
    """Returns the names of the folders that exist, sorted."""
    entries = os.listdir(FOLDER) if os.path.isdir(FOLDER) else []
    return sorted(name for name in entries if _is_file(name, "__init__.py"))


def generated_files(name: str) -> "Iterator[str]":
    """Yields the path of the file with this name in each folder that has one."""
    return (os.path.join(FOLDER, extra, name) for extra in extra_names() if _is_file(extra, name))


def _is_file(extra: str, name: str) -> bool:
    return os.path.isfile(os.path.join(FOLDER, extra, name))
