"""What the text index reads of passages: all of them without their texts, and those that changed whole."""

import polars as pl
import pytest

from memory_assets.services.search.corpus import model_in_use, passage_heads, passages_to_index
from memory_assets.stages.embed.encode import make_passages
from memory_assets.stages.embed.project import hashes_of_heads
from memory_assets.store.store import Store
from memory_assets_tests.small_store import DAY, index, small_store

TODAY = DAY.isoformat()


@pytest.fixture
def store() -> Store:
    made = small_store()
    index(made)
    return made


def test_the_passages_of_some_heads_are_those_of_all(store: Store):
    heads, every = (
        passage_heads(store.tables).sort("id"),
        passages_to_index(store.tables).sort("id"),
    )
    assert heads["id"].to_list() == every["id"].to_list()
    assert every["vector"].null_count() == 0
    wanted = heads[1:3]
    assert passages_to_index(store.tables, heads=wanted).sort("id").equals(every[1:3])
    assert passages_to_index(store.tables, heads=heads.clear()).is_empty()


def test_the_hash_of_a_passage_changes_with_its_vector_and_its_words(store: Store):
    before = hashes_of_heads(passage_heads(store.tables))
    vectors = store.tables.read("passage_vectors")
    store.tables.write(
        "passage_vectors", TODAY, vectors.with_columns(model_version=pl.lit("other"))
    )
    of_other_model = hashes_of_heads(passage_heads(store.tables))
    store.tables.drop("passage_vectors", TODAY)
    without = hashes_of_heads(passage_heads(store.tables))
    messages = store.tables.read("messages").with_columns(pl.col("text").str.replace("a", "*"))
    store.tables.write("messages", TODAY, messages)
    store.tables.write("passages", TODAY, make_passages(DAY, messages))
    masked = hashes_of_heads(passage_heads(store.tables))
    assert before.keys() == of_other_model.keys() == without.keys() == masked.keys()
    assert all(before[key] != of_other_model[key] != without[key] for key in before)
    assert any(without[key] != masked[key] for key in before)


def test_vectors_of_other_models_are_left_out(store: Store):
    assert model_in_use(store)
    found = passages_to_index(store.tables, ("another", "1"))
    assert found["vector"].null_count() == found.height > 0
    assert passage_heads(store.tables, ("another", "1"))["encoded_by"].null_count() == found.height
