"""Charts are valid SVG that needs nothing else; values are where they belong; odd numbers and names break nothing."""

from collections.abc import Sequence
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.maintain.charts import (
    HEIGHT,
    WIDTH,
    line_chart,
    stacked_columns,
)

SVG = "{http://www.w3.org/2000/svg}"
VALUES = st.lists(st.none() | st.floats(0, 1e9, allow_nan=False), min_size=0, max_size=30)


def parts_of(svg: str, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(SVG + tag))


def texts_of(svg: str) -> list[str]:
    return [part.text or "" for part in parts_of(svg, "text")]


@given(VALUES, VALUES)
def test_any_values_give_a_valid_picture_inside_its_frame(
    first: Sequence[float | None], second: Sequence[float | None]
):
    count = min(len(first), len(second))
    labels, series = (
        [f"w{n}" for n in range(count)],
        {"a & b": first[:count], "<c>": second[:count]},
    )
    for draw in (line_chart, stacked_columns):
        svg = draw("Rows < 5 & more", labels, series)
        assert texts_of(svg)[0] == "Rows < 5 & more"
        for part in [*parts_of(svg, "circle"), *parts_of(svg, "rect")]:
            x, y = (float(part.get(name) or part.get(f"c{name}") or 0) for name in "xy")
            assert 0 <= x <= WIDTH and 0 <= y <= HEIGHT


def test_a_gap_divides_a_line_and_the_largest_value_is_the_highest_point():
    svg = line_chart("Facts", ["a", "b", "c", "d"], {"facts": [2, None, 8, 4]})
    assert len(parts_of(svg, "polyline")) == 2
    heights = [float(circle.get("cy") or 0) for circle in parts_of(svg, "circle")]
    assert heights.index(min(heights)) == 1
    abouts = ["".join(circle.itertext()) for circle in parts_of(svg, "circle")]
    assert abouts == ["facts, a: 2", "facts, c: 8", "facts, d: 4"]
