"""The ways to say a day that lies ahead, in English and German, and the day that each means when said on a given day."""

import calendar
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

Order = Literal["dmy", "mdy"]

A_SEASON = 92
"""A day without a year that lies less far back than this is over, and not next year's."""

Resolve = Callable[[re.Match[str], date, Order | None], date | None]


@dataclass(frozen=True)
class Form:
    """One way to say a day."""

    pattern: re.Pattern[str]
    resolve: Resolve
    is_absolute: bool = False
    needs_intent: bool = False
    """Only with a word in its sentence that speaks of what is to come."""


_WEEKDAYS = {
    "monday": 0, "mon": 0, "montag": 0, "tuesday": 1, "tue": 1, "tues": 1, "dienstag": 1, "wednesday": 2, "wed": 2,
    "mittwoch": 2, "thursday": 3, "thu": 3, "thurs": 3, "donnerstag": 3, "friday": 4, "fri": 4, "freitag": 4,
    "saturday": 5, "samstag": 5, "sonnabend": 5, "sunday": 6, "sonntag": 6,
}  # fmt: skip
_MONTHS = {
    "january": 1, "jan": 1, "januar": 1, "jänner": 1, "february": 2, "feb": 2, "februar": 2, "march": 3, "mar": 3,
    "märz": 3, "april": 4, "apr": 4, "may": 5, "mai": 5, "june": 6, "jun": 6, "juni": 6, "july": 7, "jul": 7,
    "juli": 7, "august": 8, "aug": 8, "september": 9, "sept": 9, "sep": 9, "october": 10, "oct": 10, "oktober": 10,
    "okt": 10, "november": 11, "nov": 11, "december": 12, "dec": 12, "dezember": 12, "dez": 12,
}  # fmt: skip
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "twelve": 12, "a couple of": 2, "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4,
    "fünf": 5, "sechs": 6, "acht": 8, "zehn": 10,
}  # fmt: skip
_UNITS = {
    "day": "day", "tag": "day", "week": "week", "woche": "week", "month": "month", "monat": "month", "year": "year",
    "jahr": "year",
}  # fmt: skip


def _any(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


_LEAD = (
    r"(?:(?:due|deadline(?: is)?|remind me|erinner\w* mich|fällig|frist(?: ist)?)[: ]\s*(?:on |by |at |am |bis )?(?:the )?"
    r"|(?:by|until|till|til|before|on|starting(?: on)?|as of|bis(?: zum)?|am|ab(?: dem)?|vor(?: dem)?|spätestens(?: am)?"
    r"|(?:scheduled|planned|set|booked) for)\s+(?:the )?)"
)
"""What makes a weekday or a number a day ahead."""

_WEEKDAY = rf"(?P<weekday>{_any(_WEEKDAYS)})\.?(?![\w'’-])"
_MONTH = rf"(?P<month>{_any(_MONTHS)})(?![\w'’])"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])"
_YEAR = r"(?:,?\s+(?P<year>20\d\d)\b)?"
_AT = r"(?:,?\s+(?:at |um )?\d{1,2}(?::\d\d)?\s*(?:am|pm|uhr)\b)?"
_ALONE = r"(?![\w/:-]|[.,]\d)"
_COUNT = rf"(?P<count>\d{{1,3}}|{_any(_NUMBERS)})"
_UNIT = rf"(?P<unit>{_any(_UNITS)})(?:s|e?n)?\b"
_PERIOD = r"(?P<period>week|month|quarter|year|woche|monats?|quartals?|jahres?|q[1-4])"


def _form(pattern: str, resolve: Resolve, *, is_absolute: bool = False, needs_intent: bool = False) -> Form:
    return Form(re.compile(rf"(?<![\w./-]){pattern}", re.IGNORECASE), resolve, is_absolute, needs_intent)


def _weekday(match: re.Match[str], said_on: date, order: Order | None) -> date:
    """Returns the coming one; said on that weekday, the one a week later."""
    return said_on + timedelta(days=(_WEEKDAYS[match["weekday"].lower()] - said_on.weekday() - 1) % 7 + 1)


def _this_weekday(match: re.Match[str], said_on: date, order: Order | None) -> date:
    return said_on + timedelta(days=(_WEEKDAYS[match["weekday"].lower()] - said_on.weekday()) % 7)


def _next_weekday(match: re.Match[str], said_on: date, order: Order | None) -> date:
    """Returns that day of next week, weeks beginning on Monday."""
    return _monday_after(said_on) + timedelta(days=_WEEKDAYS[match["weekday"].lower()])


def _monday_after(day: date) -> date:
    return day + timedelta(days=7 - day.weekday())


def _tomorrow(match: re.Match[str], said_on: date, order: Order | None) -> date:
    low = match["word"].lower()
    return said_on + timedelta(days=2 if "after" in low or low.startswith("über") else 1)


def _in_a_while(match: re.Match[str], said_on: date, order: Order | None) -> date | None:
    word = match["count"].lower()
    count = int(word) if word.isdigit() else _NUMBERS[word]
    unit = _UNITS[match["unit"].lower()]
    if not count:
        return None
    if unit in ("day", "week"):
        return said_on + timedelta(days=count * (7 if unit == "week" else 1))
    return _months_later(said_on, count * (12 if unit == "year" else 1))


def _months_later(day: date, count: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _next_period(match: re.Match[str], said_on: date, order: Order | None) -> date:
    """Returns the first day of the next week or month."""
    if match["period"].lower().startswith("wo") or match["period"].lower() == "week":
        return _monday_after(said_on)
    return _months_later(said_on.replace(day=1), 1)


def _end_of_period(match: re.Match[str], said_on: date, order: Order | None) -> date | None:
    """Returns the last day of the month, quarter or year; of a week its Friday, the end of work."""
    period = (match["period"] or "").lower()
    is_next = bool(match["next"])
    if period in ("week", "woche"):
        friday = said_on - timedelta(days=said_on.weekday()) + timedelta(days=4 + 7 * is_next)
        return friday if friday > said_on else None
    if period.startswith("q") and period[1:].isdigit():
        day = _last_of(said_on.year, int(period[1:]) * 3)
        return day if day >= said_on else _last_of(said_on.year + 1, day.month)
    if period.startswith("q"):
        quarter = (said_on.month - 1) // 3 + is_next
        return _last_of(said_on.year + quarter // 4, quarter % 4 * 3 + 3)
    if period.startswith(("year", "jahr")):
        return date(said_on.year + is_next, 12, 31)
    month = _months_later(said_on.replace(day=1), int(is_next))
    return _last_of(month.year, month.month)


def _end_of_month(match: re.Match[str], said_on: date, order: Order | None) -> date | None:
    month = _MONTHS[match["month"].lower()]
    year = int(match["year"]) if match["year"] else said_on.year + (month < said_on.month)
    return _last_of(year, month)


def _last_of(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def _day_of_month(match: re.Match[str], said_on: date, order: Order | None) -> date | None:
    """Returns the next such day, in this month or in the one after."""
    day = int(match["day"])
    month = said_on if day > said_on.day else _months_later(said_on.replace(day=1), 1)
    return month.replace(day=day)


def _named_day(match: re.Match[str], said_on: date, order: Order | None) -> date | None:
    return _in_year(said_on, _MONTHS[match["month"].lower()], int(match["day"]), match["year"])


def _in_year(said_on: date, month: int, day: int, year: str | None) -> date | None:
    """Returns the day in the year, or the next one; without a year, what is just over is over."""
    if year:
        return date(int(year) + (2000 if len(year) == 2 else 0), month, day)
    this = date(said_on.year, month, day)
    if this >= said_on:
        return this
    return None if (said_on - this).days <= A_SEASON else date(said_on.year + 1, month, day)


def _iso(match: re.Match[str], said_on: date, order: Order | None) -> date:
    return date(int(match["year"]), int(match["month"]), int(match["day"]))


def _dotted(match: re.Match[str], said_on: date, order: Order | None) -> date | None:
    return _in_year(said_on, int(match["month"]), int(match["day"]), match["year"])


def _slashed(match: re.Match[str], said_on: date, order: Order | None) -> date | None:
    """Returns the day where only one reading is possible or the writer's is known."""
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if first > 12 or first == second:
        return date(year, second, first)
    if second > 12:
        return date(year, first, second)
    if order is None:
        return None
    return date(year, second, first) if order == "dmy" else date(year, first, second)


def _calendar_week(match: re.Match[str], said_on: date, order: Order | None) -> date:
    monday = date.fromisocalendar(int(match["year"] or said_on.isocalendar().year), int(match["week"]), 1)
    return (
        monday
        if monday >= said_on or match["year"]
        else date.fromisocalendar(monday.isocalendar().year + 1, int(match["week"]), 1)
    )


def is_clear_month(match: re.Match[str]) -> bool:
    """Returns whether the month is one: "may 3 times" and "march 5" in lower case are none, without a word before or a year."""
    month = match.groupdict().get("month") or "0"
    if month.isdigit():
        return True
    has_lead = (
        match.start("month") > match.start()
        and match[0][: match.start("month") - match.start()].strip(" 0123456789.").isalpha()
    )
    return (
        month[0].isupper() or bool(match.groupdict().get("year")) or (has_lead and month.lower() not in ("may", "mar", "march"))
    )


def is_duration(form: Form) -> bool:
    """Returns whether the form is the one that durations look like: "in 30 days"."""
    return form.resolve is _in_a_while


_BY = r"(?:by |on |until |before |at |am |bis |zum )?(?:the )?"
_SURE = r"(?:bis(?: zum)?|am|ab(?: dem)?|vor dem)"
_NUMBERED = r"(?:st|nd|rd|th|\.)?"
_ENDS = r"(?=\s*(?:[,.;!?)]|$|\n|at\b|we\b|i\b|please\b|and\b))"
_NEVER = r"(?!)"
_FOUR = r"(?P<year>20\d\d)"
_MONTH_NUMBER = r"(?P<month>0?[1-9]|1[0-2])"
_SLASHED = rf"(?P<first>\d{{1,2}})/(?P<second>\d{{1,2}})/{_FOUR}"
_ISO = rf"{_FOUR}-(?P<month>\d\d)-(?P<day>\d\d)(?![\w/-]|[.:]\w)"
_OF_PERIOD = rf"(?:(?:the|this|des|der|dieser|dieses)\s+)?(?P<next>next |nächste[rsn]? )?{_PERIOD}(?![\w'’])"
_MONTH_END = rf"(?P<next>{_NEVER})?(?:(?-i:EOM)|monatsende|month(?:'s|-)? ?end)(?P<period>{_NEVER})?\b"
_TOMORROW = r"(?P<word>(?:the )?day after tomorrow|tomorrow|übermorgen)\b(?!['’])"
_MORGEN = r"(?<!guten )(?<!heute )(?<!gestern )(?<!jeden )(?<!am )(?P<word>(?-i:morgen))\b(?!['’])"
_WHILE = rf"in\s+{_COUNT}\s+{_UNIT}(?!\s+(?:of|old|ago|window|period|a row))(?:['’]?\s+time)?"
_NEXT_PERIOD = r"(?:next|nächste[rn]?)\s+(?P<period>week|month|woche|monat)\b(?!['’]|\s+of)"
_WEEK_NUMBER = rf"(?-i:KW|CW)\s?(?P<week>5[0-3]|[1-4]\d|0?[1-9])(?:[ /]{_FOUR})?\b"

FORMS = (
    _form(rf"(?:{_LEAD})?{_ISO}", _iso, is_absolute=True, needs_intent=True),
    _form(rf"(?:{_LEAD})?{_DAY}\.\s?{_MONTH_NUMBER}\.\s?{_FOUR}{_ALONE}", _dotted, is_absolute=True, needs_intent=True),
    _form(rf"{_SURE}\s+{_DAY}\.{_MONTH_NUMBER}\.(?P<year>{_NEVER})?(?![\w.])", _dotted, is_absolute=True),
    _form(rf"(?:{_LEAD})?{_SLASHED}{_ALONE}", _slashed, is_absolute=True, needs_intent=True),
    _form(rf"{_BY}(?:end of|ende)\s+(?P<month>{_any(_MONTHS)})(?![\w'’]){_YEAR}", _end_of_month),
    _form(rf"{_BY}(?:end of|ende)\s+{_OF_PERIOD}", _end_of_period),
    _form(rf"{_BY}{_MONTH_END}", _end_of_period),
    _form(
        rf"(?:{_LEAD})?{_MONTH}\.?\s+{_DAY}{_NUMBERED}(?!\d)(?!\s*%){_YEAR}{_AT}{_ALONE}",
        _named_day,
        is_absolute=True,
        needs_intent=True,
    ),
    _form(
        rf"(?:{_LEAD})?{_DAY}{_NUMBERED}\s+(?:of\s+)?{_MONTH}{_YEAR}{_AT}{_ALONE}",
        _named_day,
        is_absolute=True,
        needs_intent=True,
    ),
    _form(rf"{_BY}(?:next|nächste[nr]?)\s+{_WEEKDAY}{_AT}", _next_weekday),
    _form(rf"{_BY}(?:this coming|this|coming|diese[nm]|kommende[nm])\s+{_WEEKDAY}{_AT}", _this_weekday),
    _form(rf"{_LEAD}{_WEEKDAY}{_AT}(?!\s+nights?\b|\s+mornings\b)", _weekday),
    _form(rf"{_LEAD}{_DAY}(?:st|nd|rd|th){_ENDS}", _day_of_month, is_absolute=True),
    _form(rf"(?:bis zum|am|ab dem)\s+{_DAY}\.(?=\s*(?:$|\n|[a-zäöü]))", _day_of_month, is_absolute=True),
    _form(rf"{_BY}{_TOMORROW}{_AT}", _tomorrow),
    _form(rf"(?:bis )?{_MORGEN}{_AT}", _tomorrow),
    _form(_WHILE, _in_a_while),
    _form(rf"{_COUNT}\s+{_UNIT}\s+from\s+(?:now|today)\b", _in_a_while),
    _form(rf"{_BY}(?:early )?{_NEXT_PERIOD}", _next_period),
    _form(rf"(?:in |by |until |bis |ab )?{_WEEK_NUMBER}", _calendar_week, is_absolute=True),
)
"""In order of precedence: what says the day itself before what only says how far away it is."""
