"""A result says who said it, and what a person pasted is not shown as their words."""

import pytest

from memory_assets.stages.recall.speakers import is_pasted, said_by

PASTE = "The cache of the build is never invalidated, so stale objects are linked."
TURN = f"can you look at this review of the cache?\n\nFrom: Maria\nSubject: build\n\n{PASTE}\n\nRegards\nMaria"
LOG = "does this help?\n\n```\n20:36:30 http.c: Send header: Accept: */*\n20:36:31 http.c: Send data: 0000\n```\n"


def passage(turn: str, span: str, author: str = "owner") -> dict:
    start = turn.index(span)
    return {
        "author": author, "person": "ann", "whole": turn, "passage": span, "char_from": start, "char_to": start + len(span),
        "role": "turn",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("turn", "span", "expected"),
    [
        (TURN, PASTE, True),
        (TURN, "can you look at this review of the cache?", False),
        (LOG, "20:36:30 http.c: Send header: Accept: */*", True),
        (LOG, "does this help?", False),
        (
            "We cache the build for a day.\nPlease keep it so.",
            "We cache the build for a day.\nPlease keep it so.",
            False,
        ),
    ],
)
def test_a_passage_is_pasted_if_most_of_it_is_not_the_owners(turn: str, span: str, expected: bool):
    found = passage(turn, span)
    assert is_pasted(turn, found["char_from"], found["char_to"]) is expected


@pytest.mark.parametrize(
    ("author", "person", "expected"),
    [
        ("owner", "ann", "ann"),
        ("owner", "", "owner"),
        ("pasted", "ann", "pasted by ann"),
        ("assistant", "ann", "assistant"),
        ("subagent", "ann", "sub-agent"),
    ],
)
def test_a_result_names_who_said_it(author: str, person: str, expected: str):
    assert said_by({"author": author, "person": person}) == expected
