"""Written pairs: none merges that is not the same, most of the same do, and opposites and changed values conflict."""

import pytest

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.schema.vocabulary import CONFLICT, SAME
from memory_assets_tests.bench.pairs import (
    FLAGGED,
    MINED,
    RECALL,
    LabelledPair,
    judge,
    written_pairs,
)

LABELS = {"same", "different", "opposite", "changed"}


@pytest.fixture(scope="module")
def found() -> dict[LabelledPair, str]:
    return judge(written_pairs(), LocalEmbedder())


def test_the_two_sets_have_300_distinct_pairs_and_about_half_of_them_are_held_back():
    written = written_pairs()
    assert len(set(written)) == 150 == len(MINED.read_text().splitlines()) - 1
    assert {pair.label for pair in written} == LABELS
    assert 60 <= sum(pair.is_held for pair in written) <= 90


def test_no_pair_merges_that_is_not_the_same(found: dict[LabelledPair, str]):
    assert [
        pair for pair, relation in found.items() if relation == SAME and pair.label != "same"
    ] == []


def test_most_of_the_same_merge_and_none_conflicts(found: dict[LabelledPair, str]):
    same = [pair for pair in written_pairs() if pair.label == "same"]
    assert sum(found.get(pair) == SAME for pair in same) >= RECALL * len(same)
    assert [pair for pair in same if found.get(pair) == CONFLICT] == []


def test_opposites_and_changed_values_conflict_and_different_ones_do_not(
    found: dict[LabelledPair, str],
):
    against = [pair for pair in written_pairs() if pair.label in ("opposite", "changed")]
    assert sum(found.get(pair) == CONFLICT for pair in against) >= FLAGGED * len(against)
    assert [
        pair
        for pair, relation in found.items()
        if relation == CONFLICT and pair.label == "different"
    ] == []
