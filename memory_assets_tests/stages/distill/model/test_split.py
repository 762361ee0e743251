"""A fact of several claims becomes a fact for each."""

import pytest

from memory_assets.stages.distill.model.parser import parse_answer
from memory_assets.stages.distill.model.split import find_claims, split_facts


@pytest.mark.parametrize(
    "claims",
    [
        ["The cache is in Redis on db03.", "Sessions are kept in PostgreSQL for 30 days."],
        [
            'The build fails with "No such file. Stop" without Docker.',
            "Podman 5 needs `--userns=keep-id`.",
        ],
        [
            "The owner wants squash merges.",
            "The owner wants release notes written by hand.",
            "CI signs tags with the deploy key.",
        ],
        [
            "`make test` needs PORT=8080.",
            "Use `--no-network` in CI and run `make lint` before every push.",
        ],
    ],
)
def test_sentences_that_are_clear_alone_are_facts_of_their_own(claims: list[str]):
    assert find_claims(" ".join(claims)) == claims


@pytest.mark.parametrize(
    "text",
    [
        "The cache is in Redis on db03. It is flushed every night at 02:00.",
        "Redis replaced Memcached on db03. This halved the p99 latency of search.",
        "Uploads go through relay.go. So retries of an upload never reach the database.",
        "The server listens on 8080. Verified against staging.",
        "The server listens on 8080. The port was free before.",
        "Any blocked ref (e.g. Non-fast-forward without --force) stops the sync of all other branches.",
        "The issue (see PR 12. Written by J. Smith for release 3) asks for an install path.",
        "CI rejects `!= err`; use `errors.Is` and run `make lint` before pushing.",
    ],
)
def test_what_refers_back_stays_with_its_sentence(text: str):
    assert find_claims(text) == [text]


def test_a_claim_has_the_mark_the_time_and_the_annotations_of_its_fact():
    line = "* 🔴 (09:41) [gate=allow confidence=0.9 category=operations] Redis runs on db03. PostgreSQL 16 runs on db04 and db05."
    answer = parse_answer(
        f"<observations><segment><narrative>Hosts.</narrative><facts>\n{line}\n</facts></segment></observations>"
    )
    (segment,) = split_facts(answer).segments
    one, other = segment.facts
    assert (one.text, other.text) == ("Redis runs on db03.", "PostgreSQL 16 runs on db04 and db05.")
    assert {
        (fact.priority, fact.time, fact.gate, fact.confidence, fact.category)
        for fact in segment.facts
    } == {("high", "09:41", "allow", 0.9, "operations")}
    assert segment.narrative == "Hosts."
