"""Warns in one line if the memory is silent: events are not read, or input is not processed by its
deadline. Else warns of a failed run.

Reads the files in which the sensors and `memory ingest` list waiting input (`runs.freshness`) and
failed runs (`runs.failures`), so the warning also appears if none of our processes is running.
Imports the standard library only, because a harness waits for it.
"""

import os
import sys
import time

from memory_assets.stages.deliver import spool
from memory_assets.store.ready import FAILED, WAITING, changed_at, read_text

ASKED = os.path.join("built", "asked.txt")
"""File whose time is that of the last run that was started here."""

ASK_AGAIN_SECONDS = 3_600


def ask_for_run(root: str, now: float | None = None) -> bool:
    """Starts `memory ingest` on the store if the memory is silent, at most once an hour.

    Returns whether it was started. The process is detached and outlives the caller.
    """
    now = time.time() if now is None else now
    marker = os.path.join(root, ASKED)
    if waits_too_long(root, now) is None or not os.path.isfile(os.path.join(root, "VERSION")):
        return False
    if 0 <= now - changed_at(marker) / 1e9 < ASK_AGAIN_SECONDS:
        return False
    os.makedirs(os.path.dirname(marker), exist_ok=True)
    with open(marker, "w"):
        os.utime(marker, (now, now))
    import subprocess

    command = [sys.executable, "-m", "memory_assets.interfaces.entry", "ingest"]
    environ = {**os.environ, "MEMORY_DATA": root}
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    subprocess.Popen(command, cwd=root, env=environ, start_new_session=True, **streams)
    return True


def alarm(root: str, now: float | None = None) -> str | None:
    """Returns the warning; None if all input is processed in time and no run failed."""
    return waits_too_long(root, time.time() if now is None else now) or failed_run(root)


def waits_too_long(root: str, now: float) -> str | None:
    """Returns the warning about input that waits past its deadline."""
    return spool.alarm(root, now) or late_input(root, now)


def failed_run(root: str) -> str | None:
    """Returns the warning about the latest failed run whose tables were not built since."""
    text = read_text(os.path.join(root, FAILED))
    if not text:
        return None
    import json

    try:
        failed_at, job, problem = max(
            (failure["at"], job, failure["problem"].rstrip("."))
            for job, failure in json.loads(text).items()
        )
        at = time.strftime("%Y-%m-%d %H:%M", time.gmtime(failed_at))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None  # the file is damaged; the next failed run writes it again
    return f"The run of '{job}' failed at {at} UTC: {problem}. See Jobs in the UI of `memory up`."


def late_input(root: str, now: float) -> str | None:
    """Returns the warning about the input that waits longest of those past their deadlines."""
    text = read_text(os.path.join(root, WAITING))
    if not text:
        return None
    import json

    try:
        rows = json.loads(text)
        late = sorted(
            (since, not name.startswith("job "), name)
            for name, (since, late_at) in rows.items()
            if late_at < now
        )
    except (ValueError, TypeError, AttributeError):
        return None  # the file is damaged; the next run writes it again
    if not late:
        return None
    since, _, name = late[0]
    others = f" and {len(late) - 1} more" if len(late) > 1 else ""
    at = time.strftime("%Y-%m-%d %H:%M", time.gmtime(since))
    return (
        f"Memory is silent: {name}{others} did not process its input since {at} UTC; `memory "
        "doctor` says what to do."
    )
