"""Says of each asset which jobs build it, and which sensors and schedules start these jobs.

The assets have no automation conditions: those look at the latest day only and fire once, on a
change. The sensors compare the state of the store with what each table was built from at every
tick, so that a late day, a failed run and a lost tick are found again (`assets.automation`); the
process of `memory up` does the same with new input (`runs.worker`). This module shows it on each
asset, from the sensors and schedules themselves.
"""

from functools import cache

from memory_assets.assets.automation import SCHEDULES, SENSORS, overdue_jobs
from memory_assets.schema.tables import JOBS, Table, deadline_of, tables_in


def jobs_of(table: Table) -> list[str]:
    """Returns the jobs that build the table: first the one that new input makes due."""
    return [
        *table.jobs,
        *(name for name in JOBS if name not in table.jobs and table in tables_in(name)),
    ]


def starters_of(job: str) -> dict[str, str]:
    """Returns the schedules and sensors that start the job and when they do, by name; what usually
    starts it comes first.
    """
    schedules = {
        name: text.partition(",")[0] for name, started, _, _, text in SCHEDULES if started == job
    }
    return {
        **schedules,
        **{name: text for name, text in _sensors().items() if job in _targets()[name]},
    }


def kept_fresh_by(table: Table) -> str:
    """Returns a list in Markdown: the jobs that build the table, what starts each, and how long
    input may wait for it.
    """
    lines = [f"- job `{job}`: {_started_by(job)}" for job in jobs_of(table)]
    hours = deadline_of(table).total_seconds() / 3600
    return "\n".join(
        [
            *lines,
            f"- by hand: `memory ingest`; input waits for {hours:.0f} hours at most, then "
            "`memory doctor` fails",
        ]
    )


def _started_by(job: str) -> str:
    schedules = {name for name, started, *_ in SCHEDULES if started == job}
    kind = {name: "schedule" if name in schedules else "sensor" for name in starters_of(job)}
    worker = (
        ["the process of `memory up` (seconds after new input)"] if JOBS[job].is_at_once else []
    )
    return ", ".join(
        [
            *worker,
            *(f"{kind[name]} `{name}` ({when.lower()})" for name, when in starters_of(job).items()),
        ]
    )


@cache
def _sensors() -> dict[str, str]:
    """Returns when each sensor that starts jobs looks, in the order of `SENSORS`."""
    every = {
        sensor.name: f"every {sensor.minimum_interval_seconds} seconds"
        for sensor in SENSORS
        if sensor.has_jobs
    }
    return every | {overdue_jobs.name: "if that time was missed"}


@cache
def _targets() -> dict[str, list[str]]:
    return {sensor.name: [job.name for job in sensor.jobs] for sensor in SENSORS if sensor.has_jobs}
