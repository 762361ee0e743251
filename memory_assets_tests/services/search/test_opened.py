"""Messages and memories are opened by their ids, in the exchange that they belong to."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from memory_assets.adapters.text_index import TextIndex
from memory_assets.errors import NoteError, UnknownIdError
from memory_assets.interfaces.views.registry import render_text
from memory_assets.memory import MemoryAgent
from memory_assets.services.search.opened import AROUND, open_exchanges
from memory_assets.stages.embed.project import PASSAGES_A_LINE
from memory_assets.stages.recall.retrievers import Corpus
from memory_assets_tests.factories import START, frame, row
from memory_assets_tests.small_store import FACT, IDS, MEMORY, index, small_store
from memory_assets_tests.stages.recall.recalled import indexed

TURNS = {line: "owner" if line % 3 == 0 else "assistant" for line in range(30)}
"""Ten exchanges: a request with two messages of the assistant."""

MEMORY_ID = "0f3a5c1e-0000-5000-8000-000000000002"


def passage(line: int) -> dict:
    text = f"text {line}"
    where = {
        "event_at": START,
        "session_id": "s1",
        "path": "p",
        "line": line,
        "project": "shop",
        "person": "Mira",
    }
    return where | {"id": f"msg_{line:02}#0", "message_id": f"msg_{line:02}", "whole": text, "passage": text,
                    "char_from": 0, "char_to": len(text), "author": TURNS[line], "role": "turn"}  # fmt: skip


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    words = [
        (f"msg_{line:02}#0", "messages", "x", f"m{line}", "s1", line * PASSAGES_A_LINE)
        for line in TURNS
    ]
    indexed(tmp_path, words, "id corpus text parent group order")

    def read(ids: Sequence[str]) -> pl.DataFrame:
        lines = [int(id[4:6]) for id in ids]
        return pl.DataFrame([passage(line) for line in lines if line != 3])

    memory = row("memories", id=MEMORY_ID, text="Text 12.", session_id="s1", lines=[13])
    return Corpus(frame("memories", memory), TextIndex(tmp_path), read_passages=read)


def opened(corpus: Corpus, id: str, around: int = 0) -> list[int]:
    (exchange,) = open_exchanges([id], corpus, around).exchanges
    return [message.line for message in exchange.messages]


@pytest.mark.parametrize("line", [12, 13, 14])
def test_each_message_opens_the_exchange_from_the_request_to_the_end_of_the_answer(
    corpus: Corpus, line: int
):
    assert opened(corpus, f"msg_{line}") == [12, 13, 14]
    assert opened(corpus, f"msg_{line}", AROUND) == list(range(12 - AROUND, 15 + AROUND))
    (exchange,) = open_exchanges([f"msg_{line}"], corpus).exchanges
    assert [message.line for message in exchange.messages if message.is_match] == [line]


def test_what_may_not_be_read_ends_the_exchange_and_is_unknown_itself(corpus: Corpus):
    assert opened(corpus, "msg_05", AROUND) == list(range(4, 6 + AROUND))
    with pytest.raises(UnknownIdError, match="There is no message msg_03"):
        opened(corpus, "msg_03")


def test_a_memory_opens_where_it_was_learnt_and_half_an_id_is_refused(corpus: Corpus):
    (exchange,) = open_exchanges(["mem_0f3a5c1e"], corpus).exchanges
    assert (exchange.id, exchange.fact, exchange.session) == (MEMORY_ID, "Text 12.", "s1")
    assert [message.line for message in exchange.messages] == [12, 13, 14]
    with pytest.raises(NoteError, match="begins the ids of 10 messages"):
        opened(corpus, "msg_1")


def test_explain_shows_a_message_among_those_around_it_with_the_fact_s_speaker():
    index(small_store())
    agent = MemoryAgent()
    shown = render_text("explain", agent.explain(IDS[2]))
    assert "→ [3] x: No, use uv, never pip." in shown
    assert [line[3] for line in shown.splitlines() if line.startswith("  [")] == [
        "0",
        "2",
        "4",
        "5",
    ]
    with pytest.raises(UnknownIdError):
        agent.explain("msg_ffff")
    assert FACT in render_text("explain", agent.explain(MEMORY))


def test_what_an_agent_opens_is_recalled_and_what_is_only_listed_is_not():
    store = small_store()
    index(store)
    agent = MemoryAgent()
    listed = agent.recall("what is said about packages in rust", profile="lean", candidates=True)
    ids = {candidate.id for candidate in listed.candidates}
    halves = [result.other_half.message_id for result in listed.results if result.other_half]
    shown = [*halves, *(result.memory_id for result in listed.results)]
    assert ids
    assert all(len(id) >= len("msg_") + 6 for id in ids)
    assert not [id for id in shown if id.startswith(tuple(ids))]
    agent.open([MEMORY, *ids])
    recalled, opened = store.ledger.events(["memory.recalled"])
    exposed = [result.memory_id for result in listed.results if result.kind == "fact"]
    assert recalled.payload["memory_ids"] == exposed
    assert (opened.payload["memory_ids"], opened.payload["results"]) == ([MEMORY], 1 + len(ids))
