"""Typed configuration that opens the store and hands it over plain."""

import dagster as dg

from memory_assets.services.forget.erase import finish
from memory_assets.store.settings import Settings, read_settings
from memory_assets.store.store import PART_WAIT_SECONDS, Store, open_store


class StoreResource(dg.ConfigurableResource):
    """Opens the store of this process's settings when a run starts; `data` names another folder."""

    data: str = ""

    def create_resource(self, context: dg.InitResourceContext) -> Store:
        """Returns the open store; for a run, with what other machines changed and forgot."""
        settings = read_settings(**({"data": self.data} if self.data else {}))
        return open_store(settings) if context.run is None else open_current_store(settings)


def open_current_store(settings: Settings) -> Store:
    """Opens the store with what other machines changed and forgot."""
    store = open_store(settings)
    store.sync(wait_seconds=PART_WAIT_SECONDS)
    if store.has_to_erase:
        finish(store)
    return store
