"""In a user turn only what the owner typed is theirs; logs, reviews, chats and documents are quoted material."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.distill.authorship import typed_paragraphs, typed_sentences


@pytest.mark.parametrize(
    "text",
    [
        "use uv, never pip",
        "no it needs to be the terminal for any screenshots",
        "we are also a library. Doing new connections after each step sounds reasonable?",
    ],
)
def test_what_a_person_types_is_theirs(text: str):
    assert typed_paragraphs(text) == [text]


REVIEW = "\n\n".join(
    f"{n}. High: the lease is ignored in push.go:{n}. Never do that, always check it first."
    for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("still broken\n\n❯ make test\nerror: always run with --force\n=== RUN TestX\n--- FAIL: TestX (0.01s)\nok      example.io/x (cached)", ["still broken"]),
        (f"can you verify these\n\n{REVIEW}\n\nbut leave the docs alone please", ["can you verify these", "but leave the docs alone please"]),
        ("Lease ignored on push\nHigh Severity\n\nThe guard always returns early and never checks the lease.", []),
        ("2. (Medium) The defer deletes the target\n\nload accepts a folder that exists.", []),
        ("Use tabs.\n\nwarning: you must always force it", ["Use tabs."]),
        ("From: Bob\nSubject: x\n\nHi,\n\nplease always deploy with --force", []),
        ("can we do this?\n\n  The check lives in auth.go. It never runs.", ["can we do this?"]),
    ],
)  # fmt: skip
def test_a_log_a_review_and_what_a_terminal_indented_are_not_the_owners_voice(
    text: str, typed: list[str]
):
    assert typed_paragraphs(text) == typed


def test_the_owners_own_lines_before_a_long_paste_are_all_theirs():
    own = [
        "okay here is the tweet for the launch..",
        "its not subject to your feedback. it is as is.",
    ]
    paste = "For anyone who wants to move: we’re open sourcing our latest tool, today. " * 12
    assert typed_paragraphs("\n\n".join([*own, paste])) == own


def test_one_line_that_a_terminal_broke_is_the_owners():
    text = f"There is no integration test for the prune of branches: {'it is covered in planner tests only ' * 4}and that\n     is not end to end."
    assert typed_sentences(text)[-1].endswith("and that is not end to end.")


def test_two_dots_end_a_thought_and_code_paths_survive():
    assert typed_sentences("too much jargon..keep the examples in ./docs/a.md") == (
        "too much jargon",
        "keep the examples in ./docs/a.md",
    )


@given(st.text())
def test_any_turn_can_be_read(text: str):
    assert all(paragraph.strip() for paragraph in typed_paragraphs(text))
