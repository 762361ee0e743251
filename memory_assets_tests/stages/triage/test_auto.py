"""Tier 1: what rules may decide alone, and what they leave to a person."""

from datetime import date

import pytest

from memory_assets.stages.triage.auto import (
    TriageLimits,
    decide,
    decide_friction,
    follow_review,
    says_the_same,
)
from memory_assets.stages.triage.memory_md import Entry
from memory_assets_tests.stages.triage.test_sensitive import LINES, ORDINARY

GUARDED = frozenset({"hard rules", "mira"})
RULE = "Always run `make check` before you commit."


def proposal(text: str = RULE, **changes) -> dict:
    plain = {
        "confidence": 0.9,
        "section": "Hard Rules",
        "session_ids": ["s1", "s2"],
        "author": "owner",
        "memory_state": "active",
    }
    return {"text": text, **plain, **changes}


def entry(text: str) -> Entry:
    return Entry(5, "Hard Rules", date(2026, 8, 1), text)


def earlier(id: str, text: str, state: str, tier: int = 1) -> dict:
    """A decision about an earlier proposal."""
    return {"proposal_id": id, "text": text, "state": state, "tier": tier}


def ruled(one: dict, *entries: str, others: list[dict] = []) -> tuple[str, str]:  # noqa: B006
    ruling = decide(one, [entry(text) for text in entries], guarded=GUARDED, others=others)
    return ruling.state, ruling.reason


def test_what_is_believed_specific_and_confirmed_is_promoted():
    assert ruled(proposal()) == ("promoted", "believed, specific and confirmed by a second session")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"confidence": 0.8}, "confidence 0.80 is not above 0.8"),
        ({"text": "Be kind to the harbour masters."}, "names no decision record, path or command"),
        ({"session_ids": ["s1"]}, "no second session confirms it"),
        ({"author": "assistant"}, "Hard Rules takes only the owner's own words"),
        ({"author": "assistant", "section": "Mira"}, "Mira takes only the owner's own words"),
        ({"memory_state": "gone"}, "its memory is gone by now"),
    ],
)
def test_whatever_is_missing_leaves_it_to_a_person_and_says_so(change: dict, reason: str):
    assert ruled(proposal(**change)) == ("pending", reason)


def test_an_assistants_word_may_enter_sections_that_are_not_guarded():
    assert ruled(proposal(author="assistant", section="Patterns"))[0] == "promoted"


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (proposal("Use uv."), "shorter than 12 characters"),
        (proposal("Add this after the second paragraph."), "an instruction artefact, not a fact"),
        (proposal("Replace the following with uv."), "an instruction artefact, not a fact"),
        (proposal(confidence=0.29), "confidence below 0.3"),
        (proposal(memory_state="superseded"), "a newer fact has replaced it"),
    ],
)
def test_what_is_no_fact_or_no_longer_one_is_rejected(one: dict, reason: str):
    assert ruled(one) == ("rejected", reason)


def test_a_fact_about_replacing_is_no_artefact():
    assert ruled(proposal("Replace pip by uv in every `Makefile`."))[0] == "promoted"


@pytest.mark.parametrize(
    ("limits", "change", "state"),
    [
        (TriageLimits(promoted_above=0.95), {}, "pending"),
        (TriageLimits(promoted_above=0.5), {"confidence": 0.6}, "promoted"),
        (TriageLimits(rejected_below=0.5), {"confidence": 0.4}, "rejected"),
        (TriageLimits(confirming_sessions=1), {"session_ids": ["s1"]}, "promoted"),
        (TriageLimits(shortest=200), {}, "rejected"),
    ],
)
def test_rules_can_be_asked_with_other_limits(limits: TriageLimits, change: dict, state: str):
    one = proposal(**change)
    assert decide(one, [], guarded=GUARDED, limits=limits).state == state != decide(one, [], guarded=GUARDED).state


def test_at_three_tenths_it_waits():
    assert ruled(proposal(confidence=0.3))[0] == "pending"


def test_an_exact_duplicate_of_an_entry_is_rejected_whatever_its_markup():
    assert ruled(proposal(), "**always** run make check, before you commit") == ("rejected", "an exact duplicate of an entry")


def test_what_an_entry_says_in_other_words_is_merged():
    state, reason = ruled(proposal(), "Please always run `make check` before you commit.")
    assert (state, reason) == ("merged", "entry of 2026-08-01 in Hard Rules says the same")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("Postgres listens on port 5433 in `compose.yaml`.", "Postgres listens on port 5432 in `compose.yaml`."),
        ("Never force-push to `main`.", "Always force-push to `main`."),
    ],
)
def test_a_near_miss_is_another_fact(text: str, near: str):
    assert not says_the_same(text, near)
    assert ruled(proposal(text), near)[0] == "promoted"


def test_what_says_the_same_as_an_earlier_one_that_waits_is_merged_into_it():
    waiting = earlier("p-20260801-001", "Please always run `make check` before you commit.", "pending")
    assert ruled(proposal(), others=[waiting]) == ("merged", "p-20260801-001, which waits, says the same")


def test_what_a_person_rejected_does_not_come_back_in_other_words():
    rejected = earlier("p-20260801-001", "Please always run `make check` before you commit.", "rejected", tier=3)
    assert ruled(proposal(), others=[rejected]) == ("rejected", "says the same as p-20260801-001, which a person rejected")


def test_what_rules_rejected_binds_nobody():
    rejected = earlier("p-20260801-001", "Please always run `make check` before you commit.", "rejected")
    assert ruled(proposal(), others=[rejected])[0] == "promoted"


@pytest.mark.parametrize(
    "text",
    ["See ADR-0007 for why.", "The settings lie in ~/.config/harbor.", "Fixtures lie in tests/conftest.py.", "Use uv sync to install.",
     "Deploy with make deploy ENV=staging.", "Run go test ./... often.", "Pass --no-cache to it."],
)  # fmt: skip
def test_a_record_a_path_or_a_command_is_specific(text: str):
    assert ruled(proposal(text))[0] == "promoted"


@pytest.mark.parametrize("text", ["Make sure that tests pass.", "We go live on Fridays.", "Time will fly by quickly."])
def test_ordinary_words_are_no_commands(text: str):
    assert ruled(proposal(text)) == ("pending", "names no decision record, path or command")


def friction(text: str, target: str = "MEMORY.md") -> dict:
    return {"proposal_id": "f-20260803-001", "entry": None, "title": "said again and again", "target": target, "text": text}


def test_a_friction_waits_for_a_person():
    ruling = decide_friction(friction("Always deploy with `make deploy`."), (), ())
    assert (ruling.state, ruling.reason) == ("pending", "said again and again")


def test_a_friction_that_an_entry_says_already_is_merged():
    line = "Always deploy with `make deploy`, never by hand."
    entry = Entry(0, "Hard Rules", date(2026, 8, 1), line)
    assert decide_friction(friction(line), (), (), entries=[entry]).state == "merged"


def test_what_has_to_wait_is_asked_about_as_the_friction_that_says_it_and_what_need_not_is_promoted():
    asked = [earlier("f-20260803-001", RULE, "pending")]
    waiting = decide(proposal(session_ids=["s1"]), [], guarded=GUARDED, frictions=asked)
    assert (waiting.state, waiting.reason) == ("merged", "f-20260803-001, which waits, says the same")
    assert decide(proposal(), [], guarded=GUARDED, frictions=asked).state == "promoted"


def test_a_friction_about_another_file_is_asked_about_whatever_memory_says():
    line = "Always deploy with `make deploy`, never by hand."
    entry = Entry(0, "Hard Rules", date(2026, 8, 1), line)
    assert decide_friction(friction(line, target="AGENTS.md"), (), (), entries=[entry]).state == "pending"


def review(text: str) -> dict:
    return {"verdict": "promote", "text": text, "reason": "", "model": "m"}


@pytest.mark.parametrize("text", [text for _, text in LINES])
def test_a_sensitive_line_of_the_owner_in_two_sessions_waits_for_a_person(text: str):
    state, reason = ruled(proposal(text))
    assert state == "pending"
    assert "only a person can approve this" in reason


@pytest.mark.parametrize("text", [text for _, text in LINES])
def test_neither_earned_trust_nor_a_model_promotes_a_sensitive_line(text: str):
    one = proposal(text, priority="high", category="operations", section="Patterns")
    assert decide(one, [], guarded=GUARDED, trusted={"operations": "earned trust"}).state == "pending"
    ruling = follow_review(review(text), one, GUARDED)
    assert ruling.state == "pending"
    assert "only a person can approve this" in ruling.reason


def test_a_model_may_not_word_a_plain_line_as_a_sensitive_one():
    ruling = follow_review(
        review("Turn off the tests of `make check`."), proposal("The tests of `make check` are slow."), GUARDED
    )
    assert (ruling.state, ruling.reason) == (
        "pending",
        "m would promote it, but switches a check off: only a person can approve this",
    )


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_line_is_promoted_by_rules_and_by_a_model(text: str):
    assert ruled(proposal(text))[0] == "promoted"
    assert follow_review(review(text), proposal(text, session_ids=["s1"]), GUARDED).state == "promoted"


def test_a_line_that_only_pasted_text_says_waits_whoever_would_promote_it():
    one = proposal(typed_session_ids=[], priority="high", category="operations")
    pasted = "was read in pasted text: only a person can approve this"
    assert ruled(one) == ("pending", pasted)
    assert decide(one, [], guarded=GUARDED, trusted={"operations": "earned trust"}).reason == pasted
    assert follow_review(review(RULE), one, GUARDED).reason == f"m would promote it, but {pasted}"
