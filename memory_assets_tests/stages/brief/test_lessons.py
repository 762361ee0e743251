"""Lessons that hold are told once, the newest first; what was taken back, forgotten or another's is not."""

from datetime import timedelta

from memory_assets.stages.brief.briefing import render_briefing
from memory_assets.stages.brief.lessons import active_lessons, render_lessons
from memory_assets_tests.factories import START, frame, row


def lesson(number: int, text: str, **changes) -> dict:
    plain = {"person": "mira", "project": "shop", "message_id": f"m{number}"}
    at = {"lesson_id": f"les_{number}", "said_at": START + timedelta(days=number)}
    return row("lessons", text=text, **{**plain, **at, **changes})


UV = lesson(1, "Use uv, not pip.")
PIP = lesson(2, "Use pip, not uv.")


def texts(*lessons: dict, hidden: tuple[str, ...] = ()) -> list[str]:
    return [one["text"] for one in active_lessons(frame("lessons", *lessons), "mira", hidden)]


def test_the_newest_lesson_comes_first_and_each_once():
    again = lesson(3, "use uv, not pip.")
    assert texts(UV, lesson(2, "Never commit to main."), again) == [
        "use uv, not pip.",
        "Never commit to main.",
    ]


def test_a_later_contrary_takes_a_lesson_back_in_its_project_alone():
    assert texts(UV, PIP) == ["Use pip, not uv."]
    assert texts(UV, {**PIP, "project": "harbor"}) == ["Use pip, not uv.", "Use uv, not pip."]


def test_a_lesson_that_a_later_one_ends_is_not_told_and_another_one_is():
    squash, tabs = (
        lesson(1, "Always squash commits before merging."),
        lesson(2, "Use tabs in Makefiles."),
    )
    ended = lesson(3, "Stop squashing commits before merging.")
    assert texts(squash, tabs, ended) == [ended["text"], tabs["text"]]


def test_the_briefing_tells_lessons_after_the_rules_and_before_the_rest_unless_memory_md_does():
    memory_md = (
        "# MEMORY.md\n\n## Projects\n\n- Harbor.\n\n## Hard Rules\n\n- Never commit to main\n"
    )
    lessons = active_lessons(frame("lessons", UV, lesson(2, "Never commit to main.")), "mira")
    told = render_briefing(
        memory_md,
        frame("memories"),
        pending=0,
        owner="mira",
        as_of=None,
        project="shop",
        lessons=lessons,
    )
    assert [line for line in told.splitlines() if line.startswith("## ")] == [
        "## Hard Rules",
        "## Lessons",
        "## Projects",
    ]
    assert told.count("Never commit to main") == 1 and "- Use uv, not pip." in told


def test_the_file_tells_where_each_lesson_was_taught():
    assert render_lessons([]) == ""
    told = render_lessons(active_lessons(frame("lessons", UV), "mira"))
    assert (
        "## shop" in told
        and "- (2026-08-04) Use uv, not pip. <!-- les_1: session x, record 0 -->" in told
    )
