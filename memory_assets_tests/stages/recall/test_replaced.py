"""A result that the owner replaced stands below what replaced it, marked, or is left out; what holds beside it is untouched."""

from datetime import timedelta

import numpy as np

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.stages.embed.conflicts import supersedes
from memory_assets.stages.recall.replaced import holds, present_first
from memory_assets_tests.factories import START
from memory_assets_tests.labelled import labelled
from memory_assets_tests.stages.recall.recalled import result

PAIRS = labelled(__file__)
OLD, NEW = "The API listens on port 8000.", "The API listens on port 8090 now."


def said(day: int, text: str, **changes):
    return result(f"msg_{day:020}", text, person="Mira", event_at=START + timedelta(days=day), **{"said_by": "Mira", "kind": "message"} | changes)  # fmt: skip


def test_of_planted_pairs_changes_of_mind_are_seen_and_what_holds_beside_is_not_touched():
    vectors = LocalEmbedder().encode_query
    seen = {kind: [supersedes(newer, older, "ferry", lambda *pair: float(np.dot(*map(vectors, pair)))) for older, newer in pairs] for kind, pairs in PAIRS.items()}  # fmt: skip
    assert sum(seen["changes"]) >= 0.9 * len(PAIRS["changes"])
    assert sum(seen["near_misses"]) <= 0.05 * len(PAIRS["near_misses"])
    assert sum(seen["fitted_changes"]) >= 0.75 * len(PAIRS["fitted_changes"])
    assert sum(seen["fitted_near_misses"]) <= 0.05 * len(PAIRS["fitted_near_misses"])


def test_what_was_replaced_stands_below_the_last_statement_with_a_mark_or_is_left_out():
    old, new, last = (
        said(1, OLD, said_by="assistant"),
        said(2, NEW),
        said(3, NEW.replace("90", "91")),
    )
    mark = f"replaced on {last.event_at:%Y-%m-%d} by msg_000000000000"
    shown = present_first([old, new, last])
    assert [(each.memory_id, each.tags) for each in shown] == [(last.memory_id, ()), (old.memory_id, (mark,)), (new.memory_id, (mark,))]  # fmt: skip
    assert [*map(holds, shown)] == [True, False, False]
    assert present_first([old, new, last], keeps_replaced=False) == [last]


def test_a_later_statement_that_the_question_does_not_find_stands_above_what_it_replaced():
    old, other, new, last = (
        said(1, OLD),
        said(4, "The API has four workers."),
        said(2, NEW),
        said(3, NEW.replace("90", "91")),
    )
    shown = present_first([other, old], [new])
    assert [(each.memory_id, holds(each)) for each in shown] == [(other.memory_id, True), (new.memory_id, True), (old.memory_id, False)]  # fmt: skip
    assert present_first([old], [new, last], keeps_replaced=False) == [last]
    assert present_first([other], [new, last]) == [other]


def test_only_a_later_statement_of_the_owner_in_the_same_project_replaces_and_of_two_memories_a_merge_decides():
    old, memory = said(1, OLD), said(1, OLD, kind="fact")
    pairs = [(old, said(2, NEW, said_by="assistant")), (old, said(2, NEW, project="blog")), (old, said(2, OLD)), (memory, said(2, NEW, kind="fact"))]  # fmt: skip
    for pair in [*pairs, (old, said(2, NEW, kind="narrative"))]:
        assert present_first(pair) == [*pair]
    assert present_first(
        [said(1, OLD, kind="narrative"), said(2, NEW, kind="fact")], keeps_replaced=False
    ) == [said(2, NEW, kind="fact")]
