"""Makes the excerpt that is shown of a message: what was found in it, and the messages around it.

"Yes, do that" says nothing alone, and the sentence found is often the question, the plan or the warning whose answer comes a
few messages later. So half of an excerpt is of the message found; the message before it and the best of those after it share
the rest.
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from memory_assets.schema.protocols import Row, Texts
from memory_assets.text.terms import text_terms

LONGEST = 600
"""Characters of an excerpt."""

OWN = 300
"""Characters of the found passage, if there are messages around it."""

SHORTEST = 60
"""Least characters shown of a neighbouring passage; with less room it is left out."""

SHOWN, AFTER, FOLLOWING = 4, 3, 6
"""Messages shown around one, how many of them at most are after it, and how many after it are compared with the question: on
labelled questions the answer comes after what was found more often than before."""

STEP = 40
"""Characters between the spans of a passage that are compared."""

BREAK = " ⏎ "
"""Between two messages."""

CUT = "…"


def beside(
    texts: Texts,
    row: int,
    vector: np.ndarray | None = None,
    *,
    allowed: np.ndarray | None = None,
    taken: Collection[int] = (),
) -> list[tuple[int, int]]:
    """Returns the rows of passages to show around that row, one a message, and -1 or 1 for before or after.

    Of the messages after it, those nearest to the vector are shown, each by its nearest passage; without one the first ones.
    `allowed` says of each row whether it may be shown, `taken` has the messages (`texts.parents`) that are shown already.
    """
    if vector is not None and texts.vectors.shape[1] != len(vector):
        vector = None
    best: dict[int, tuple[float, int]] = {}
    for place in _walk(texts, row, 1, allowed, taken):
        message = int(texts.parents[place])
        if message not in best and len(best) == FOLLOWING:
            break
        score = 0.0 if vector is None else float(texts.vectors[place].astype(np.float32) @ vector)
        if message not in best or score > best[message][0]:
            best[message] = (score, place)
    nearest = sorted(best.values(), key=lambda one: (-one[0], one[1]))[:AFTER]
    before: dict[int, int] = {}
    for place in _walk(texts, row, -1, allowed, taken):
        before.setdefault(int(texts.parents[place]), place)
        if len(before) == SHOWN - len(nearest):
            break
    return [*((place, -1) for place in before.values()), *((place, 1) for place in sorted(place for _, place in nearest))]


def _walk(texts: Texts, row: int, step: int, allowed: np.ndarray | None, taken: Collection[int]) -> Iterator[int]:
    """Yields the rows of other messages of the session, the nearest first."""
    place = row + step
    while 0 <= place < len(texts) and texts.groups[place] == texts.groups[row]:
        if allowed is not None and not allowed[place]:
            return
        if texts.parents[place] != texts.parents[row] and int(texts.parents[place]) not in taken:
            yield place
        place += step


def excerpt(found: Row, others: Sequence[tuple[Row, int]], terms: Collection[str] = ()) -> tuple[str, tuple[int, ...]]:
    """Returns the span of the found passage that has most of the terms, and the passages before (-1) and after (1) it.

    With the text, on one line, come the records of the session that it has, the found one first. `found` has `whole`,
    `char_from`, `char_to` and `line`, the others `passage` and `line`.
    """
    start, end = _densest_span(found["whole"], found["char_from"], found["char_to"], OWN if others else LONGEST, terms)
    room, before, after, lines = LONGEST - (end - start) - 2, "", "", [found["line"]]
    for left, (row, side) in zip(range(len(others), 0, -1), others, strict=True):
        share = room // left - len(BREAK)
        if share < SHORTEST:
            continue
        inside = len(row["passage"]) if side < 0 else 0
        part = around(row["passage"], inside, inside, share)
        before, after = (f"{part}{BREAK}{before}", after) if side < 0 else (before, f"{after}{BREAK}{part}")
        lines.append(row["line"])
        room -= len(part) + len(BREAK)
    text = f"{before}{around(found['whole'], start, end, LONGEST - len(before) - len(after))}{after}"
    return text, tuple(dict.fromkeys(lines))


def _densest_span(text: str, start: int, end: int, length: int, terms: Collection[str]) -> tuple[int, int]:
    """Returns the span of at most that length, between start and end, that has most of the terms."""
    if end - start <= length:
        return start, end
    wanted = set(terms)
    first = max(
        range(start, end - length + 1, STEP), key=lambda at: len(wanted.intersection(text_terms(text[at : at + length])))
    )
    return first, first + length


def around(text: str, start: int, end: int, length: int = LONGEST) -> str:
    """Returns the span of the text on one line, with as much text around it as fits into `length` characters."""
    room = max(length - (end - start) - 2, 0)
    low = max(start - room // 2, 0)
    high = min(low + (end - start) + room, len(text))
    low = max(min(low, high - (end - start) - room), 0)
    if low > 0:
        space = text.find(" ", low, start)
        low = space + 1 if space >= 0 else start
    if high < len(text):
        space = text.rfind(" ", end, high)
        high = space if space >= 0 else end
    shown = " ".join(text[low:high].split())[: length - 2]
    return f"{CUT if low > 0 else ''}{shown}{CUT if high < len(text) else ''}"
