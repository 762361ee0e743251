"""Who counts as another source, that each is heard once whatever is folded again, and that a better rule undoes a worse one."""

import random
from collections.abc import Collection, Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.embed.evidence import (
    allowed_facts,
    families_of,
    plan_evidence,
)
from memory_assets.stages.embed.locator import find_orphans
from memory_assets.stages.embed.memories import fold_memories
from memory_assets.store.ledger import CONFIRMED, Event, Planned
from memory_assets_tests.factories import START, frame, row


def said(id: str, **changes: object) -> dict:
    plain = {
        "event_at": START + timedelta(hours=int(id)), "text": f"wording {id}", "text_hash": f"hash {id}", "session_id": f"s{id}",
        "window_id": f"w{id}", "gate": "allow", "kind": "fact", "author": "owner", "category": "operations", "confidence": 0.5,
        "message_ids": [f"m{id}"],
    }  # fmt: skip
    return row("observations", id=id, **plain | changes)


def edge(newer: str, older: str, relation: str = "same", similarity: float = 0.9) -> dict:
    return row(
        "merges",
        newer_id=newer,
        older_id=older,
        relation=relation,
        reason="near-duplicate",
        similarity=similarity,
    )


def plan(
    rows: Sequence[dict],
    edges: Sequence[dict],
    events: Sequence[Event] = (),
    families: dict[str, str] | None = None,
    echoes: Collection[str] = (),
) -> list[Planned]:
    return plan_evidence(
        frame("observations", *rows), frame("merges", *edges), events, families or {}, echoes
    )


def heard(planned: Sequence[Planned], days: int = 0) -> list[Event]:
    return [
        Event(one.id, START + timedelta(days=days), "rules", one.kind, one.target, one.payload)
        for one in planned
    ]


def pairs(planned: Sequence[Planned]) -> list[tuple[str, str, str]]:
    """Returns (what happened to, the older one, by the newer one)."""
    return [(one.kind.removeprefix("memory."), *one.payload["observation_ids"]) for one in planned]


def memories(
    rows: Sequence[dict], edges: Sequence[dict], events: Sequence[Event]
) -> dict[str, dict]:
    folded = fold_memories(frame("observations", *rows), frame("merges", *edges), events)
    return {memory["id"]: memory for memory in folded.to_dicts()}


def test_an_event_says_who_spoke_of_what_on_which_messages_and_why():
    (event,) = plan([said("1"), said("2", author="assistant")], [edge("2", "1")])
    assert (event.kind, event.target, event.id[:5]) == (CONFIRMED, "1", "rule-")
    assert event.payload == {
        "observation_ids": ["1", "2"],
        "text_hashes": ["hash 1", "hash 2"],
        "message_ids": [["m1"], ["m2"]],
        "sources": ["s1", "s2"],
        "said_at": ["2026-08-03T10:00:00+00:00", "2026-08-03T11:00:00+00:00"],
        "similarity": 0.9,
        "reason": "near-duplicate",
    }


def test_no_event_holds_words_of_the_transcript():
    rows = [
        said("1", text="private words", quote="private words"),
        said("2", text="private words", author="assistant"),
    ]
    assert "private" not in str(
        [*plan(rows, [edge("2", "1")]), *plan(rows, [edge("2", "1", "conflict")])]
    )


@pytest.mark.parametrize(
    ("again", "families"),
    [
        ({"session_id": "s1"}, {}),
        ({"session_id": "fork"}, {"fork": "s1"}),
        ({"session_id": "agent"}, {"agent": "s1", "other": "agent"}),
        ({"message_ids": ["m0", "m1"]}, {}),
        ({"gate": "hold"}, {}),
        ({"kind": "narrative"}, {}),
    ],
)
def test_the_same_session_its_forks_a_shared_message_and_what_was_held_confirm_nothing(
    again: dict, families: dict[str, str]
):
    assert plan([said("1"), said("2", **again)], [edge("2", "1")], families=families) == []


def test_a_fork_goes_back_to_the_session_that_nothing_was_forked_from():
    links = [("b", "a"), ("c", "b"), ("a", None), ("x", "y"), ("y", "x")]
    windows = frame(
        "windows",
        *(row("windows", session_id=one, parent_session_id=parent) for one, parent in links),
    )
    assert {
        session: root for session, root in families_of(windows).items() if session in "abc"
    } == {"b": "a", "c": "a"}


def test_an_echo_of_a_memory_confirms_and_contradicts_nothing():
    rows = [said("1"), said("2", author="assistant")]
    assert plan(rows, [edge("2", "1")], echoes={"2"}) == []
    assert plan(rows, [edge("2", "1", "conflict")], echoes={"2"}) == []


def test_an_older_session_that_arrives_late_adds_what_it_adds_and_doubles_nothing():
    rows, edges = [said("5"), said("6")], [edge("6", "5")]
    before = heard(plan(rows, edges))
    rows, edges = [said("1"), *rows], [*edges, edge("5", "1"), edge("6", "1")]
    late = plan(rows, edges, before)
    assert ("confirmed", "1", "5") in pairs(late)
    all_at_once = memories(rows, edges, heard(plan(rows, edges)))
    assert memories(rows, edges, [*before, *heard(late, 1)]) == all_at_once
    assert (all_at_once["1"]["confidence"], all_at_once["1"]["confirmed_count"]) == (0.7, 2)


def test_events_move_with_their_messages_when_observations_are_worded_anew():
    rows, edges = (
        [said("1"), said("2"), said("3", author="assistant")],
        [edge("2", "1"), edge("3", "1", "conflict")],
    )
    events = heard(plan(rows, edges))
    anew = [
        said("11", message_ids=["m1"], session_id="s1"),
        said("12", message_ids=["m2", "m9"], session_id="s2"),
    ]
    anew.append(said("13", message_ids=["m3"], session_id="s3", author="assistant"))
    edges = [edge("12", "11"), edge("13", "11", "conflict")]
    assert plan(anew, edges, events) == []
    memory = memories(anew, edges, events)["11"]
    assert (memory["confirmed_count"], memory["contradicted_count"], memory["conflicts_with"]) == (
        1,
        1,
        ["13"],
    )


def test_of_several_facts_of_one_message_the_event_goes_to_the_one_with_its_words():
    rows, edges = [said("1"), said("2")], [edge("2", "1")]
    events = heard(plan(rows, edges))
    anew = [
        said("0", message_ids=["m1"], text_hash="other"),
        {**said("1"), "id": "x"},
        said("2"),
        said("3"),
    ]
    folded = memories(anew, [edge("2", "x"), edge("3", "0")], events)
    assert (folded["x"]["confirmed_count"], folded["0"]["confirmed_count"]) == (1, 0)


def test_an_event_without_a_home_counts_for_nothing_and_is_named():
    rows, edges = [said("1"), said("2")], [edge("2", "1")]
    events = heard(plan(rows, edges))
    left = allowed_facts(frame("observations", said("1"), said("3")))
    assert find_orphans(left, events).rows() == [(events[0].id, CONFIRMED, "1")]
    assert find_orphans(allowed_facts(frame("observations", *rows)), events).is_empty()
    assert memories([said("1"), said("3")], [], events)["1"]["confidence"] == 0.5


@pytest.mark.parametrize("relation", ["same", "conflict"])
def test_what_a_better_rule_no_longer_finds_is_undone(relation: str):
    rows = [said("1"), said("2", author="assistant")]
    events = heard(plan(rows, [edge("2", "1", relation)]))
    assert memories(rows, [edge("2", "1", relation)], events)["1"]["confidence"] != 0.5
    undone = memories(rows, [], events)
    assert [
        (one["confidence"], one["state"], one["conflicts_with"]) for one in undone.values()
    ] == [(0.5, "active", [])] * 2


def test_a_fold_up_to_an_earlier_day_hears_only_those_who_had_spoken():
    rows, edges = [said("1"), said("2"), said("30")], [edge("2", "1"), edge("30", "1")]
    events = heard(plan(rows, edges), days=90)
    assert memories(rows[:2], edges, events)["1"]["confirmed_count"] == 1
    assert memories(rows, edges, events)["1"]["confirmed_count"] == 2


@given(
    sessions=st.lists(st.sampled_from("abcd"), min_size=2, max_size=8),
    edges=st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from(["same", "conflict"])),
        max_size=14,
    ),
    authors=st.lists(st.sampled_from(["owner", "assistant"]), min_size=8, max_size=8),
    cut=st.integers(0, 8),
    seed=st.integers(0, 99),
)
def test_folding_in_portions_again_and_in_any_order_gives_the_same_memories(
    sessions: list[str], edges: list[tuple[int, int, str]], authors: list[str], cut: int, seed: int
):
    """A rebuild from archive and ledger gives what a first run gives, and appends nothing."""
    rows = [
        said(str(n), session_id=session, author=authors[n]) for n, session in enumerate(sessions)
    ]
    related = {
        (max(a, b), min(a, b)): relation
        for a, b, relation in edges
        if a != b and max(a, b) < len(rows)
    }
    facts = [
        edge(str(newer), str(older), relation)
        for (newer, older), relation in sorted(related.items())
    ]
    at_once = heard(plan(rows, facts))
    random.Random(seed).shuffle(rows)
    some = [
        one for one in facts if {one["newer_id"], one["older_id"]} <= {r["id"] for r in rows[:cut]}
    ]
    events = heard(plan(rows[:cut], some))
    events += heard(plan(rows, facts, events), 1)
    assert plan(rows, facts, events) == []
    folded = memories(rows, facts, events)
    assert folded == memories(rows, facts, at_once)
    assert all(0 <= memory["confidence"] <= 1 for memory in folded.values())
