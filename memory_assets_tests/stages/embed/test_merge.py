"""Edges are facts about pairs: the order of arrival does not change them, and they stay within what the pair shares."""

from collections.abc import Sequence
from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_assets.schema.frames import empty
from memory_assets.schema.vocabulary import DOUBTFUL
from memory_assets.stages.embed.merge import find_conflicts_of, find_edges
from memory_assets_tests.factories import START, frame, row

Row = dict
NEAR = {"a": [1.0, 0.0], "b": [0.96, 0.28], "c": [0.6, 0.8], "d": [0.0, 1.0]}
"""Unit vectors: a·b = 0.96, b·c = 0.80, a·c = 0.60, c·d = 0.80."""
TEXTS = (
    "Run make check first.",
    "First run make check.",
    "Never run make check first.",
    "We moved from Jenkins to Buildkite for make check.",
    "Jenkins runs make check first.",
    "We use Jenkins for the nightly build.",
    "Jenkins is gone.",
    "We moved back to Jenkins.",
)


def said(id: str, text: str = TEXTS[0], vector: str = "a", **changes: object) -> Row:
    plain = {
        "event_at": START + timedelta(hours=int(id)),
        "kind": "fact",
        "gate": "allow",
        "author": "owner",
        "scope": "project",
    }
    return row("observations", id=id, text=text, text_hash=f"{vector} {text}", **plain | changes)


def edges(
    rows: Sequence[Row], previous: pl.DataFrame | None = None, compared: Sequence[str] = ()
) -> pl.DataFrame:
    hashes = sorted({r["text_hash"] for r in rows})
    vectors = frame(
        "embeddings",
        *(row("embeddings", text_hash=h, dimension=2, vector=NEAR[h[0]]) for h in hashes),
    )
    return find_edges(
        frame("observations", *rows),
        vectors,
        empty("merges") if previous is None else previous,
        compared,
    )


def pairs(found: pl.DataFrame) -> list[tuple[str, str]]:
    """Returns the pairs that the rules decide."""
    return found.filter(pl.col("relation") != DOUBTFUL).select("newer_id", "older_id").rows()


@given(
    st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from("abcd")), min_size=1, max_size=9),
    st.randoms(use_true_random=False),
    st.integers(0, 9),
)
@settings(max_examples=60)
def test_edges_do_not_depend_on_the_order_or_the_portions_of_arrival(said_, random, cut: int):
    rows = [said(str(n), text, vector) for n, (text, vector) in enumerate(said_)]
    whole = edges(rows)
    random.shuffle(rows)
    first = rows[:cut]
    in_portions = edges(rows, edges(first) if first else None, [r["id"] for r in first])
    assert in_portions.equals(whole)


def test_a_change_of_state_is_compared_with_what_names_the_old_state_however_far_apart_the_two_are():
    rows = [said("1", "We use Jenkins for the nightly build."), said("2", "Jenkins is gone.", "d")]
    assert edges(rows).select("newer_id", "older_id", "relation", "reason").rows() == [
        ("2", "1", "conflict", "replaced")
    ]
    assert pairs(edges(rows, compared=["2"])) == [("2", "1")]
    rows[0]["project"] = "blog"
    assert pairs(edges(rows)) == []


@pytest.mark.parametrize(
    ("older", "newer", "merges"),
    [
        ({"project": "shop"}, {"project": "shop"}, True),
        (
            {"project": "shop", "author": "assistant"},
            {"project": "blog", "author": "assistant"},
            False,
        ),
        ({"project": "shop", "person": "ann"}, {"project": "blog", "person": "bob"}, False),
        ({"project": "shop", "person": "ann"}, {"project": "blog", "person": "ann"}, False),
        ({"scope": "everyone", "project": "shop"}, {"scope": "everyone", "project": "blog"}, True),
        ({"project": "shop"}, {"scope": "person", "project": "shop"}, True),
        ({"project": "shop"}, {"scope": "person", "project": "blog"}, False),
        ({"project": "shop", "author": "assistant"}, {"scope": "person", "project": "shop"}, False),
        ({"scope": "person", "person": "ann"}, {"scope": "person", "person": "bob"}, False),
        (
            {"scope": "person", "project": "shop"},
            {"scope": "person", "project": "blog", "author": "assistant"},
            True,
        ),
    ],
)
def test_only_what_concerns_the_same_project_or_person_merges(older: Row, newer: Row, merges: bool):
    assert bool(pairs(edges([said("1", **older), said("2", **newer)]))) is merges


def test_narratives_merge_with_the_very_same_text_alone():
    rows = [
        said("1", kind="narrative"),
        said("2", kind="narrative"),
        said("3", TEXTS[1], kind="narrative"),
        said("4"),
    ]
    assert pairs(edges(rows)) == [("2", "1")]


@pytest.mark.parametrize(
    ("newer", "conflicts"),
    [
        ({}, True),
        ({"author": "assistant"}, True),
        ({"gate": "hold"}, True),
        ({"project": "blog"}, False),
        ({"scope": "person"}, False),
        ({"category": "projects"}, True),
    ],
)
def test_a_stated_change_conflicts_within_its_scope_whoever_said_it_and_wherever_it_is_filed(
    newer: Row, conflicts: bool
):
    found = edges([said("1", TEXTS[4]), said("2", TEXTS[3], "b", **newer)])
    assert found.select("relation", "reason").rows() == (
        [("conflict", "replaced")] if conflicts else []
    )


@pytest.mark.parametrize(
    ("older", "newer", "conflicts"),
    [
        ("operations", "operations", True),
        ("preferences", "rules-conventions", True),
        ("operations", "projects", False),
        ("people-relationships", "preferences", False),
    ],
)
def test_without_a_stated_change_only_what_is_filed_alike_conflicts(
    older: str, newer: str, conflicts: bool
):
    found = edges([said("1", TEXTS[0], category=older), said("2", TEXTS[2], category=newer)])
    assert found.filter(pl.col("relation") != DOUBTFUL)["relation"].to_list() == (
        ["conflict"] if conflicts else []
    )


def memory(id: str, text: str, **changes: object) -> Row:
    plain = {
        "kind": "fact",
        "state": "active",
        "scope": "everyone",
        "project": "",
        "category": "operations",
    }
    return row(
        "memories", id=id, text=text, event_at=START + timedelta(hours=int(id)), **plain | changes
    )


@pytest.mark.parametrize(
    ("changes", "new", "expected"),
    [
        ({}, {"1"}, {"1": ["2"], "2": ["1"]}),
        ({}, {"2"}, {"1": ["2"], "2": ["1"]}),
        ({}, {"3"}, {}),
        ({"state": "superseded"}, {"1", "2"}, {}),
        ({"kind": "narrative"}, {"1", "2"}, {}),
        ({"scope": "project", "project": "shop"}, {"1", "2"}, {}),
    ],
)
def test_only_memories_that_were_not_compared_yet_are_compared_with_the_others(
    changes: dict, new: set[str], expected: dict
):
    rows = [
        memory("3", "Maria owns billing."),
        memory("1", "Staging listens on port 5432.", **changes),
    ]
    assert find_conflicts_of(new, [*rows, memory("2", "Staging listens on port 5433.")]) == expected


@pytest.mark.parametrize(
    ("newer", "relations"),
    [
        (
            "The nightly reports of the importer are read by nobody since May, Tuva says.",
            [DOUBTFUL],
        ),
        ("The nightly reports of the importer are read by everybody.", []),
        ("The badge of the site is green now.", []),
    ],
)
def test_a_far_pair_is_in_doubt_if_the_newer_one_states_a_change_of_the_same_subject(
    newer: str, relations: list[str]
):
    found = edges(
        [said("1", "Mail the nightly reports of the importer.", "a"), said("2", newer, "c")]
    )
    assert found["relation"].to_list() == relations
