"""Finds lines of MEMORY.md that later statements contradict.

Takes the dated lines and the statements of the week: sentences of the owner, and observations. How
two statements contradict each other is read from their words (`embed.conflicts`); the line is
proposed with the newer value.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import compress

import numpy as np

from memory_assets.english.changes import read_changes
from memory_assets.english.word_forms import family_of, form_of, tokens_of
from memory_assets.schema.protocols import Embedder
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.embed import conflicts
from memory_assets.stages.friction.finding import Occurrence, RecurringProblem
from memory_assets.stages.friction.groups import similarities
from memory_assets.stages.friction.week import SessionInfo, Week
from memory_assets.text.words import specifics_in

_WHOLE = r"(?<![\w./-]){}(?![\w-])"
_CLOSING = re.compile(
    r"(?i),? (?:(?:by |from )?now(?: on)?|nowadays|these days|meanwhile|instead)(?=[.!]?$)"
)
"""Says that it is new, and nothing of what it is."""

_IS_NEWS = re.compile(
    r"(?i)\b(?:is|are|was|were|has|have|we|\w+s) (?:\w+ ){0,6}now\b|, not \w"
    r"|\b(?:now (?:is|are|runs?|lives?|uses?|called)|no longer|any ?more|moved|switched|migrated"
    r"|upgraded|rewritten|replaced|renamed|raised|lowered|changed|these days|nowadays|as of"
    r"|since (?:yesterday|today|last|this|the|\w+day)|instead of)\b"
)
"""Says that something is no longer as it was."""

_DENIED = re.compile(r"(?i)(?:\bnot|\bno longer(?: \w+)?|\binstead of|\brather than)\s+([^,;.]+)")
_SAME_SUBJECT = 0.5
"""Share of a line's words in a statement about the same."""

_OPENING = re.compile(
    r"^(?:(?:also|and|so|but|oh|ok(?:ay)?|by the way|btw|fyi|note|yes|no)[\s,:]+)+", re.I
)


@dataclass(frozen=True)
class MemoryLine:
    """A dated line of MEMORY.md."""

    on: date
    section: str
    text: str


@dataclass(frozen=True)
class Statement:
    """A statement of fact."""

    text: str
    session: SessionInfo
    message_ids: tuple[str, ...]
    at: datetime


def find_stale(
    week: Week,
    lines: Sequence[MemoryLine],
    observed: Sequence[Statement],
    embedder: Embedder,
    *,
    owner: str,
) -> list[RecurringProblem]:
    """Returns the lines that a later statement contradicts; `observed` are the week's facts."""
    said = [
        Statement(_OPENING.sub("", sentence), turn.session, (turn.message_id,), turn.at)
        for turn, sentence in week.statements()
        if turn.session.person == owner
    ]
    statements = [*said, *observed]
    if not lines or not statements:
        return []
    texts = [line.text for line in lines] + [statement.text for statement in statements]
    alike = similarities(embedder.encode(texts))[: len(lines), len(lines) :]
    # A statement of a change is compared with a line from a lower cosine on.
    shares = [0.5 if read_changes(statement.text) else 1.0 for statement in statements]
    is_near = alike >= conflicts.CONSIDERED_FROM * np.array(shares)
    problems = []
    for line, nearness in zip(lines, is_near, strict=True):
        near = compress(statements, nearness)
        later = [statement for statement in near if statement.at.date() >= line.on]
        ways = [(statement, _conflict(statement.text, line.text)) for statement in later]
        against = [(statement, way) for statement, way in ways if way]
        if against:
            problems.append(_problem(line, against))
    return problems


def corrected(line: str, statement: str, how: str) -> str:
    """Returns the line, corrected by the statement."""
    if how == conflicts.REPLACED:
        for change in read_changes(statement):
            if _find(line, change.gone):
                came = re.search(rf"(?<![\w./-]){re.escape(change.came)}", statement, re.I)
                template = (came.group() if came else change.came).replace("\\", r"\\")
                return re.sub(_WHOLE.format(re.escape(change.gone)), template, line, flags=re.I)
    if how == conflicts.OTHER_VALUE and (value := _other_value(line, _CLOSING.sub("", statement))):
        return re.sub(_WHOLE.format(re.escape(value[0])), lambda _: value[1], line, count=1)
    bare = _OPENING.sub("", _CLOSING.sub("", statement)).strip()
    return bare[:1].upper() + bare[1:]


def _conflict(statement: str, line: str) -> str | None:
    """Returns how the statement contradicts the line; a person decides, so a replaced name need
    only be mentioned.
    """
    how = conflicts.find_conflict(statement, line)
    if how:
        return how
    if _says_it_is_new(statement, line) or _is_news_of(statement, line):
        return conflicts.OTHER_VALUE
    changes = [change for change in read_changes(statement) if _find(line, change.gone)]
    is_replaced = any(not _find(line, change.came) for change in changes)
    return conflicts.REPLACED if is_replaced and not read_changes(line) else None


def _says_it_is_new(statement: str, line: str) -> bool:
    """Returns whether the statement is the line with another name or number, and says that it is so
    now.
    """
    bare, closings = _CLOSING.subn("", statement)
    value = _other_value(line, bare) if closings else None
    return bool(value) and all(specifics_in(word) or "-" in word for word in value)


def _is_news_of(statement: str, line: str) -> bool:
    """Returns whether the statement says that the subject of the line is now otherwise."""
    ours, theirs = _content(line), _content(statement)
    about = [word for word in ours if word in theirs]
    is_about_it = ours[:1] == about[:1] and len(about) >= _SAME_SUBJECT * len(ours)
    if not ours or not is_about_it or not _IS_NEWS.search(statement):
        return False
    denied = {word for found in _DENIED.findall(statement) for word in _content(found)}
    is_replaced = len(about) < len(ours) or not denied.isdisjoint(ours[1:])
    return len(about) > 1 and is_replaced and any(word not in ours for word in theirs)


def _content(text: str) -> list[str]:
    """Returns what the words of the text count as, in order, without those of grammar."""
    return [family_of(form) for token in tokens_of(text) if (form := form_of(token))]


def _find(text: str, name: str) -> re.Match[str] | None:
    return re.search(_WHOLE.format(re.escape(name)), text, re.I)


def _problem(line: MemoryLine, against: Sequence[tuple[Statement, str]]) -> RecurringProblem:
    newest, how = max(against, key=lambda pair: pair[0].at)
    return RecurringProblem(
        kind="stale_memory",
        subject=line.text,
        title="A line of MEMORY.md is no longer true",
        file=MEMORY_MD,
        section=line.section,
        old=line.text,
        new=corrected(line.text, newest.text, how),
        occurrences=tuple(Occurrence(one.session, one.message_ids, one.at) for one, _ in against),
    )


def _other_value(line: str, statement: str) -> tuple[str, str] | None:
    """Returns the one word in which the two differ: of the line, and of the statement."""
    ours = _words_without(line, statement)
    theirs = _words_without(statement, line)
    return (ours[0], theirs[0]) if len(ours) == len(theirs) == 1 else None


def _words_without(text: str, other: str) -> list[str]:
    others = {word.lower() for word in tokens_of(other)}
    return [word for word in tokens_of(text) if word.lower() not in others]
