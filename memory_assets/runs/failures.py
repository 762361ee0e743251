"""Tells a person about failed runs, whatever started them.

A failed run adds a line to `logs/failures.log`, and calls the person's command (`on_failure`). It
is noted in `built/failed.json`, which `memory status` and the briefing read, until later runs have
built its tables.
"""

import json
import shlex
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from memory_assets import errors
from memory_assets.errors import causes_of
from memory_assets.runs.liveness import built_by, tables_of
from memory_assets.store.ready import FAILED
from memory_assets.store.service_log import FOLDER, RotatingLog
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, text_of, write_where_changed
from memory_assets.text.masking.redact import mask_text

LOG = "failures.log"

LONGEST_PROBLEM = 200
"""Characters of the problem in a message."""


def note_error(store: Store, job: str, run_id: str, error: BaseException) -> None:
    """Notes the failed run of this process."""
    problem = problem_of((type(cause).__name__, str(cause)) for cause in causes_of(error))
    note_failure(store, job, run_id, problem)


def problem_of(causes: Iterable[tuple[str, str]]) -> str:
    """Returns the message of the error of ours among the causes, else of the first cause.

    `causes` are class names and messages of an error and of those that led to it.
    """
    by_name = [*causes]
    ours = [message for name, message in by_name if hasattr(errors, name)]
    first_causes = [message or name for name, message in by_name[-1:]]
    return next(iter([*ours, *first_causes]), "")


def note_failure(store: Store, job: str, run_id: str, problem: str) -> None:
    """Notes the failed run, logs it, and calls the person's command with the message.

    A job that fails again with the same problem is only noted. On a full disk the command is called
    nevertheless.
    """
    reason = " ".join(mask_text(problem.replace("\0", ""))[0].split())[:LONGEST_PROBLEM]
    at = store.settings.clock().timestamp()
    failures = failures_of(store)
    is_known = failures.get(job, {}).get("problem") == reason
    _write(store, failures | {job: {"run": run_id, "at": at, "problem": reason}})
    if is_known:
        return
    message = f"The run {run_id[:8]} of '{job}' failed: {reason}"
    _log(store, message)
    if store.settings.on_failure:
        _call(store, message)


def clear_repeated(instance: dg.DagsterInstance, store: Store) -> None:
    """Removes the notes of failed runs whose tables later runs, of whatever job, have built."""
    failures = failures_of(store)
    for job, failure in [*failures.items()]:
        if _is_repeated(instance, failure["run"]):
            del failures[job]
    _write(store, failures)


def _is_repeated(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Returns whether later runs built what the run builds, or checked it if the run only checks.

    Also of a run that Dagster no longer knows.
    """
    failed = instance.get_run_by_id(run_id)
    if failed is None:
        return True
    succeeded = dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS])
    later = instance.get_run_records(succeeded, cursor=run_id, ascending=True)
    done_by = built_by if built_by(failed) else tables_of
    return tables_of(failed) <= set[str]().union(*(done_by(item.dagster_run) for item in later))


def failures_of(store: Store) -> dict[str, dict[str, Any]]:
    """Returns the last failed run of each job whose tables were not built since."""
    try:
        noted = json.loads(text_of(store.root / FAILED) or "{}")
    except (OSError, ValueError):  # a damaged file; the next failure writes it again
        return {}
    return noted if isinstance(noted, dict) else {}


def _write(store: Store, failures: dict[str, dict[str, Any]]) -> None:
    with suppress(OSError):  # such as a full disk, which must not hide the failure itself
        write_where_changed(store.root / FAILED, json.dumps(failures) if failures else "")


def _log(store: Store, message: str) -> None:
    at = datetime.fromtimestamp(store.settings.clock().timestamp(), UTC)
    with suppress(OSError):  # as above
        path = make_folder(store.root / FOLDER) / LOG
        RotatingLog(path).append(f"{at:%Y-%m-%d %H:%M:%S} UTC {message}")


def _call(store: Store, message: str) -> None:
    """Starts the person's command, without a shell and without waiting for it."""
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    try:
        command = [*shlex.split(store.settings.on_failure), message]
        subprocess.Popen(command, start_new_session=True, **streams)
    except (OSError, ValueError) as error:  # such as a quote without its end
        _log(store, f"The command of `on_failure` cannot be started: {error}")
