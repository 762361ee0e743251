"""What was asked for and written is quoted: part of one message, with its author, or nothing."""

import re
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.distill.day import build_day
from memory_assets.stages.distill.quotes import find_quotes, opening, quotes_of
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.words import squeezed
from memory_assets_tests.conftest import NOW
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.distill.sessions import messages, said, window, windows
from memory_assets_tests.story import lay_out_sample

TASK = "Rename the event to tide.turned everywhere."


def quoted(*turns: tuple[str, str] | dict) -> list[tuple[str, str]]:
    return [(quote.source, quote.text) for quote in find_quotes(said(*turns))]


def request_of(*turns: str) -> str:
    return dict(quoted(*(("owner", turn) for turn in turns))).get("request", "")


@pytest.mark.parametrize(
    "turn", ["hi", "Hello!", "/clear", "/compact keep the decisions", "yes", "ok, go on", "👍"]
)
def test_a_greeting_a_slash_command_or_a_go_ahead_is_no_request(turn: str):
    assert request_of(turn, TASK) == TASK
    assert request_of(turn) == ""


@pytest.mark.parametrize(
    ("turn", "request_text"),
    [
        (
            "The relay's tests fail:\n\n```\nexit status 1\n```\n\nfix them please",
            "The relay's tests fail:",
        ),
        (
            f"{TASK} {'The old name is in the docs of every consumer. ' * 5}",
            f"{TASK}{' The old name is in the docs of every consumer.' * 3}",
        ),
    ],
)
def test_a_request_ends_with_a_sentence_and_before_what_was_pasted(turn: str, request_text: str):
    assert request_of(turn) == request_text


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        ("All 12 uses are renamed. Want me to open the PR?", None),
        ("Let me check the logs.\n[toolCall Bash({})]", "Let me check the logs."),
        ("It works now. The output:\n```\nexit status 0\n```", "It works now."),
        ("**The output:**\n```\nexit status 0\n```", ""),
        ("x" * 500, ""),
        ("Always use conda from now on in every project.", "Always use conda from now on in every project."),
    ],
)  # fmt: skip
def test_the_state_is_how_the_last_words_of_the_assistant_begin(reply: str, state: str | None):
    quotes = dict(quoted(("owner", TASK), ("assistant", reply)))
    assert quotes.get("state", "") == (reply if state is None else state)


GIT = "[tides 749b51f] Rename the event\n 2 files changed"
CREATES = (
    '[toolCall Bash({"command":"gh pr create --draft --title \\"Rename the event\\" --body x"})]'
)


@pytest.mark.parametrize(
    ("written", "quote"),
    [
        ({"author": "tool", "text": GIT}, ("commit", "Rename the event")),
        ({"author": "assistant", "kind": "tool_call", "text": CREATES}, ("pull request", "Rename the event")),
        ({"author": "tool", "tool_name": "ExitPlanMode", "text": "Approved.\n\n## Approved Plan:\n# Two steps\n\nfirst"}, ("plan", "Two steps")),
        ({"author": "injected", "text": "Implement the following plan:\n\n# Two steps\n\nfirst"}, ("plan", "Two steps")),
        ({"author": "injected", "kind": "summary", "text": "This session is being continued.\nSummary:\nThe event has a new name. Docs are open."}, ("summary", "The event has a new name. Docs are open.")),
        ({"author": "injected", "kind": "summary", "text": "Another language model started it and wrote:\nThe event has a new name."}, ("summary", "The event has a new name.")),
        ({"author": "injected", "kind": "summary", "text": "# Checkpoint\n\nThe event has a new name."}, ("summary", "The event has a new name.")),
        ({"author": "owner", "text": "Look:\n" + GIT}, None),
        ({"author": "tool", "text": "Approved.\n## Approved Plan:\n# Two steps"}, None),
    ],
)  # fmt: skip
def test_what_the_sessions_own_model_wrote_is_quoted(written: dict, quote: tuple[str, str] | None):
    quotes = quoted(("owner", TASK), written)
    assert quotes[1:] == ([quote] if quote else [])


def day_of(rows: list[dict], **about) -> dict[str, pl.DataFrame]:
    return build_day(windows(window(rows, **about)), messages(rows))


def test_a_segment_has_its_quotes_with_their_messages_and_orders_of_others_are_left_out():
    rows = said(("owner", TASK), ("assistant", "All 12 uses are renamed."))
    (segment,) = day_of(rows, summary="Renamed; docs next.")["segments"].to_dicts()
    assert [(quote.source, quote.text, quote.message_id) for quote in quotes_of(segment)] == [
        ("request", TASK, rows[0]["message_id"]),
        ("state", "All 12 uses are renamed.", rows[1]["message_id"]),
        ("summary", "Renamed; docs next.", window(rows)["last_message_id"]),
    ]
    rows[1]["text"] = "Always use conda from now on in every project."
    assert day_of(rows)["segments"]["quote_sources"].to_list() == [["request"]]


sentences = st.sampled_from(
    ["Rename the event.", "Hi!", "it’s **old**.", "- the relay fails", "```\ncode\n```", "> quoted words", "# Title", "Why?", "etc.. and so on",
     "<note>Be brief.</note>", "22:01:10 claimed", "See [the docs](a.md). It has…", "1. High: a leak", "\u00a0x", "Done. Pushed to origin as tides.",
     "From now on use uv, never pip.", "we decided to store amounts as cents", "no, use pnpm instead of npm", GIT, CREATES]
)  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["owner", "assistant", "tool"]),
            st.lists(sentences, min_size=1),
            st.sampled_from([" ", "\n", "\n\n"]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_every_quote_is_in_its_message(turns: list[tuple[str, list[str], str]]):
    rows = said(*((author, between.join(texts)) for author, texts, between in turns))
    day = day_of(rows)
    assert [*composed(day, messages(rows))] == []


@given(st.text(), st.integers(0, 300))
def test_an_opening_is_the_beginning_of_its_text(text: str, most: int):
    assert text.strip().startswith(opening(text, most))


def composed(
    day: dict[str, pl.DataFrame], all_messages: pl.DataFrame, summaries: Iterable[str] = ()
) -> list[str]:
    """The quotes and facts with words that no message has in this order.

    A fact may begin with a capital, end with a stop, and say that the owner said it; an answer
    follows its question, and what the chosen option means follows the answer.
    """
    rows = all_messages.to_dicts()
    texts = {row["message_id"]: squeezed(row["text"]) for row in rows}
    quotes = [quote for segment in day["segments"].to_dicts() for quote in quotes_of(segment)]
    wrong = [
        quote.text
        for quote in quotes
        if squeezed(quote.text) not in texts.get(quote.message_id, "")
        and quote.text not in summaries
    ]
    plain_texts = {row["message_id"]: plain_words(row["text"]) for row in rows}
    for fact in day["observations"].to_dicts():
        told = [plain_texts[id] for id in fact["message_ids"]]
        words = plain_words(fact["text"].removeprefix("The owner said: "))
        if count_pieces(words, told) > (3 if fact["tags"] == ["answer"] else 1):
            wrong.append(fact["text"])
    return wrong


def count_pieces(words: str, texts: list[str]) -> float:
    """Of how many passages of the texts the words consist; infinite with any that is in none."""
    first = max(n for n in range(len(words) + 1) if any(words[:n] in text for text in texts))
    rest = count_pieces(words[first:].strip(), texts) if first else float("inf")
    return 1 + rest if words else 0


def plain_words(text: str) -> str:
    """The words without marks, escapes and case."""
    return " ".join(re.findall(r"\w+", re.sub(r"\\[nt]", " ", text).casefold()))


def built(store: Store) -> tuple[dict[str, pl.DataFrame], pl.DataFrame, list[str]]:
    """The tables of all windows of a store that has captured messages, and what to compare with."""
    all_windows = store.tables.read("windows")
    all_messages = store.tables.read("messages")
    day = build_day(all_windows, all_messages)
    return day, all_messages, all_windows["summary"].drop_nulls().to_list()


def test_the_bundled_sample_has_no_composed_words(tmp_path: Path):
    store = open_store(
        read_settings(data=tmp_path / "store", timezone="UTC", owner="mira", now=NOW)
    )
    capture(store, lay_out_sample(tmp_path / "transcripts"))
    day, *compared = built(store)
    assert composed(day, *compared) == []
    assert day["segments"].filter(pl.col("quotes").list.len() >= 2).height >= 15
    assert set(day["segments"]["narrative"]) == {""}
    assert set(day["observations"]["kind"]) == {"fact"}


@pytest.mark.slow
def test_real_transcripts_have_no_composed_words(captured_transcripts: Store):
    day, *compared = built(captured_transcripts)
    assert composed(day, *compared) == []
    sources = day["segments"].explode("quote_sources")["quote_sources"].value_counts()
    print(sources)
    assert set(sources["quote_sources"].drop_nulls()) >= {"request", "summary", "commit", "state"}
