"""Finds future dates in a text: "next Friday", "in two weeks", "by 2026-05-01", "bis Ende Mai".

Takes a text, its time and the time zone of its author; returns days from the day of the text on.
Precision is preferred to recall: ambiguous and recurring expressions, durations, the past, quotes,
code and logs are ignored. The expressions are listed (`date_forms`), in English and German, because
general date parsers find dates in "may", "30 days" and 5.10.2, too.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from memory_assets.stages.distill.dates import date_forms
from memory_assets.text.patterns import data_beside, patterns_beside
from memory_assets.text.words import squeezed

FARTHEST = timedelta(days=731)
"""Farthest date that is returned; later ones are more often placeholders than plans."""

LONGEST_TEXT = 4_000
"""Characters of a text that somebody may have typed; a longer text is pasted."""

_AMERICAN = tuple(data_beside(__file__)["_american_zones"].split())


@dataclass(frozen=True)
class FoundDate:
    """A future day, and its expression in the text."""

    on: date
    expression: str
    start: int
    end: int
    is_absolute: bool
    """Whether the expression names the day itself, not a distance from today."""


def find_dates(
    text: str, said_at: datetime, zone: ZoneInfo, order: date_forms.Order | None = None
) -> tuple[FoundDate, ...]:
    """Returns the future days in the text, in order of appearance.

    `order` is the author's order of day and month in dates such as 05/06/2026.
    """
    said_on = said_at.astimezone(zone).date()
    words = without_pasted(text)
    if len(words.split()) * 5 > LONGEST_TEXT:
        return ()
    dates: list[FoundDate] = []
    for form in date_forms.FORMS:
        for match in form.pattern.finditer(words):
            overlaps = any(match.start() < day.end and day.start < match.end() for day in dates)
            if overlaps or not points_ahead(words, match, form):
                continue
            try:
                day = form.resolve(match, said_on, order or order_of(zone))
            except (ValueError, OverflowError):  # the 31st of June
                continue
            if day is not None and said_on <= day <= said_on + FARTHEST:
                expression = squeezed(text[slice(*match.span())])
                dates.append(FoundDate(day, expression, *match.span(), form.is_absolute))
    return tuple(sorted(dates, key=lambda found_date: found_date.start))


def order_of(zone: ZoneInfo) -> date_forms.Order | None:
    """Returns the usual order of day and month in the zone, or None if it is unknown."""
    if zone.key.startswith(_AMERICAN):
        return "mdy"
    return "dmy" if zone.key.startswith("Europe/") else None


_PATTERNS = patterns_beside(__file__)


def _words(name: str, pattern: str = r"\b(?:{})\b") -> re.Pattern[str]:
    """Returns the pattern with the words of that name as alternatives in place of `{}`.

    A `_` in a word matches white space.
    """
    words = data_beside(__file__)["words"][name].replace("'", "['’]").split()
    return re.compile(pattern.replace("{}", "|".join(words).replace("_", r"\s+")), re.I)


_SENTENCE_END = re.compile(r"[!?;\n]|\.\s+(?=[A-ZÄÖÜ])|\.\s*$|\s[–—]\s")

_IN_THE_PAST = _words("in_the_past")
_FIRM = _words("firm")
_AHEAD = _words("ahead", r"\b(?:{})\b|['’]ll\b")
_REPORTING_QUESTION = _words("reporting_question", r"^\W*(?:{})\b")
_NO_DAY = _words("no_day", r"(?:\b(?:{})|[=#$/@_~^*<-])\s*$")
_NO_DAY_AFTER = _words("no_day_after", r"^(?:\s*(?:[=/%_]|\.\w)|['’]s\b|\s+(?:{})\b)")
_DURATION = _words("duration")
_OURS = _words("ours")
_RECURRING = _words("recurring")


def without_pasted(text: str) -> str:
    """Returns the text with blanks for code, quotes, URLs and log lines; offsets stay the same."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    return _PATTERNS["pasted_line"].sub(blank, _PATTERNS["blanked"].sub(blank, text))


def points_ahead(words: str, match: re.Match[str], form: date_forms.Form) -> bool:
    """Returns whether the sentence around the expression is about a future day."""
    words_before, words_after = _sentence(words, match)
    sentence = f"{words_before}{match[0]}{words_after}"
    if _names_no_day(words_before, match, words_after):
        return False
    if _RECURRING.search(sentence) and not form.is_absolute:
        return False
    if _looks_back(sentence, words_before, words_after):
        return False
    has_intent = bool(_AHEAD.search(sentence))
    if date_forms.is_duration(form):
        is_lasting = _DURATION.search(sentence) and "remind" not in sentence.lower()
        return not is_lasting and (has_intent or bool(_OURS.search(sentence)))
    return has_intent or not form.needs_intent


def _looks_back(sentence: str, words_before: str, words_after: str) -> bool:
    """Returns whether the sentence is about the past, or a question about it."""
    is_past = _IN_THE_PAST.search(f"{words_before} {words_after}")
    if is_past and not _FIRM.search(sentence):
        return True
    is_asked = words_after.rstrip().endswith("?")
    return is_asked and bool(_REPORTING_QUESTION.search(sentence))


def _names_no_day(words_before: str, match: re.Match[str], words_after: str) -> bool:
    is_excluded = _NO_DAY.search(words_before) or _NO_DAY_AFTER.search(words_after)
    return bool(is_excluded) or not date_forms.is_clear_month(match)


def _sentence(words: str, match: re.Match[str]) -> tuple[str, str]:
    """Returns the parts of the sentence before and after the match, with its final punctuation."""
    ends = _SENTENCE_END.finditer(words, 0, match.start())
    start = max((end.end() for end in ends), default=0)
    end = _SENTENCE_END.search(words, match.end())
    return words[start : match.start()], words[match.end() : end.end() if end else len(words)]
