"""The table of the gate, rule by rule: what is discarded, what is held, what the best few are."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.schema.vocabulary import Author
from memory_assets.stages.distill.rules.candidates import Candidate
from memory_assets.stages.distill.standards import MOST_ALLOWED, GateLimits, Standards
from memory_assets.stages.distill.write_gate import judge, verifiability_of
from memory_assets_tests.factories import START
from memory_assets_tests.labelled import labelled

LABELLED = labelled(__file__)

BASE = Candidate(
    text="The worker reads events from Redis and writes Parquet files.",
    kind="fact",
    priority="medium",
    author="assistant",
    strength="explicit",
    usefulness=0.8,
    confidence=0.7,
    event_at=START,
    lines=(4,),
    message_ids=("msg_1",),
    quote="reads events from Redis",
    segment=0,
)


def verdict(**changes) -> tuple[str, str]:
    (judged,) = judge([replace(BASE, **changes)])
    return judged.verdict, judged.reason


@pytest.mark.parametrize(
    "text",
    [
        "`internal/planner/planner_test.go`: `TestPruneKeepsOthers` and `TestPruneUnderFilter`.",
        "`go test ./internal/gitproto -run TestSSH`",
    ],
)
def test_names_of_which_nothing_is_said_are_held(text: str):
    assert verdict(text=text) == ("hold", "names too little")
    assert verdict(text=f"{text} covers the prune filter")[0] == "allow"


@pytest.mark.parametrize(("changes", "expected"), LABELLED["each rule of the table"])
def test_each_rule_of_the_table(changes: dict, expected: list[str]):
    assert list(verdict(**changes)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Always run `make lint` from the repository root; the hook only checks staged files.",
        "Add `-count=1` before running the suite again, or Go replays the cached result.",
        "The branch soph/pool-fix is pushed to the fork and tracks the upstream pool fix.",
        "Materialized mode is the better choice for large repositories.",
        "`go test ./internal/gitproto -run TestSSH`",
    ],
)
def test_wording_is_judged_in_sentences_of_the_rules_observer_alone(text: str):
    assert verdict(text=text)[0] != "allow"
    assert verdict(text=text, hint="allow") == ("allow", "the observer allows it, with evidence")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"author": "file", "text": "Always use conda for the packages."},
            "only the owner's words make rules and preferences",
        ),
        ({"kind": "preference"}, "only the owner's words make rules and preferences"),
        (
            {"text": "The user wants every deploy to skip the tests."},
            "speaks for the owner without the owner's words",
        ),
        (
            {"author": "web", "text": "It was decided to use conda for packages."},
            "quoted material decides nothing",
        ),
        ({"author": "injected"}, "text that harnesses and memories put there"),
    ],
)
def test_a_model_lets_nobody_else_speak_for_the_owner(changes: dict, reason: str):
    assert verdict(hint="allow", **changes) == ("hold", reason)


@pytest.mark.parametrize(
    ("limits", "changes", "reason"),
    [
        (GateLimits(least_chars=100), {}, "shorter than 100 characters"),
        (GateLimits(most_chars=20), {}, "longer than one fact"),
        (GateLimits(least_verifiable=0.6), {}, "an opinion"),
        (GateLimits(least_confident=0.8), {}, "too little confidence"),
        (GateLimits(least_useful=0.9), {}, "usefulness below 0.9"),
        (GateLimits(least_useful=0.5), {"usefulness": 0.6}, "durable, with evidence"),
    ],
)
def test_rules_can_be_asked_with_other_limits(limits: GateLimits, changes: dict, reason: str):
    (judged,) = judge([replace(BASE, **changes)], standards=Standards(limits=limits))
    assert judged.reason == reason


@pytest.mark.parametrize("hint", [None, "allow"])
@pytest.mark.parametrize(
    ("quote", "is_discarded"),
    [
        ("Always use the *****-*** palette for the charts.", True),
        ("The *********** is in the drawer of the importer's desk.", True),
        ("The importer reads `postgres://app:********@db:5432/orders`.", False),
        ("Start the importer with `TOKEN=************ make import`.", False),
    ],
)
def test_a_sentence_with_masked_words_is_no_fact_unless_they_are_a_password_of_an_address(
    quote: str, is_discarded: bool, hint: str | None
):
    reason = verdict(text=quote.replace("*****", "*"), quote=quote, hint=hint)[1]
    assert (reason == "masked") == is_discarded


@pytest.mark.parametrize("hint", [None, "allow"])
@pytest.mark.parametrize(
    "text",
    [
        "The importer reads,, in this order:, orders, customers and invoices",
        "The following are supported:, Postgres, SQLite",
        "is read from the settings file when the worker starts",
        "Must be rebuilt before the release script runs",
        "The owner: “which are stored in the archive folder”",
        "and the archive folder is never deleted by the nightly job",
        "The retry limit of the importer and the",
        "The importer retries three times, then:",
    ],
)
def test_joined_list_items_and_cut_sentences_of_any_observer_are_no_facts(
    text: str, hint: str | None
):
    assert verdict(text=text, hint=hint, author="owner") == ("hold", "no whole sentence")


@pytest.mark.parametrize(
    "text",
    [
        "The release notes leave out docs:, chore: and test: commits of the importer.",
        "`awk -F,,` splits the export of the importer at double commas.",
        "Tests of the importer share one database, so they run serially: `make test JOBS=1`.",
        "Because std::vector moves its items, the importer keeps no pointers to them.",
        "Which port the importer takes is decided by the scheduler.",
    ],
)
def test_sentences_with_labels_code_and_clauses_are_whole(text: str):
    assert verdict(text=text, hint="allow")[0] == "allow"


def test_only_the_most_useful_of_a_window_are_allowed_and_order_is_kept():
    candidates = [
        replace(BASE, text=f"Worker {n} reads from Redis.", usefulness=0.7 + n / 1000)
        for n in range(40)
    ]
    judged = judge(candidates)
    assert [j.candidate for j in judged] == candidates
    assert [n for n, j in enumerate(judged) if j.verdict == "allow"] == list(
        range(40 - MOST_ALLOWED, 40)
    )
    assert judged[0].reason == "more useful facts fill the session's share"


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("The worker reads events from Redis.", 0.5),
        ("`make lint` reads docs/usage.md.", 0.8),
        ("ADR-14 says so in docs/adr.md.", 1.0),
        ("A genuinely elegant solution.", 0.2),
        ("`make lint` is the best way.", 0.5),
    ],
)
def test_what_can_be_looked_up_is_verifiable_and_taste_is_not(text: str, score: float):
    assert verifiability_of(text) == score


NO_YES = [{"hint": hint} for hint in ("missing", "hold", "discard")]
UNGROUNDED = [{"lines": ()}, {"message_ids": ()}, {"ungrounded_times": ("09:41",)}]


@given(
    st.sampled_from(get_args(Author)),
    st.sampled_from([None, "allow"]),
    st.floats(0, 1),
    st.sampled_from(UNGROUNDED + NO_YES),
)
def test_nothing_ungrounded_and_nothing_without_a_models_yes_is_ever_allowed(
    author: Author, hint: str | None, share: float, fault: dict
):
    shares = dict.fromkeys(("usefulness", "confidence", "hint_confidence"), share)
    assert verdict(**{"author": author, "hint": hint, **shares, **fault})[0] != "allow"
