"""Parses the time that a question names: since October, in March, in the last two weeks.

Takes a question and the moment at which it is asked; gives the question without these words, and the range in whole days.
Words that may mean something else (may, second) stay in the question.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "few": 3, "couple of": 2}
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}

_MONTH = rf"(?P<month>{'|'.join(MONTHS)})(?: (?P<year>20\d\d))?"
_ISO = r"(?P<iso>20\d\d-\d\d-\d\d)"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_LAST = rf"(?:in |over |during |within )?the (?:last|past) (?:{_COUNT} )?(?P<unit>{'|'.join(_UNITS)})s?"
_SPAN = re.compile(
    rf"\b(?:(?P<how>since|from|after|before|until|till|in|during|of) (?:{_MONTH}|{_ISO})|{_LAST}|(?P<day>yesterday|today))\b",
    re.I,
)


@dataclass(frozen=True)
class Timed:
    """A question without the time that it names, and that time."""

    text: str
    since: datetime | None = None
    until: datetime | None = None
    """The end of the range, exclusive."""


def parse_time(question: str, now: datetime) -> Timed:
    """Returns the question without the first time that it names, and the range; the question unchanged where it names none."""
    found = _SPAN.search(question)
    if found is None:
        return Timed(question)
    try:
        since, until = _days(found, now) if found["day"] or found["unit"] else _calendar(found, now)
    except (ValueError, OverflowError):  # no such date
        return Timed(question)
    rest = " ".join((question[: found.start()] + " " + question[found.end() :]).split())
    return Timed(re.sub(r"\s+([?!.,])", r"\1", rest), since, until)


def _days(found: re.Match[str], now: datetime) -> tuple[datetime, datetime | None]:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if found["day"]:
        start = midnight - timedelta(days=found["day"].lower() == "yesterday")
        return start, start + timedelta(days=1)
    count = (found["count"] or "1").lower()
    days = (int(count) if count.isdigit() else _NUMBERS[count]) * _UNITS[found["unit"].lower()]
    return midnight - timedelta(days=days), None


def _calendar(found: re.Match[str], now: datetime) -> tuple[datetime | None, datetime | None]:
    first, end = _month(found, now) if found["month"] else _date(found["iso"], now)
    how = found["how"].lower()
    since = None if how in ("before", "until", "till") else end if how == "after" else first
    until = first if how == "before" else None if how in ("since", "from", "after") else end
    return since, until


def _month(found: re.Match[str], now: datetime) -> tuple[datetime, datetime]:
    """Returns the first moment of the month and of the next; without a year, of the latest such month that has begun."""
    number = MONTHS.index(found["month"].lower()) + 1
    year = int(found["year"]) if found["year"] else now.year - (number > now.month)
    first = now.replace(year=year, month=number, day=1, hour=0, minute=0, second=0, microsecond=0)
    return first, first.replace(year=year + number // 12, month=number % 12 + 1)


def _date(iso: str, now: datetime) -> tuple[datetime, datetime]:
    day = datetime.fromisoformat(iso).replace(tzinfo=now.tzinfo)
    return day, day + timedelta(days=1)
