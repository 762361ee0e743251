"""Rows are found by id as a filter would find them, also when another frame has taken the first one's place."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.lookups import rows_of


@given(st.lists(st.text(max_size=3), unique=True), st.lists(st.text(max_size=3)))
def test_what_is_found_is_what_a_filter_finds(there: list[str], wanted: list[str]):
    frame = pl.DataFrame({"id": there, "number": range(len(there))}, schema={"id": pl.String, "number": pl.Int64})
    assert rows_of(frame, wanted).equals(frame.filter(pl.col("id").is_in(wanted)))


def test_frames_that_take_turns_answer_for_themselves():
    frames = [pl.DataFrame({"id": ["a", "b"][::step], "of": [step, step]}) for step in (1, -1)] * 3
    for frame in frames:
        assert rows_of(frame, ["b", "b"]).rows() == [("b", frame["of"][0])]
