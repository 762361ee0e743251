"""The what-if branches of a store: copies of its tables, which forgetting deletes.

The optional capability `lab` makes them. Here they are found by their folder, so that they are
deleted even if the lab was removed.
"""

import shutil

from memory_assets.store.store import Store

FOLDER, RECORD = "branches", "what_if.json"


def branch_names(store: Store) -> list[str]:
    """Returns the names of the branches, in order."""
    records = sorted((store.root / FOLDER).glob(f"*/{RECORD}"))
    return [path.parent.name for path in records if not path.parent.name.startswith(".")]


def drop_all(store: Store) -> int:
    """Deletes every branch and unfinished folder, and returns the number of branches."""
    count = len(branch_names(store))
    shutil.rmtree(store.root / FOLDER, ignore_errors=True)
    return count
