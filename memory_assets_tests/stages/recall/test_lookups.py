"""Rows are found by id and by condition as a filter would find them, also when another frame has taken the first one's place."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.recall.lookups import (
    MOST_CONDITIONS,
    REMEMBERED,
    fulfilling,
    remembered,
    rows_of,
)


@given(st.lists(st.text(max_size=3), unique=True), st.lists(st.text(max_size=3)))
def test_what_is_found_is_what_a_filter_finds(there: list[str], wanted: list[str]):
    frame = pl.DataFrame(
        {"id": there, "number": range(len(there))}, schema={"id": pl.String, "number": pl.Int64}
    )
    assert rows_of(frame, wanted).equals(frame.filter(pl.col("id").is_in(wanted)))


def test_frames_that_take_turns_answer_for_themselves():
    frames = [pl.DataFrame({"id": ["a", "b"][::step], "of": [step, step]}) for step in (1, -1)] * 3
    for frame in frames:
        assert rows_of(frame, ["b", "b"]).rows() == [("b", frame["of"][0])]


@given(st.lists(st.one_of(st.none(), st.integers(0, 3))))
def test_the_rows_that_fulfil_a_condition_are_those_of_a_filter(numbers: list[int | None]):
    frames = [
        pl.DataFrame({"number": order}, schema={"number": pl.Int64})
        for order in (numbers, numbers[::-1])
    ]
    for least in [*range(MOST_CONDITIONS + 2), 0]:
        for frame in frames:
            for condition in (pl.col("number") >= least, pl.lit(least > 1)):
                assert frame.filter(
                    pl.Series(fulfilling(frame, condition), dtype=pl.Boolean)
                ).equals(frame.filter(condition))


def test_what_was_worked_out_is_remembered_for_the_objects_that_were_asked_about_last():
    asked: list[list[int]] = []

    @remembered
    def total(numbers: list[int]) -> int:
        asked.append(numbers)
        return sum(numbers)

    one, alike = [1, 2], [1, 2]
    assert [total(numbers) for numbers in (one, alike, one, alike)] == [3, 3, 3, 3]
    assert len(asked) == 2
    for other in range(REMEMBERED):
        total([other])
    assert total(one) == 3
    assert len(asked) == 2 + REMEMBERED + 1
