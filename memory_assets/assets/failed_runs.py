"""The sensor that tells a person about failed runs that the UI or the daemon started.

Runs of the command line and of `memory up` tell it themselves (`runs.execute`), without a daemon.
"""

import dagster as dg

from memory_assets.runs.failures import note_failure, problem_of
from memory_assets.runs.liveness import is_of_maker, is_ours
from memory_assets.store.store import Store


@dg.run_failure_sensor(
    description="Tells of failed runs in `memory status`, the briefing and logs/failures.log, and "
    "calls the command of the setting `on_failure`.",
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def failed_runs(context: dg.RunFailureSensorContext, store: dg.ResourceParam[Store]) -> None:
    """Notes the failed run with the error of the step that failed."""
    run = context.dagster_run
    if is_of_maker(run) or not is_ours(run):
        return
    causes = [("", context.failure_event.message or "")]
    for event in context.get_step_failure_events():
        error = event.step_failure_data.error
        while error is not None:
            # Dagster puts the name of the class before the message.
            causes.append((error.cls_name or "", error.message.partition(": ")[2]))
            error = error.cause
    note_failure(store, run.job_name, run.run_id, problem_of(causes))
