"""Progress: the listener hears of each item, the items come out unchanged, and nobody needs to listen."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from memory_assets.schema.progress import report_to, track


class Recorder:
    """Records what is reported."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def track(self, items: Iterable[Any], description: str, total: float | None) -> Iterator[Any]:
        self.heard.append((description, total))
        try:
            for item in items:
                yield item
                self.heard.append(1)
        finally:
            self.heard.append("done")


def test_the_listener_hears_the_beginning_each_item_and_the_end():
    recorder = Recorder()
    with report_to(recorder):
        assert list(track("ab", "letters")) == ["a", "b"]
    assert recorder.heard == [("letters", 2), 1, 1, "done"]


def test_the_end_is_heard_when_a_step_fails():
    recorder = Recorder()
    with report_to(recorder), pytest.raises(ZeroDivisionError):
        for number in track([1, 0], "numbers"):
            _ = 1 / number
    assert recorder.heard[-1] == "done"


def test_without_a_listener_the_items_come_out_all_the_same():
    assert list(track(iter("ab"), "letters")) == ["a", "b"]


def test_after_the_block_nobody_listens():
    recorder = Recorder()
    with report_to(recorder):
        pass
    list(track("ab", "letters"))
    assert recorder.heard == []
