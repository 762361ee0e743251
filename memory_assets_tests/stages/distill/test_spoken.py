"""What was asked for and where it ended is quoted: whole sentences of one message, `…` at each cut, or nothing."""

import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.distill.day import build_day
from memory_assets.stages.distill.rules.exchanges import parse_exchanges
from memory_assets.stages.distill.spoken import Quote, find_request, find_state
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.words import squeezed
from memory_assets_tests.conftest import NOW
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.distill.sessions import said
from memory_assets_tests.story import lay_out_sample

TASK = "Rename the event to tide.turned everywhere."


def request_of(*turns: str) -> str:
    return find_request(parse_exchanges(said(*(("owner", turn) for turn in turns)))).text


def state_of(*replies: str) -> str:
    return find_state(
        parse_exchanges(said(("owner", TASK), *(("assistant", reply) for reply in replies)))
    ).text


@pytest.mark.parametrize(
    "opening",
    [
        "hi", "Hello!", "good morning", "Hi there, good morning!", "hey claude", "Hello, how are you doing today?", "/clear",
        "/model opus", "/compact keep the decisions about the relay", "yes", "ok, go on", "👍", "```\nexit status 1\n```",
    ],
)  # fmt: skip
def test_a_greeting_a_slash_command_or_a_go_ahead_is_no_request(opening: str):
    assert request_of(opening, TASK) == TASK
    assert request_of(opening) == ""


@pytest.mark.parametrize(
    ("turn", "request_text"),
    [
        ("Hi! Rename the event to tide.turned.", "… Rename the event to tide.turned."),
        (
            "The relay's tests fail:\n\n```\nexit status 1\n```\n\nfix them please",
            "The relay's tests fail: …",
        ),
        (
            "Callum got twelve texts. Logs from leith-1:\n\n22:01:10 worker claimed",
            "Callum got twelve texts. Logs from leith-1: …",
        ),
        ("rename the event… it’s old", "rename the event … it’s old"),
        (
            f"{TASK} {'The old name is in the docs of every consumer. ' * 5}",
            f"{TASK} {'The old name is in the docs of every consumer. ' * 3}…",
        ),
    ],
)
def test_a_request_is_cut_at_the_ends_of_sentences_and_each_cut_is_marked(
    turn: str, request_text: str
):
    assert request_of(turn) == request_text


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        ("All 12 uses are renamed. Want me to open the PR?", "All 12 uses are renamed. …"),
        ("**Done.** All 12 uses\nare renamed.", "**Done.** All 12 uses are renamed."),
        (
            "All 12 uses are renamed:\n\n- the relay\n\nThe docs have the new name, too.",
            "… The docs have the new name, too.",
        ),
        (
            "Want me to open the PR? The branch is pushed to origin.",
            "… The branch is pushed to origin.",
        ),
        ("Let me check the logs of the relay.", ""),
        ("Now I’ll rename it in the docs of the relay.", ""),
        ("What would you like me to do with the relay?", ""),
        ("Always use conda from now on in every project.", ""),
        ("Done.", ""),
    ],
)
def test_the_state_is_what_the_last_words_begin_with_or_end_with_if_they_state_something(
    reply: str, state: str
):
    assert state_of("The relay is written in Go and has nine tests.", reply) == state


sentences = st.sampled_from(
    ["Rename the event.", "Hi!", "it’s **old**.", "- the relay fails", "```\ncode\n```", "> quoted words", "# Title", "Why?", "etc.. and so on",
     "<note>Be brief.</note>", "22:01:10 claimed", "See [the docs](a.md). It has…", "1. High: a leak", "\u00a0x", "Done. Pushed to origin as tides."]
)  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["owner", "assistant"]),
            st.lists(sentences, min_size=1),
            st.sampled_from([" ", "\n", "\n\n"]),
        ),
        max_size=6,
    )
)
def test_every_quoted_part_is_in_its_message(turns: list[tuple[str, list[str], str]]):
    rows = said(*((author, between.join(texts)) for author, texts, between in turns))
    exchanges = parse_exchanges(rows)
    assert (
        invented(
            pl.DataFrame([_row(find_request(exchanges), find_state(exchanges))]), pl.DataFrame(rows)
        )
        == []
    )


def _row(request: Quote, state: Quote) -> dict[str, str]:
    return {
        "request": request.text,
        "request_id": request.message_id,
        "state": state.text,
        "state_id": state.message_id,
    }


def invented(segments: pl.DataFrame, messages: pl.DataFrame) -> list[str]:
    """The parts of quotes that no message of their speaker has."""
    by_id = (
        {row["message_id"]: row for row in messages.iter_rows(named=True)}
        if messages.height
        else {}
    )
    quotes = [
        (row[name], by_id.get(row[f"{name}_id"]), author)
        for row in segments.to_dicts()
        for name, author in SPEAKERS
        if row[name]
    ]
    assert all(
        message and message["author"] == author and message["kind"] == "text"
        for _, message, author in quotes
    )
    return [
        part
        for text, message, _ in quotes
        for part in re.split(r"(?:^|(?<= ))…(?= |$)", text)
        if message and part.strip() not in squeezed(message["text"])
    ]


SPEAKERS = (("request", "owner"), ("state", "assistant"))


def distilled(store: Store) -> dict[str, pl.DataFrame]:
    """The tables of all windows of a store that has captured messages."""
    return build_day(store.tables.read("windows"), store.tables.read("messages"))


def test_the_bundled_sample_has_no_invented_words(tmp_path: Path):
    store = open_store(
        read_settings(data=tmp_path / "store", timezone="UTC", owner="mira", now=NOW)
    )
    capture(store, lay_out_sample(tmp_path / "transcripts"))
    built = distilled(store)
    assert invented(built["segments"], store.tables.read("messages")) == []
    assert built["segments"].filter(pl.col("request") != "", pl.col("state") != "").height >= 15
    assert set(built["segments"]["narrative"]) == {""}
    assert set(built["observations"]["kind"]) == {"fact"}


@pytest.mark.slow
def test_real_transcripts_have_no_invented_words(captured_transcripts: Store):
    segments = distilled(captured_transcripts)["segments"]
    assert invented(segments, captured_transcripts.tables.read("messages")) == []
    assert segments.filter(pl.col("request") != "").height > 300
