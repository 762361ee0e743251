"""What starts runs, and when: jobs, sensors and schedules.

    capture   events, archive, records, windows, open messages      sensors new_transcripts, spooled_events
    learn     messages → distill → embed, for a stretch of days     sensor new_transcripts, yesterday at 02:00
    fold      merges, memories, graph, indexes, summaries, briefing sensor new_transcripts, nightly at 02:15
    reflect   reflections and proposals, for a stretch of days      06:00, sensors observations_accumulated, spooled_events
    distil_weeks, distil_months  what finished ones say together    schedules 06:30 and 06:45
    evaluate  figures against labelled sessions                     sensor new_transcripts, where the setting names some
    friction  what goes wrong again and again, of seven days         07:00, sensor spooled_events
    triage    decisions, MEMORY.md, REVIEW.md, tasks, patches       sensor review_changes
    review    a model's reviews of what waits, then a triage        schedule every 30 minutes
    brief     lessons.md and the briefing, with what comes up       sensor new_transcripts, schedule 00:05

The sensors are level-triggered: each tick looks at the state of the store (files that grew, days whose windows changed, a
fold that lags behind, a REVIEW.md that a person edited) and asks for the next step, so that a lost tick, a failed run or a
killed daemon loses nothing. They read file sizes and manifests, never transcripts; where proposals are tasks in Todoist, one of
them asks it what became of them.
"""

from collections.abc import Callable
from datetime import timedelta

import dagster as dg

from memory_assets.assets.deliver import SPOOL_CHECK, spool_evaluation
from memory_assets.runs import pending
from memory_assets.runs.days import Stretch, stretches
from memory_assets.runs.jobs import (
    ASSETS_OF,
    BRIEF,
    CAPTURE,
    DESCRIPTIONS,
    EVALUATE,
    FIND_FRICTION,
    FOLD,
    LEARN,
    NEW_ONLY,
    REFLECT,
    REVIEW,
    TRIAGE,
    range_tags,
    tags_of,
)
from memory_assets.runs.pending import hash_of
from memory_assets.services.review import look_at_tasks, tasks_say
from memory_assets.stages.reflect.gradient import Span
from memory_assets.store.store import Store

EVERY_MINUTE = 60
TWICE_A_MINUTE = 30
UNFINISHED = dg.RunsFilter(
    statuses=[
        dg.DagsterRunStatus.QUEUED,
        dg.DagsterRunStatus.NOT_STARTED,
        dg.DagsterRunStatus.STARTING,
        dg.DagsterRunStatus.STARTED,
    ]
)

JOBS = {
    name: dg.define_asset_job(name, selection=dg.AssetSelection.assets(*keys), description=DESCRIPTIONS[name])
    for name, keys in ASSETS_OF.items()
}


def next_requests(store: Store, busy: bool) -> list[dg.RunRequest]:
    """Returns the runs that the store's state asks for, the earliest step first; none while one of ours is under way.

    A request's key holds the state it answers and the hour, so that a run that failed is tried again an hour later, and
    not at every tick.
    """
    if busy:
        return []
    hour = f"{store.settings.clock():%Y-%m-%dT%H}"
    if pending.capture_is_due(store):
        return [_request(CAPTURE, hour, pending.capture_inputs(store))]
    if days := pending.days_to_learn(store):
        return [_request(LEARN, hour, pending.windows_inputs(store), s, stretch=s) for s in stretches(days)]
    if pending.fold_is_behind(store) or pending.index_is_missing(store) or pending.graph_is_behind(store):
        return [_request(FOLD, hour, pending.fold_inputs(store.tables, store.ledger.events(pending.TOLD)))]
    if pending.briefing_is_behind(store):
        return [_request(BRIEF, hour, pending.briefing_inputs(store))]
    if pending.evaluation_is_behind(store):
        return [_request(EVALUATE, hour, pending.evaluation_inputs(store))]
    return []


def _request(job: str, *state: object, stretch: Stretch | None = None) -> dg.RunRequest:
    config = NEW_ONLY if job == LEARN else {}
    return dg.RunRequest(run_key=f"{job}-{hash_of(*state)}", job_name=job, run_config=config, tags=tags_of(job, stretch))


@dg.sensor(
    jobs=[JOBS[CAPTURE], JOBS[LEARN], JOBS[FOLD], JOBS[BRIEF], JOBS[EVALUATE]],
    minimum_interval_seconds=EVERY_MINUTE,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Takes in new transcripts, then distils, embeds and folds what they changed.",
)
def new_transcripts(context: dg.SensorEvaluationContext, store: dg.ResourceParam[Store]) -> dg.SensorResult:
    """Asks for the next step towards tables that hold everything the transcripts say."""
    requests = next_requests(store, busy=bool(context.instance.get_run_records(UNFINISHED, limit=1)))
    reason = None if requests else dg.SkipReason("Nothing new, or a run is under way.")
    return dg.SensorResult(run_requests=requests, skip_reason=reason)


@dg.sensor(
    jobs=[JOBS[CAPTURE], JOBS[REFLECT], JOBS[FIND_FRICTION]],
    minimum_interval_seconds=TWICE_A_MINUTE,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Takes in what harnesses sent, at once: a session that ended, a compaction to come, a day to reflect on.",
)
def spooled_events(context: dg.SensorEvaluationContext, store: dg.ResourceParam[Store]) -> dg.SensorResult:
    """Asks for what the spool asks for, and turns its check red where events wait for too long."""
    busy = bool(context.instance.get_run_records(UNFINISHED, limit=1))
    requests = event_requests(store, busy)
    looked = spool_evaluation(str(store.root))
    verdict = str(looked.metadata.get("problem", "")) if not looked.passed else ""
    told = [] if verdict == (context.cursor or "") else [_evaluation(looked)]
    reason = None if requests else dg.SkipReason(verdict or "Nothing was sent, or a run is under way.")
    return dg.SensorResult(run_requests=requests, skip_reason=reason, asset_events=told, cursor=verdict)


def event_requests(store: Store, busy: bool) -> list[dg.RunRequest]:
    """Returns the runs that the spool and what was taken in from it ask for; none while one of ours is under way.

    An event that asks for a reflection or for frictions asks once: its id is part of the key.
    """
    if busy:
        return []
    if pending.events_wait(store):
        return [_request(CAPTURE, f"{store.settings.clock():%Y-%m-%dT%H}", pending.spool_inputs(store))]
    return [
        _request(job, *(asked.get(day, "") for day in s.days()), stretch=s)
        for job, asked in ((REFLECT, pending.days_asked_for(store)), (FIND_FRICTION, pending.friction_asked_for(store)))
        for s in stretches(asked)
    ]


def _evaluation(looked: dg.AssetCheckResult) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey("events"), check_name=SPOOL_CHECK, passed=looked.passed, metadata=looked.metadata
    )


@dg.sensor(
    job=JOBS[TRIAGE],
    minimum_interval_seconds=EVERY_MINUTE,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Carries out what a person ticked, struck or edited in REVIEW.md, MEMORY.md or their tasks in Todoist.",
)
def review_changes(context: dg.SensorEvaluationContext, store: dg.ResourceParam[Store]) -> dg.SensorResult:
    """Asks for a triage when a review surface differs from what was last read."""
    hour = f"{store.settings.clock():%Y-%m-%dT%H}"
    if pending.review_is_behind(store):
        return dg.SensorResult(run_requests=[_request(TRIAGE, hour, pending.review_inputs(store))])
    looked = look_at_tasks(store)
    if said := tasks_say(store, looked):
        return dg.SensorResult(run_requests=[_request(TRIAGE, hour, said)])
    reason = looked.problem or "No proposal, decision or edit since the last triage."
    return dg.SensorResult(skip_reason=dg.SkipReason(reason))


@dg.sensor(
    job=JOBS[REFLECT],
    minimum_interval_seconds=EVERY_MINUTE,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=f"Reflects at once, at most once a day, when a day has {pending.ACCUMULATED_TOKENS:,} tokens of observations.",
)
def observations_accumulated(context: dg.SensorEvaluationContext, store: dg.ResourceParam[Store]) -> dg.SensorResult:
    """Asks for a reflection on days that are too full to wait for the morning."""
    return accumulated_request(store)


def accumulated_request(store: Store) -> dg.SensorResult:
    """Returns the request; its key is the present day, so that Dagster carries out one of them a day."""
    days = pending.days_accumulated(store)
    if not days:
        return dg.SensorResult(skip_reason=dg.SkipReason("No day has that much that nobody reflected on."))
    today = store.settings.today()
    latest = stretches(days)[-1]
    request = dg.RunRequest(run_key=f"{REFLECT}-accumulated-{today}", job_name=REFLECT, tags=range_tags(latest))
    return dg.SensorResult(run_requests=[request])


def schedules(zone: str) -> list[dg.ScheduleDefinition]:
    """Returns the daily rituals, in the owner's zone."""

    def where_due(
        name: str, job: str, cron: str, due: Callable[[Store], list[Stretch]], *, does: str, otherwise: str
    ) -> dg.ScheduleDefinition:
        @dg.schedule(
            job=JOBS[job],
            cron_schedule=cron,
            execution_timezone=zone,
            default_status=dg.DefaultScheduleStatus.RUNNING,
            name=name,
            description=does,
        )
        def look(context: dg.ScheduleEvaluationContext, store: dg.ResourceParam[Store]):
            when = context.scheduled_execution_time.isoformat()
            requests = [_request(job, when, stretch, stretch=stretch) for stretch in due(store)]
            return requests or dg.SkipReason(otherwise)

        return look

    def distil_finished(job: str, span: Span, cron: str) -> dg.ScheduleDefinition:
        def due(store: Store) -> list[Stretch]:
            periods = pending.periods_to_distil(store, span)
            return [Stretch(periods[0], periods[-1])] if periods else []

        does = f"Every morning, distils each finished {span.name} whose days were reflected on since."
        return where_due(job, job, cron, due, does=does, otherwise=f"Every finished {span.name} is distilled.")

    reflect_daily = where_due(
        "reflect_daily",
        REFLECT,
        "0 6 * * *",
        lambda store: stretches(pending.days_to_reflect(store.tables)),
        does="At 06:00, reflects on every day that has observations nobody reflected on.",
        otherwise="Every day with observations has been reflected on.",
    )
    friction_daily = where_due(
        "friction_daily",
        FIND_FRICTION,
        "0 7 * * *",
        lambda store: stretches(pending.days_to_find_friction(store)),
        does="At 07:00, looks for what went wrong again and again in the seven days that ended with each new day.",
        otherwise="Frictions were looked for in every day of the last seven.",
    )

    @dg.schedule(
        job=JOBS[LEARN],
        cron_schedule="0 2 * * *",
        execution_timezone=zone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        name="nightly_yesterday",
        description="At 02:00, materialises the day just ended, so that a day without sessions is known to be one.",
    )
    def nightly_yesterday(context: dg.ScheduleEvaluationContext):
        day = (context.scheduled_execution_time - timedelta(days=1)).date()
        return _request(LEARN, "nightly", day, stretch=Stretch(day, day))

    triage_often = dg.ScheduleDefinition(
        name="triage_half_hourly",
        job=JOBS[REVIEW],
        cron_schedule="*/30 * * * *",
        execution_timezone=zone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Every 30 minutes, decides what rules and a model can decide and lets old proposals expire.",
    )

    @dg.schedule(
        job=JOBS[FOLD],
        cron_schedule="15 2 * * *",
        execution_timezone=zone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        name="nightly",
        description="At 02:15, the merge sweep: near-duplicates become one, indexes and briefing follow.",
    )
    def nightly(context: dg.ScheduleEvaluationContext):
        return _request(FOLD, "nightly", context.scheduled_execution_time.date())

    briefing_daily = dg.ScheduleDefinition(
        name="briefing_daily",
        job=JOBS[BRIEF],
        cron_schedule="5 0 * * *",
        execution_timezone=zone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="At 00:05, the daily check for triggers: what comes up that day or the next goes into the briefing.",
    )
    distilling = [
        distil_finished(job, span, cron)
        for (job, span), cron in zip(pending.DISTILLING, ("30 6 * * *", "45 6 * * *"), strict=True)
    ]
    return [briefing_daily, reflect_daily, *distilling, friction_daily, nightly_yesterday, nightly, triage_often]
