"""Laws of fusing and fading."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.schema.protocols import Hit
from memory_assets.stages.recall.memory_search import FACTORS, decay, fuse, weights_of
from memory_assets.stages.recall.results import Asker
from memory_assets_tests.factories import START, row

HITS = st.lists(
    st.builds(Hit, st.sampled_from("abcdefgh"), st.floats(-5, 30)),
    unique_by=lambda hit: hit.id,
    max_size=8,
)


@given(HITS, HITS)
def test_fused_scores_lie_between_nothing_and_one_for_exactly_the_candidates(
    keywords: list[Hit], vectors: list[Hit]
):
    fused = fuse(keywords, vectors)
    assert set(fused) == {hit.id for hit in (*keywords, *vectors)}
    assert all(0.0 < score <= 1.0 for score in fused.values())


def test_what_both_retrievers_find_outranks_what_is_best_in_one():
    fused = fuse(
        [Hit("words", 9.0), Hit("both", 8.0), Hit("weak", 1.0)],
        [Hit("sense", 0.9), Hit("both", 0.8), Hit("far", 0.3)],
    )
    assert max(fused, key=fused.__getitem__) == "both"


@pytest.mark.parametrize(
    ("category", "counts"),
    [
        ("rules-conventions", 1.0),
        ("preferences", 0.7047),
        ("people-relationships", 0.7047),
        ("projects", 0.4966),
    ],
)
def test_preferences_and_people_fade_more_slowly_and_rules_never(category: str, counts: float):
    assert decay(START, START + timedelta(days=70), category) == pytest.approx(counts, abs=1e-4)


@pytest.mark.parametrize(
    ("changes", "weights"),
    [
        ({}, {}),
        ({"state": "stale"}, {"stale": 0.5}),
        ({"project": "blog"}, {"elsewhere": 0.8}),
        ({"scope": "person", "person": "bob", "project": "blog"}, {"elsewhere": 0.8}),
        ({"scope": "person", "project": "blog"}, {}),
        ({"state": "stale", "project": "blog"}, {"stale": 0.5, "elsewhere": 0.8}),
        ({"sentiment": "frustrated"}, {"tone": 1.05}),
        ({"sentiment": "excited"}, {}),
    ],
)
def test_each_factor_says_what_it_changed(changes: dict, weights: dict):
    plain = {
        "state": "active",
        "scope": "project",
        "project": "shop",
        "person": "ann",
        "event_at": START,
    }
    memory = row(
        "memories",
        **plain | {"category": "projects", "sentiment": "neutral", "boost": 0.0} | changes,
    )
    asker = Asker(START, project="shop", person="ann")
    assert (
        weights_of(memory, asker, "why is this broken again, damn it!", tuple(FACTORS)) == weights
    )
    assert weights_of(memory, asker, "why is this broken again, damn it!", ()) == {}
