"""Pairs that a person would call unrelated stay apart, whatever their cosine; pairs that cannot both hold, or say one thing, meet.

Each pair is judged as the pipeline judges it: with its scope and category, and the similarity that the model really gives.
"""

from datetime import timedelta
from typing import NamedTuple

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.schema.frames import empty
from memory_assets.stages.embed.conflicts import find_conflict
from memory_assets.stages.embed.merge import find_edges
from memory_assets_tests.factories import START, frame, row
from memory_assets_tests.labelled import labelled


class Said(NamedTuple):
    """A statement of the owner about the project `shop`, unless it says otherwise."""

    text: str
    changes: dict[str, str] = {}


TABLES = labelled(__file__)
HOW = TABLES.pop("how they conflict")
PAIRS = {
    kind: [tuple(Said(*said) for said in pair) for pair in pairs] for kind, pairs in TABLES.items()
}


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def edges(embedder: LocalEmbedder, newer: Said, older: Said) -> list[tuple[str, str]]:
    """Returns (relation, reason) of what the pipeline finds between the two."""
    plain = {
        "kind": "fact",
        "author": "owner",
        "scope": "project",
        "project": "shop",
        "person": "ann",
        "category": "operations",
    }
    rows = [
        row(
            "observations",
            **plain
            | {"id": f"{n}", "text": one.text, "text_hash": one.text, "event_at": at}
            | one.changes,
        )
        for n, (one, at) in enumerate([(older, START), (newer, START + timedelta(days=3))])
    ]
    vectors = [
        row(
            "embeddings", text_hash=text, dimension=384, vector=embedder.encode_query(text).tolist()
        )
        for text in sorted({newer.text, older.text})
    ]
    found = find_edges(
        frame("observations", *rows), frame("embeddings", *vectors), empty("merges"), ()
    )
    return found.filter(pl.col("relation") != "doubtful").select("relation", "reason").rows()


@pytest.mark.parametrize(("newer", "older"), PAIRS["unrelated"], ids=lambda said: said.text)
def test_unrelated_facts_neither_merge_nor_contradict_whichever_came_first(
    embedder: LocalEmbedder, newer: Said, older: Said
):
    assert edges(embedder, newer, older) == []
    assert edges(embedder, older, newer) == []


@pytest.mark.parametrize(("newer", "older"), PAIRS["otherwise"], ids=lambda said: said.text)
def test_what_cannot_both_hold_is_a_conflict(embedder: LocalEmbedder, newer: Said, older: Said):
    assert [relation for relation, _ in edges(embedder, newer, older)] == ["conflict"]


@pytest.mark.parametrize(("newer", "older"), PAIRS["the same"], ids=lambda said: said.text)
def test_one_statement_in_two_wordings_merges(embedder: LocalEmbedder, newer: Said, older: Said):
    assert [relation for relation, _ in edges(embedder, newer, older)] == ["same"]


@pytest.mark.parametrize(("newer", "older", "how"), HOW)
def test_a_conflict_says_of_which_kind_it_is(newer: str, older: str, how: str | None):
    assert find_conflict(newer, older) == how


@given(st.text(max_size=120), st.text(max_size=120))
def test_no_text_conflicts_with_itself_and_none_breaks_the_reader(one: str, other: str):
    assert find_conflict(one, one) is None
    find_conflict(one, other)
