"""Typed configuration that opens the store and hands it over plain."""

import dagster as dg

from memory_assets.services.forget.erase import finish
from memory_assets.store.settings import read_settings
from memory_assets.store.store import PART_WAIT_SECONDS, Store, open_store


class StoreResource(dg.ConfigurableResource):
    """Opens the store of this process's settings when a run starts; `data` names another folder.

    A run of a store in an object store begins with what others changed and forgot: a worker may
    have a folder of its own.
    """

    data: str = ""

    def create_resource(self, context: dg.InitResourceContext) -> Store:
        """Returns the open store."""
        store = open_store(read_settings(**({"data": self.data} if self.data else {})))
        if context.run is not None:
            store.sync(wait_seconds=PART_WAIT_SECONDS)
            if store.has_to_erase:
                finish(store)
        return store
