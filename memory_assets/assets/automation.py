"""What starts runs: one job for each entry of `schema.tables.JOBS`, sensors, and schedules in the owner's zone.

The sensors are level-triggered: each tick asks `runs.due` what the state of the store asks for, so that a lost tick, a failed
run or a killed daemon loses nothing. A request's key holds the state that it answers and the hour, so that a run that failed is
tried again an hour later, and not at every tick.
"""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

import dagster as dg

from memory_assets.assets.checks.deliver import SPOOL_CHECK, spool_evaluation
from memory_assets.runs import due
from memory_assets.runs.days import Stretch, stretches
from memory_assets.runs.due import DueRun, due_runs, next_runs
from memory_assets.runs.jobs import has_scopes, tags_of
from memory_assets.runs.scopes import register_scopes
from memory_assets.schema.frames import hash_of
from memory_assets.schema.tables import JOBS, tables_in
from memory_assets.services.review import look_at_tasks, tasks_say
from memory_assets.store.store import Store

EVERY_MINUTE, TWICE_A_MINUTE = 60, 30
RUNNING = dg.DefaultSensorStatus.RUNNING
SCHEDULED = dg.DefaultScheduleStatus.RUNNING
UNFINISHED = dg.RunsFilter(
    statuses=[
        dg.DagsterRunStatus.QUEUED,
        dg.DagsterRunStatus.NOT_STARTED,
        dg.DagsterRunStatus.STARTING,
        dg.DagsterRunStatus.STARTED,
    ]
)


ASSET_JOBS = {
    job.name: dg.define_asset_job(
        job.name,
        selection=dg.AssetSelection.assets(*(table.name for table in tables_in(job.name))),
        description=job.description,
    )
    for job in JOBS.values()
}
"""The declared jobs, each selecting the assets that name it."""


def _request(run: DueRun, *key: object, by: str, scopes: Sequence[str] = ()) -> dg.RunRequest:
    tags = tags_of(run.job, run.stretch, scopes=scopes, started_by=by)
    return dg.RunRequest(run_key=f"{run.job}-{hash_of(*key, run.state, run.stretch)}", job_name=run.job, tags=tags)


def _hour(store: Store) -> str:
    return f"{store.settings.clock():%Y-%m-%dT%H}"


def _scopes(instance: dg.DagsterInstance, store: Store, jobs: Iterable[str]) -> list[str]:
    """Returns the scopes, brought up to date in Dagster, where one of the jobs has partitions by scope."""
    return register_scopes(instance, store) if any(map(has_scopes, jobs)) else []


def next_requests(instance: dg.DagsterInstance, store: Store, *, busy: bool, first_day: date = date.min) -> list[dg.RunRequest]:
    """Returns the runs that the store's state asks for, the earliest job first; none while one of ours is under way.

    Days before `first_day`, the first partition that the code location has loaded, wait until it is reloaded.
    """
    due_now = [] if busy else next_runs(store)
    runs = [run for run in due_now if run.stretch is None or run.stretch.first >= first_day]
    scopes = _scopes(instance, store, (run.job for run in runs))
    return [_request(run, _hour(store), by="new_transcripts", scopes=scopes) for run in runs]


def _first_partition(context: dg.SensorEvaluationContext) -> date:
    """Returns the first day that the code location has a partition for."""
    loaded = context.repository_def
    partitions = loaded.asset_graph.get(dg.AssetKey("messages")).partitions_def if loaded else None
    return partitions.start.date() if isinstance(partitions, dg.DailyPartitionsDefinition) else date.min


@dg.sensor(
    jobs=[ASSET_JOBS[job.name] for job in JOBS.values() if job.is_at_once],
    minimum_interval_seconds=EVERY_MINUTE,
    default_status=RUNNING,
    description="Reads new transcripts, then extracts, embeds and merges what they changed.",
)
def new_transcripts(context: dg.SensorEvaluationContext, store: dg.ResourceParam[Store]) -> dg.SensorResult:
    """Requests the next job towards tables that hold everything the transcripts say."""
    busy = bool(context.instance.get_run_records(UNFINISHED, limit=1))
    requests = next_requests(context.instance, store, busy=busy, first_day=_first_partition(context))
    reason = None if requests else dg.SkipReason("Nothing new, a run is under way, or partitions of older days are loading.")
    return dg.SensorResult(run_requests=requests, skip_reason=reason)


@dg.sensor(
    jobs=[ASSET_JOBS[name] for name in ("capture", "reflect", "find_friction")],
    minimum_interval_seconds=TWICE_A_MINUTE,
    default_status=RUNNING,
    description="Takes in what was sent through the spool, and starts what an event asks for.",
)
def spooled_events(context: dg.SensorEvaluationContext, store: dg.ResourceParam[Store]) -> dg.SensorResult:
    """Requests a capture when events wait, then the reflections and frictions that an event asks for."""
    requests = event_requests(store, busy=bool(context.instance.get_run_records(UNFINISHED, limit=1)))
    looked = spool_evaluation(str(store.root))
    problem = str(looked.metadata.get("problem", "")) if not looked.passed else ""
    changed = [] if problem == (context.cursor or "") else [_evaluation(looked)]
    reason = None if requests else dg.SkipReason(problem or "Nothing was sent, or a run is under way.")
    return dg.SensorResult(run_requests=requests, skip_reason=reason, asset_events=changed, cursor=problem)


def _evaluation(looked: dg.AssetCheckResult) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey("events"), check_name=SPOOL_CHECK, passed=looked.passed, metadata=looked.metadata
    )


def event_requests(store: Store, busy: bool) -> list[dg.RunRequest]:
    """Returns a capture where events wait, else what events ask for; an event asks once: its id is part of the key."""
    if busy:
        return []
    if due.events_wait(store):
        return [_request(DueRun("capture", None, due.capture_state(store)), _hour(store), by="spooled_events")]
    asked = {"reflect": due.days_asked_for(store), "find_friction": due.friction_asked_for(store)}
    return [_request(run, by="spooled_events") for job, days in asked.items() for run in _runs(job, days)]


def _runs(job: str, days: dict[date, str]) -> list[DueRun]:
    return [DueRun(job, one, hash_of(*(days.get(day, "") for day in one.days()))) for one in stretches(days)]


@dg.sensor(
    job=ASSET_JOBS["triage"],
    minimum_interval_seconds=EVERY_MINUTE,
    default_status=RUNNING,
    description="Carries out approvals, rejections and edits in REVIEW.md, MEMORY.md or the owner's tasks in Todoist.",
)
def review_changes(context: dg.SensorEvaluationContext, store: dg.ResourceParam[Store]) -> dg.SensorResult:
    """Requests a triage when a review surface differs from what was last read."""
    problem, state = None, due.triage_state(store)
    if not due.review_is_stale(store):
        looked = look_at_tasks(store)
        problem, state = looked.problem, tasks_say(store, looked)
    if not state:
        return dg.SensorResult(skip_reason=dg.SkipReason(problem or "No proposal, decision or edit since the last triage."))
    scopes = register_scopes(context.instance, store)
    run = DueRun("triage", None, state)
    return dg.SensorResult(run_requests=[_request(run, _hour(store), by="review_changes", scopes=scopes)])


@dg.sensor(
    job=ASSET_JOBS["reflect"],
    minimum_interval_seconds=EVERY_MINUTE,
    default_status=RUNNING,
    description=f"Reflects at once, at most once a day, when a day has {due.ACCUMULATED_TOKENS:,} tokens of observations.",
)
def observations_accumulated(context: dg.SensorEvaluationContext, store: dg.ResourceParam[Store]) -> dg.SensorResult:
    """Requests a reflection on days that are too full to wait for the morning."""
    return accumulated_request(store)


def accumulated_request(store: Store) -> dg.SensorResult:
    """Returns the request; its key is the present day, so that Dagster carries out one of them a day."""
    days = due.days_accumulated(store)
    if not days:
        return dg.SensorResult(skip_reason=dg.SkipReason("No day has that many tokens that nobody reflected on."))
    tags = tags_of("reflect", stretches(days)[-1], started_by="observations_accumulated")
    key = f"reflect-accumulated-{store.settings.today()}"
    return dg.SensorResult(run_requests=[dg.RunRequest(run_key=key, job_name="reflect", tags=tags)])


SENSORS = [new_transcripts, spooled_events, observations_accumulated, review_changes]

ON_SCHEDULE = {
    "reflect": ("reflect_daily", "0 6 * * *", "At 06:00, reflects on every day with new observations."),
    "distil_weeks": ("distil_weeks", "30 6 * * *", "At 06:30, condenses each finished week with new reflections."),
    "distil_months": ("distil_months", "45 6 * * *", "At 06:45, condenses each finished month with new reflections."),
    "find_friction": ("friction_daily", "0 7 * * *", "At 07:00, looks for problems that recur within the last seven days."),
}
"""By job whose due runs a schedule requests: the schedule's name, its time and what it does."""


def make_schedules(zone: str) -> list[dg.ScheduleDefinition]:
    """Returns the daily schedules, in the owner's zone."""

    def at(name: str, job: str, cron: str, description: str) -> dg.ScheduleDefinition:
        def request(context: dg.ScheduleEvaluationContext, store: dg.ResourceParam[Store]):
            scopes = _scopes(context.instance, store, [job])
            return dg.RunRequest(tags=tags_of(job, scopes=scopes, started_by=name))

        how = {"execution_timezone": zone, "default_status": SCHEDULED, "description": description}
        return dg.schedule(job=ASSET_JOBS[job], cron_schedule=cron, name=name, **how)(request)

    def where_due(job: str, name: str, cron: str, description: str) -> dg.ScheduleDefinition:
        def look(context: dg.ScheduleEvaluationContext, store: dg.ResourceParam[Store]):
            when = context.scheduled_execution_time.isoformat()
            return _or_skip(_request(run, when, by=name) for run in due_runs(store, job))

        how = {"execution_timezone": zone, "default_status": SCHEDULED, "description": description}
        return dg.schedule(job=ASSET_JOBS[job], cron_schedule=cron, name=name, **how)(look)

    @dg.schedule(
        job=ASSET_JOBS["process_days"],
        cron_schedule="0 2 * * *",
        execution_timezone=zone,
        default_status=SCHEDULED,
        description="At 02:00, materialises the day just ended, so that a day without sessions is known to be one.",
    )
    def nightly_yesterday(context: dg.ScheduleEvaluationContext):
        day = (context.scheduled_execution_time - timedelta(days=1)).date()
        return _request(DueRun("process_days", Stretch(day, day), str(day)), "nightly", by="nightly_yesterday")

    return [
        at("briefing_daily", "brief", "5 0 * * *", "At 00:05, puts the dates of that day and the next into the briefing."),
        *(where_due(job, *how) for job, how in ON_SCHEDULE.items()),
        nightly_yesterday,
        at("nightly", "rebuild_memories", "15 2 * * *", "At 02:15, merges near-duplicates and updates the indexes."),
        at(
            "triage_half_hourly",
            "review",
            "*/30 * * * *",
            "Every 30 minutes, decides by rules and model, and expires proposals.",
        ),
    ]


def _or_skip(requests: Iterable[dg.RunRequest]) -> list[dg.RunRequest] | dg.SkipReason:
    return list(requests) or dg.SkipReason("Nothing is due.")
