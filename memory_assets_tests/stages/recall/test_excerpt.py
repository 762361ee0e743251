"""A message is shown by what was found in it, the rest of it, and what was said before and after; never longer than allowed."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.adapters.text_index import TextIndex
from memory_assets.schema.protocols import Texts
from memory_assets.stages.recall.excerpt import LONGEST, around, beside, excerpt
from memory_assets_tests.factories import index_rows


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    """Two sessions; the second message of the first has two passages."""
    index = TextIndex(tmp_path)
    rows = [("a#0", "a", "s1", 0), ("b#0", "b", "s1", 1), ("b#1", "b", "s1", 2), ("c#0", "c", "s1", 3), ("d#0", "d", "s2", 4)]
    said = [(id, "messages", f"text of {id}", parent, group, order) for id, parent, group, order in rows]
    columns = ["id", "corpus", "text", "parent", "group", "order"]
    index.update(index_rows(pl.DataFrame(said, schema=columns, orient="row")), [])
    return index.open("messages")


def row_of(texts: Texts, id: str) -> int:
    return int(texts.rows_of([id])[0])


def passage(text: str, line: int) -> dict:
    return {"passage": text, "line": line}


def message(text: str, line: int = 5) -> dict:
    return {"whole": text, "char_from": 0, "char_to": len(text), "line": line}


def test_beside_a_message_stand_the_passages_of_the_others_in_its_session_nearest_first(texts: Texts):
    assert beside(texts, row_of(texts, "b#0")) == [("a#0", -1), ("c#0", 1)]
    assert beside(texts, row_of(texts, "c#0")) == [("b#1", -1), ("b#0", -1)]
    assert beside(texts, row_of(texts, "d#0")) == []


def test_what_may_not_be_shown_ends_what_stands_beside(texts: Texts):
    allowed = np.ones(len(texts), dtype=bool)
    allowed[row_of(texts, "b#1")] = False
    assert beside(texts, row_of(texts, "c#0"), allowed) == []


def test_a_short_message_is_shown_between_what_was_said_before_and_after_it():
    shown = excerpt(message("Yes, do that."), [(passage("Shall we use uv?", 3), -1), (passage("Done,\nuv it is.", 8), 1)])
    assert shown == ("Shall we use uv? ⏎ Yes, do that. ⏎ Done, uv it is.", (5, 3, 8))


def test_two_passages_of_one_message_are_not_parted():
    shown = excerpt(message("Yes."), [(passage("Shall we use uv?", 3), -1), (passage("I compared both.", 3), -1)])
    assert shown == ("I compared both. Shall we use uv? ⏎ Yes.", (5, 3))


def test_a_long_message_leaves_no_room_for_others():
    long = {"whole": "word " * 300, "char_from": 600, "char_to": 900, "line": 5}
    shown, lines = excerpt(long, [(passage("Shall we use uv?", 3), -1)])
    assert lines == (5,)
    assert (shown[0], shown[-1]) == ("…", "…")


def test_of_what_was_said_before_the_end_is_shown_and_of_what_was_said_after_the_beginning():
    before, after = f"first {'w ' * 200}asked", f"answered {'w ' * 200}last"
    shown = excerpt(message("Yes."), [(passage(before, 3), -1), (passage(after, 8), 1)])[0]
    assert "asked ⏎ Yes. ⏎ answered" in shown
    assert shown.endswith("…")


@given(st.text(max_size=900), st.lists(st.tuples(st.text(max_size=500), st.sampled_from([-1, 1])), max_size=4))
def test_an_excerpt_is_one_line_and_never_too_long(text: str, others: list[tuple[str, int]]):
    shown, _ = excerpt(message(text), [(passage(said, 10 + place), side) for place, (said, side) in enumerate(others)])
    assert len(shown) <= LONGEST
    assert len(shown.splitlines()) <= 1


def test_a_passage_is_shown_with_what_stands_around_it():
    text = "a " * 400 + "the tunnel runs over tailscale" + " b" * 400
    shown = around(text, 800, 830, 100)
    assert "the tunnel runs over tailscale" in shown
    assert 80 <= len(shown) <= 100
    assert (shown[0], shown[-1]) == ("…", "…")
    assert around("short text", 0, 5) == "short text"


@given(st.text(max_size=300), st.data())
def test_what_is_shown_of_a_text_is_never_too_long(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert len(around(text, start, end, 60)) <= 60
