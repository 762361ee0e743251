"""Neighbours: rare entities connect, common ones and origins do not; scores lie between 0 and 1 and name what connects."""

from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.schema import frames as tables
from memory_assets.stages.embed.graph import build_entities
from memory_assets.stages.embed.mentions import read_mentions
from memory_assets.stages.recall.neighbours import MOST_MEMORIES, Graph, find_neighbours, named_in, read_graph
from memory_assets_tests.factories import START, frame, row


def graph_of(*texts: str) -> Graph:
    plain = {"state": "active", "project": "shop", "person": "mira"}
    rows = [
        row("memories", id=f"m{n}", text=text, wordings=[text], event_at=START + timedelta(days=n), **plain)
        for n, text in enumerate(texts)
    ]
    memories = frame("memories", *rows)
    mentions = read_mentions(memories, tables.empty("mentions"))
    return read_graph(mentions, build_entities(mentions, memories))


SHOP = graph_of(
    "`cartTotal` rounds half up since ADR-12.",
    "ADR-12 was accepted in May.",
    "`cartTotal` is slow on Redis.",
    "Redis runs on port 6380.",
    "Redis is restarted at night.",
    "Tea is served at four.",
)


def found(graph: Graph, seeds: dict[str, float], question: str = "") -> dict[str, tuple[float, str]]:
    return {one.memory_id: (one.score, one.through) for one in find_neighbours(graph, seeds, named_in(graph, question))}


def test_a_shared_entity_connects_and_is_named():
    near = found(SHOP, {"m0": 1.0})
    assert {id: through for id, (_, through) in near.items()} == {"m1": "ADR-0012", "m2": "cartTotal"}


def test_a_rarer_entity_connects_more():
    near = found(SHOP, {"m2": 1.0})
    assert near["m0"][0] > near["m3"][0] == near["m4"][0] > 0


def test_a_better_seed_connects_more_and_none_is_its_own_neighbour():
    strong, weak = found(SHOP, {"m0": 1.0}), found(SHOP, {"m0": 0.3})
    assert strong["m1"][0] > weak["m1"][0] > 0
    assert "m0" not in strong


def test_what_two_things_connect_is_nearer_than_either_makes_it():
    graph = graph_of("ADR-1 and `cartTotal`.", "ADR-1 and `cartTotal`.", "ADR-1 alone.", "`cartTotal` alone.", *["Tea."] * 8)
    near = found(graph, {"m0": 0.9})
    assert near["m1"][0] > max(near["m2"][0], near["m3"][0])


def test_project_and_person_connect_nothing():
    assert found(SHOP, {"m5": 1.0}) == {}


def test_what_too_many_memories_name_connects_nothing():
    graph = graph_of(*["Redis is up."] * (MOST_MEMORIES + 1), "Tea.")
    assert found(graph, {"m0": 1.0}) == {}


@pytest.mark.parametrize("question", ["what about adr-12", "why ADR 12?", "the ADR-0012 decision"])
def test_a_question_names_an_entity_by_its_shape(question: str):
    assert {"m0", "m1"} <= found(SHOP, {}, question).keys()


def test_a_question_names_an_entity_by_an_alias_in_both_directions():
    graph = graph_of("We run on k8s.", "Kubernetes 1.30 it is.", *["Tea."] * 4)
    assert found(graph, {}, "kubernetes version").keys() == found(graph, {}, "k8s version").keys() == {"m0", "m1"}
    own = {"kubernetes": ["the whale farm"]}
    assert find_neighbours(graph, {}, named_in(graph, "how big is the whale farm", own))


def test_an_unknown_seed_and_an_empty_graph_have_no_neighbours():
    assert found(SHOP, {"gone": 1.0}) == {}
    assert found(graph_of(), {"m0": 1.0}, "Redis") == {}


def test_the_order_of_rows_changes_nothing():
    memories = frame(
        "memories", *(row("memories", id=f"m{n}", wordings=["Redis holds ADR-1."], state="active") for n in range(5))
    )
    mentions = read_mentions(memories, tables.empty("mentions"))
    entities = build_entities(mentions, memories)
    graphs = (
        read_graph(mentions, entities),
        read_graph(mentions.reverse(), entities.sample(fraction=1.0, shuffle=True, seed=1)),
    )
    once, again = (find_neighbours(graph, {"m3": 0.7}) for graph in graphs)
    assert once == again


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 8)), max_size=60),
    st.dictionaries(st.integers(0, 14), st.floats(0, 1), max_size=6),
)
def test_scores_lie_between_none_and_one_and_seeds_are_left_out(pairs: list[tuple[int, int]], seeds: dict[int, float]):
    told = pl.DataFrame(sorted(set(pairs)), schema={"memory": pl.Int64, "entity": pl.Int64}, orient="row")
    mentions = told.select(memory_id=pl.format("m{}", "memory"), entity_id=pl.format("e{}", "entity"))
    entities = mentions.group_by("entity_id").agg(memory_count=pl.len().cast(pl.Int64))
    entities = entities.with_columns(
        kind=pl.lit("file"), name=pl.col("entity_id"), aliases=pl.lit([], dtype=pl.List(pl.String))
    )
    near = find_neighbours(read_graph(mentions, entities), {f"m{n}": score for n, score in seeds.items()}, limit=5)
    assert len(near) <= 5
    assert all(0 <= one.score <= 1 and one.memory_id not in {f"m{n}" for n in seeds} for one in near)
    assert [one.score for one in near] == sorted((one.score for one in near), reverse=True)
