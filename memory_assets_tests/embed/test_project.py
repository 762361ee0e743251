"""Only differences are planned: what changed goes in, what is no longer wanted goes out, and the rest is left alone."""

import polars as pl

from memory_assets.embed.project import hashes_of, plan_texts, plan_vectors, text_rows
from memory_assets.tables import empty
from memory_assets_tests.factories import frame, message, row


def memories(*rows_: dict) -> pl.DataFrame:
    return frame("memories", *(row("memories", **{"state": "active", **r}) for r in rows_))


def vectors(**by_hash: list[float]) -> pl.DataFrame:
    return frame("embeddings", *(row("embeddings", text_hash=h, dimension=2, vector=v) for h, v in by_hash.items()))


KNOWN = vectors(h1=[1.0, 0.0], h2=[0.0, 1.0])


def test_new_and_changed_memories_go_in_and_vanished_ones_out():
    found = memories({"id": "1", "text_hash": "h1"}, {"id": "2", "text_hash": "h2"})
    plan = plan_vectors(found, KNOWN, {"1": "h1", "2": "h-old", "3": "h3"})
    assert plan.upserts["id"].to_list() == ["2"]
    assert plan.upserts["vector"].to_list() == [[0.0, 1.0]]
    assert plan.deletes == ["3"]


def test_what_is_published_already_plans_nothing():
    assert plan_vectors(memories({"id": "1", "text_hash": "h1"}), KNOWN, {"1": "h1"}).is_empty


def test_a_forgotten_memory_leaves_the_index_and_what_can_be_asked_for_stays():
    found = memories(
        {"id": "1", "text_hash": "h1", "state": "forgotten"}, {"id": "2", "text_hash": "h2", "state": "superseded"}
    )
    plan = plan_vectors(found, KNOWN, {"1": "h1", "2": "h2"})
    assert (plan.upserts.height, plan.deletes) == (0, ["1"])


def test_a_memory_whose_text_has_no_vector_yet_waits():
    assert plan_vectors(memories({"id": "1", "text_hash": "h9"}), KNOWN, {}).upserts.is_empty()


def test_no_text_goes_to_the_vector_index():
    plan = plan_vectors(memories({"id": "1", "text_hash": "h1", "text": "private words"}), KNOWN, {})
    assert "private words" not in str(plan.upserts.to_dicts())


def test_every_wording_of_a_memory_is_found_by_words():
    rows = text_rows(memories({"id": "1", "wordings": ["Use uv.", "Never pip."]}), empty("segments"), empty("messages"))
    assert rows.select("id", "corpus", "text").rows() == [
        ("1", "memories", "Use uv.\nNever pip.\ninstall packages dependencies package manager")
    ]


def test_what_people_and_agents_said_is_found_and_tool_output_is_not():
    said = frame(
        "messages",
        message("Use uv.", 0),
        message("Done.", 1, author="assistant"),
        message("ls output", 2, author="tool", kind="tool_result"),
        message("[toolCall ls()]", 3, author="assistant", kind="tool_call"),
    )
    rows = text_rows(memories(), empty("segments"), said)
    assert rows["text"].to_list() == ["Use uv.", "Done."]


def test_a_second_plan_after_publishing_the_first_is_empty():
    segments = frame("segments", row("segments", segment_id="s1", narrative="Ports were moved."))
    rows = text_rows(memories({"id": "1", "wordings": ["Use uv."]}), segments, empty("messages"))
    assert plan_texts(rows, {}).upserts.equals(rows)
    assert plan_texts(rows, hashes_of(rows)).is_empty


def test_changed_words_go_in_and_vanished_ones_out():
    before = text_rows(
        memories({"id": "1", "wordings": ["Use uv."]}, {"id": "2", "wordings": ["x"]}), empty("segments"), empty("messages")
    )
    after = text_rows(memories({"id": "1", "wordings": ["Use uv!"]}), empty("segments"), empty("messages"))
    plan = plan_texts(after, hashes_of(before))
    assert (plan.upserts["id"].to_list(), plan.deletes) == (["1"], ["2"])
