"""Parses a question once: where it looks, which time it names, its terms, and the text to embed.

Takes the typed question and the projects and persons that the memory knows; gives what the
retrievers search with and what `relevance` measures candidates by. Names of projects, "my" and
spans of time are taken out of the text that is embedded: they say where, whose and when, and MiniLM
would find everything that shares them.

Of times, it knows "since October", "in March", "in the last two weeks", as ranges in whole days;
words that may mean something else (may, second) stay in the question.

A person's preferences are returned only when that person asks or is named. Another project's memory
stays a candidate, and is left out beside what this project has (`relevance`).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import polars as pl

from memory_assets.schema.protocols import Texts
from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.lookups import fulfilling, remembered
from memory_assets.stages.recall.query_coverage import (
    TALK_WEIGHT,
    QueryTerm,
    terms_of,
    uncovered_share,
)
from memory_assets.stages.recall.results import Asker
from memory_assets.text.terms import query_terms

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "few": 3,
    "couple of": 2,
}
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}

_MONTH = rf"(?P<month>{'|'.join(MONTHS)})(?: (?P<year>20\d\d))?"
_ISO = r"(?P<iso>20\d\d-\d\d-\d\d)"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_LAST = (
    rf"(?:in |over |during |within )?the (?:last|past) (?:{_COUNT} )?(?P<unit>{'|'.join(_UNITS)})s?"
)
_SPAN = re.compile(
    rf"\b(?:(?P<how>since|from|after|before|until|till|in|during|of) (?:{_MONTH}|{_ISO})"
    rf"|{_LAST}|(?P<day>yesterday|today))\b",
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
    """Returns the question without the first time that it names, and the range; the question
    unchanged where it names none.
    """
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
    """Returns the first moment of the month and of the next; without a year, of the latest such
    month that has begun.
    """
    number = MONTHS.index(found["month"].lower()) + 1
    year = int(found["year"]) if found["year"] else now.year - (number > now.month)
    first = now.replace(year=year, month=number, day=1, hour=0, minute=0, second=0, microsecond=0)
    return first, first.replace(year=year + number // 12, month=number % 12 + 1)


def _date(iso: str, now: datetime) -> tuple[datetime, datetime]:
    day = datetime.fromisoformat(iso).replace(tzinfo=now.tzinfo)
    return day, day + timedelta(days=1)


_OWN = re.compile(
    r"\b(?:my|mine|myself)\b|\b(?:do|did|should|am|would|can|may) i\b|\bi (?:like|want"
    r"|prefer|use|need)\b|\bto me\b",
    re.I,
)
_MINE, _I = re.compile(r"\b(?:my|mine)\b", re.I), re.compile(r"\b(?:i|me)\b", re.I)

GONE = ("superseded", "archived", "cold", "forgotten")
"""States whose memories are not returned as the messages behind them, either."""

ENOUGH_WORDS = 2
"""A question with so many words that occur in memories is embedded without those of the
conversation.
"""

_CODE = re.compile(r"^--\w|\w[/_]\w|\w\.\w")


@dataclass(frozen=True)
class Scope:
    """Where a question looks."""

    projects: frozenset[str]
    """Named in the question, else the one it is asked in."""
    is_project_named: bool
    persons: frozenset[str]
    """Whose preferences may be returned."""
    is_person_named: bool
    is_open: bool
    """Nothing is known of the asker, so nobody's preferences can be mistaken for theirs."""


def parse_scope(
    question: str,
    asker: Asker,
    filters: Filters,
    projects: Collection[str],
    persons: Collection[str],
) -> Scope:
    """Returns where the question looks, of the projects and persons that the memory knows."""
    named, people = _named(question, projects), _named(question, persons)
    me = filters.person or asker.person
    return Scope(
        named or frozenset({asker.project} if asker.project else ()),
        bool(named),
        people or frozenset({me} if me else ()),
        bool(people),
        not people and (me is None or (me not in persons and not _OWN.search(question))),
    )


def is_out(scope: Scope) -> pl.Expr:
    """Returns whether a memory is the preference of a person who neither asks nor is named."""
    return (
        pl.lit(False)
        if scope.is_open
        else (pl.col("scope") == "person") & ~pl.col("person").is_in(list(scope.persons))
    )


def is_away(scope: Scope) -> pl.Expr:
    """Returns whether a memory belongs to another project than the question."""
    if not scope.projects:
        return pl.lit(False)
    return (pl.col("scope") == "project") & ~pl.col("project").is_in(list(scope.projects))


def states_as_of(memories: pl.DataFrame, filters: Filters) -> pl.DataFrame:
    """Returns the memories with their state at the end of the range asked about: replaced later
    means active then.
    """
    if filters.until is None:
        return memories
    later = memories.filter(pl.col("first_event_at") >= filters.until)["id"]
    was_active = (pl.col("state") == "superseded") & pl.col("superseded_by").is_in(later.to_list())
    return memories.with_columns(
        pl.when(was_active).then(pl.lit("active")).otherwise("state").alias("state")
    )


def hidden_lines(
    memories: pl.DataFrame, sessions: Iterable[str], scope: Scope, filters: Filters
) -> set[tuple[str, int]]:
    """Returns the lines of these sessions that must not be returned: of replaced, archived and
    another person's memories.

    Lines of held memories may be returned: nobody has decided yet that these are wrong.
    """
    gone = pl.col("state").is_in([state for state in GONE if state not in filters.include])
    hides, places = fulfilling(memories, gone | is_out(scope)), _places_by_session(memories)
    rows = [
        (session, place)
        for session in set(sessions)
        for place in places.get(session, ())
        if hides[place]
    ]
    if not rows:
        return set()
    lines = memories["lines"].gather([place for _, place in rows]).to_list()
    return {(session, line) for (session, _), own in zip(rows, lines, strict=True) for line in own}


@remembered
def _places_by_session(memories: pl.DataFrame) -> dict[str, list[int]]:
    """Returns the numbers of the rows of each session."""
    return dict(memories.with_row_index("place").group_by("session_id").agg("place").iter_rows())


def in_person(question: str, person: str | None) -> str:
    """Returns the question with the asker's name for "my" and "I", as memories call people by
    name.
    """
    if not person or not _OWN.search(question):
        return question
    name = person[:1].upper() + person[1:]
    return _I.sub(name, _MINE.sub(f"{name}'s", question))


def without_names(question: str, names: Collection[str]) -> str:
    """Returns the question without these names, unless nothing else would be left."""
    words = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
    rest = " ".join(
        re.sub(rf"(?<![\w-])(?:{words})(?![\w-])(?:'s)?", " ", question, flags=re.I).split()
    )
    return rest if re.search(r"\w{3}", rest) else question


def _named(question: str, names: Collection[str]) -> frozenset[str]:
    return frozenset(name for name in names if name and re.search(_typed(name), question, re.I))


def _typed(name: str) -> str:
    """Returns the expression for the name as people type it: "notes site" is `notes-site`, too."""
    words = "[-_ ]".join(map(re.escape, re.split("[-_ ]", name)))
    return rf"(?<![\w-]){words}(?![\w-])"


@remembered
def known_names(memories: pl.DataFrame) -> tuple[list[str], list[str]]:
    """Returns the projects and the persons that there are."""
    projects, persons = (
        [name for name in memories[column].unique().sort() if name]
        for column in ("project", "person")
    )
    return projects, persons


@dataclass(frozen=True)
class KnownNames:
    """The projects and persons that the memory knows, and the owner's aliases."""

    projects: Collection[str] = ()
    persons: Collection[str] = ()
    aliases: Mapping[str, Sequence[str]] | None = None


@dataclass(frozen=True)
class ParsedQuestion:
    """A question and what it asks for."""

    text: str
    """What is embedded."""
    scope: Scope
    terms: tuple[QueryTerm, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    """The time that the question names, if it names one."""
    names: tuple[str, ...] = ()
    """Names of things and of code in the question."""

    @property
    def unknown_names(self) -> tuple[str, ...]:
        """The names that occur in no text."""
        known = {term.term for term in self.terms if term.is_covered or not term.weight}
        return tuple(name for name in self.names if not _is_among(name, known))

    @property
    def terms_of_names(self) -> list[list[QueryTerm]]:
        """The terms of each name; of projects and persons, which weigh nothing, none."""
        names = [frozenset(query_terms(name)) for name in self.names]
        weighty = [term for term in self.terms if term.weight and not term.is_context]
        return [*filter(None, (_terms_among(weighty, name) for name in names))]

    @property
    def other_terms(self) -> list[QueryTerm]:
        """The terms of the question that belong to no name."""
        of_names = {term for name in self.names for term in query_terms(name)}
        return [term for term in self.terms if term.term not in of_names and not term.is_context]

    @property
    def uncovered_share(self) -> float:
        """The share of the terms, by weight, that no text covers."""
        return uncovered_share(self.terms)

    def covered_by(self, corpora: Iterable[Texts]) -> "ParsedQuestion":
        """Returns the question with the terms that any of these corpora covers marked as
        covered.
        """
        known = {term.term for texts in corpora for term in self.terms if term.occurs_in(texts)}
        terms = tuple(
            replace(term, is_covered=term.is_covered or term.term in known) for term in self.terms
        )
        return replace(self, terms=terms)


def _terms_among(terms: Iterable[QueryTerm], names: Collection[str]) -> list[QueryTerm]:
    return [term for term in terms if term.term in names]


def parse_question(
    question: str,
    asker: Asker,
    filters: Filters,
    texts: Texts | None,
    known: KnownNames,
    context: str = "",
) -> ParsedQuestion:
    """Returns the parsed question; `context` are words of the conversation that it refers to,
    `texts` the corpus's words.
    """
    timed = parse_time(question, asker.now)
    scope = parse_scope(timed.text, asker, filters, known.projects, known.persons)
    me = filters.person or asker.person
    terms: tuple[QueryTerm, ...] = ()
    if texts is not None and len(texts):
        names = [*known.projects, *known.persons]
        terms = terms_of(timed.text, texts, context=context, names=names, aliases=known.aliases)
    text = in_person(timed.text, me if me in known.persons else None)
    if scope.is_project_named and len(scope.projects) == 1:
        text = without_names(text, scope.projects)
    if (
        sum(term.is_covered and not term.is_context and term.weight > TALK_WEIGHT for term in terms)
        < ENOUGH_WORDS
    ):
        text = " ".join([text, *context.split()])
    return ParsedQuestion(text, scope, terms, timed.since, timed.until, tuple(_names(timed.text)))


def _names(question: str) -> Iterator[str]:
    """Yields the names in the question, of things and of code."""
    is_first = True
    for typed in question.split():
        word = typed.strip(".,;:!?()\"'`")
        is_capital = not is_first and word[:1].isupper() and not word.isupper()
        if (is_capital or _CODE.search(word)) and query_terms(word):
            yield word
        is_first = typed.endswith((".", "!", "?"))


def _is_among(name: str, terms: Collection[str]) -> bool:
    """Returns whether a name is among the terms; code as a whole, as `verify` says nothing of
    `--no-verify-ssl`.
    """
    whole = query_terms(name)
    return whole[0] in terms if _CODE.search(name) else any(term in terms for term in whole)
