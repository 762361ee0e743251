"""Notes in the fold and over it: told is known at once, the next fold says the same, and the order of arrival is no matter."""

from datetime import timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_assets.stages.embed.memories import fold_memories
from memory_assets.stages.embed.notes import hidden_sources, note_id, note_rows
from memory_assets.stages.embed.present import overlay
from memory_assets.store.ledger import CORRECTED, FORGOTTEN, NOTED, Event
from memory_assets.text.words import text_hash
from memory_assets_tests.factories import START, frame, row

LATER = START + timedelta(days=30)


def said(id: str, text: str = "", **changes: Any) -> dict:
    text = text or f"wording {id}"
    plain = {
        "event_at": START + timedelta(hours=int(id)), "text": text, "text_hash": text_hash(text), "session_id": f"s{id}",
        "gate": "allow", "confidence": 0.5, "author": "owner", "kind": "fact", "category": "operations", "message_ids": [f"m{id}"],
    }  # fmt: skip
    return row("observations", id=id, **plain | changes)


def edge(newer: str, older: str, relation: str = "same") -> dict:
    return row(
        "merges", newer_id=newer, older_id=older, relation=relation, reason=relation, similarity=0.9
    )


def note(
    number: int,
    text: str = "Use uv, never pip.",
    kind: str = NOTED,
    target: str = "all",
    **more: Any,
) -> Event:
    payload = {
        "text": text, "category": "preferences", "priority": "high", "sentiment": "neutral", "scope": "person", "project": "",
        "person": "mira", "session": "", "taxonomy": "v1",
    }  # fmt: skip
    return Event(
        f"e{number:03d}", LATER + timedelta(minutes=number), "mira", kind, target, payload | more
    )


def of(*rows: dict) -> dict[str, Any]:
    """What an event keeps of the observations that it is about."""
    return {
        "observation_ids": [one["id"] for one in rows],
        "text_hashes": [one["text_hash"] for one in rows],
        "message_ids": [one["message_ids"] for one in rows],
    }


def correct(number: int, text: str, *rows: dict) -> Event:
    return note(number, text, CORRECTED, rows[0]["id"], **of(*rows))


def forget(number: int, *rows: dict, **hidden: Any) -> Event:
    return Event(
        f"e{number:03d}",
        LATER + timedelta(minutes=number),
        "mira",
        FORGOTTEN,
        rows[0]["id"],
        of(*rows) | hidden,
    )


def fold(rows: list[dict], events: list[Event], edges: tuple[dict, ...] = ()) -> pl.DataFrame:
    return fold_memories(frame("observations", *rows), frame("merges", *edges), events)


def states(memories: pl.DataFrame) -> dict[str, tuple]:
    return {
        id: tuple(rest)
        for id, *rest in memories.select("id", "state", "text", "superseded_by").iter_rows()
    }


def test_a_note_is_a_memory_in_the_owners_voice_with_no_transcript_behind_it():
    told = note(1)
    (memory,) = fold([], [told]).to_dicts()
    assert (memory["id"], memory["state"], memory["text"]) == (
        note_id(told),
        "active",
        "Use uv, never pip.",
    )
    assert (memory["author"], memory["strength"], memory["confidence"], memory["priority"]) == (
        "owner",
        "explicit",
        0.9,
        "high",
    )
    assert (memory["session_id"], memory["path"], memory["lines"], memory["event_at"]) == (
        "ledger",
        "ledger",
        [],
        told.at,
    )
    assert overlay(fold([], []), [told]).to_dicts() == [memory]


def test_a_correction_replaces_the_old_wording_and_keeps_its_evidence():
    old = said("1", "The port is 5432.")
    told = correct(1, "The port is 5433.", old)
    expected = {
        "1": ("superseded", old["text"], note_id(told)),
        note_id(told): ("active", "The port is 5433.", None),
    }
    folded = fold([old], [told], (edge(note_id(told), "1"),))
    assert states(folded) == expected
    assert states(overlay(fold([old], []), [told])) == expected
    assert folded.filter(pl.col("id") == "1")["observation_ids"].to_list() == [["1"]]


@pytest.mark.parametrize(
    "again",
    [
        said("2", "Our secret plan.", message_ids=["elsewhere"]),
        said("2", "A plan of ours is secret.", message_ids=["m1"]),
    ],
    ids=["the same words in another session", "other words for the same messages"],
)
def test_what_is_forgotten_does_not_come_back_when_it_is_observed_again(again: dict):
    told = forget(1, said("1", "Our secret plan."))
    assert fold([again], [told])["state"].to_list() == ["forgotten"]


def test_a_paraphrase_of_what_is_forgotten_is_forgotten_with_it():
    old, other = said("1"), said("2")
    assert states(fold([old, other], [forget(1, old)], (edge("2", "1"),)))["1"][0] == "forgotten"


def test_other_facts_of_the_same_messages_are_not_forgotten():
    told = forget(1, said("1"))
    other = said("2", "wording 1, but another", message_ids=["m1"])
    assert states(fold([said("1"), other], [told])) == {
        "1": ("forgotten", "wording 1", None),
        "2": ("active", other["text"], None),
    }


def test_what_is_noted_again_after_it_was_forgotten_is_there_again():
    old = said("1", "Our secret plan.")
    events = [forget(1, old), note(2, "Our secret plan.")]
    expected = {
        "1": ("forgotten", "Our secret plan.", None),
        note_id(events[1]): ("active", "Our secret plan.", None),
    }
    assert states(fold([old], events)) == expected
    assert states(overlay(fold([old], events[:1]), events)) == expected


def test_messages_that_carry_what_is_forgotten_are_hidden_with_it():
    told = forget(1, said("1"), messages=["m1", "m7"], segments=["seg"])
    assert hidden_sources([note(2), told]) == {"m1", "m7", "seg"}


OLD = [said(str(n), f"wording {n % 3}") for n in range(5)]


@st.composite
def ledgers(draw: st.DrawFn) -> list[Event]:
    """Notes, corrections and forgettings in a row, each about observations or earlier notes."""
    events: list[Event] = []
    for number in range(draw(st.integers(1, 7))):
        targets = [*OLD, *note_rows(events).to_dicts()]
        target, text = draw(st.sampled_from(targets)), f"wording {draw(st.integers(0, 4))}"
        how = draw(st.sampled_from([note, correct, forget]))
        events.append(
            how(number, text)
            if how is note
            else how(number, text, target)
            if how is correct
            else how(number, target)
        )
    return events


@settings(max_examples=150, deadline=None)
@given(events=ledgers(), data=st.data())
def test_laying_over_and_folding_say_the_same_whatever_arrived_before(
    events: list[Event], data: st.DataObject
):
    held = [event for event in events if data.draw(st.booleans())]
    laid = overlay(fold(OLD, held), events)
    assert states(laid.sort("id")) == states(fold(OLD, events))
    assert overlay(laid, events).equals(laid)
