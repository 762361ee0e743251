"""A line of the report: the figure, what it was measured against, and whether that was kept."""

import pytest

from memory_assets_tests.bench.row import Row, render


@pytest.mark.parametrize(
    ("row", "is_missed"),
    [
        (Row("speed", 1.2, ""), False),
        (Row("speed", 1.2, "", limit=1.2), False),
        (Row("speed", 1.3, "", limit=1.2), True),
        (Row("recall", 0.3, "", floor=0.3), False),
        (Row("recall", 0.29, "", floor=0.3), True),
    ],
)
def test_a_limit_is_the_most_and_a_floor_the_least(row: Row, is_missed: bool):
    assert row.is_missed == is_missed
    assert ("MISSED" in render(row)) == is_missed


def test_a_row_tells_its_bound_and_its_figures():
    told = render(Row("recall", 0.25, "3 of 12", floor=0.3))
    assert told.split() == ["recall", "0.250", "floor", "0.3", "MISSED", "3", "of", "12"]
