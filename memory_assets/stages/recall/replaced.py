"""Marks the results of a question that a later statement of the owner replaced.

Takes the results of one question. An earlier one is replaced if a later statement of the owner, in
the same project, conflicts with one of its sentences as two memories do (`stages/embed/conflicts`),
or is about the same subject and says that a part of it no longer holds or has another value now.
A reply that a message is wrong denies that message (`exchange`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from memory_assets.english.changes import clauses, states_change, withdraws
from memory_assets.english.negation import excluded
from memory_assets.english.openings import denies_before
from memory_assets.stages.embed.compared_statements import VALUE, read_statement
from memory_assets.stages.embed.conflicts import find_conflict
from memory_assets.stages.recall.results import MESSAGE, Recalled
from memory_assets.text.excerpts import whole_sentences
from memory_assets.text.short_ids import short_id, short_message_id

REPLACED = "replaced on "
DENIED = "denied by "
"""How the marks of results begin that no longer hold."""

FEWEST = 2
"""Words of its subject that a correction has in common with what it corrects."""

_CUE = re.compile(r"(?i)\b(?:no longer|moved from|decided against)\b")
"""Words in front of what no longer holds."""


def holds(result: Recalled) -> bool:
    """Returns whether nothing said later replaced or denied the result."""
    return not any(tag.startswith((REPLACED, DENIED)) for tag in result.tags)


def present_first(results: Sequence[Recalled], *, keeps_replaced: bool = True) -> list[Recalled]:
    """Returns the results, each below the last one that replaced it, with a mark or, without
    `keeps_replaced`, left out.
    """
    ordered: dict[str, Recalled] = {}
    waiting = list(reversed(results))
    while waiting:
        result = waiting.pop()
        newer = _newest(result, results)
        if newer is None:
            ordered.setdefault(result.memory_id, result)
        elif newer.memory_id not in ordered and newer in waiting:
            waiting.remove(newer)
            waiting += (result, newer)
        elif keeps_replaced:
            ordered[result.memory_id] = _marked(result, newer)
    return list(ordered.values())


def replaces(newer: str, older: str, project: str) -> bool:
    """Returns whether a sentence of the owner says that an earlier sentence no longer holds."""
    new = read_statement(newer)
    if not new.changes and new.words.isdisjoint(read_statement(older).core):
        return False
    is_conflict = find_conflict(newer, older, project) is not None
    return is_conflict or any(_corrects(clause, older) for clause in clauses(newer))


def _corrects(clause: str, older: str) -> bool:
    """Returns whether the clause is about the whole subject of the sentence and newly denies a part
    of it, or is about all but a value and has just another one now.
    """
    new = read_statement(clause)
    old = read_statement(older)
    missing = old.core - new.words
    added = new.core - old.words
    if not old.asserted or len(old.core & new.words) < FEWEST:
        return False
    if missing:
        is_value = all(VALUE.match(word) or "/" in word for word in missing)
        is_new = " now" in clause or denies_before(clause) or states_change(clause)
        return is_value and is_new and len(missing) == len(added) == 1
    return not (_denied(clause) - _denied(older)).isdisjoint(old.core)


def _denied(clause: str) -> frozenset[str]:
    """Returns the words of what the clause says does not hold, or no longer."""
    statement = read_statement(clause)
    names = (change.gone for change in statement.changes)
    parts = (*names, excluded(clause), *_CUE.split(clause)[1:])
    denied = read_statement(" ".join(parts)).words
    return statement.words if withdraws(clause) else denied


def _newest(result: Recalled, results: Sequence[Recalled]) -> Recalled | None:
    """Returns the last of the results that replaced the result."""
    replacing = [newer for newer in results if _replaces(newer, result)]
    return max(replacing, key=lambda newer: (newer.event_at, newer.memory_id), default=None)


def _replaces(newer: Recalled, older: Recalled) -> bool:
    """Returns whether the owner replaced the older result; of two memories, a merge decides it."""
    is_message = MESSAGE in (newer.kind, older.kind)
    if not is_message or newer.event_at <= older.event_at or newer.project != older.project:
        return False
    pairs = product(_sentences(newer, newer.person or "owner"), _sentences(older))
    return any(replaces(statement, sentence, older.project) for statement, sentence in pairs)


def _sentences(result: Recalled, speaker: str = "") -> Iterator[str]:
    """Yields the whole sentences of a result and of the other half of its exchange, by default of
    all speakers.
    """
    for part in filter(None, (result, result.other_half)):
        if speaker in ("", part.said_by):
            yield from whole_sentences(part.text)


def _marked(result: Recalled, newer: Recalled) -> Recalled:
    shorten = short_message_id if newer.kind == MESSAGE else short_id
    mark = f"{REPLACED}{newer.event_at:%Y-%m-%d} by {shorten(newer.memory_id)}"
    return replace(result, tags=(*result.tags, mark))
