"""Finding the long message of an assistant that answers a question asked in other words, in the memory of all transcripts.

`long_messages.tsv` names sixty messages of sessions that nobody labelled by the hashes of their texts, each with a question that
was written after reading the message and before any ranking was changed. Ours is asked for messages through `MemoryAgent`;
beside it the same encoder has one vector for each whole message, as most stores do, and SQLite's full-text search the same texts.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from memory_assets.text.words import text_hash
from memory_assets_tests.bench.questions import whole_messages
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import SHARED
from memory_assets_tests.bench.whole_store import whole_store

ASKED = Path(__file__).with_name("long_messages.tsv")
HASH_CHARS = 16
FIRST = 10
PLAIN = "vectors"

Find = Callable[[str], Sequence[str]]
"""A question → ids of messages, best first."""


def long_messages(small: bool = False) -> list[Row]:
    """Returns how many of the messages are among the first ten of each, and by how much ours is ahead of plain vectors."""
    if small or not (SHARED / "unpack").is_file():
        print("long-messages: no transcripts, or little input, where none of the messages are")
        return []
    agent = whole_store()
    messages = whole_messages(agent)
    ids: dict[str, set[str]] = {}
    for row in messages.rows:
        ids.setdefault(text_hash(row["text"])[:HASH_CHARS], set()).add(row["message_id"])
    asked = [(question, ids[name]) for name, question in read_questions() if name in ids]

    def ours(question: str) -> list[str]:
        return [
            one.memory_id for one in agent.recall(question, corpus="messages", probe=True).results
        ]

    def plain(name: str) -> Find:
        return lambda question: [
            row["message_id"] for row in messages.find(name, question, 3 * FIRST)
        ]

    finders = {"ours": ours, "plain MiniLM": plain(PLAIN), "SQLite FTS5": plain("SQLite FTS5")}
    places = {
        name: [_place(find(question), wanted) for question, wanted in asked]
        for name, find in finders.items()
    }
    rows = [_row(name, found) for name, found in places.items()]
    ahead = rows[0].ratio - rows[1].ratio
    return [*rows, Row("long-messages: ours ahead of plain MiniLM", ahead, "recall@10", floor=0.0)]


def read_questions() -> Iterator[tuple[str, str]]:
    """Yields the hash of each message with its question."""
    for line in ASKED.read_text("utf-8").splitlines()[1:]:
        name, question = line.split("\t")
        yield name, question


def _place(found: Sequence[str], wanted: set[str]) -> int | None:
    """Returns the place of the message among the first ten, from 1; the same text in several files is one place."""
    return next(
        (
            place
            for place, id in enumerate(dict.fromkeys(found), 1)
            if id in wanted and place <= FIRST
        ),
        None,
    )


def _row(name: str, places: Sequence[int | None]) -> Row:
    hits = {
        most: sum(place is not None and place <= most for place in places) for most in (1, 5, FIRST)
    }
    mrr = np.mean([1 / place if place else 0.0 for place in places])
    told = f"recall@10; @1 {hits[1] / len(places):.3f}, @5 {hits[5] / len(places):.3f}, MRR {mrr:.3f}; {len(places)} questions"
    return Row(f"long-messages: {name}", hits[FIRST] / len(places), told)
