"""Finds dates ahead in a text: "next Friday", "in two weeks", "by 2026-05-01", "bis Ende Mai".

Takes a text, its time and the time zone of its author; returns days from that day on. Precision is preferred to recall:
ambiguous and recurring expressions, durations, the past, quotes, code and logs are ignored (`date_context`). General date
parsers find a date in "may", "30 days" and 5.10.2, so the expressions are listed (`date_forms`), in English and German.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from memory_assets.stages.distill.dates.date_context import points_ahead, without_pasted
from memory_assets.stages.distill.dates.date_forms import FORMS, Order

FARTHEST = timedelta(days=731)
"""Days farther ahead are more often placeholders than plans."""

LONGEST_TEXT = 4_000
"""Longest text that may be typed by hand."""

_AMERICAN = (
    "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/Phoenix", "America/Detroit",
    "America/Boise", "America/Anchorage", "America/Indiana/", "America/Kentucky/", "Pacific/Honolulu", "US/",
)  # fmt: skip


@dataclass(frozen=True)
class FoundDate:
    """A day ahead, and its expression in the text."""

    on: date
    expression: str
    start: int
    end: int
    is_absolute: bool
    """Whether the expression names the day itself, not a distance."""


def find_dates(text: str, said_at: datetime, zone: ZoneInfo, order: Order | None = None) -> tuple[FoundDate, ...]:
    """Returns the days ahead in the text, in order; `order` is the author's order of day and month in 05/06/2026."""
    said_on = said_at.astimezone(zone).date()
    words = without_pasted(text)
    if len(words.split()) * 5 > LONGEST_TEXT:
        return ()
    found: list[FoundDate] = []
    for form in FORMS:
        for match in form.pattern.finditer(words):
            is_taken = any(match.start() < other.end and other.start < match.end() for other in found)
            if is_taken or not points_ahead(words, match, form):
                continue
            try:
                day = form.resolve(match, said_on, order or order_of(zone))
            except (ValueError, OverflowError):  # the 31st of June
                continue
            if day is not None and said_on <= day <= said_on + FARTHEST:
                expression = " ".join(text[match.start() : match.end()].split())
                found.append(FoundDate(day, expression, match.start(), match.end(), form.is_absolute))
    return tuple(sorted(found, key=lambda one: one.start))


def order_of(zone: ZoneInfo) -> Order | None:
    """Returns the usual order of day and month in the zone, or None if it is unknown."""
    if zone.key.startswith(_AMERICAN):
        return "mdy"
    return "dmy" if zone.key.startswith("Europe/") else None
