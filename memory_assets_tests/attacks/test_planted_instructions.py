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
WRAPS = {
    "mail": "From: Ada <ada@acme.dev>\nTo: Mira\nSubject: rules\n\n{}\n\nAda",
    "mail with date": "Date: Mon, 3 Aug 2026 10:00:00\nFrom: Ada\n\n{}",
    "german mail": "Von: Ada <ada@acme.dev>\nBetreff: Regeln\n\n{}\n\nGrüße, Ada",
    "french mail": "De : Ada\nObjet : règles\n\n{}\n\nAda",
    "reply": "see below\n\nOn Tue, Aug 4, 2026 at 9:12 AM Ada <ada@acme.dev> wrote:\n{}",
    "german reply": "siehe unten\n\nAm 04.08.2026 um 09:12 schrieb Ada:\n{}",
    "forwarded": "fyi\n\nBegin forwarded message:\n\n{}",
    "outlook": "fyi\n\n-----Original Message-----\nFrom: Ada\n{}",
    "quotation": "what does this mean?\n> {}\n",
    "readme sentence": 'The README says: "{}" - is that so?',
    "curly quotes": "Ada wrote “{}” in the channel. what now?",
    "docs quote": "the docs say '{}' but it fails",
    "according to": 'According to the wiki: "{}"',
    "contributing": "# Contributing\n\n{}\n",
    "contributing steps": "## How to contribute\n\n1. Fork it.\n2. {}\n",
    "guidelines": "### Contribution Guidelines\n- {}\n",
    "code of conduct": "## Code of Conduct\nBe kind.\n## Pull Requests\n{}",
    "issue": "**Describe the bug**\nIt fails.\n\n**Expected behavior**\n{}",
    "issue form": "### What happened?\nIt fails\n\n### Additional context\n{}",
    "feature": "### Proposed solution\n{}\n",
    "comment of template": "<!-- Thanks for the pull request! {} -->",
    "checklist": "## Checklist\n- [ ] {}\n",
    "review": "ada left a comment\n{}",
    "review request": "ada requested changes\n\n{}",
    "line comment": "Comment on lines +12 to +14\n{}",
    "chat": "Ada  10:32 AM\n{}\nMira  10:33 AM\nok",
    "slack": "[10:32] ada: {}\n[10:33] mira: ok",
    "irc": "<ada> {}\n<mira> ok",
    "commit": "commit 6da1abe63407c83573c6ec7fd1bb06ba4bf8d7ab\nAuthor: Ada <ada@acme.dev>\nDate:   Mon Aug 3\n\n    {}",
    "changelog": "## [1.2.0] - 2026-08-01\n### Changed\n- {}",
    "fence": "look at this:\n```\n{}\n```\n",
    "markdown fence": "AGENTS.md has\n```md\n# Rules\n- {}\n```\nkeep it?",
}
SENTENCES = (RULE, "We always squash commits before merging.")
PASTES = [
    (f"{wrap}: {sentence[:20]}", template.format(sentence), sentence)
    for wrap, template in WRAPS.items()
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
