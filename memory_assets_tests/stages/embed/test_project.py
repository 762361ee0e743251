"""Only differences are planned: what changed goes in, what is no longer wanted goes out, and the rest is left alone."""

import polars as pl
import pytest

from memory_assets.stages.embed.project import (
    changes_of,
    hashes_of,
    hashes_of_heads,
    plan_texts,
    plan_vectors,
    rows_named,
)
from memory_assets_tests.factories import frame, row
from memory_assets_tests.text_rows import text_rows


def memories(*rows_: dict) -> pl.DataFrame:
    return frame("memories", *(row("memories", **{"state": "active", **r}) for r in rows_))


def vectors(**by_hash: list[float]) -> pl.DataFrame:
    return frame(
        "embeddings",
        *(row("embeddings", text_hash=h, dimension=2, vector=v) for h, v in by_hash.items()),
    )


KNOWN = vectors(h1=[1.0, 0.0], h2=[0.0, 1.0])


def test_new_and_changed_memories_go_in_and_vanished_ones_out():
    found = memories({"id": "1", "text_hash": "h1"}, {"id": "2", "text_hash": "h2"})
    plan = plan_vectors(found, KNOWN, {"1": "h1", "2": "h-old", "3": "h3"})
    assert plan.upserts["id"].to_list() == ["2"]
    assert plan.upserts["vector"].to_list() == [[0.0, 1.0]]
    assert plan.deletes == ["3"]


def test_a_forgotten_memory_leaves_the_index_and_what_can_be_asked_for_stays():
    found = memories(
        {"id": "1", "text_hash": "h1", "state": "forgotten"},
        {"id": "2", "text_hash": "h2", "state": "superseded"},
    )
    plan = plan_vectors(found, KNOWN, {"1": "h1", "2": "h2"})
    assert (plan.upserts.height, plan.deletes) == (0, ["1"])


def test_no_text_goes_to_the_vector_index():
    plan = plan_vectors(
        memories({"id": "1", "text_hash": "h1", "text": "private words"}), KNOWN, {}
    )
    assert "private words" not in str(plan.upserts.to_dicts())


def test_every_wording_of_a_memory_is_found_by_words():
    rows = text_rows(memories({"id": "1", "wordings": ["Use uv.", "Never pip."]}), NO_PASSAGES)
    assert rows.select("id", "corpus", "text").rows() == [
        ("1", "memories", "Use uv.\nNever pip.\ninstall packages dependencies package manager")
    ]


def test_a_second_plan_after_publishing_the_first_is_empty():
    rows = text_rows(memories({"id": "1", "wordings": ["Use uv."]}), passages(("m1", 0, 0)))
    assert plan_texts(rows, {}).upserts.equals(rows)
    assert plan_texts(rows, hashes_of(rows)).is_empty


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("message_id", "m2"),
        ("session_id", "s2"),
        ("line", 9),
        ("number", 3),
        ("text_hash", "h2"),
        ("encoded_by", "other 1 ff"),
    ],
)
def test_a_passage_is_read_and_put_in_again_once_anything_about_it_changed(
    column: str, value: object
):
    heads = pl.DataFrame(
        {"corpus": ["messages"] * 2, "id": ["m1#0", "m1#1"], "message_id": "m1", "session_id": "s1", "line": 1, "number": [0, 1],
         "text_hash": ["h0", "h1"], "encoded_by": [None, "minilm 1 00"]}
    )  # fmt: skip
    published = hashes_of_heads(heads)
    assert changes_of(published, published) == ([], [])
    changed = heads.with_columns(
        pl.when(pl.col("id") == "m1#0").then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    )
    assert changes_of(hashes_of_heads(changed), published) == (["messages/m1#0"], [])
    assert changes_of(hashes_of_heads(heads.head(1)), published) == ([], ["m1#1"])
    assert rows_named(heads, ["messages/m1#0", "memories/m1#1"])["id"].to_list() == ["m1#0"]


def passages(*places: tuple[str, int, int]) -> pl.DataFrame:
    rows = [
        {
            "id": f"{m}#{n}",
            "message_id": m,
            "session_id": "s1",
            "line": line,
            "number": n,
            "text": "Ports.",
            "vector": [1.0, 0.0],
        }
        for m, line, n in places
    ]
    schema = {
        "id": pl.String,
        "message_id": pl.String,
        "session_id": pl.String,
        "line": pl.Int64,
        "number": pl.Int64,
    }
    return pl.DataFrame(
        rows,
        schema={**schema, "text": pl.String, "vector": pl.List(pl.Float32), "words": pl.Binary},
        orient="row",
    )


NO_PASSAGES = passages()
