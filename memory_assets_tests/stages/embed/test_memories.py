"""The fold: the oldest id, the newest allowed wording, every wording kept, and nothing that depends on the order of rows."""

import random
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_assets.stages.embed.evidence import plan_evidence
from memory_assets.stages.embed.memories import RECALLED, fold_memories
from memory_assets.store.ledger import CORRECTED, USED, Event
from memory_assets_tests.factories import START, frame, row


def said(id: str, **changes: object) -> dict:
    plain = {
        "event_at": START + timedelta(hours=int(id)), "text": f"wording {id}", "window_id": f"w{id}", "session_id": f"s{id}",
        "gate": "allow", "confidence": 0.5, "author": "owner", "kind": "fact", "category": "operations", "message_ids": [f"m{id}"],
    }  # fmt: skip
    return row("observations", id=id, **plain | changes)


def edge(newer: str, older: str, relation: str = "same", similarity: float = 0.9) -> dict:
    return row(
        "merges",
        newer_id=newer,
        older_id=older,
        relation=relation,
        reason=relation,
        similarity=similarity,
    )


def against(newer: str, older: str) -> dict:
    return edge(newer, older, "conflict")


def correction(id: str, at: datetime, target: str) -> Event:
    """The owner's correction of an observation."""
    said_ = {
        "text": f"corrected {id}",
        "priority": "high",
        "category": "operations",
        "sentiment": "neutral",
        "scope": "project",
    }
    names = {
        "observation_ids": [target],
        "text_hashes": ["x"],
        "message_ids": [[]],
        "session": "",
        "taxonomy": "1",
    }
    return Event(
        id, at, "owner", CORRECTED, target, {**said_, **names, "project": "x", "person": "x"}
    )


def fold(rows: list[dict], edges: list[dict] = (), events: list[Event] = ()) -> dict[str, dict]:  # type: ignore[assignment]
    """Folds as the asset does: what the edges say of sources is in the ledger first."""
    observations, merges = frame("observations", *rows), frame("merges", *edges)
    planned = plan_evidence(observations, merges, events, {}, ())
    heard = [Event(one.id, START, "rules", one.kind, one.target, one.payload) for one in planned]
    return {
        memory["id"]: memory
        for memory in fold_memories(observations, merges, [*events, *heard]).to_dicts()
    }


def test_a_cluster_keeps_the_oldest_id_the_newest_wording_and_every_wording():
    (memory,) = fold([said("1"), said("2"), said("3")], [edge("2", "1"), edge("3", "2")]).values()
    assert (memory["id"], memory["text"], memory["merged_count"]) == ("1", "wording 3", 3)
    assert memory["wordings"] == ["wording 1", "wording 2", "wording 3"]
    assert memory["session_ids"] == ["s1", "s2", "s3"]
    assert memory["first_event_at"] == START + timedelta(hours=1)
    assert memory["event_at"] == START + timedelta(hours=3)


@pytest.mark.parametrize(
    ("sessions", "confidence"),
    [
        (["a"], 0.5),
        (["a", "b"], 0.6),
        (["a", "a"], 0.55),
        (["a", "b", "a"], 0.65),
        (["a", "b", "b", "a"], 0.7),
        (list("abcdefgh"), 1.0),
    ],
)
def test_each_other_session_that_says_it_adds_a_tenth_and_each_repetition_half_of_it_up_to_one(
    sessions: list[str], confidence: float
):
    rows = [said(str(n), session_id=session) for n, session in enumerate(sessions)]
    memory = fold(rows, [edge(str(n), "0") for n in range(1, len(sessions))])["0"]
    assert (memory["confidence"], memory["confirmed_count"]) == (confidence, len(set(sessions)) - 1)


def test_a_memory_has_the_tags_of_what_may_be_kept_each_once_and_older_rows_have_none():
    rows = [
        said("1", tags=["decision"]),
        said("2", tags=["decision", "result"]),
        said("3", tags=["rule"], gate="hold"),
        said("4", tags=None),
    ]
    memory = fold(rows, [edge(str(n), "1") for n in (2, 3, 4)])["1"]
    assert memory["tags"] == ["decision", "result"]


def test_what_the_owner_says_later_replaces_what_it_contradicts():
    folded = fold([said("1", author="assistant"), said("2")], [against("2", "1")])
    assert (folded["1"]["state"], folded["1"]["superseded_by"], folded["1"]["confidence"]) == (
        "superseded",
        "2",
        0.3,
    )
    assert (folded["2"]["state"], folded["2"]["conflicts_with"], folded["2"]["confidence"]) == (
        "active",
        [],
        0.5,
    )


def test_what_anybody_else_says_later_is_held_and_both_name_each_other():
    folded = fold(
        [said("1", author="assistant"), said("2", author="assistant")], [against("2", "1")]
    )
    assert (folded["1"]["state"], folded["1"]["conflicts_with"], folded["1"]["confidence"]) == (
        "active",
        ["2"],
        0.3,
    )
    assert (folded["2"]["state"], folded["2"]["conflicts_with"], folded["2"]["confidence"]) == (
        "held",
        ["1"],
        0.5,
    )
    assert (folded["1"]["contradicted_count"], folded["2"]["contradicted_count"]) == (1, 0)


def test_nobody_but_the_owner_weakens_what_the_owner_wants():
    wish, doubt = (
        said("1", category="preferences"),
        said("2", author="assistant", category="preferences"),
    )
    folded = fold([wish, doubt], [against("2", "1")])
    assert (folded["1"]["confidence"], folded["1"]["contradicted_count"], folded["2"]["state"]) == (
        0.5,
        1,
        "held",
    )


@pytest.mark.parametrize("changes", [{"gate": "hold"}, {"kind": "narrative"}])
def test_what_the_gate_held_contradicts_nothing(changes: dict):
    folded = fold([said("1"), said("2", **changes)], [against("2", "1")])
    assert (folded["1"]["state"], folded["1"]["confidence"], folded["1"]["conflicts_with"]) == (
        "active",
        0.5,
        [],
    )


@pytest.mark.parametrize(("author", "state"), [("owner", "active"), ("assistant", "superseded")])
def test_what_a_change_replaced_holds_again_when_the_owner_returns_to_it(author: str, state: str):
    returning = row(
        "merges", newer_id="3", older_id="2", relation="conflict", reason="reversed", similarity=0.9
    )
    folded = fold([said("1"), said("2"), said("3", author=author)], [against("2", "1"), returning])
    assert folded["1"]["state"] == state
    assert (folded["2"]["state"], folded["3"]["state"]) == (
        ("superseded", "active") if author == "owner" else ("active", "held")
    )


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(["owner", "owner", "assistant"])),
        min_size=2,
        max_size=8,
    ),
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from(["same", "conflict"])),
        max_size=14,
    ),
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2)), max_size=3),
)
@settings(max_examples=300, deadline=None)
def test_supersession_has_no_cycles_even_at_equal_times(
    said_: list[tuple[int, str]],
    related: list[tuple[int, int, str]],
    corrected: list[tuple[int, int]],
):
    rows = [
        said(str(n), event_at=START + timedelta(hours=hour), author=author)
        for n, (hour, author) in enumerate(said_)
    ]
    order = sorted(range(len(rows)), key=lambda n: (rows[n]["event_at"], rows[n]["id"]))
    chosen = {
        (max(a, b), min(a, b)): how for a, b, how in related if a != b and max(a, b) < len(rows)
    }
    edges = [
        edge(rows[order[b]]["id"], rows[order[a]]["id"], how) for (b, a), how in chosen.items()
    ]
    events = [
        correction(f"c{n}", START + timedelta(hours=hour), str(target))
        for n, (target, hour) in enumerate(corrected)
        if target < len(rows)
    ]
    folded = fold(rows, edges, events)
    for id in folded:
        seen = [id]
        while following := folded[seen[-1]]["superseded_by"]:
            assert following not in seen
            seen.append(following)


def test_recalls_of_any_observation_of_the_cluster_count_for_it():
    at = START + timedelta(days=3)
    events = [
        Event("1", at, "agent", RECALLED, "q", {"memory_ids": ["2", "gone"]}),
        Event("2", at + timedelta(days=1), "agent", RECALLED, "q", {"memory_ids": ["1"]}),
        Event("3", at + timedelta(days=2), "agent", "proposal.approved", "1"),
    ]
    memory = fold([said("1"), said("2")], [edge("2", "1")], events)["1"]
    assert (memory["recall_count"], memory["last_used_at"]) == (2, at + timedelta(days=1))


def test_what_informed_an_answer_was_used_when_it_answered_and_is_no_recall():
    at = START + timedelta(days=3)
    events = [
        Event(
            "1",
            at + timedelta(days=9),
            "observer",
            USED,
            "answer",
            {"memory_ids": ["2", "1"], "at": at.isoformat()},
        ),
        Event("2", START, "agent", RECALLED, "q", {"memory_ids": ["1"]}),
    ]
    memory = fold([said("1"), said("2")], [edge("2", "1")], events)["1"]
    assert (memory["used_count"], memory["recall_count"], memory["last_used_at"]) == (1, 1, at)


def test_the_fold_does_not_depend_on_the_order_of_rows():
    rows = [said(str(n), entities=[f"e{n}"]) for n in range(8)]
    edges = [
        edge("3", "1"),
        edge("4", "1"),
        edge("5", "2"),
        edge("6", "5"),
        against("7", "3"),
        edge("6", "4"),
    ]
    first = fold_memories(frame("observations", *rows), frame("merges", *edges), [])
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        random.Random(seed).shuffle(edges)
        assert fold_memories(frame("observations", *rows), frame("merges", *edges), []).equals(
            first
        )
