"""Opens messages and memories by their ids: each with its exchange, word for word.

An exchange begins with a message of the owner and ends before the next one. Only what the corpus
may show is read.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from typing import ClassVar

from memory_assets.adapters.text_arrays import empty_arrays
from memory_assets.errors import NoteError, UnknownIdError
from memory_assets.schema.protocols import Row, Texts
from memory_assets.services.search.candidate_list import message_ids
from memory_assets.services.search.memory_ids import find_memory
from memory_assets.stages.embed.project import PASSAGES_A_LINE
from memory_assets.stages.recall.exchange import messages_beside, read_rows
from memory_assets.stages.recall.layout import Layout
from memory_assets.stages.recall.lookups import rows_of
from memory_assets.stages.recall.retrievers import Corpus
from memory_assets.stages.recall.speakers import author_of, said_by
from memory_assets.text.short_ids import is_message_id
from memory_assets.text.words import shortened

AROUND = 5
"""Messages on either side of the exchange that `explain` shows."""

LONGEST_MESSAGE = 2_000
"""Characters of one opened message."""


@dataclass(frozen=True)
class OpenedMessage:
    """A message of an opened exchange."""

    message_id: str
    said_by: str
    event_at: datetime
    line: int
    """Its record in the transcript."""
    text: str
    is_match: bool
    """Whether it is the opened message, or one that the opened memory was learnt from."""


@dataclass(frozen=True)
class OpenedExchange:
    """The exchange of an opened message or memory."""

    id: str
    fact: str
    """The text of an opened memory; empty for a message."""
    session: str
    project: str
    messages: tuple[OpenedMessage, ...]
    """In the order of the session; none for a memory without a readable message."""


@dataclass(frozen=True)
class Opened:
    """What was opened, in the order of the ids."""

    has_origin: ClassVar[None] = None
    """Tells it from an explanation."""

    exchanges: tuple[OpenedExchange, ...]


def open_exchanges(ids: Iterable[str], corpus: Corpus, around: int = 0) -> Opened:
    """Returns the exchange of each message or memory, with so many messages on either side.

    Raises `UnknownIdError` or `NoteError` for an id that nothing, or more than one thing, has.
    """
    texts = corpus.texts.open("messages") or empty_arrays()
    return Opened(tuple(_open(id.strip(), texts, corpus, around) for id in ids))


def _open(id: str, texts: Texts, corpus: Corpus, around: int) -> OpenedExchange:
    if not is_message_id(id):
        return _open_memory(id, texts, corpus, around)
    passages = _passages(texts, _row_of_message(texts, id), corpus, around)
    if not passages:
        raise _unknown(id)
    match = next(passage for passage in passages if passage["message_id"].startswith(id))
    where = (match["session_id"], match["project"])
    return OpenedExchange(match["message_id"], "", *where, _messages(passages, [match["line"]]))


def _open_memory(id: str, texts: Texts, corpus: Corpus, around: int) -> OpenedExchange:
    full_id = find_memory(corpus.memories, id)["id"]
    memory = rows_of(corpus.memories, [full_id]).row(0, named=True)
    rows = _rows_of_lines(texts, memory["session_id"], memory["lines"])
    readable = (_passages(texts, row, corpus, around) for row in rows)
    passages = next(filter(None, readable), ())
    about = (full_id, memory["text"], memory["session_id"], memory["project"])
    return OpenedExchange(*about, _messages(passages, memory["lines"]))


def _unknown(id: str) -> UnknownIdError:
    return UnknownIdError(f"There is no message {id[:40]}. `memory recall` shows the ids.")


def _row_of_message(texts: Texts, id: str) -> int:
    """Returns the first row of the message whose id has this beginning."""
    ids = message_ids(texts)
    matches = ids[bisect_left(ids, id) : bisect_left(ids, f"{id}~")]
    if not matches:
        raise _unknown(id)
    if len(matches) > 1:
        raise NoteError(f"{id[:40]} begins the ids of {len(matches)} messages. Give more of it.")
    return int(texts.rows_of([f"{matches[0]}#0"])[0])


def _rows_of_lines(texts: Texts, session: str, lines: Sequence[int]) -> Iterator[int]:
    """Yields the first row of each of these records of the session."""
    layout = Layout(texts)
    for line in lines:
        start = line * PASSAGES_A_LINE
        rows = layout.rows_within(session, start, start + PASSAGES_A_LINE - 1)
        yield from range(rows.start, min(rows.start + 1, rows.stop))


def _passages(texts: Texts, row: int, corpus: Corpus, around: int) -> list[Row]:
    """Returns the readable messages of the exchange of that row, and around it, in order; none
    where the row itself may not be read.
    """
    assert corpus.read_passages is not None
    rows_before = messages_beside(texts, row, -1)
    rows_after = messages_beside(texts, row, 1)
    passages = read_rows(texts, [*rows_before, row, *rows_after], corpus.read_passages)
    if row not in passages:
        return []
    earlier = list(takewhile(passages.__contains__, rows_before))
    later = list(takewhile(passages.__contains__, rows_after))
    asked = [place for place in [row, *earlier] if passages[place]["author"] == "owner"]
    length = [row, *earlier].index(asked[0]) if asked else len(earlier)
    answered = list(takewhile(lambda place: passages[place]["author"] != "owner", later))
    first = earlier[: length + around]
    last = later[: len(answered) + around]
    return [passages[place] for place in [*reversed(first), row, *last]]


def _messages(passages: Sequence[Row], matches: Sequence[int]) -> tuple[OpenedMessage, ...]:
    return tuple(
        OpenedMessage(
            passage["message_id"],
            said_by({**passage, "author": author_of(passage)}),
            passage["event_at"],
            passage["line"],
            shortened(passage["whole"], LONGEST_MESSAGE),
            passage["line"] in matches,
        )
        for passage in passages
    )
