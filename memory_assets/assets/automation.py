"""Dagster's jobs (one for each entry of `schema.tables.JOBS`), and the sensors and schedules.

At each tick, a sensor asks `runs.due` which runs the present state of the store requires. So a
missed tick, a failed run or a killed daemon loses nothing. Dagster starts only one run for each key
of a request. The key holds the state and the hour, so that a failed run is retried an hour later
and not at every tick.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import dagster as dg

# Dagster has no public function for the last time of a schedule.
from dagster._utils.schedules import get_latest_completed_cron_tick

from memory_assets.assets.checks.deliver_checks import SPOOL_CHECK, spool_is_read
from memory_assets.assets.ticks import StoreParam, Tick, sensor, skip_if_damaged
from memory_assets.runs import days as day_runs
from memory_assets.runs import due
from memory_assets.runs.due import DueRun, due_runs, next_runs, night_runs, runs_of_days
from memory_assets.runs.liveness import WORKER, fail_dead_runs, is_alive
from memory_assets.runs.record import begin_night, is_missed, last_run, note_slot
from memory_assets.runs.scopes import SCOPE, register_keys
from memory_assets.schema.frames import hash_of
from memory_assets.schema.tables import JOBS, Grain, tables_in
from memory_assets.services.review import open_triage
from memory_assets.store.store import Store

LEFT_TO_WORKER = (
    "The process of `memory up` runs what new transcripts and events require, as soon as they "
    "arrive."
)
Context = Tick | dg.ScheduleEvaluationContext

ASSET_JOBS = {
    job.name: dg.define_asset_job(
        job.name,
        dg.AssetSelection.assets(*(table.name for table in tables_in(job.name))),
        description=job.description,
        executor_def=dg.in_process_executor,
    )
    for job in JOBS.values()
}
"""The declared jobs, each selecting the assets that name it."""


def _request(run: DueRun, *once_per: object, by: str, keys: Sequence[str] = ()) -> dg.RunRequest:
    """Returns the request of the run, which Dagster starts once for its state and `once_per`.

    `by` names the sensor or schedule. `keys` are the dynamic partitions to build, if any.
    """
    tags = day_runs.tags_of(run.job, run.stretch, keys=keys, started_by=by)
    tables = day_runs.buildable(run.job, keys)
    return dg.RunRequest(
        run_key=f"{run.job}-{hash_of(*once_per, run.state, run.stretch)}",
        job_name=run.job,
        tags=tags,
        asset_selection=[dg.AssetKey(name) for name in tables] if tables else None,
    )


def _hour(store: Store) -> str:
    return f"{store.settings.clock():%Y-%m-%dT%H}"


def _keys(instance: dg.DagsterInstance, store: Store, jobs: Iterable[str]) -> list[str]:
    """Updates the dynamic partitions of the jobs in Dagster, and returns their keys.

    All of these jobs have the same dynamic partitions, or none.
    """
    grains: list[Grain] = [grain for grain in map(day_runs.dynamic_grain, jobs) if grain]
    return register_keys(instance, store, grains[0]) if grains else []


def _result(requests: Sequence[dg.RunRequest], reason: str, **more: Any) -> dg.SensorResult:
    """Returns the requests; without any, the reason why there are none."""
    skip_reason = None if requests else reason
    return dg.SensorResult(run_requests=requests, skip_reason=skip_reason, **more)


def _is_busy(context: Tick, store: Store) -> bool:
    """Returns whether a run is in progress; first marks runs whose process was killed as failed."""
    return bool(fail_dead_runs(context.instance, store))


def _loaded(context: Context, requests: Sequence[dg.RunRequest]) -> list[dg.RunRequest]:
    """Returns the requests whose partitions Dagster knows.

    It knows the days since the store's first day at the time when it loaded the assets. Requests
    for older days are left out until it loads them again.
    """
    return [request for request in requests if _is_loaded(context.repository_def, request)]


def _is_loaded(repository: dg.RepositoryDefinition | None, request: dg.RunRequest) -> bool:
    first = request.tags.get(day_runs.RANGE_START)
    if repository is None or first is None or request.job_name is None:
        return True
    for table in tables_in(request.job_name):
        partitions = repository.asset_graph.get(dg.AssetKey(table.name)).partitions_def
        if isinstance(partitions, dg.TimeWindowPartitionsDefinition):
            return first >= str(partitions.get_first_partition_key())
    return True


def next_requests(instance: dg.DagsterInstance, store: Store, *, busy: bool) -> list[dg.RunRequest]:
    """Returns requests for the runs of the first due job; none while a run is in progress."""
    runs = [] if busy else next_runs(store)
    keys = _keys(instance, store, (run.job for run in runs))
    return [_request(run, _hour(store), by="new_transcripts", keys=keys) for run in runs]


@sensor(
    jobs=[ASSET_JOBS[job.name] for job in JOBS.values() if job.is_at_once],
    description="Reads new transcripts, then extracts, embeds and merges what they changed.",
    minimum_interval_seconds=60,
)
def new_transcripts(context: Tick, store: StoreParam) -> dg.SensorResult:
    """Requests the next job that is due after new transcripts."""
    if is_alive(store, WORKER):
        return _result([], LEFT_TO_WORKER)
    requests = next_requests(context.instance, store, busy=_is_busy(context, store))
    return _result(
        _loaded(context, requests),
        "Nothing new, a run is in progress, or partitions of older days are loading.",
    )


@sensor(
    jobs=[ASSET_JOBS[name] for name in ("capture", "reflect", "find_friction")],
    description="Reads what was sent through the spool, and starts the runs that events request.",
    minimum_interval_seconds=30,
)
def spooled_events(context: Tick, store: StoreParam) -> dg.SensorResult:
    """Requests a capture if events wait, else what events request; also evaluates a check.

    The check says whether the spool is read. Its result is reported if the problem changed; the
    cursor of the sensor holds the problem that was reported last.
    """
    requests = _loaded(context, event_requests(store, busy=_is_busy(context, store)))
    result = spool_is_read(store, None)
    problem = "" if result.passed else str(result.metadata.get("problem", ""))
    evaluation = dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey("events"),
        check_name=SPOOL_CHECK,
        passed=result.passed,
        metadata=result.metadata,
    )
    evaluations = [] if problem == (context.cursor or "") else [evaluation]
    reason = problem or "Nothing was sent, or a run is in progress."
    return _result(requests, reason, asset_events=evaluations, cursor=problem)


def event_requests(store: Store, busy: bool) -> list[dg.RunRequest]:
    """Returns a request for a capture if events wait, else for the runs that events request.

    The id of an event is part of the run's key, so that an event starts a run only once.
    """
    if busy:
        return []
    if due.events_wait(store) and not is_alive(store, WORKER):
        capture = DueRun("capture", None, due.capture_state(store))
        return [_request(capture, _hour(store), by="spooled_events")]
    runs = runs_of_days("reflect", due.days_asked_for(store))
    runs += runs_of_days("find_friction", due.friction_asked_for(store))
    return [_request(run, by="spooled_events") for run in runs]


@sensor(
    job=ASSET_JOBS["triage"],
    description="Carries out approvals, rejections and edits in REVIEW.md, MEMORY.md or the "
    "owner's tasks in Todoist.",
    minimum_interval_seconds=60,
)
def review_changes(context: Tick, store: StoreParam) -> dg.SensorResult:
    """Requests a triage when a review surface differs from what was last read."""
    if due.review_is_stale(store):
        problem = ""
        state = due.triage_state(store)
    else:
        snapshot = open_triage.read_task_snapshot(store)
        problem = snapshot.problem
        state = open_triage.task_decisions_hash(store, snapshot)
    if not state:
        return _result([], problem or "No proposal, decision or edit since the last triage.")
    scopes = register_keys(context.instance, store, SCOPE)
    run = DueRun("triage", None, state)
    request = _request(run, _hour(store), by="review_changes", keys=scopes)
    return dg.SensorResult(run_requests=[request])


@sensor(
    job=ASSET_JOBS["reflect"],
    description="Reflects at once, at most once a day, when a day has "
    f"{due.ACCUMULATED_TOKENS:,} tokens of observations.",
    minimum_interval_seconds=60,
)
def observations_accumulated(context: Tick, store: StoreParam) -> dg.SensorResult:
    """Requests a reflection on a day that has too many observations to wait for the morning."""
    requests = _loaded(context, accumulated_requests(store))
    return _result(requests, "No day without a reflection has that many tokens of observations.")


def accumulated_requests(store: Store) -> list[dg.RunRequest]:
    """Returns at most one request, for the latest of the days with too many observations.

    Its key is the present day, so that Dagster starts at most one such run a day.
    """
    days = due.days_accumulated(store)
    if not days:
        return []
    key = f"reflect-accumulated-{store.settings.today()}"
    tags = day_runs.tags_of(
        "reflect", day_runs.stretches(days)[-1], started_by="observations_accumulated"
    )
    return [dg.RunRequest(run_key=key, job_name="reflect", tags=tags)]


@dataclass(frozen=True)
class MissedTime:
    """A time of a schedule that passed while no daemon ran.

    The functions of schedules get it in place of the context that the daemon would have given.
    """

    instance: dg.DagsterInstance
    scheduled_execution_time: datetime


ScheduleTime = dg.ScheduleEvaluationContext | MissedTime


def _at_its_time(context: ScheduleTime, store: Store, job: str, name: str) -> list[dg.RunRequest]:
    """Returns the run of the job, unless it has dynamic partitions and the store has none."""
    keys = _keys(context.instance, store, [job])
    if not keys and day_runs.dynamic_grain(job):
        return []
    return [dg.RunRequest(tags=day_runs.tags_of(job, keys=keys, started_by=name))]


def _if_due(context: ScheduleTime, store: Store, job: str, name: str) -> list[dg.RunRequest]:
    """Returns the runs of the job that are due."""
    time = context.scheduled_execution_time.isoformat()
    return [_request(run, time, by=name) for run in due_runs(store, job)]


def _night(context: ScheduleTime, store: Store, job: str, name: str) -> list[dg.RunRequest]:
    """Returns the nightly run and those of older days; notes the first day of the nightly run."""
    day = (context.scheduled_execution_time - timedelta(days=1)).date()
    runs = night_runs(store, day)
    begin_night(store, min(run.stretch.first for run in runs if run.stretch and run.job == job))
    return [_request(run, job, by=name) for run in runs]


class Schedule(NamedTuple):
    """What starts runs of a job at given times."""

    name: str
    job: str
    cron: str
    requests: Callable[[ScheduleTime, Store, str, str], list[dg.RunRequest]]
    """Returns the runs at a time of the schedule; gets the names of the job and the schedule."""
    description: str


SCHEDULES = (
    Schedule("briefing_daily", "brief", "5 0 * * *", _at_its_time,
             "At 00:05, adds the dates of that day and the next to the briefing."),
    Schedule("weekly", "weekly", "0 1 * * 0", _at_its_time,
             "On Sunday at 01:00, archives unused memories and rebuilds summaries."),
    Schedule("nightly", "nightly", "0 2 * * *", _night,
             "At 02:00, reads what was missed, merges, boosts and counts the past day."),
    Schedule("monthly", "monthly", "0 3 1 * *", _at_its_time,
             "On the 1st at 03:00, writes the health report of the past month."),
    Schedule("reflect_daily", "reflect", "0 6 * * *", _if_due,
             "At 06:00, reflects on every day with new observations."),
    Schedule("distil_weeks", "distil_weeks", "30 6 * * *", _if_due,
             "At 06:30, condenses finished weeks with new reflections."),
    Schedule("distil_months", "distil_months", "45 6 * * *", _if_due,
             "At 06:45, condenses finished months with new reflections."),
    Schedule("friction_daily", "find_friction", "0 7 * * *", _if_due,
             "At 07:00, finds problems that recur within seven days."),
    Schedule("triage_half_hourly", "review", "*/30 * * * *", _at_its_time,
             "Every 30 minutes, decides proposals by rules and model."),
    *(Schedule(job.schedule.name, job.name, job.schedule.cron, _at_its_time,
               job.schedule.description) for job in JOBS.values() if job.schedule),
)  # fmt: skip

GRACE = timedelta(minutes=10)
"""How long after its time a schedule counts as missed; until then it may start the run itself."""


def overdue_requests(instance: dg.DagsterInstance, store: Store) -> list[dg.RunRequest]:
    """Returns the runs of schedules whose last time was missed, in the order of the jobs.

    `runs.record` says whether it was. One run covers all missed times of a schedule, because the
    state of the store says what it has to do. A failed run is requested again an hour later.
    """
    now = store.settings.clock()
    overdue = list[dg.RunRequest]()
    for schedule in sorted(SCHEDULES, key=lambda schedule: [*JOBS].index(schedule.job)):
        name = schedule.name
        slot = get_latest_completed_cron_tick(schedule.cron, now, store.settings.timezone)
        if now < slot + GRACE or not is_missed(store, name, schedule.job, slot):
            continue
        requests = schedule.requests(MissedTime(instance, slot), store, schedule.job, name)
        # While new transcripts wait, something may become due once they are read.
        if not requests and not next_runs(store):
            note_slot(store, name, slot)
        for request in requests:
            key = hash_of(name, slot, _hour(store), request.run_key)
            overdue.append(_late(request, schedule.job, key))
        if requests and name == "nightly":
            # What else is due is known only when the nightly run has read everything unread.
            break
    return overdue


def _late(request: dg.RunRequest, job: str, key: str) -> dg.RunRequest:
    """Returns the schedule's request as one of the sensor `overdue_jobs`, with another run key."""
    name = request.job_name or job
    tags = {**request.tags, day_runs.STARTED_BY: "overdue_jobs"}
    return dg.RunRequest(run_key=f"{name}-{key}", job_name=name, tags=tags)


@sensor(
    jobs=[ASSET_JOBS[name] for name in dict.fromkeys(schedule.job for schedule in SCHEDULES)],
    description="Starts scheduled runs that were missed while no daemon ran, without waiting for "
    "their next time.",
    minimum_interval_seconds=60,
)
def overdue_jobs(context: Tick, store: StoreParam) -> dg.SensorResult:
    """Requests the runs of missed schedules; none while another run is in progress."""
    requests = [] if _is_busy(context, store) else overdue_requests(context.instance, store)
    return _result(
        _loaded(context, requests), "No time of a schedule was missed, or a run is in progress."
    )


SENSORS = [new_transcripts, spooled_events, observations_accumulated, review_changes, overdue_jobs]
"""The sensors that start runs."""


def make_schedules(zone: str) -> list[dg.ScheduleDefinition]:
    """Returns the schedules in the owner's zone."""
    return [_make_schedule(schedule, zone) for schedule in SCHEDULES]


def _make_schedule(schedule: Schedule, zone: str) -> dg.ScheduleDefinition:
    job = schedule.job

    def request(context: dg.ScheduleEvaluationContext, store: StoreParam):
        slot = context.scheduled_execution_time
        ran_at = last_run(store, job)
        if ran_at and ran_at >= slot:
            reason = f"{job} ran at {ran_at:%H:%M} UTC, after this time of the schedule."
            return dg.SkipReason(reason)
        requests = _loaded(context, schedule.requests(context, store, job, schedule.name))
        # While new transcripts wait, `overdue_jobs` asks again once they are read.
        if not requests and not next_runs(store):
            note_slot(store, schedule.name, slot)
        return requests or dg.SkipReason("Nothing is due.")

    return dg.schedule(
        job=ASSET_JOBS[job],
        cron_schedule=schedule.cron,
        name=schedule.name,
        description=schedule.description,
        execution_timezone=zone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )(skip_if_damaged(request))
