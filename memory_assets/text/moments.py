"""Parses moments: those of programs, and those that people write (a day, an ISO 8601 moment, or
days back from now).
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
        return (moment + timedelta(days=1) if is_end and is_day else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(
            f"a day (2026-05-01), a moment (2026-05-01T09:30) or days back (30d), not {text[:80]!r}"
        ) from None


def event_time(value: Any) -> datetime | None:
    """Returns the moment in UTC of an ISO text or a number of (milli)seconds, else None."""
    try:
        if type(value) is str:
            moment = datetime.fromisoformat(value)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
