"""Reads what runs prepared for commands of harnesses and status bars: briefing, status, counts.

Imports only the standard library. A missing file is no error: its text is empty.
"""

import os
import time

from memory_assets.stages.deliver.silence import alarm, failed_run, waits_too_long
from memory_assets.store import ready
from memory_assets.store.ready import BRIEFING as BRIEFING
from memory_assets.store.ready import REVIEW as REVIEW
from memory_assets.store.ready import nothing_yet

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

MEMORIES = os.path.join("tables", "memories", "data.parquet")

AGE_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))


def read_briefing(root: str, session: str = "", *, is_full: bool = False) -> str:
    """Returns the briefing of the present folder; empty if there is none.

    Begins with a warning if the spool is not read. For a continued session, the facts of that
    session itself are added.
    """
    text = ready.read_briefing(root, ready.here(), session, is_full=is_full)
    warning = alarm(root)
    return f"⚠ {warning}\n\n{text}" if text and warning else text


def describe_briefing(root: str) -> "tuple[dict[str, Any], list[str]]":
    """Returns the briefing with its path and the time of writing, and the warnings about it."""
    path = ready.briefing_path(root, ready.here())
    text = ready.read_text(path)
    warnings = [] if text else [nothing_yet(root)]
    warnings += filter(None, [alarm(root)])
    return {"text": text, "path": path, "written_at": _written_at(path)}, warnings


def read_status(root: str) -> str:
    """Returns the status, with a warning about waiting input if needed.

    Returns an empty text if tables changed since the status was prepared.
    """
    stamp, _, text = ready.read_text(os.path.join(root, ready.STATUS)).partition("\n\n")
    if not text or stamp != ready.stamp(root):
        return ""
    warning = alarm(root)
    return f"{text}\n⚠ {warning}" if warning else text


def render_nothing_new(root: str) -> str:
    """Returns a text that nothing is new, with the status; empty if something may be new."""
    from memory_assets.store.unchanged import is_unchanged

    started = time.monotonic()
    status = read_status(root) if is_unchanged(root) else ""
    if not status:
        return ""
    seconds = time.monotonic() - started
    read = "" if "\nnot read " in status else ": every transcript was read already"
    return f"Nothing new{read} ({seconds:.1f} s).\n{status}"


def render_status_line(root: str) -> str:
    """Returns one line for a status bar, from the prepared status: active memories, pending
    proposals, age of the last update.
    """
    status = ready.read_text(os.path.join(root, ready.STATUS)).partition("\n\n")[2]
    if not status:
        return "memory: empty"
    states = _value(status, "memories").split(", ")
    active = [state for state in states if state.endswith(" active")]
    parts = [active[0] if active else "0 active"]
    pending = _value(status, "to review").partition(" ")[0]
    if pending not in ("", "0"):
        parts.append(f"{pending} to review")
    table = os.path.join(root, MEMORIES)
    if os.path.isfile(table):
        parts.append(f"{_age(table)} old")
    if waits_too_long(root, time.time()):
        parts.append("⚠ input waits")
    elif failed_run(root):
        parts.append("⚠ a run failed")
    return "memory: " + " · ".join(parts)


def _value(status: str, name: str) -> str:
    """Returns what the line of that name says in the status."""
    lines = (line for line in status.splitlines() if line.startswith(f"{name}  "))
    return next(lines, name).removeprefix(name).strip()


def _written_at(path: str) -> str | None:
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(os.stat(path).st_mtime))
    except OSError:
        return None


def _age(path: str) -> str:
    """Returns the time since the file changed, in the largest unit that fits."""
    seconds = max(0.0, time.time() - ready.changed_at(path) / 1e9)
    for unit, length in AGE_UNITS:
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return "seconds"
