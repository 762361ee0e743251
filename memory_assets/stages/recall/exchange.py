"""Finds the other half of an exchange: the message that answers a found message, or the one that it
answers.

"Yes, do that" says nothing alone, and a question is found more easily than its answer. An owner's
message is shown with the end of the turn that it began, behind the steps on the way to it, else
with what it replies to; an assistant's with the reply to the question at its end or the reply that
it is wrong, else with the owner's message that it answers.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np
import polars as pl

from memory_assets.english.asking import only_asks
from memory_assets.english.openings import calls_wrong, withdraws
from memory_assets.schema.protocols import Row, Texts
from memory_assets.schema.vocabulary import Link
from memory_assets.stages.recall.replaced import DENIED
from memory_assets.stages.recall.results import OtherHalf, Recalled
from memory_assets.stages.recall.speakers import author_of, said_by
from memory_assets.text.excerpts import BESIDE, LONGEST, excerpt, further_terms

LOOKED_AT = 20
"""Messages of the session on either side among which the other half is looked for."""

Half = tuple[Link, int]
"""What the found message is to the other half, and a row of that in the texts."""


@dataclass(frozen=True)
class Neighbours:
    """The messages around a found one that may be shown, nearest first: rows in the texts, and
    their passages.
    """

    before: Sequence[int]
    after: Sequence[int]
    passages: Mapping[int, Row]

    def last_request(self) -> int | None:
        """Returns the owner's last message before."""
        return next((row for row in self.before if self._is_owners(row)), None)

    def reply(self) -> int | None:
        """Returns the end of the assistant's turn that follows."""
        turn = takewhile(lambda row: not self._is_owners(row), self.after)
        return next((row for row in turn if self._ends_turn(row)), None)

    def directly_before(self) -> int | None:
        """Returns the assistant's message before, with nothing between."""
        return next((row for row in self.before[:1] if self._ends_turn(row)), None)

    def directly_after(self) -> int | None:
        """Returns the owner's message after, with nothing between."""
        return next((row for row in self.after[:1] if self._is_owners(row)), None)

    def withdraw(self, passage: Row) -> bool:
        """Returns whether the owner takes back with their next message what they say here."""
        following = next(filter(self._is_owners, self.after), None)
        is_statement = passage["author"] == "owner" and not passage["whole"].rstrip().endswith("?")
        return (
            is_statement and following is not None and withdraws(self.passages[following]["whole"])
        )

    def _is_owners(self, row: int) -> bool:
        return self.passages[row]["author"] == "owner"

    def _ends_turn(self, row: int) -> bool:
        return (self.passages[row]["author"], self.passages[row]["role"]) == ("assistant", "answer")


def show_exchanges(
    found: Sequence[tuple[int, Row, Recalled]],
    texts: Texts,
    read: Callable[[Sequence[str]], pl.DataFrame],
    terms: Collection[str],
    vector: np.ndarray | None = None,
    allowed: np.ndarray | None = None,
) -> dict[str, Recalled]:
    """Returns the messages by id, cut to the sentences that have most of the terms, with the other
    half of their exchange.

    Takes the row in the texts, the passage and the result of each. `read` returns the passages of
    some ids; `allowed` says of each row whether it may be shown. The passage of the other half is
    the one nearest to the vector.
    """
    sides = {
        row: tuple(messages_beside(texts, row, step, allowed) for step in (-1, 1))
        for row, _, _ in found
    }
    passages = read_rows(
        texts, [row for both in sides.values() for side in both for row in side], read
    )
    halves: dict[int, Half] = {}
    results: dict[int, Recalled] = {}
    for row, passage, result in found:
        before, after = (list(takewhile(passages.__contains__, side)) for side in sides[row])
        neighbours = Neighbours(before, after, passages)
        half = _other_half(passage, neighbours)
        is_withdrawn = neighbours.withdraw(passage)
        results[row] = _denied(result, result.said_by) if is_withdrawn else result
        if half is not None:
            halves[row] = (half[0], _nearest_passage(texts, half[1], vector))
    shown = read_rows(texts, [row for _, row in halves.values()], read)
    return {
        result.memory_id: _with_half(
            results[row], passage, halves[row][0], shown[halves[row][1]], terms
        )
        if row in halves and halves[row][1] in shown
        else replace(results[row], text=excerpt(passage, terms))
        for row, passage, result in found
    }


def _other_half(passage: Row, neighbours: Neighbours) -> Half | None:
    """Returns which message is shown beside the passage's, if any."""
    answer, answered = None, None
    if passage["author"] == "owner":
        answer, answered = neighbours.reply(), neighbours.directly_before()
    elif passage["author"] == "assistant":
        reply = neighbours.directly_after()
        answered = neighbours.last_request()
        is_denied = reply is not None and calls_wrong(neighbours.passages[reply]["whole"])
        answer = reply if is_denied or passage["whole"].rstrip().endswith("?") else None
    if answer is not None:
        return "answered by", answer
    return None if answered is None else ("answers", answered)


def _with_half(
    result: Recalled, passage: Row, relation: Link, row: Row, terms: Collection[str]
) -> Recalled:
    is_asked = relation == "answered by" and only_asks(passage["whole"])
    room = BESIDE if is_asked else LONGEST - BESIDE
    text = excerpt(passage, terms, room)
    wanted = further_terms(terms, text) if relation == "answered by" else terms
    speaker = said_by({**row, "author": author_of(row)})
    beside = excerpt(row, wanted, LONGEST - room)
    half = OtherHalf(row["message_id"], relation, speaker, beside, row["line"])
    is_denied = passage["author"] == "assistant" and relation == "answered by"
    is_denied = is_denied and calls_wrong(row["whole"])
    return replace(
        _denied(result, speaker) if is_denied else result,
        text=text,
        lines=(*result.lines, half.line),
        other_half=half,
    )


def _denied(result: Recalled, speaker: str) -> Recalled:
    return replace(result, tags=(*result.tags, f"{DENIED}{speaker}"))


def messages_beside(
    texts: Texts, row: int, step: int, allowed: np.ndarray | None = None
) -> list[int]:
    """Returns a row of each message beside that one, the nearest first, before (-1) or after (1)
    it.
    """
    rows: dict[int, int] = {}
    place = row + step
    while (
        0 <= place < len(texts)
        and texts.groups[place] == texts.groups[row]
        and len(rows) < LOOKED_AT
    ):
        if allowed is not None and not allowed[place]:
            break
        if texts.parents[place] != texts.parents[row]:
            rows.setdefault(int(texts.parents[place]), place)
        place += step
    return list(rows.values())


def read_rows(
    texts: Texts, rows: Sequence[int], read: Callable[[Sequence[str]], pl.DataFrame]
) -> dict[int, Row]:
    """Returns the passages of these rows that may be shown."""
    row_of = {texts.ids[row]: row for row in rows}
    return (
        {row_of[passage["id"]]: passage for passage in read(list(row_of)).iter_rows(named=True)}
        if row_of
        else {}
    )


def _nearest_passage(texts: Texts, row: int, vector: np.ndarray | None) -> int:
    """Returns the row of the passage nearest to the vector, of the message that the row belongs
    to.
    """
    rows = list(_rows_of_message(texts, row))
    if vector is None or texts.vectors.shape[1] != len(vector):
        return rows[0]
    return rows[int((texts.vectors[rows].astype(np.float32) @ vector).argmax())]


def _rows_of_message(texts: Texts, row: int) -> Iterator[int]:
    """Yields the rows of the message that the row belongs to; they are adjacent."""
    first = row
    while first > 0 and texts.parents[first - 1] == texts.parents[row]:
        first -= 1
    while first < len(texts) and texts.parents[first] == texts.parents[row]:
        yield first
        first += 1
