"""The definitions that Dagster loads: assets, their checks, jobs, sensors, schedules and the store.

They are made inside functions, so that importing this module reads no setting and opens nothing.
"""

import os
import warnings
from datetime import date
from pathlib import Path

import dagster as dg

# We use parameters that Dagster calls beta or preview. Its warnings about them would only confuse
# users.
for notice in (dg.BetaWarning, dg.PreviewWarning):
    warnings.filterwarnings("ignore", category=notice, module="memory_assets")

from memory_assets.assets.automation import ASSET_JOBS, SENSORS, make_schedules  # noqa: E402
from memory_assets.assets.checks import make_checks  # noqa: E402
from memory_assets.assets.factory import FIRST_DAY, make_assets  # noqa: E402
from memory_assets.assets.failed_runs import failed_runs  # noqa: E402
from memory_assets.assets.freshness import deadlines  # noqa: E402
from memory_assets.assets.housekeeping import housekeeping  # noqa: E402
from memory_assets.assets.resources import StoreResource  # noqa: E402
from memory_assets.assets.sources import make_sources  # noqa: E402
from memory_assets.runs.days import first_day_of  # noqa: E402
from memory_assets.store.settings import Settings, read_settings  # noqa: E402
from memory_assets.store.store import Store  # noqa: E402


def assemble(
    settings: Settings,
    first_day: date = FIRST_DAY,
    store: Store | StoreResource | None = None,
    *,
    is_mounted: bool = False,
) -> dg.Definitions:
    """Returns everything that Dagster shows and runs.

    Without `store`, each run opens the store that the settings name when it starts. Mounted in
    another project, it leaves the executor of that project alone.
    """
    return dg.Definitions(
        assets=[*make_sources(), *make_assets(settings, first_day)],
        asset_checks=make_checks(),
        jobs=list(ASSET_JOBS.values()),
        sensors=[*SENSORS, deadlines, failed_runs, housekeeping],
        schedules=make_schedules(settings.timezone),
        resources={"store": store or StoreResource()},
        executor=None if is_mounted else dg.in_process_executor,
    )


def first_day_in(settings: Settings) -> date:
    """Returns the first day of the partitions: that of the store, if there is one."""
    store = Store(settings, settings.data)
    has_store = (store.root / "VERSION").is_file()
    return first_day_of(store) if has_store else FIRST_DAY


@dg.definitions
def defs() -> dg.Definitions:
    """Everything that Dagster shows and runs, with partitions from the store's first day on."""
    settings = read_settings()
    return assemble(settings, first_day_in(settings))


class MountedStore(dg.Component, dg.Model, dg.Resolvable):
    """A store of memory_assets in another Dagster project: its assets, jobs and sensors."""

    data: str
    """The data folder of the store; a relative path begins at the folder of the `defs.yaml`."""

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Returns everything of `assemble` for the store in the data folder."""
        data = os.path.normpath(context.path / Path(self.data).expanduser())
        settings = read_settings(data=data)
        resource = StoreResource(data=data)
        return assemble(settings, first_day_in(settings), resource, is_mounted=True)
