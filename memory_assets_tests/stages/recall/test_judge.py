"""Candidates are measured against the question, and each that stays out has its reason."""

from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

from memory_assets.adapters.text_index import TextIndex
from memory_assets.schema.protocols import Texts
from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.asked import Asked, read_question
from memory_assets.stages.recall.judge import judge
from memory_assets.stages.recall.results import Asker
from memory_assets_tests.factories import START, frame, row

NOW = START + timedelta(days=40)
KNOWN = {
    "uv": ("Dependencies are installed with uv.", {}),
    "port": ("Postgres listens on 5433 in staging.", {"event_at": START + timedelta(days=30)}),
    "editor": ("Tomasz works in Neovim.", {"scope": "person", "person": "tomasz"}),
}


def memories() -> pl.DataFrame:
    plain = {"scope": "project", "project": "heron", "person": "ines", "event_at": START}
    return frame("memories", *(row("memories", id=id, text=text, **plain | changes) for id, (text, changes) in KNOWN.items()))


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    index = TextIndex(tmp_path)
    said = {"id": list(KNOWN), "corpus": ["memories"] * len(KNOWN), "text": [text for text, _ in KNOWN.values()]}
    index.update(pl.DataFrame(said), [])
    found = index.open("memories")
    assert found is not None
    return found


def read(question: str, texts: Texts | None) -> Asked:
    asker = Asker(NOW, "heron", "ines")
    return read_question(question, asker, Filters(), texts=texts, projects={"heron"}, persons={"ines", "tomasz"})


def test_the_most_relevant_comes_first_and_the_rest_have_reasons(texts: Texts):
    judged = judge(read("How are dependencies installed?", texts), memories(), texts, {"uv": 0.7, "port": 0.2, "editor": 0.6})
    assert [(one.memory_id, one.reason) for one in judged] == [
        ("uv", ""), ("port", "not relevant"), ("editor", "another person's"),
    ]  # fmt: skip


def test_without_words_the_cosines_judge_and_without_cosines_the_words(texts: Texts):
    (best, *_) = judge(read("How are dependencies installed?", None), memories(), None, {"uv": 0.7})
    assert (best.memory_id, best.reason, best.coverage) == ("uv", "", 0.0)
    (best, *_) = judge(read("How are dependencies installed?", texts), memories(), texts, {})
    assert (best.memory_id, best.reason, best.cosine) == ("uv", "", 0.0)


def test_what_was_said_in_the_time_named_comes_before_what_was_not(texts: Texts):
    cosines = {"uv": 0.5, "port": 0.5}
    judged = judge(read("What was said since 2026-09-01?", texts), memories(), texts, cosines)
    assert judged[0].memory_id == "port"


def test_a_name_that_nobody_ever_said_is_told(texts: Texts):
    assert read("How do we sign the Android app with --no-verify-ssl?", texts).unknown_names == ("Android", "--no-verify-ssl")
    assert read("Does Postgres listen?", texts).unknown_names == ()


def test_no_candidates_are_no_judgements(texts: Texts):
    assert judge(read("anything", texts), memories().clear(), texts, {}) == []
