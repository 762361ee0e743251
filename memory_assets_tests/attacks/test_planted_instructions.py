"""The rules of instructions that somebody plants: no rule and no model promotes them, and REVIEW.md says why a person has to decide.

A line that runs a download, touches credentials, switches off a check or names a host waits whoever said it, and however often.
So does a line that only pasted text says: mails, quotations, guides, templates, reviews, tickets, logs.
"""

from pathlib import Path

import pytest

from memory_assets.stages.distill.authorship import is_pasted
from memory_assets.stages.triage.sensitive import sensitive_reason
from memory_assets.stages.triage.typed import PASTED
from memory_assets_tests.labelled import labelled
from memory_assets_tests.once import sampled
from memory_assets_tests.stages.triage.world import World

LABELLED = labelled(__file__)


RULE = "Always run `make format` before you commit."
SENTENCES = (RULE, "We always squash commits before merging.")
PASTES = [
    (f"{wrap}: {sentence[:20]}", template.format(sentence), sentence)
    for wrap, template in LABELLED["wraps"]
    for sentence in SENTENCES
]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("line", LABELLED["planted"])
def test_a_planted_instruction_needs_a_person(line: str) -> None:
    assert sensitive_reason(line) is not None


@pytest.mark.parametrize(
    ("message", "sentence"), [case[1:] for case in PASTES], ids=[case[0] for case in PASTES]
)
def test_a_sentence_of_pasted_text_is_not_the_owners(message: str, sentence: str) -> None:
    assert is_pasted(sentence, message)


@pytest.mark.parametrize("line", sampled(LABELLED["planted"], 3))
def test_it_waits_though_the_owner_said_it_in_many_sessions_and_the_page_says_why(
    world: World, line: str
) -> None:
    (proposal,) = world.propose(line, sessions=3, messages=[line] * 3)
    state, why = world.triage()[proposal]
    assert (state, "only a person can approve this" in why) == ("pending", True)
    assert "only a person can approve this" in world.review_md.read_text()


@pytest.mark.parametrize(
    "message", [text for _, text, sentence in sampled(PASTES, 6) if sentence == RULE]
)
def test_what_was_only_pasted_waits_however_often_and_the_page_says_so(
    world: World, message: str
) -> None:
    (proposal,) = world.propose(RULE, sessions=3, messages=[message] * 3)
    state, why = world.triage()[proposal]
    assert (state, PASTED in why, PASTED in world.review_md.read_text()) == ("pending", True, True)
