"""Warns in one line if memory is silent: events are not read, or input has waited for longer than
its deadline.

Reads the file in which the sensors and `memory ingest` list waiting input (`runs.freshness`), so
the line also appears if none of our processes is running. Standard library only, because a harness
waits for it.
"""

import os
import sys
import time

from memory_assets.stages.deliver import spool
from memory_assets.store.ready import WAITING, changed_at, read_text

ASKED = os.path.join("built", "asked.txt")
ASK_AGAIN_SECONDS = 3_600


def ask_for_run(root: str, now: float | None = None) -> bool:
    """Starts `memory ingest` on the store if memory is silent, at most once an hour, and returns
    whether it did.

    It runs by itself: nobody waits for it, and it outlives the caller.
    """
    now = time.time() if now is None else now
    marker = os.path.join(root, ASKED)
    if alarm(root, now) is None or not os.path.isfile(os.path.join(root, "VERSION")):
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
    """Returns the line; None where events and all other input are processed in time."""
    return spool.alarm(root, now) or late_input(root, time.time() if now is None else now)


def late_input(root: str, now: float) -> str | None:
    """Returns a line that names what is late first, and since when its input waits."""
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
