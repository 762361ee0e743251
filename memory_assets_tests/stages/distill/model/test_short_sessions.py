"""Questions about short sessions: what is shown, how many share a request, and how their answer is split."""

from zoneinfo import ZoneInfo

import pytest

from memory_assets.schema.protocols import ModelAnswer
from memory_assets.stages.distill.model.questions import (
    ObserverQuestion,
)
from memory_assets.stages.distill.model.short_sessions import (
    ANSWER_TOKENS,
    NOTHING,
    QuestionGroup,
    group_questions,
    questions_about,
    split_answer,
)
from memory_assets_tests.stages.distill.models import START
from memory_assets_tests.stages.distill.sessions import messages, said, window

ZONE = ZoneInfo("Asia/Tokyo")
TURNS = (
    ("owner", "install the dependencies"),
    ("assistant", "I look for the lock file."),
    {"author": "tool", "text": "requirements.txt"},
    ("assistant", "I ran `pip install`. Shall I go on?"),
    ("owner", "no, use uv here, never pip"),
    ("assistant", "Switched to uv."),
)
RULE = "* 🔴 (18:04) [gate=allow confidence=0.9 category=rules-conventions] Use uv here, never pip"


def question(number: int = 1, *turns: tuple[str, str] | dict, **about: str) -> ObserverQuestion:
    rows = said(*(turns or TURNS), window_id=f"{number:064d}")
    rows = [
        {**row, "message_id": f"msg_{number}_{row['ordinal']}", "image_count": 0} for row in rows
    ]
    short = window(rows, status="short", session_id=f"session-{number}", **about)
    (found,) = questions_about(short, messages(rows), "scripted-1", ZONE)
    return found


def answer(text: str, stop: str = "end_turn") -> ModelAnswer:
    return ModelAnswer(text, "scripted-1", 1_001, 11, stop, cache_read_tokens=7, seconds=3.0)


def texts(text: str, count: int, stop: str = "end_turn") -> list[tuple[str, str]]:
    """The text and the fault of each part of the answer."""
    found = split_answer(
        [question(number).key for number in range(count)], answer(text, stop), START
    )
    return [(kept.answer.text, kept.fault) for kept in found]


def test_the_owners_messages_are_shown_and_what_the_assistant_said_last_before_them():
    material = QuestionGroup((question(),)).request().material
    assert "OWNER: install the dependencies" in material
    assert (
        "ASSISTANT: I ran `pip install`. Shall I go on?\n\n[18:04] OWNER: no, use uv here, never pip"
        in material
    )
    assert not any(hidden in material for hidden in ("lock file", "requirements.txt", "Switched"))


def test_the_key_of_a_session_depends_on_nothing_but_what_is_shown_of_it():
    first, other = question(1), question(2, ("owner", "never force-push"))
    assert first.key == question(1, *TURNS[:2], ("tool", "another result"), *TURNS[3:]).key
    assert first.key != question(1, *TURNS[:4], ("owner", "no, use pip")).key != other.key
    (together,) = group_questions([first, other])
    assert [one.key for one in together.questions] == [first.key, other.key]


def test_an_answer_about_a_short_session_is_none_about_the_whole_transcript():
    rows = said(("owner", "never force-push"))
    whole, short = (
        questions_about(window(rows, status=status), messages(rows), "scripted-1", ZONE)[0]
        for status in ("observed", "short")
    )
    assert whole.key.content != short.key.content
    assert short.key.zone == ZONE


def test_each_session_has_a_fence_and_a_number_and_room_for_its_answer():
    (group,) = group_questions([question(1), question(2, ("owner", "never force-push"))])
    request = group.request()
    assert request.material.index("quoted session 1 ") < request.material.index("quoted session 2 ")
    assert request.max_tokens == 2 * ANSWER_TOKENS
    assert group.estimated_tokens() == pytest.approx(request.estimated_tokens(), rel=0.1)


def test_an_answer_is_split_by_number():
    said_of_both = f'<session number="2">\n{RULE}\n</session>\n<session number="1"></session>'
    assert texts(said_of_both, 2) == [(NOTHING, ""), (RULE, "")]


def test_the_parts_add_up_to_what_was_paid():
    parts = [
        kept.answer
        for kept in split_answer([question(n).key for n in range(3)], answer("-"), START)
    ]
    assert [
        sum(getattr(part, name) for part in parts)
        for name in ("input_tokens", "output_tokens", "cache_read_tokens")
    ] == [
        1_001,
        11,
        7,
    ]
    assert sum(part.seconds for part in parts) == pytest.approx(3.0)
