"""Checks that a project, which a person named, is one of the store's."""

from difflib import get_close_matches

from memory_assets.errors import QuestionError
from memory_assets.store.store import Store

TABLES = ("sessions", "memories")
MOST_NAMED = 5
"""Projects that the error names."""

LEAST_LIKENESS = 0.4
"""Of the names that are called near: `difflib`'s ratio of common letters."""


def check_project(store: Store, name: str) -> None:
    """Raises `QuestionError`, with the nearest names, where no session or memory is of it."""
    columns = (store.tables.read(table, columns=["project"])["project"] for table in TABLES)
    names = sorted(filter(None, {name for column in columns for name in column.unique()}))
    if name in names:
        return
    near = get_close_matches(name, names, MOST_NAMED, LEAST_LIKENESS)
    present = f" The store has {', '.join(names[:MOST_NAMED])}." if names else ""
    hint = f" Did you mean {' or '.join(near)}?" if near else present
    raise QuestionError(f"No session is of the project “{name}”.{hint}")
