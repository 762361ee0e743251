"""A message is shown by what was found in it, the rest of it, and what was said before and after; never longer than allowed."""

from pathlib import Path
from typing import Any

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


def ids_beside(texts: Texts, id: str, **options: Any) -> list[tuple[str, int]]:
    return [(texts.ids[place], side) for place, side in beside(texts, row_of(texts, id), **options)]


def test_beside_a_message_stand_the_passages_of_the_others_in_its_session(texts: Texts):
    assert ids_beside(texts, "b#0") == [("a#0", -1), ("c#0", 1)]
    assert ids_beside(texts, "c#0") == [("b#1", -1), ("a#0", -1)]
    assert ids_beside(texts, "a#0") == [("b#0", 1), ("c#0", 1)]
    assert ids_beside(texts, "d#0") == []


def test_what_may_not_be_shown_ends_what_stands_beside(texts: Texts):
    allowed = np.ones(len(texts), dtype=bool)
    allowed[row_of(texts, "b#1")] = False
    assert ids_beside(texts, "c#0", allowed=allowed) == []


def test_a_message_that_another_result_shows_is_passed_over(texts: Texts):
    shown = {int(texts.parents[row_of(texts, "b#0")])}
    assert ids_beside(texts, "c#0", taken=shown) == [("a#0", -1)]
    assert ids_beside(texts, "a#0", taken=shown) == [("c#0", 1)]


def test_of_the_messages_after_it_the_nearest_to_the_question_are_shown_in_their_order(tmp_path: Path):
    index, near = TextIndex(tmp_path), {"m2": 0.9, "m3": 0.1, "m4": 0.2, "m5": 0.8, "m6": 0.7, "m9": 1.0}
    rows = [
        {"id": f"m{n}#0", "corpus": "messages", "text": f"text {n}", "parent": f"m{n}", "group": "s1", "order": n}
        for n in range(10)
    ]
    vectors = [[near.get(row["parent"], 0.0), 1.0] for row in rows]
    index.update(index_rows(pl.DataFrame(rows)).with_columns(vector=pl.Series(vectors, dtype=pl.List(pl.Float32))), [])
    texts = index.open("messages")
    assert ids_beside(texts, "m1#0", vector=np.array([1.0, 0.0])) == [("m0#0", -1), ("m2#0", 1), ("m5#0", 1), ("m6#0", 1)]
    assert ids_beside(texts, "m1#0") == [("m0#0", -1), ("m2#0", 1), ("m3#0", 1), ("m4#0", 1)]


def test_a_short_message_is_shown_between_what_was_said_before_and_after_it():
    shown = excerpt(message("Yes, do that."), [(passage("Shall we use uv?", 3), -1), (passage("Done,\nuv it is.", 8), 1)])
    assert shown == ("Shall we use uv? ⏎ Yes, do that. ⏎ Done, uv it is.", (5, 3, 8))


def test_of_a_long_passage_the_part_with_most_words_of_the_question_is_shown_and_messages_around_it():
    text = "word " * 60 + "the tunnel runs over tailscale " + "word " * 60
    long = {"whole": text, "char_from": 0, "char_to": len(text), "line": 5}
    shown, lines = excerpt(long, [(passage("Shall we " + "ask " * 200, 3), -1)], ("tunnel", "tailscale"))
    assert lines == (5, 3)
    assert "the tunnel runs over tailscale" in shown
    assert len(shown) <= LONGEST
    alone, lines = excerpt(long, [], ("tunnel", "tailscale"))
    assert lines == (5,)
    assert len(alone) > LONGEST - 20


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
