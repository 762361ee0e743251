"""Finishes an interrupted adoption of a branch before its store is updated."""

from memory_assets.extras.lab.branches import branches_of
from memory_assets.store.settings import changed_settings
from memory_assets.store.store import Store


def finish_adoption(store: Store) -> Store:
    """Finishes an interrupted adoption, if there is one, and returns the store to update.

    The adoption changes the settings, so that the returned store has those of the branch.
    """
    for place in branches_of(store):
        branch = place.read()
        if branch.state == "adopting":
            from memory_assets.extras.lab.what_if import adopt

            adopt(store, place.name)
            return Store(changed_settings(store.settings, branch.changes), store.root)
    return store
