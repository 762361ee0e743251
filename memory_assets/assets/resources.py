"""The Dagster resource from which assets, checks and sensors get the open store."""

import dagster as dg

from memory_assets.services.forget.erase import finish
from memory_assets.store.settings import Settings, read_settings
from memory_assets.store.store import PART_WAIT_SECONDS, Store, open_store


class StoreResource(dg.ConfigurableResource):
    """Opens the store of this process's settings."""

    data: str = ""
    """Another data folder than that of the settings."""

    def create_resource(self, context: dg.InitResourceContext) -> Store:
        """Opens the store; for a run, first fetches what other machines changed and forgot."""
        options = {"data": self.data} if self.data else {}
        settings = read_settings(**options)
        return open_store(settings) if context.run is None else open_current_store(settings)


def open_current_store(settings: Settings) -> Store:
    """Opens the store after fetching what other machines changed, and erases what they forgot."""
    store = open_store(settings)
    store.sync(wait_seconds=PART_WAIT_SECONDS)
    if store.has_to_erase:
        finish(store)
    return store
