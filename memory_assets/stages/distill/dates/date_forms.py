"""The expressions for future days, in English and German, and how each is resolved to a day."""

import calendar
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Literal

Order = Literal["dmy", "mdy"]

A_SEASON = 92
"""Days. A date without a year that is at most so long ago means the past, not next year."""

Match = re.Match[str]
Resolve = Callable[[Match, date, Order | None], date | None]


@dataclass(frozen=True)
class Form:
    """One kind of expression for a day."""

    pattern: re.Pattern[str]
    resolve: Resolve
    is_absolute: bool = False
    needs_intent: bool = False
    """Whether the sentence must have a word about the future."""


def _numbered(names: str) -> dict[str, int]:
    """Returns the number of each name; commas separate the names of 1, of 2, and so on."""
    groups = enumerate(names.split(","), 1)
    return {name: number for number, group in groups for name in group.split()}


_WEEKDAYS = _numbered("""
    monday mon montag, tuesday tue tues dienstag, wednesday wed mittwoch,
    thursday thu thurs donnerstag, friday fri freitag,
    saturday samstag sonnabend, sunday sonntag""")
_MONTHS = _numbered("""
    january jan januar jänner, february feb februar, march mar märz, april apr, may mai,
    june jun juni, july jul juli, august aug, september sept sep, october oct oktober okt,
    november nov,
    december dec dezember dez""")
_NUMBERS = _numbered("""
    a an one einem einer, two zwei, three drei, four vier, five fünf, six sechs, seven, eight acht,
    nine, ten zehn, eleven elf, twelve zwölf""") | {"a couple of": 2}
_UNITS = {
    **dict.fromkeys(("day", "tag"), (1, 0)),
    **dict.fromkeys(("week", "woche"), (7, 0)),
    **dict.fromkeys(("month", "monat"), (0, 1)),
    **dict.fromkeys(("year", "jahr"), (0, 12)),
}
"""Days and months of each unit."""


def _any(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


_LEAD = (
    r"(?:(?:due|deadline(?: is)?|remind me|erinner\w* mich|fällig|frist(?: "
    r"ist)?)[: ]\s*(?:on |by |at |am |bis )?(?:the )?"
    r"|(?:by|until|till|til|before|on|starting(?: on)?|as of|bis(?: zum)?|am|ab(?: dem)?"
    r"|vor(?: dem)?|spätestens(?: am)?|(?:scheduled|planned|set|booked) for)\s+(?:the )?)"
)
"""Words before a weekday or number that make it a future day."""

_WEEKDAY = rf"(?P<weekday>{_any(_WEEKDAYS)})\.?(?![\w'’-])"
_MONTH = rf"(?P<month>{_any(_MONTHS)})(?![\w'’])"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])"
_YEAR = r"(?:,?\s+(?P<year>20\d\d)\b)?"
_AT = r"(?:,?\s+(?:at |um )?\d{1,2}(?::\d\d)?\s*(?:am|pm|uhr)\b)?"
_ALONE = r"(?![\w/:-]|[.,]\d)"


def _amount(name: str) -> str:
    """Returns the pattern of a number and its unit, in the groups `name` and `name_unit`."""
    unit = rf"(?P<{name}_unit>{_any(_UNITS)})(?:s|e?n)?\b"
    return rf"(?P<{name}>\d{{1,3}}|{_any(_NUMBERS)})\s+{unit}"


_SPAN = rf"{_amount('count')}(?:,?\s+[au]nd\s+{_amount('more')})?"
"""A time such as "six weeks and two days"."""

_PERIOD = r"(?P<period>week|month|quarter|year|woche|monats?|quartals?|jahres?|q[1-4])"


def _form(pattern: str, resolve: Resolve, **options: bool) -> Form:
    return Form(re.compile(rf"(?<![\w./-]){pattern}", re.I), resolve, **options)


def _weekday(match: Match, said_on: date, order: Order | None) -> date:
    """Returns the next such weekday after the day of the text."""
    return _this_weekday(match, said_on + timedelta(days=1), order)


def _this_weekday(match: Match, said_on: date, order: Order | None) -> date:
    weekday = _WEEKDAYS[match["weekday"].lower()]
    return said_on + timedelta(days=(weekday - said_on.isoweekday()) % 7)


def _next_weekday(match: Match, said_on: date, order: Order | None) -> date:
    """Returns that weekday of next week; weeks start on Monday."""
    return _this_weekday(match, _monday_after(said_on), order)


def _monday_after(day: date) -> date:
    return day + timedelta(days=7 - day.weekday())


def _tomorrow(match: Match, said_on: date, order: Order | None) -> date:
    word = match["word"].lower()
    is_day_after = "after" in word or word.startswith("über")
    return said_on + timedelta(days=2 if is_day_after else 1)


def _in_a_while(match: Match, said_on: date, order: Order | None) -> date | None:
    amounts = [_days_and_months(match, name) for name in ("count", "more") if match[name]]
    days, months = map(sum, zip(*amounts, strict=True))
    in_days = timedelta(days=days)
    return _months_later(said_on, months) + in_days if days or months else None


def _days_and_months(match: Match, name: str) -> tuple[int, int]:
    word = match[name].lower()
    count = int(word) if word.isdigit() else _NUMBERS[word]
    days, months = _UNITS[match[f"{name}_unit"].lower()]
    return count * days, count * months


def _months_later(day: date, count: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _next_period(match: Match, said_on: date, order: Order | None) -> date:
    """Returns the first day of the next week or month."""
    if match["period"].lower() in ("week", "woche"):
        return _monday_after(said_on)
    return _months_later(said_on.replace(day=1), 1)


def _end_of_period(match: Match, said_on: date, order: Order | None) -> date | None:
    """Returns the last day of the month, quarter or year; for a week its Friday."""
    period = (match["period"] or "").lower()
    periods_ahead = 1 if match["next"] else 0
    if period in ("week", "woche"):
        friday = said_on + timedelta(days=4 + 7 * periods_ahead - said_on.weekday())
        return friday if friday > said_on else None
    if period.startswith("q") and period[1:].isdigit():
        day = _last_of(said_on.year, int(period[1:]) * 3)
        return day if day >= said_on else _last_of(said_on.year + 1, day.month)
    size = 3 if period.startswith("q") else 12 if period.startswith(("year", "jahr")) else 1
    first_month = date(said_on.year, (said_on.month - 1) // size * size + 1, 1)
    last_month = _months_later(first_month, size * (1 + periods_ahead) - 1)
    return _last_of(last_month.year, last_month.month)


def _end_of_month(match: Match, said_on: date, order: Order | None) -> date | None:
    month = _MONTHS[match["month"].lower()]
    if match["year"]:
        return _last_of(int(match["year"]), month)
    return _last_of(said_on.year + 1 if month < said_on.month else said_on.year, month)


def _last_of(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def _day_of_month(match: Match, said_on: date, order: Order | None) -> date | None:
    """Returns the next such day, in this month or the next."""
    day = int(match["day"])
    first_of_month = said_on.replace(day=1)
    if day <= said_on.day:
        first_of_month = _months_later(first_of_month, 1)
    return first_of_month.replace(day=day)


def _in_year(match: Match, said_on: date, order: Order | None) -> date | None:
    """Returns the day in its year; without a year the next one, or None if it was recent."""
    month = int(_MONTHS.get(match["month"].lower(), match["month"]))
    day = int(match["day"])
    if match["year"]:
        return date(int(match["year"]), month, day)
    this_year = date(said_on.year, month, day)
    if this_year >= said_on:
        return this_year
    is_past = (said_on - this_year).days <= A_SEASON
    return None if is_past else date(said_on.year + 1, month, day)


def _slashed(match: Match, said_on: date, order: Order | None) -> date | None:
    """Returns the day if only one order of day and month is possible, or the writer's order is
    known.
    """
    first_number = int(match["first"])
    second_number = int(match["second"])
    year = int(match["year"])
    is_day_first = first_number > 12 or (order == "dmy" and second_number <= 12)
    if is_day_first or first_number == second_number:
        return date(year, second_number, first_number)
    is_month_first = second_number > 12 or order == "mdy"
    return date(year, first_number, second_number) if is_month_first else None


def _calendar_week(match: Match, said_on: date, order: Order | None) -> date:
    week = int(match["week"])
    year = int(match["year"] or said_on.isocalendar().year)
    monday = date.fromisocalendar(year, week, 1)
    is_named = monday >= said_on or match["year"]
    return monday if is_named else date.fromisocalendar(year + 1, week, 1)


def is_clear_month(match: Match) -> bool:
    """Returns whether the name in the match means a month.

    In lower case, "may" and "march" need a year, and other names a word before them.
    """
    groups = match.groupdict()
    month = groups.get("month") or "0"
    if month.isdigit() or month[0].isupper() or groups.get("year"):
        return True
    lead = match[0][: match.start("month") - match.start()].strip(" 0123456789.")
    return lead.isalpha() and month.lower() not in ("may", "mar", "march")


def is_duration(form: Form) -> bool:
    """Returns whether the form also matches durations: "in 30 days"."""
    return form.resolve is _in_a_while


_BY = r"(?:by |on |until |before |at |am |bis |zum )?(?:the )?"
_SURE = r"(?:bis(?: zum)?|am|ab(?: dem)?|vor dem)"
_NUMBERED = r"(?:st|nd|rd|th|\.)?"
_ENDS = r"(?=\s*(?:[,.;!?)]|$|\n|at\b|we\b|i\b|please\b|and\b))"
_NEVER = r"(?!)"
_FOUR = r"(?P<year>20\d\d)"
_MONTH_NUMBER = r"(?P<month>0?[1-9]|1[0-2])"
_SLASHED = rf"(?P<first>\d{{1,2}})/(?P<second>\d{{1,2}})/{_FOUR}"
_MONTH_DAY = rf"{_MONTH}\.?\s+{_DAY}{_NUMBERED}(?!\d)(?!\s*%)"
_DAY_MONTH = rf"{_DAY}{_NUMBERED}\s+(?:of\s+)?{_MONTH}"
_ISO = rf"{_FOUR}-(?P<month>\d\d)-(?P<day>\d\d)(?![\w/-]|[.:]\w)"
_OF_PERIOD = (
    rf"(?:(?:the|this|des|der|dieser|dieses)\s+)?(?P<next>next |nächste[rsn]? )?{_PERIOD}(?![\w'’])"
)
_MONTH_END = (
    rf"(?P<next>{_NEVER})?(?:(?-i:EOM)|monatsende|month(?:'s|-)? ?end)(?P<period>{_NEVER})?\b"
)
_TOMORROW = r"(?P<word>(?:the )?day after tomorrow|tomorrow|übermorgen)\b(?!['’])"
_MORGEN = r"(?<!guten )(?<!heute )(?<!gestern )(?<!jeden )(?<!am )(?P<word>(?-i:morgen))\b(?!['’])"
_WHILE = rf"in\s+{_SPAN}(?!\s+(?:of|old|ago|window|period|a row))(?:['’]?\s+time)?"
_NEXT_PERIOD = r"(?:next|nächste[rn]?)\s+(?P<period>week|month|woche|monat)\b(?!['’]|\s+of)"
_WEEK_NUMBER = rf"(?-i:KW|CW)\s?(?P<week>5[0-3]|[1-4]\d|0?[1-9])(?:[ /]{_FOUR})?\b"

_absolute = partial(_form, is_absolute=True)
_planned = partial(_form, is_absolute=True, needs_intent=True)
FORMS = (
    _planned(rf"(?:{_LEAD})?{_ISO}", _in_year),
    _planned(rf"(?:{_LEAD})?{_DAY}\.\s?{_MONTH_NUMBER}\.\s?{_FOUR}{_ALONE}", _in_year),
    _absolute(rf"{_SURE}\s+{_DAY}\.{_MONTH_NUMBER}\.(?P<year>{_NEVER})?(?![\w.])", _in_year),
    _planned(rf"(?:{_LEAD})?{_SLASHED}{_ALONE}", _slashed),
    _form(rf"{_BY}(?:end of|ende)\s+{_MONTH}{_YEAR}", _end_of_month),
    _form(rf"{_BY}(?:end of|ende)\s+{_OF_PERIOD}", _end_of_period),
    _form(rf"{_BY}{_MONTH_END}", _end_of_period),
    _planned(rf"(?:{_LEAD})?{_MONTH_DAY}{_YEAR}{_AT}{_ALONE}", _in_year),
    _planned(rf"(?:{_LEAD})?{_DAY_MONTH}{_YEAR}{_AT}{_ALONE}", _in_year),
    _form(rf"{_BY}(?:next|nächste[nr]?)\s+{_WEEKDAY}{_AT}", _next_weekday),
    _form(
        rf"{_BY}(?:this coming|this|coming|diese[nm]|kommende[nm])\s+{_WEEKDAY}{_AT}", _this_weekday
    ),
    _form(rf"{_LEAD}{_WEEKDAY}{_AT}(?!\s+nights?\b|\s+mornings\b)", _weekday),
    _absolute(rf"{_LEAD}{_DAY}(?:st|nd|rd|th){_ENDS}", _day_of_month),
    _absolute(rf"(?:bis zum|am|ab dem)\s+{_DAY}\.(?=\s*(?:$|\n|[a-zäöü]))", _day_of_month),
    _form(rf"{_BY}{_TOMORROW}{_AT}", _tomorrow),
    _form(rf"(?:bis )?{_MORGEN}{_AT}", _tomorrow),
    _form(_WHILE, _in_a_while),
    _form(rf"{_SPAN}\s+from\s+(?:now|today)\b", _in_a_while),
    _form(rf"{_BY}(?:early )?{_NEXT_PERIOD}", _next_period),
    _absolute(rf"(?:in |by |until |bis |ab )?{_WEEK_NUMBER}", _calendar_week),
)
"""In order of precedence: absolute days before relative ones."""
