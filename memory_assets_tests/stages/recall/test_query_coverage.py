"""What a question needs to be said: rare words before talk, other names and slips of the fingers count, names of projects do not."""

from pathlib import Path

import numpy as np
import pytest

from memory_assets.schema.protocols import Texts
from memory_assets.stages.recall.query_coverage import (
    coverage,
    covers_any,
    terms_of,
    uncovered_share,
)
from memory_assets_tests.stages.recall.recalled import indexed

TEXTS = {
    "cluster": "Heron is deployed to the kubernetes cluster.",
    "port": "Postgres listens on 5433 in staging.",
    "other": "Postgres listens on 5432 in production.",
    "review": "Every pull request needs an approval.",
}


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    rows = [(id, "memories", text) for id, text in TEXTS.items()]
    return indexed(tmp_path, rows, "id corpus text", "memories")


def shares(question: str, texts: Texts, **known) -> dict[str, float]:
    found = coverage(terms_of(question, texts, **known), texts, np.arange(len(texts)))
    return {id: round(float(found[row]), 2) for row, id in enumerate(texts.ids)}


def test_a_text_that_says_all_that_is_needed_covers_all(texts: Texts):
    assert shares("Which cluster is heron deployed to?", texts)["cluster"] == 1.0


def test_a_slip_of_the_fingers_is_read_as_the_known_word_beside_it(texts: Texts):
    assert shares("kubernetse clutser", texts)["cluster"] == 0.8


def test_what_nobody_speaks_of_is_uncovered_share(texts: Texts):
    assert uncovered_share(terms_of("quarterly horoscope", texts)) == 1.0
    assert uncovered_share(terms_of("kubernetes", texts)) == 0.0
    assert uncovered_share(terms_of("", texts)) == 0.0


def test_a_number_is_an_exact_thing_and_only_its_text_names_it(texts: Texts):
    exact = [need for need in terms_of("what is 5433?", texts) if need.is_exact]
    assert [
        texts.ids[int(row)] for row in covers_any(exact, texts, np.arange(len(texts))).nonzero()[0]
    ] == ["port"]
