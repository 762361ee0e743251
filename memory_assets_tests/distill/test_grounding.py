"""Grounding: the records that hold a fact, whose words they are, and nothing where no record supports it."""

import pytest

from memory_assets.distill.grounding import MOST_ROWS, Grounding
from memory_assets_tests.distill.sessions import said

ROWS = said(
    ("owner", "no it needs to be the terminal with git sync for any screenshots or screen recordings"),
    ("assistant", "Understood: every graphic of the thread shows the terminal that runs git-sync."),
    {"author": "tool", "text": "README.md: deploy on Fridays with `make ship`, never on Mondays", "tool_name": "Read"},
    ("owner", "look at the deployment please, something with ship broke"),
    ("assistant", "The deployment runs `make ship` on Fridays and never on Mondays."),
)


def found(text: str):
    return Grounding(ROWS).find(text)


def test_a_paraphrase_of_the_owners_words_is_the_owners():
    evidence = found("Graphics and screen recordings of the thread must show the terminal running git-sync")
    assert evidence is not None
    assert (evidence.author, evidence.rows[0]) == ("owner", 0)


def test_what_a_tool_said_is_not_the_owners_though_they_share_words():
    evidence = found("Deploy with `make ship` on Fridays, never on Mondays")
    assert evidence is not None
    assert evidence.author in ("tool", "assistant")


def test_what_nobody_said_has_no_evidence():
    assert found("Kubernetes ingress certificates rotate quarterly") is None


def test_the_quote_stands_in_the_speakers_words():
    evidence = found("The owner wants the terminal in all screenshots")
    assert evidence is not None
    assert evidence.quote in ROWS[evidence.rows[0]]["text"]


def test_evidence_is_the_few_best_records_best_first():
    rows = said(*[("assistant", f"The stale mount breaks the tests, time {n}.") for n in range(MOST_ROWS + 5)])
    evidence = Grounding(rows).find("The stale mount breaks the tests")
    assert evidence is not None
    assert evidence.rows == tuple(range(MOST_ROWS))


@pytest.mark.parametrize("text", ["", "   ", "the of and", "🔴"])
def test_a_fact_without_words_has_no_evidence(text: str):
    assert found(text) is None
