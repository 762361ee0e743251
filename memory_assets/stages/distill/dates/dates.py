"""Resolves dates that lie ahead in what somebody says: "next Friday", "in two weeks", "by 2026-05-01", "bis Ende Mai".

Takes a text, the moment it was said and the zone of who said it; gives days that are never before that moment's. It is made for
precision: what is ambiguous, recurring, a duration, told of the past, quoted, code or a pasted log is no date
(`date_context`). General date parsers find a date in "may", "30 days" and
5.10.2, so the forms are listed (`date_forms`), in English and German.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from memory_assets.stages.distill.dates.date_context import points_ahead, without_pasted
from memory_assets.stages.distill.dates.date_forms import FORMS, Order

FARTHEST = timedelta(days=731)
"""What lies farther ahead is a placeholder more often than a plan."""

LONGEST_TEXT = 4_000
"""Of words typed by hand; longer ones are pasted."""

_AMERICAN = (
    "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/Phoenix", "America/Detroit",
    "America/Boise", "America/Anchorage", "America/Indiana/", "America/Kentucky/", "Pacific/Honolulu", "US/",
)  # fmt: skip


@dataclass(frozen=True)
class Dated:
    """A day ahead, and the words that say so."""

    on: date
    expression: str
    start: int
    end: int
    is_absolute: bool
    """It says the day itself and not how far away it is."""


def find_dates(text: str, said_at: datetime, zone: ZoneInfo, order: Order | None = None) -> tuple[Dated, ...]:
    """Returns the days ahead that the text tells, in order; `order` is how the writer puts day and month in 05/06/2026."""
    said_on = said_at.astimezone(zone).date()
    words = without_pasted(text)
    if len(words.split()) * 5 > LONGEST_TEXT:
        return ()
    found: list[Dated] = []
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
                found.append(Dated(day, expression, match.start(), match.end(), form.is_absolute))
    return tuple(sorted(found, key=lambda dated: dated.start))


def order_of(zone: ZoneInfo) -> Order | None:
    """Returns how people in the zone write day and month; None where that cannot be told."""
    if zone.key.startswith(_AMERICAN):
        return "mdy"
    return "dmy" if zone.key.startswith("Europe/") else None
