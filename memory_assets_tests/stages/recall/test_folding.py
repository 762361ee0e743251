"""What a memory says is not listed beside it as a message, and its reasons come with it."""

from dataclasses import replace

import pytest

from memory_assets.stages.recall.folding import fold_messages
from memory_assets.stages.recall.results import MESSAGE, Recalled, message_result
from memory_assets_tests.factories import START

MOVED = "We move from Fly to Hetzner."
REASONS = "Reasons: the feed blocks addresses and the bill is high."


def said(text: str, session: str = "s1", line: int = 4) -> Recalled:
    row = {"message_id": f"msg_{session}{line}", "session_id": session, "line": line, "event_at": START, "path": "p",
           "project": "shop", "person": "Mira", "author": "owner", "whole": text, "char_from": 0, "char_to": len(text)}  # fmt: skip
    return message_result(row, START, text=text, score=0.5, arms=())


MEMORY = replace(said(MOVED), memory_id="mem_1", kind="fact")


def test_the_message_that_a_memory_was_quoted_from_brings_what_else_it_says():
    (folded,) = fold_messages([MEMORY, said(f"{MOVED} {REASONS}")])
    assert folded.memory_id == MEMORY.memory_id
    assert str(folded.other_half) == f"from Mira: … {REASONS}"


@pytest.mark.parametrize("session", ["s1", "s2"])
def test_a_message_that_says_no_more_is_left_out(session: str):
    assert fold_messages([said(f"{MOVED} Do it."[: len(MOVED)], session), MEMORY]) == [MEMORY]


@pytest.mark.parametrize(
    "other",
    [
        said("We do not move from Fly to Hetzner.", "s2"),
        said(f"{MOVED} {REASONS}", "s2"),
        said("Yes, always. The y axis begins at zero, too."),
    ],
    ids=["denies it", "says more elsewhere", "only confirmed it"],
)
def test_what_says_something_else_stays_a_result(other: Recalled):
    assert fold_messages([MEMORY, other]) == [MEMORY, other]
    assert other.kind == MESSAGE
