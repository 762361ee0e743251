"""How relevant a candidate is, and where the list of results ends."""

from datetime import timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memory_assets.schema.protocols import Texts
from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.parsed_question import KnownNames, ParsedQuestion, parse_question
from memory_assets.stages.recall.relevance import (
    WORDS,
    Signals,
    belongs,
    judge_memories,
    relevance,
)
from memory_assets.stages.recall.results import Asker
from memory_assets_tests.factories import START, frame, row
from memory_assets_tests.stages.recall.recalled import indexed

# Which candidates belong

COUNT = 6
SHARES = arrays.arrays(np.float64, COUNT, elements=st.floats(0, 1))


def signals(
    cosine: list[float],
    coverage: list[float] | None = None,
    away: list[bool] | None = None,
    **changes,
) -> Signals:
    none = np.zeros(len(cosine))
    said = none if coverage is None else np.array(coverage)
    return Signals(np.array(cosine), said, np.array(away) if away else none.astype(bool), **changes)


def kept(found: Signals, **how) -> list[bool]:
    return belongs(found, relevance(found), **how).tolist()


def test_what_is_far_behind_the_best_stays_out():
    assert kept(signals([0.8, 0.7, 0.4])) == [True, True, False]


def test_another_project_yields_to_this_one_and_answers_where_this_one_does_not():
    assert kept(signals([0.5, 0.6], away=[False, True])) == [True, False]
    assert kept(signals([0.1, 0.6], away=[False, True])) == [False, True]


def test_of_few_less_will_do():
    found = signals([0.25, 0.15])
    assert kept(found) == [False, False]
    assert kept(found, few=np.array([True, False])) == [True, False]


def test_who_names_the_number_leaves_its_twins_behind():
    found = signals([0.57, 0.60], [1.0, 0.4], names_exact=np.array([True, False]))
    assert kept(found) == [True, False]


@given(SHARES, SHARES, arrays.arrays(np.bool_, COUNT))
def test_the_best_of_here_is_never_left_out_for_a_lesser_one_of_here(
    cosine: np.ndarray, coverage: np.ndarray, away: np.ndarray
):
    found = Signals(cosine, coverage, away)
    relevant = relevance(found)
    stays = belongs(found, relevant)
    assert stays.shape == (COUNT,)
    at_home = np.flatnonzero(~away)
    for one in at_home:
        for other in at_home:
            if stays[other] and relevant[one] > relevant[other] and coverage[one] > coverage[other]:
                assert stays[one]


# Memories

NOW = START + timedelta(days=40)
FACTS = {
    "uv": ("Dependencies are installed with uv.", {}),
    "port": ("Postgres listens on 5433 in staging.", {"event_at": START + timedelta(days=30)}),
    "editor": ("Tomasz works in Neovim.", {"scope": "person", "person": "tomasz"}),
}


def memories() -> pl.DataFrame:
    plain = {"scope": "project", "project": "heron", "person": "ines", "event_at": START}
    return frame(
        "memories",
        *(
            row("memories", id=id, text=text, **plain | changes)
            for id, (text, changes) in FACTS.items()
        ),
    )


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    said = [(id, "memories", text) for id, (text, _) in FACTS.items()]
    return indexed(tmp_path, said, "id corpus text", "memories")


def read(question: str, texts: Texts | None) -> ParsedQuestion:
    asker = Asker(NOW, "heron", "ines")
    return parse_question(
        question, asker, Filters(), texts, KnownNames({"heron"}, {"ines", "tomasz"})
    )


def test_the_most_relevant_comes_first_and_the_rest_have_reasons(texts: Texts):
    judged = judge_memories(
        read("How are dependencies installed?", texts),
        memories(),
        texts,
        {"uv": 0.7, "port": 0.2, "editor": 0.6},
    )
    assert [(one.id, one.reason) for one in judged] == [
        ("uv", ""), ("port", "not relevant"), ("editor", "another person's"),
    ]  # fmt: skip


def test_without_words_the_cosines_judge_and_without_cosines_the_words(texts: Texts):
    (best, *_) = judge_memories(
        read("How are dependencies installed?", None), memories(), None, {"uv": 0.7}
    )
    assert (best.id, best.reason, best.relevance) == ("uv", "", 0.7)
    (best, *_) = judge_memories(
        read("How are dependencies installed?", texts), memories(), texts, {}
    )
    assert (best.id, best.reason, best.relevance) == ("uv", "", pytest.approx(WORDS))


def test_what_was_said_in_the_time_named_comes_before_what_was_not(texts: Texts):
    cosines = {"uv": 0.5, "port": 0.5}
    judged = judge_memories(
        read("What was said since 2026-09-01?", texts), memories(), texts, cosines
    )
    assert judged[0].id == "port"
