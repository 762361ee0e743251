"""The spool: files to which senders append one line per event, and which ingest reads.

    MEMORY_DATA/spool/2026-11-21.jsonl   the events of a day in UTC
    MEMORY_DATA/spool/read.txt           how many bytes of each file were read
    MEMORY_DATA/spool/aside/             lines that are not valid events, secrets masked

Ingest deletes the file of a past day that it has read to the end. A sender opens the file, writes
once and closes it. It takes no lock, never waits and needs no store. Each line also begins with a
newline, so that a line torn by a full disk does not damage the next one. `alarm` warns if nothing
reads the spool. Imports the standard library only, because a harness waits for it.
"""

import errno
import os
import time

FOLDER = "spool"
POSITIONS = "read.txt"
SUFFIX = ".jsonl"

MOST_BYTES = 64_000_000
"""Limit of a day's file, so that a broken harness does not fill the disk."""

ALARM_BYTES = 1_000_000
"""Unread bytes that raise the alarm: some four thousand events, or months of sessions."""

ALARM_SECONDS = 2 * 3_600
"""Age of an unread event that raises the alarm. Sensors look twice a minute, and the longest daily
runs take minutes."""

_HEAD = b'{"capturedAt": "'
"""The beginning of each line; the time of the event follows, and is read without a parser."""


def append(
    root: str, name: str, data: "dict[str, object]", *, version: int, at: float | None = None
) -> str:
    """Appends one event and returns its id; raises `OSError` if it cannot be written."""
    import json

    moment = time.time() if at is None else at
    # Ids begin with the time, so that their order is that of the events.
    id = f"{int(moment * 1e9):016x}-{os.urandom(4).hex()}"
    event = {"capturedAt": stamp_of(moment), "id": id, "name": name, "schemaVersion": version}
    line = json.dumps({**event, "uid": user_id(), "data": data})
    _write(os.path.join(root, FOLDER, f"{day_of(moment)}{SUFFIX}"), f"\n{line}\n".encode())
    return id


def sizes(root: str) -> dict[str, int]:
    """Returns the size of each day's file in bytes, the oldest first; empty without a spool."""
    try:
        with os.scandir(os.path.join(root, FOLDER)) as entries:
            sizes_by_name = {
                entry.name: entry.stat().st_size
                for entry in entries
                if entry.name.endswith(SUFFIX) and entry.is_file()
            }
    except OSError:
        return {}
    return dict(sorted(sizes_by_name.items()))


def read_positions(root: str) -> dict[str, int]:
    """Returns how many bytes of each file ingest has read."""
    try:
        with open(os.path.join(root, FOLDER, POSITIONS), encoding="utf-8") as file:
            pairs = [line.split() for line in file]
    except (OSError, UnicodeDecodeError):
        return {}
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def unread(root: str) -> dict[str, tuple[int, int]]:
    """Returns start and end of the unread bytes of each file that has unread bytes."""
    positions = read_positions(root)
    unread_bytes = dict[str, tuple[int, int]]()
    for name, size in sizes(root).items():
        start = positions.get(name, 0)
        if start > size:  # the file was replaced by another one
            start = 0
        if start < size:
            unread_bytes[name] = (start, size)
    return unread_bytes


def alarm(root: str, now: float | None = None) -> str | None:
    """Returns a warning if an event has waited for too long, or if too many wait."""
    spans = unread(root)
    if not spans:
        return None
    since = _oldest(root, spans)
    now = time.time() if now is None else now
    is_old = since < stamp_of(now - ALARM_SECONDS)
    if not is_old and sum(end - start for start, end in spans.values()) < ALARM_BYTES:
        return None
    folder = os.path.join(root, FOLDER)
    where = f"since {since[:10]} {since[11:16]} UTC" if is_old else f"in {folder}"
    return (
        f"Events of sessions wait {where} and nothing reads them: run `memory ingest`, or keep "
        "`memory up` running."
    )


def waiting_since(root: str) -> float | None:
    """Returns the time of the oldest unread event in seconds since 1970; None if all are read."""
    from datetime import datetime

    spans = unread(root)
    return datetime.fromisoformat(_oldest(root, spans)).timestamp() if spans else None


def _oldest(root: str, spans: dict[str, tuple[int, int]]) -> str:
    """Returns the time stamp of the first unread event."""
    name, (start, _) = next(iter(spans.items()))
    return _stamp_at(os.path.join(root, FOLDER, name), start)


def stamp_of(moment: float) -> str:
    """Returns the moment, in seconds since 1970, as ISO 8601 in UTC."""
    second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))
    return f"{second}.{int(moment % 1 * 1e6):06d}Z"


def day_of(moment: float) -> str:
    """Returns the day of the moment, in UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime(moment))


def user_id() -> int | None:
    """Returns the user id of this process; None where the platform has none."""
    return os.getuid() if hasattr(os, "getuid") else None


def _write(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Non-blocking: if the file is a pipe without a reader, opening it fails and does not wait.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        is_full = os.fstat(descriptor).st_size + len(content) > MOST_BYTES
        if is_full or os.write(descriptor, content) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    finally:
        os.close(descriptor)


def _stamp_at(path: str, start: int) -> str:
    """Returns the time stamp of the line at the byte `start`; if it has none, that of the file."""
    try:
        with open(path, "rb") as file:
            file.seek(start)
            head = file.read(200).lstrip(b"\n")
        if head.startswith(_HEAD):
            return head[len(_HEAD) :].partition(b'"')[0].decode("ascii", "replace")
        return stamp_of(os.stat(path).st_mtime)
    except OSError:
        return stamp_of(0)
