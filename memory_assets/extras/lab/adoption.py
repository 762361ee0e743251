"""Finishes an adoption of a branch that was started and not finished, before a store is updated."""

from memory_assets.extras.lab.branches import branches_of
from memory_assets.store.store import Store


def finish_adoption(store: Store) -> Store:
    """Finishes the adoption, where there is one, and returns the store to update."""
    if not any(place.read().state == "adopting" for place in branches_of(store)):
        return store
    from memory_assets.extras.lab.what_if import finish

    return finish(store)
