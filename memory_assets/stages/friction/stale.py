"""Lines of MEMORY.md that what was said since contradicts.

Takes the dated lines and the statements of the week: sentences of the owner, and what was observed. How two statements
contradict each other is read from their words (`embed.conflicts`); the line is proposed as it reads with the newer value.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from memory_assets.schema.protocols import Embedder
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.distill.rules.exchanges import owner_sentences
from memory_assets.stages.embed.changes import read_changes
from memory_assets.stages.embed.claims import tokens_of
from memory_assets.stages.embed.conflicts import CONSIDERED_FROM, OTHER_VALUE, REPLACED, find_conflict
from memory_assets.stages.friction.finding import Finding, Occurrence
from memory_assets.stages.friction.groups import similarities
from memory_assets.stages.friction.week import Session, Week

_OPENING = re.compile(r"^(?:(?:also|and|so|but|oh|ok(?:ay)?|by the way|btw|fyi|note|yes|no)[\s,:]+)+", re.I)


@dataclass(frozen=True)
class Line:
    """A dated line of MEMORY.md."""

    on: date
    section: str
    text: str


@dataclass(frozen=True)
class Statement:
    """What somebody said how things are."""

    text: str
    session: Session
    message_ids: tuple[str, ...]
    at: datetime


def find_stale(
    week: Week, lines: Sequence[Line], observed: Sequence[Statement], embedder: Embedder, *, owner: str
) -> list[Finding]:
    """Returns the lines that a later statement contradicts; `observed` are the week's facts."""
    statements = [*_said(week, owner), *observed]
    if not lines or not statements:
        return []
    texts = [line.text for line in lines] + [statement.text for statement in statements]
    alike = similarities(embedder.encode(texts))[: len(lines), len(lines) :]
    found = []
    for number, line in enumerate(lines):
        near = [one for place, one in enumerate(statements) if alike[number, place] >= _considered(one.text)]
        against = [(one, how) for one in near if one.at.date() >= line.on and (how := _conflict(one.text, line.text))]
        if against:
            found.append(_finding(line, against))
    return found


def corrected(line: str, statement: str, how: str) -> str:
    """Returns the line as it reads with what the statement says."""
    if how == REPLACED:
        for change in read_changes(statement):
            pattern = re.compile(rf"(?<![\w./-]){re.escape(change.gone)}(?![\w-])", re.I)
            if pattern.search(line):
                came = _as_written(change.came, statement)
                return pattern.sub(lambda _, came=came: came, line)
    if how == OTHER_VALUE:
        value = _other_value(line, statement)
        if value:
            return re.sub(rf"(?<![\w./-]){re.escape(value[0])}(?![\w-])", lambda _: value[1], line, count=1)
    bare = _OPENING.sub("", statement).strip()
    return bare[:1].upper() + bare[1:]


def _conflict(statement: str, line: str) -> str | None:
    """Returns how the statement contradicts the line; a person decides, so a name that was given up need only be relied on."""
    how = find_conflict(statement, line)
    gone = any(_holds(line, change.gone) and not _holds(line, change.came) for change in read_changes(statement))
    return how or (REPLACED if gone and not read_changes(line) else None)


def _holds(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", text, re.I) is not None


def _considered(text: str) -> float:
    """Returns the cosine from which a statement is read beside a line; what names a change is read from further away."""
    return CONSIDERED_FROM / 2 if read_changes(text) else CONSIDERED_FROM


def _said(week: Week, owner: str) -> Iterator[Statement]:
    for turn in week.said:
        if turn.is_owner and turn.session.person == owner:
            for sentence in owner_sentences(turn.text):
                if not sentence.endswith("?"):
                    yield Statement(_OPENING.sub("", sentence), turn.session, (turn.message_id,), turn.at)


def _finding(line: Line, against: Sequence[tuple[Statement, str]]) -> Finding:
    newest, how = max(against, key=lambda pair: pair[0].at)
    return Finding(
        kind="stale_memory",
        subject=line.text,
        title="A line of MEMORY.md is no longer true",
        target=MEMORY_MD,
        section=line.section,
        old=line.text,
        new=corrected(line.text, newest.text, how),
        occurrences=tuple(Occurrence(one.session, one.message_ids, one.at) for one, _ in against),
    )


def _as_written(name: str, text: str) -> str:
    found = re.search(rf"(?<![\w./-]){re.escape(name)}", text, re.I)
    return found.group() if found else name


def _other_value(line: str, statement: str) -> tuple[str, str] | None:
    """Returns the one word in which the two differ: as the line has it, and as the statement has it."""
    ours, theirs = tokens_of(line), tokens_of(statement)
    only = [word for word in ours if word.lower() not in {other.lower() for other in theirs}]
    others = [word for word in theirs if word.lower() not in {other.lower() for other in ours}]
    return (only[0], others[0]) if len(only) == len(others) == 1 else None
