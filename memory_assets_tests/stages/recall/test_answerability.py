"""How likely the answer to a question is among its candidates."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.answerability import (
    KNOWN,
    AnswerSignals,
    answerability,
    signals_among,
)
from memory_assets.stages.recall.parsed_question import KnownNames, ParsedQuestion, parse_question
from memory_assets.stages.recall.ranking import Found
from memory_assets.stages.recall.relevance import Shared
from memory_assets.stages.recall.results import Asker
from memory_assets_tests.factories import START, row
from memory_assets_tests.stages.recall.recalled import indexed

SHARE, TEXTS = st.floats(0, 1), st.integers(0, 10**6)
SIGNALS = AnswerSignals(memory=0.5, best=0.5, nearness=0.4, uncovered=0.2)
DOUBTS = ("is_name_unknown", "is_name_missed", "is_name_alone")


@given(SHARE, SHARE, TEXTS)
def test_relevance_makes_an_answer_likelier_and_what_nothing_covers_less_likely(
    relevance: float, uncovered: float, texts: int
):
    signals = AnswerSignals(relevance, relevance, relevance, uncovered)
    likely = answerability(signals, texts)
    more = replace(signals, memory=relevance + 0.1, best=relevance + 0.1, nearness=relevance + 0.1)
    assert answerability(more, texts) > likely
    assert answerability(replace(signals, uncovered=uncovered + 0.1), texts) <= likely
    for doubt in DOUBTS:
        assert answerability(replace(signals, **{doubt: True}), texts) <= likely


def test_uncovered_words_and_missed_names_say_little_in_a_small_memory_and_much_in_a_large_one():
    doubtful = replace(SIGNALS, memory=0.0, uncovered=0.6, is_name_missed=True)
    assert answerability(doubtful, 50) > 0.4
    assert answerability(doubtful, 50_000) < KNOWN


def test_in_a_large_memory_one_near_memory_suffices_and_one_near_passage_does_not():
    passage = AnswerSignals(memory=0.0, best=0.8, nearness=0.15, uncovered=0.0)
    assert answerability(passage, 50_000) < KNOWN
    assert answerability(replace(passage, memory=0.8), 50_000) > 0.5


FACTS = ("HarborMint is owned by Team Brine.", "Postgres listens on 5433.", "Tests run with uv.")


@pytest.fixture
def read(tmp_path: Path):
    said = [(str(place), "memories", text) for place, text in enumerate(FACTS)]
    texts = indexed(tmp_path, said, "id corpus text", "memories")
    asker = Asker(START + timedelta(days=1))
    return lambda question: parse_question(question, asker, Filters(), texts, KnownNames())


def found(names: tuple[bool, ...], rest: float) -> Found:
    memory = row("memories", id="m", event_at=START)
    return Found("m", memory, 0.8, 0.6, "", (), shared=Shared(0.5, names, rest))


@pytest.mark.parametrize(
    ("question", "names", "rest", "doubts"),
    [
        ("Who owns HarborMint?", (True,), 1.0, set()),
        ("What is the HarborMint password rotation secret?", (True,), 0.0, {"is_name_alone"}),
        ("Which Postgres port?", (False,), 0.6, {"is_name_missed"}),
        ("Did we replace it with Cassandra?", (False,), 0.4, {"is_name_unknown", "is_name_missed"}),
        ("what was the password of the rotation", (), 0.0, set()),
    ],
)
def test_a_name_alone_is_no_answer_and_a_name_that_is_missing_makes_it_doubtful(
    read, question: str, names: tuple[bool, ...], rest: float, doubts: set[str]
):
    parsed: ParsedQuestion = read(question)
    signals = signals_among(parsed, [found(names, rest)])
    assert {doubt for doubt in DOUBTS if getattr(signals, doubt)} == doubts


def test_without_candidates_nothing_is_known(read):
    assert answerability(signals_among(read("Who owns HarborMint?"), []), 50) < KNOWN


@pytest.mark.parametrize(("relevance", "is_known"), [(0.5, True), (0.1, False)])
def test_before_messages_have_vectors_their_words_say_how_near_they_are(
    read, relevance: float, is_known: bool
):
    """Words alone make half of a relevance: a passage with all words of the question has 0.5."""
    passage = replace(found((), 1.0), relevance=relevance, shared=Shared())
    signals = signals_among(read("Which port does the database use?"), [passage])
    unsaid = replace(signals, memory=0.0, uncovered=0.0)
    assert (answerability(unsaid, 50_000) >= KNOWN) == is_known
