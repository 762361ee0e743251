"""Parses moments: those that programs write, and those that people type.

People type a day, an ISO 8601 moment, or a number of days back from now.
"""

from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Any

DAY_CHARS = len("2026-05-01")


def parse_moment(text: str, now: datetime, zone: tzinfo, *, is_end: bool = False) -> datetime:
    """Returns the moment in UTC of `30d`, `2026-05-01` or `2026-05-01T09:30` in the zone.

    A day means its first moment, or with `is_end` the first moment after it. Raises `ValueError`
    for any other text.
    """
    words = text.strip().lower()
    try:
        if words.endswith("d") and words[:-1].isdecimal():
            return now - timedelta(days=int(words[:-1]))
        moment = datetime.fromisoformat(words)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        is_day = moment.time() == time() and len(words) <= DAY_CHARS
        if is_end and is_day:
            moment += timedelta(days=1)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(
            f"a day (2026-05-01), a moment (2026-05-01T09:30) or days back (30d), not {text[:80]!r}"
        ) from None


def event_time(value: Any) -> datetime | None:
    """Returns the moment in UTC of an ISO text or of a number, else None.

    A number means seconds since 1970, or milliseconds if it is above 1e11 (in seconds, the year
    5138).
    """
    try:
        if type(value) is str:
            moment = datetime.fromisoformat(value)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if value > 1e11 else value
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
