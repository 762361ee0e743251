"""What was said is cut into passages that lose nothing, and each distinct text gets its vector once."""

from collections.abc import Sequence
from datetime import date

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.embed.encode import (
    PASSAGE_CHARS,
    cut_messages,
    cut_spans,
    encode_passages,
    make_passages,
)
from memory_assets_tests.factories import ReadsWhole, frame, message

DAY = date(2026, 8, 3)


class Lengths(ReadsWhole):
    """A vector is the length of the text; what was asked is kept."""

    name, version, dimension = "lengths", "1", 1

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.array([[len(text)] for text in texts], dtype=np.float32)

    def encode_query(self, text: str) -> np.ndarray:
        return self.encode([text])[0]


@given(st.text(alphabet=st.sampled_from("ab .\n-1*"), max_size=3_000))
def test_passages_are_short_in_order_and_leave_out_nothing_but_space(text: str):
    spans = cut_spans(text)
    assert all(0 < end - start <= PASSAGE_CHARS for start, end in spans)
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())


def test_only_what_was_said_in_words_is_cut_and_steps_are_told_from_answers():
    said = frame(
        "messages",
        message("Which port?", 0),
        message("Let me look.", 1, author="assistant"),
        message("[toolCall grep()]", 2, author="assistant", kind="tool_call"),
        message("5433", 3, author="tool", kind="tool_result"),
        message("It is 5433.", 4, author="assistant"),
        message("Thanks.", 5),
    )
    assert cut_messages(said).select("text", "role").rows() == [
        ("Which port?", "turn"), ("Let me look.", "step"), ("It is 5433.", "answer"), ("Thanks.", "turn"),
    ]  # fmt: skip


def test_calls_below_a_text_are_not_cut_and_what_a_person_quotes_is():
    call = '[toolCall edit({"path":"a.md","oldText":"- [ ] one"})]'
    said = frame(
        "messages",
        message(f"Here is its log:\n{call}\nWhy?", 0),
        message(f"Which host?\nI ask first.\n{call}\n{call}", 1, author="assistant"),
        message(call, 2, author="assistant"),
    )
    assert cut_messages(said)["text"].to_list() == [
        f"Here is its log:\n{call}\nWhy?", "Which host?\nI ask first.",
    ]  # fmt: skip


def test_each_text_gets_a_vector_once_and_known_ones_are_taken_over():
    said, embedder = (
        frame("messages", message("Use uv.", 0), message("Use uv.", 1), message("Never pip.", 2)),
        Lengths(),
    )
    first = encode_passages(DAY, said, embedder)
    found = make_passages(DAY, said).join(first, on="text_hash", how="left", maintain_order="left")
    assert found["vector"].to_list() == [[7.0], [7.0], [10.0]]
    assert sorted(embedder.asked) == ["Never pip.", "Use uv."]
    assert encode_passages(DAY, said, embedder, first).equals(first)
    assert len(embedder.asked) == 2
