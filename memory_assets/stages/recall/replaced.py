"""Marks the results of a question that a later statement of the owner replaced.

Takes the results of one question. An earlier one is replaced if a later statement of the owner, in
the same project, conflicts with one of its sentences as two memories do (`stages/embed/conflicts`).
A reply that a message is wrong denies that message (`exchange`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from memory_assets.stages.embed.conflicts import Likeness, supersedes
from memory_assets.stages.recall.results import MESSAGE, Recalled
from memory_assets.stages.verify.verifications import NAMES
from memory_assets.text.excerpts import whole_sentences
from memory_assets.text.short_ids import short_id, short_message_id

REPLACED = "replaced on "
DENIED = "denied by "
"""How the marks of results begin that no longer hold; `NAMES` begins that of a memory that names
what is gone.
"""

ALIKE = 0.6
"""Cosine from which two statements are about the same thing: that of most changes of mind, and of
few pairs that only look like one.
"""


def holds(result: Recalled) -> bool:
    """Returns whether nothing said later replaced or denied the result, and nothing that it names
    is gone.
    """
    is_replaced = any(tag.startswith((REPLACED, DENIED)) for tag in result.tags)
    return not is_replaced and not names_gone(result)


def names_gone(result: Recalled) -> bool:
    """Returns whether the result has the mark that it names what is gone."""
    return any(tag.startswith(NAMES) for tag in result.tags)


def present_first(
    results: Sequence[Recalled],
    later: Sequence[Recalled] = (),
    *,
    keeps_replaced: bool = True,
    likeness: Likeness | None = None,
) -> list[Recalled]:
    """Returns the results, each below the last one that replaced it, with a mark or, without
    `keeps_replaced`, left out. What replaced it may also be a `later` statement beside them.
    `likeness` returns the cosine of two statements.
    """
    ordered: dict[str, Recalled] = {}
    waiting = list(reversed(results))
    placed: set[str] = set()
    while waiting:
        result = waiting.pop()
        newer = _newest(result, [*results, *later], likeness)
        if newer is None:
            ordered.setdefault(result.memory_id, result)
        elif newer.memory_id not in placed:
            placed.add(newer.memory_id)
            waiting += (result, newer)
        elif keeps_replaced:
            ordered.setdefault(result.memory_id, _marked(result, newer))
    return _newest_of_alike(ordered.values(), likeness)


def _newest_of_alike(results: Iterable[Recalled], likeness: Likeness | None) -> list[Recalled]:
    """Returns the results; of statements about the same thing, the newest comes first, even if
    nothing says that it replaces the others.
    """
    ordered: list[Recalled] = []
    for result in results:
        alike = (place for place, other in enumerate(ordered) if _renews(result, other, likeness))
        ordered.insert(next(alike, len(ordered)), result)
    return ordered


def _renews(newer: Recalled, older: Recalled, likeness: Likeness | None) -> bool:
    """Returns whether both are what the owner said about the same thing in different sessions."""
    are_owners = all(result.said_by == (newer.person or "owner") for result in (newer, older))
    is_settled = newer.session == older.session or _is_settled(newer, older)
    if likeness is None or is_settled or not (are_owners and holds(older)):
        return False
    return likeness(newer.text, older.text) >= ALIKE


def _newest(
    result: Recalled, results: Sequence[Recalled], likeness: Likeness | None
) -> Recalled | None:
    """Returns the last of the results that replaced the result."""
    replacing = [newer for newer in results if _replaces(newer, result, likeness)]
    return max(replacing, key=lambda newer: (newer.event_at, newer.memory_id), default=None)


def _replaces(newer: Recalled, older: Recalled, likeness: Likeness | None) -> bool:
    """Returns whether the owner replaced the older result; of two facts, a merge decides it, and no
    summary replaces anything.
    """
    if _is_settled(newer, older):
        return False
    pairs = product(_sentences(newer, newer.person or "owner"), _sentences(older))
    return any(supersedes(*pair, older.project, likeness) for pair in pairs)


def _is_settled(newer: Recalled, older: Recalled) -> bool:
    is_fixed = newer.kind == "narrative" or newer.kind == older.kind == "fact"
    return is_fixed or newer.event_at <= older.event_at or newer.project != older.project


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
