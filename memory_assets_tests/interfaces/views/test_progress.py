"""Progress on a terminal is bars, elsewhere a line for each long step; announced work has one bar for all of it."""

import io
from collections.abc import Callable, Iterator

import pytest
from rich.console import Console

from memory_assets.interfaces.views.progress import Bars, render_remaining
from memory_assets.schema.progress import expect, report_to, works


def terminal(shown: io.StringIO, width: int = 120) -> Console:
    return Console(file=shown, force_terminal=True, width=width)


def clock(*moments: float) -> Callable[[], float]:
    """A clock with these moments, then the last one for ever."""
    left: Iterator[float] = iter(moments)
    return lambda: next(left, moments[-1])


def test_without_a_terminal_a_long_step_is_one_line_and_a_short_one_none():
    shown = io.StringIO()
    bars = Bars(Console(file=shown, width=100), clock(0.0, 0.2, 10.0, 12.5))
    for name in ("short", "long"):
        assert list(bars.track("abc", name, 3)) == ["a", "b", "c"]
    assert shown.getvalue() == "long: 3 in 2.5 s\n"


def test_on_a_terminal_steps_are_bars_and_leave_it_free_when_done():
    shown = io.StringIO()
    bars = Bars(terminal(shown))
    for _ in bars.track("ab", "outer", 2):
        list(bars.track(iter("c"), "inner", None))
    assert "outer" in shown.getvalue()
    assert "2/2" in shown.getvalue()
    assert "\x1b[?25h" in shown.getvalue()


def test_announced_work_has_one_bar_that_says_what_is_done_how_long_it_takes_and_what_works():
    shown = io.StringIO()
    bars = Bars(terminal(shown), clock(0.0, 60.0))
    bars.expect({"resources": 60.0, "memories": 60.0})
    bars.building("resources", "Reading transcripts")
    assert list(bars.track("ab", "Reading transcripts (resources)", 2)) == ["a", "b"]
    bars.works("recall works")
    bars.building("memories", "Merging")
    bars.expect({})
    assert "50 %" in shown.getvalue()
    assert "recall works · Merging · about 1 min left" in shown.getvalue()
    assert "Recall works after" in shown.getvalue()
    assert "\x1b[?25h" in shown.getvalue()


def test_without_a_terminal_announced_work_says_in_a_line_what_works():
    shown = io.StringIO()
    bars = Bars(Console(file=shown, width=100), clock(0.0, 12.0))
    bars.expect({"memories": 60.0})
    bars.building("memories", "Merging")
    bars.works("recall works")
    assert shown.getvalue() == "Recall works after 12 s.\n"


def test_a_notice_comes_before_what_works():
    shown = io.StringIO()
    with (
        report_to(Bars(Console(file=shown, width=100), clock(0.0, 12.0))),
        expect(lambda: {"memories": 60.0}, "A notice."),
    ):
        works("recall works")
    assert shown.getvalue() == "A notice.\nRecall works after 12 s.\n"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3, "a few seconds"), (44, "about 40 s"), (58, "about 1 min"), (200, "about 3 min")],
)
def test_an_estimate_is_as_exact_as_it_can_be(seconds: float, text: str):
    assert render_remaining(seconds) == f"{text} left"


def test_once_closed_the_terminal_is_free_whatever_goes_on():
    shown = io.StringIO()
    bars = Bars(terminal(shown), clock(0.0))
    bars.expect({"memories": 60.0})
    bars.close()
    assert shown.getvalue().endswith("\x1b[?25h")
    before = shown.getvalue()
    bars.building("memories", "Merging")
    bars.expect({})
    assert list(bars.track("ab", "letters", 2)) == ["a", "b"]
    assert shown.getvalue() == before
