"""Outcomes of registered checks on the tables of a store, without a run of Dagster."""

from memory_assets.assets.checks.common import REGISTERED
from memory_assets.store.store import Store


def passes(store: Store, asset: str, name: str, days: list[str] | None = None) -> bool:
    """Returns whether the check of that asset and name passes."""
    (check,) = [check for check in REGISTERED if (check.asset, check.name) == (asset, name)]
    return check.run(store, days).passed


def failing(store: Store, asset: str, days: list[str] | None = None) -> list[str]:
    """Returns the names of the asset's checks that fail, sorted."""
    return sorted(
        check.name
        for check in REGISTERED
        if check.asset == asset and not check.run(store, days).passed
    )
