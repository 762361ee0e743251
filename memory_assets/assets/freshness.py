"""Freshness in Dagster: a policy for each asset, and a sensor that keeps idle assets green.

`runs.freshness` decides what waits and what is late. It counts from input that waits, but Dagster's
policies count from the last materialisation. So while nothing waits for an asset, the sensor
`deadlines` reports the asset again with the same data version, and the policy stays green during a
holiday. Once input waits, the sensor no longer reports it, and the policy turns red in time.

The assets have no automation conditions of Dagster, because those look only at the latest day and
fire only once. The sensors compare the whole store with what each table was built from at every
tick, and so find late days, failed runs and missed ticks (`assets.automation`). The worker of
`memory up` does the same for new input (`runs.worker`).
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache

import dagster as dg

from memory_assets.assets.automation import SCHEDULES, SENSORS, overdue_jobs
from memory_assets.assets.ticks import StoreParam, Tick, sensor
from memory_assets.runs.failures import clear_repeated
from memory_assets.runs.freshness import keep_waiting
from memory_assets.schema.tables import JOBS, TABLES, Table, deadline_of, tables_in

BY_WORKER = "the process of `memory up` (seconds after new input)"

CONFIRMED = "Confirmed, not built: the rows are those of an earlier build."
"""Description of a materialisation that is reported again. Dagster's policies count from nothing
else.
"""

REPORTS_PER_DEADLINE = 4
"""An asset is reported again when a quarter of its deadline has passed. So its policy turns red in
the last quarter of the deadline of waiting input.
"""


@sensor(
    description="Reports assets that no input waits for as fresh, so that their policies count "
    "from input that waits.",
    minimum_interval_seconds=600,
)
def deadlines(context: Tick, store: StoreParam) -> dg.SensorResult:
    """Notes what waits and since when, and reports the other assets again."""
    waiting = keep_waiting(store)
    clear_repeated(context.instance, store)
    now = store.settings.clock()
    names = {item.name for item in waiting}
    events = list(confirmations(context.instance, now, names))
    late = sorted(item.name for item in waiting if item.is_late(now))
    reason = f"{len(names)} wait, {len(events)} confirmed."
    if late:
        reason = f"Too late: {', '.join(late)}."
    return dg.SensorResult(skip_reason=dg.SkipReason(reason), asset_events=events)


def confirmations(
    instance: dg.DagsterInstance, now: datetime, waiting: set[str]
) -> Iterator[dg.AssetMaterialization]:
    """Yields a copy of the last materialisation of each asset for which no input waits.

    Leaves out assets whose last materialisation is recent.
    """
    tables = {dg.AssetKey(name): table for name, table in TABLES.items() if name not in waiting}
    for record in instance.get_asset_records(list(tables)):
        entry = record.asset_entry
        event = entry.last_materialization
        materialisation = event and event.asset_materialization
        if event is None or materialisation is None:
            continue
        age = now - datetime.fromtimestamp(event.timestamp, UTC)
        if age >= deadline_of(tables[entry.asset_key]) / REPORTS_PER_DEADLINE:
            counts = {
                name: value
                for name, value in materialisation.metadata.items()
                if name.startswith("dagster/row_count")
            }
            yield dg.AssetMaterialization(
                entry.asset_key,
                CONFIRMED,
                partition=materialisation.partition,
                tags=materialisation.tags,
                metadata={**counts, "confirmed": "Unchanged; no input waits."},
            )


def policy_of(table: Table) -> dg.FreshnessPolicy:
    """Returns the policy that turns red at the deadline of waiting input."""
    deadline = deadline_of(table)
    return dg.FreshnessPolicy.time_window(fail_window=deadline, warn_window=deadline / 2)


def jobs_of(table: Table) -> list[str]:
    """Returns the jobs that build the table; the first is the one that new input makes due."""
    others = [name for name in JOBS if table in tables_in(name)]
    return [*dict.fromkeys([*table.jobs, *others])]


def starters_of(job: str) -> dict[str, str]:
    """Returns the schedules and sensors that start the job, by name, each with a text for the UI.

    What usually starts the job comes first.
    """
    return {
        name: f"{kind} `{name}` ({when.lower()})"
        for kind, name, when, jobs in _starters()
        if job in jobs
    }


def kept_fresh_by(table: Table) -> str:
    """Returns a Markdown list of the jobs that build the table, what starts them, the deadline."""
    lines = list[str]()
    for job in jobs_of(table):
        worker = [BY_WORKER] if JOBS[job].is_at_once else []
        lines.append(f"- job `{job}`: {', '.join([*worker, *starters_of(job).values()])}")
    hours = deadline_of(table).total_seconds() / 3600
    by_hand = "- by hand: `memory ingest`; input waits for"
    return "\n".join([*lines, f"{by_hand} {hours:.0f} hours at most, then `memory doctor` fails"])


@cache
def _starters() -> list[tuple[str, str, str, list[str]]]:
    """Returns the kind, the name, when it starts runs, and the jobs of each schedule and sensor."""
    starters = list[tuple[str, str, str, list[str]]]()
    for schedule in SCHEDULES:
        when, _, _ = schedule.description.partition(",")
        starters.append(("schedule", schedule.name, when, [schedule.job]))
    for starter in SENSORS:
        when = f"every {starter.minimum_interval_seconds} seconds"
        if starter is overdue_jobs:
            when = "if that time was missed"
        starters.append(("sensor", starter.name, when, [job.name for job in starter.jobs]))
    return starters
