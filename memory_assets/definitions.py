"""The definitions that Dagster loads: assets, their checks, jobs, sensors, schedules and the store.

They are made inside functions, so that importing this module reads no setting and opens nothing.
"""

import warnings
from datetime import date

import dagster as dg

# We use parameters that Dagster calls beta or preview. Its warnings about them would only confuse
# users.
for notice in (dg.BetaWarning, dg.PreviewWarning):
    warnings.filterwarnings("ignore", category=notice, module="memory_assets")

from memory_assets.assets.automation import ASSET_JOBS, SENSORS, make_schedules  # noqa: E402
from memory_assets.assets.checks import make_checks  # noqa: E402
from memory_assets.assets.factory import FIRST_DAY, make_assets  # noqa: E402
from memory_assets.assets.failures import failed_runs  # noqa: E402
from memory_assets.assets.freshness import deadlines  # noqa: E402
from memory_assets.assets.housekeeping import housekeeping  # noqa: E402
from memory_assets.assets.resources import StoreResource  # noqa: E402
from memory_assets.assets.sources import make_sources  # noqa: E402
from memory_assets.runs.days import first_day_of  # noqa: E402
from memory_assets.store.settings import Settings, read_settings  # noqa: E402
from memory_assets.store.store import Store  # noqa: E402


def assemble(
    settings: Settings, first_day: date = FIRST_DAY, store: Store | None = None
) -> dg.Definitions:
    """Returns everything that Dagster shows and runs.

    Without `store`, each run opens the store that the settings name when it starts.
    """
    return dg.Definitions(
        assets=[*make_sources(), *make_assets(settings, first_day)],
        asset_checks=make_checks(),
        jobs=list(ASSET_JOBS.values()),
        sensors=[*SENSORS, deadlines, failed_runs, housekeeping],
        schedules=make_schedules(settings.timezone),
        resources={"store": store or StoreResource()},
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Everything that Dagster shows and runs, with partitions from the store's first day on."""
    settings = read_settings()
    store = Store(settings, settings.data)
    has_store = (store.root / "VERSION").is_file()
    first_day = first_day_of(store) if has_store else FIRST_DAY
    return assemble(settings, first_day)
