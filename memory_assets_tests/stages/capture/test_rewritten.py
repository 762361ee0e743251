"""A file that shrinks or is replaced loses no message and doubles none, whatever harness wrote it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memory_assets.store.store import Store
from memory_assets_tests.harnesses.cursor import test_cursor as cursor
from memory_assets_tests.harnesses.gemini import test_reader as gemini
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.sessions import assistant, lines, transcript, user

Turn = Callable[[int], Sequence[dict[str, Any]]]
Place = Callable[[Path], Path]


def prompt(number: int) -> str:
    return f"Please look at point {number}."


def of_claude(number: int) -> Sequence[dict[str, Any]]:
    asked = user("a", 2 * number, prompt(number), number)
    return asked, assistant("a", 2 * number + 1, f"Point {number} is done.", number + 0.5)


def of_gemini(number: int) -> Sequence[dict[str, Any]]:
    asked = gemini.user(f"u{number}", prompt(number), minute=number)
    return asked, gemini.answer(f"g{number}", f"Point {number} is done.", minute=number)


def of_cursor(number: int) -> Sequence[dict[str, Any]]:
    texts = (("user", prompt(number)), ("assistant", f"Point {number} is done."))
    return [cursor.said(role, {"type": "text", "text": text}) for role, text in texts]


def gemini_place(sources: Path) -> Path:
    return gemini.write(sources)


def cursor_place(sources: Path) -> Path:
    return cursor.write(sources, Path("/w/tides"))


HARNESSES = pytest.mark.parametrize(
    ("turn", "place", "header"),
    [
        pytest.param(of_claude, lambda sources: transcript(sources, "a"), [], id="Claude Code"),
        pytest.param(of_gemini, gemini_place, [gemini.HEADER], id="Gemini CLI"),
        pytest.param(of_cursor, cursor_place, [], id="Cursor"),
    ],
)


def prompts_in(store: Store) -> list[str]:
    """The owner's messages of all windows, open ones included."""
    windows = store.tables.read("windows")
    ids = windows["message_ids"].explode().to_list()
    records = store.tables.read("records").filter(author="owner")
    assert len(ids) == len(set(ids))
    return sorted(set(ids) & set(records["message_id"]))


@HARNESSES
def test_a_file_that_is_replaced_by_its_end_and_goes_on(
    store: Store, sources: Path, turn: Turn, place: Place, header: list[dict[str, Any]]
):
    path = place(sources)
    path.write_bytes(lines(*header, *turn(1), *turn(2), *turn(3)))
    capture(store, sources)
    before = prompts_in(store)
    path.write_bytes(lines(*header, *turn(3)))
    assert capture(store, sources).rewritten == 1
    assert prompts_in(store) == before
    path.write_bytes(lines(*header, *turn(3), *turn(4)))
    assert capture(store, sources).rewritten == 0
    after = prompts_in(store)
    assert (len(before), len(after), set(before) < set(after)) == (3, 4, True)


@HARNESSES
def test_a_file_that_is_cut_to_its_beginning_and_goes_on_elsewhere(
    store: Store, sources: Path, turn: Turn, place: Place, header: list[dict[str, Any]]
):
    path = place(sources)
    path.write_bytes(lines(*header, *turn(1), *turn(2), *turn(3)))
    capture(store, sources)
    before = prompts_in(store)
    path.write_bytes(lines(*header, *turn(1)))
    capture(store, sources)
    assert prompts_in(store) == before
    path.write_bytes(lines(*header, *turn(1), *turn(5)))
    capture(store, sources)
    assert len(prompts_in(store)) == 4
