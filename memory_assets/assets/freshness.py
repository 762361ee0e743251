"""Freshness in Dagster: the policy of each asset, the sensor that confirms what no input waits for,
and what the UI says about the jobs that keep an asset fresh.

What waits, since when, and what is late is decided in `runs.freshness`. Dagster counts from the
last materialisation, we count from input that waits. So the sensor `deadlines` reports an asset
again, with the data version that it has, while nothing waits for it: a holiday stays green. Once
input waits it no longer does, and the policy turns red in time.

The assets have no automation conditions: those look at the latest day only and fire once, on a
change. The sensors compare the state of the store with what each table was built from at every
tick, so that a late day, a failed run and a lost tick are found again (`assets.automation`); the
process of `memory up` does the same with new input (`runs.worker`).
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache

import dagster as dg

from memory_assets.assets.automation import SCHEDULES, SENSORS, overdue_jobs
from memory_assets.runs.freshness import keep_waiting
from memory_assets.schema.tables import JOBS, TABLES, Table, deadline_of, tables_in
from memory_assets.store.store import Store

BY_WORKER = "the process of `memory up` (seconds after new input)"

AGAIN = 4
"""An asset is reported again after a quarter of its deadline, so a policy turns red in the last
quarter of the deadline.
"""


@dg.sensor(
    description="Reports assets that no input waits for as fresh, so that their policies count "
    "from input that waits.",
    minimum_interval_seconds=600,
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def deadlines(
    context: dg.SensorEvaluationContext, store: dg.ResourceParam[Store]
) -> dg.SensorResult:
    """Keeps what waits and since when, and confirms the other assets."""
    waiting = keep_waiting(store)
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
    """Yields the last materialisation of each asset that nothing waits for again, where it is old
    enough.
    """
    keys = {dg.AssetKey(name): table for name, table in TABLES.items() if name not in waiting}
    for record in instance.get_asset_records(list(keys)):
        entry = record.asset_entry
        event = entry.last_materialization
        materialisation = event and event.asset_materialization
        if event is None or materialisation is None:
            continue
        age = now - datetime.fromtimestamp(event.timestamp, UTC)
        if age >= deadline_of(keys[entry.asset_key]) / AGAIN:
            counts = {
                name: value
                for name, value in materialisation.metadata.items()
                if name.startswith("dagster/row_count")
            }
            yield dg.AssetMaterialization(
                entry.asset_key,
                partition=materialisation.partition,
                tags=materialisation.tags,
                metadata={**counts, "confirmed": "Unchanged; no input waits."},
            )


def policy_of(table: Table) -> dg.FreshnessPolicy:
    """Returns the policy that turns red where input may wait no longer."""
    deadline = deadline_of(table)
    return dg.FreshnessPolicy.time_window(fail_window=deadline, warn_window=deadline / 2)


def jobs_of(table: Table) -> list[str]:
    """Returns the jobs that build the table: first the one that new input makes due."""
    return [
        *table.jobs,
        *(name for name in JOBS if name not in table.jobs and table in tables_in(name)),
    ]


def starters_of(job: str) -> dict[str, str]:
    """Returns the schedules and sensors that start the job, by name, each with when it does; what
    usually starts it comes first.
    """
    return {
        name: f"{kind} `{name}` ({when.lower()})"
        for kind, name, when, jobs in _starters()
        if job in jobs
    }


def kept_fresh_by(table: Table) -> str:
    """Returns a list in Markdown: the jobs that build the table, what starts each, and how long
    input may wait for it.
    """
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
    schedules = [
        ("schedule", schedule.name, schedule.description.partition(",")[0], [schedule.job])
        for schedule in SCHEDULES
    ]
    sensors = [
        (
            "sensor",
            sensor.name,
            "if that time was missed"
            if sensor is overdue_jobs
            else f"every {sensor.minimum_interval_seconds} seconds",
            [job.name for job in sensor.jobs],
        )
        for sensor in SENSORS
    ]
    return schedules + sensors
