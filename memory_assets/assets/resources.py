"""Typed configuration that opens the store and hands it over plain."""

import dagster as dg

from memory_assets.runs.day_shares import open_current_store
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store


class StoreResource(dg.ConfigurableResource):
    """Opens the store of this process's settings when a run starts; `data` names another folder."""

    data: str = ""

    def create_resource(self, context: dg.InitResourceContext) -> Store:
        """Returns the open store; for a run, with what other machines changed and forgot."""
        settings = read_settings(**({"data": self.data} if self.data else {}))
        return open_store(settings) if context.run is None else open_current_store(settings)
