"""Tier 1: what rules may decide alone, and what they leave to a person."""

from datetime import date

import pytest

from memory_assets.stages.triage.auto import (
    EarnedTrust,
    KnownLines,
    TriageLimits,
    decide,
    decide_friction,
    follow_review,
)
from memory_assets.stages.triage.comparison import says_the_same
from memory_assets.stages.triage.memory_md import Entry
from memory_assets.stages.triage.wording import line_of
from memory_assets_tests.stages.triage.test_sensitive import LINES, ORDINARY

GUARDED = frozenset({"hard rules", "mira"})
RULE = "Always run `make check` before you commit."


def proposal(text: str = RULE, **changes) -> dict:
    plain = {
        "confidence": 0.9,
        "section": "Hard Rules",
        "session_ids": ["s1", "s2"],
        "author": "owner",
        "person": "mira",
        "project": "tidewatch",
        "category": "rules-conventions",
        "event_on": date(2026, 8, 1),
        "memory_state": "active",
    }
    return {"text": text, **plain, **changes}


def entry(text: str) -> Entry:
    return Entry(5, "Hard Rules", date(2026, 8, 1), text)


def earlier(id: str, text: str, state: str, tier: int = 1) -> dict:
    """A decision about an earlier proposal."""
    return {"proposal_id": id, "text": text, "state": state, "tier": tier}


def ruled(one: dict, *entries: str, others: list[dict] = []) -> tuple[str, str]:  # noqa: B006
    known = KnownLines([entry(text) for text in entries], others)
    ruling = decide(one, known, guarded=GUARDED, owner="mira")
    return ruling.state, ruling.reason


SAID = "you said it in 2 sessions, last on 2026-08-01"
ONCE = "you said it in one session, on 2026-08-01"


def test_what_was_said_in_two_sessions_is_promoted_whether_or_not_it_names_anything():
    assert ruled(proposal()) == ("promoted", SAID)
    assert ruled(proposal("Be kind to the harbour masters.")) == ("promoted", SAID)


def test_a_standing_order_needs_no_second_session():
    assert ruled(proposal(session_ids=["s1"], is_standing_order=True)) == (
        "promoted",
        f"{ONCE}, as a standing order",
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"confidence": 0.8}, f"{SAID}; not sure enough"),
        ({"session_ids": ["s1"]}, ONCE),
        ({"session_ids": ["s1"], "person": "priya"}, "priya said it in one session, on 2026-08-01"),
        ({"session_ids": ["s1"], "contradicted_count": 2}, f"{ONCE}; 2 sources contradict it"),
        (
            {"author": "assistant"},
            "an assistant found it in 2 sessions, last on 2026-08-01; Hard Rules takes only the owner's own words",
        ),
        ({"memory_state": "gone"}, f"{SAID}; its memory is gone by now"),
        (
            {"text": "It must never be renamed."},
            f"{SAID}; what does “it” stand for? Reword it to approve it",
        ),
        ({"category": "health"}, f"{SAID}; it would hold in all your projects"),
    ],
)
def test_what_is_left_to_a_person_says_who_said_it_how_often_and_what_is_missing(
    change: dict, reason: str
):
    assert ruled(proposal(**change)) == ("pending", reason)


def test_what_an_entry_contradicts_waits_and_names_the_entry():
    assert ruled(proposal("Never use mocks in tests."), "Always use mocks in tests.") == (
        "pending",
        f"{SAID}; “Always use mocks in tests.” says otherwise",
    )


OWNERS = (
    "I want answers in German",
    "Redis runs in Docker on port 6380",
    "our API is versioned by header (ADR-0012)",
    "The owner said: “no console logs!”.",
    "Add a changelog entry with every PR.",
    "The gateway's errors must name commit 0f3a5c1e9b2d.",
)


@pytest.mark.parametrize("said", OWNERS)
def test_a_durable_statement_of_the_owner_is_never_refused_by_its_words(said: str):
    one = proposal(line_of(said), said=said, session_ids=["s1"])
    assert ruled(one)[0] == "pending"


def test_an_assistants_word_may_enter_sections_that_are_not_guarded():
    assert ruled(proposal(author="assistant", section="Patterns"))[0] == "promoted"


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (proposal("Use uv."), "too vague: shorter than 12 characters"),
        (proposal("Add this after the second paragraph."), "an instruction artefact, not a fact"),
        (proposal("Replace the following with uv."), "an instruction artefact, not a fact"),
        (proposal(confidence=0.29), "confidence below 0.3"),
        (proposal(memory_state="superseded"), "a newer fact has replaced it"),
    ],
)
def test_what_is_no_fact_or_no_longer_one_is_rejected(one: dict, reason: str):
    assert ruled(one) == ("rejected", reason)


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
    assert (
        decide(one, guarded=GUARDED, limits=limits).state
        == state
        != decide(one, guarded=GUARDED).state
    )


def test_an_exact_duplicate_of_an_entry_is_rejected_whatever_its_markup():
    assert ruled(proposal(), "**always** run make check, before you commit") == (
        "rejected",
        "an exact duplicate of an entry",
    )


def test_what_an_entry_says_in_other_words_is_merged():
    state, reason = ruled(proposal(), "Please always run `make check` before you commit.")
    assert (state, reason) == ("merged", "entry of 2026-08-01 in Hard Rules says the same")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        (
            "Postgres listens on port 5433 in `compose.yaml`.",
            "Postgres listens on port 5432 in `compose.yaml`.",
        ),
        ("Never force-push to `main`.", "Always force-push to `main`."),
    ],
)
def test_a_near_miss_is_another_fact(text: str, near: str):
    assert not says_the_same(text, near)
    assert ruled(proposal(text), near) == ("pending", f"{SAID}; “{near}” says otherwise")


def test_what_a_person_rejected_does_not_come_back_in_other_words():
    rejected = earlier(
        "p-20260801-001", "Please always run `make check` before you commit.", "rejected", tier=3
    )
    assert ruled(proposal(), others=[rejected]) == (
        "rejected",
        "says the same as p-20260801-001, which a person rejected",
    )


def friction(text: str, target: str = "MEMORY.md") -> dict:
    return {
        "proposal_id": "f-20260803-001",
        "title": "said again and again",
        "target": target,
        "text": text,
    }


def test_a_friction_waits_for_a_person():
    ruling = decide_friction(friction("Always deploy with `make deploy`."))
    assert (ruling.state, ruling.reason) == ("pending", "said again and again")


def test_what_has_to_wait_is_asked_about_as_the_friction_that_says_it_and_what_need_not_is_promoted():
    asked = [earlier("f-20260803-001", RULE, "pending")]
    known = KnownLines(frictions=asked)
    waiting = decide(proposal(session_ids=["s1"]), known, guarded=GUARDED)
    assert (waiting.state, waiting.reason) == (
        "merged",
        "f-20260803-001, which waits, says the same",
    )
    assert decide(proposal(), known, guarded=GUARDED).state == "promoted"


def test_a_friction_about_another_file_is_asked_about_whatever_memory_says():
    line = "Always deploy with `make deploy`, never by hand."
    entry = Entry(0, "Hard Rules", date(2026, 8, 1), line)
    known = KnownLines([entry])
    assert decide_friction(friction(line, target="AGENTS.md"), known).state == "pending"
    assert decide_friction(friction(line), known).state == "merged"


TRUST = EarnedTrust({"operations": "earned trust"})


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
    assert decide(one, guarded=GUARDED, trust=TRUST).state == "pending"
    ruling = follow_review(review(text), one, GUARDED)
    assert ruling.state == "pending"
    assert "only a person can approve this" in ruling.reason


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_line_is_promoted_by_rules_and_by_a_model(text: str):
    assert ruled(proposal(text))[0] == "promoted"
    assert (
        follow_review(review(text), proposal(text, session_ids=["s1"]), GUARDED).state == "promoted"
    )


def test_a_line_that_only_pasted_text_says_waits_whoever_would_promote_it():
    one = proposal(typed_session_ids=[], priority="high", category="operations")
    pasted = "was read in pasted text: only a person can approve this"
    assert ruled(one) == ("pending", f"{SAID}; {pasted}")
    assert decide(one, guarded=GUARDED, trust=TRUST).reason.endswith(pasted)
    assert follow_review(review(RULE), one, GUARDED).reason == f"m would promote it, but {pasted}"


@pytest.mark.parametrize(
    ("change", "lines_left", "state"),
    [
        ({}, 1, "promoted"),
        ({}, 0, "pending"),
        ({"session_ids": ["s1"]}, 5, "pending"),
        ({"typed_session_ids": ["s1"]}, 5, "pending"),
        ({"priority": "medium"}, 5, "pending"),
        ({"category": "projects"}, 5, "pending"),
    ],
)
def test_trust_promotes_a_few_lines_that_two_sessions_say(
    change: dict, lines_left: int, state: str
):
    one = proposal(**{"confidence": 0.7, "priority": "high", "category": "operations", **change})
    trust = EarnedTrust({"operations": "earned trust"}, lines_left)
    ruling = decide(one, guarded=GUARDED, owner="mira", trust=trust)
    assert (ruling.state, ruling.by_trust) == (state, state == "promoted")
    assert ("at most 5 lines a day" in ruling.reason) == (lines_left == 0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Always run `make check` after you commit.", "its wording contradicts the proposal"),
        ("Always run `make check` with `conf/lint.toml`.", "its wording names"),
        ("Send the output of `make check` to ci.acme.dev.", "only a person can approve this"),
    ],
)
def test_where_a_models_wording_fails_the_line_has_the_words_of_the_proposal(text: str, why: str):
    ruling = follow_review(review(text), proposal(session_ids=["s1"]), GUARDED)
    assert (ruling.state, ruling.text) == ("promoted", RULE)
    assert why in ruling.reason
