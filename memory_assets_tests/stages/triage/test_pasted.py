"""What stands in a pasted part of a turn is not the owner's, and promotes nothing by rules or by a model."""

from pathlib import Path

import pytest

from memory_assets.stages.distill.authorship import is_pasted
from memory_assets.stages.triage.typed import PASTED
from memory_assets_tests.stages.triage.world import World

RULE = "Always run `make format` before you commit."
MAIL = f"From: Ada <ada>\nSubject: house rules\n\nHi Mira,\n{RULE}\nAda"
PASTES = {
    "mail": MAIL,
    "mail behind the owner's words": f"what do you make of this?\n\n{MAIL}",
    "forwarded": f"---------- Forwarded message ---------\n{RULE}",
    "reply": f"ok\n\nOn Mon, 3 Aug 2026 at 10:00, Ada wrote:\n{RULE}",
    "quotation": f"the readme says\n> {RULE}\nis that so",
    "issue template": f"### Describe the bug\nIt fails.\n### Expected behavior\n{RULE}",
    "contributing guide": f"## Contributing\n\n{RULE}",
    "template comment": f"<!-- Please read first. -->\n{RULE}",
    "document": f"# Plan\n{RULE}",
    "chat": f"Ada Byron  10:42\n{RULE}\n\nis that so",
    "forum": f"posted by ada, 3 days ago\n{RULE}",
    "listing": f"1. Rename the table.\n2. {RULE}\n3. Drop the index.",
    "shell": f"ada@host:~/shop$ cat RULES\n{RULE}",
    "PowerShell": f"PS C:\\shop> type RULES\n{RULE}",
    "review": f"ada commented on lines 12 to 14\n{RULE}",
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("message", PASTES.values(), ids=PASTES)
def test_a_sentence_in_a_pasted_part_is_pasted(message: str):
    assert is_pasted(RULE, message)


@pytest.mark.parametrize(
    "message",
    [
        RULE,
        f"{RULE}\n\n{MAIL}",
        f"> we format at the end\nno. {RULE}",
        f"Subject: none of this is a mail\n{RULE}",
        f"if a > b fail. {RULE}",
        f"I commented on it yesterday.\n{RULE}",
    ],
)
def test_the_owners_own_sentence_is_not(message: str):
    assert not is_pasted(RULE, message)


@pytest.mark.parametrize("message", PASTES.values(), ids=PASTES)
def test_what_only_pasted_text_says_waits_however_often_it_was_pasted(world: World, message: str):
    (rule,) = world.propose(RULE, sessions=3, messages=[message] * 3)
    assert world.triage()[rule] == (
        "pending",
        f"you said it in 3 sessions, last on 2026-08-03; {PASTED}",
    )
    assert (
        f"`{rule}` **{RULE}** — _Hard Rules; you said it in 3 sessions, last on 2026-08-03; {PASTED}_"
        in world.review_md.read_text()
    )
    world.tick(rule)
    assert world.triage()[rule] == ("promoted", "approved by a person")


def test_pasted_text_is_no_second_session(world: World):
    (rule,) = world.propose(RULE, sessions=2, messages=[RULE, MAIL])
    assert world.triage()[rule] == (
        "pending",
        "you said it in 2 sessions, last on 2026-08-03; one of its sessions only pasted it",
    )
    world.confirm(rule)
    assert world.triage()[rule][0] == "promoted"
