"""Bullets are read as they were written, so that a week is made from what its days say."""

from hypothesis import given
from hypothesis import strategies as st

from memory_assets.schema.vocabulary import MARKS
from memory_assets.stages.reflect.bullets import Bullet, in_order, parse_bullets, render

BULLETS = st.lists(
    st.builds(
        Bullet,
        st.sampled_from(["operations", "rules-conventions", "projects"]),
        st.sampled_from(sorted(MARKS)),
        st.sampled_from(
            [
                "Use uv.",
                "See [the docs] and `a[0]`.",
                "- 🔴 within",
                "**bold** [mem_x]",
                "ends with ]",
            ]
        ),
        st.lists(st.uuids().map(str), min_size=1, max_size=3, unique=True).map(tuple),
    ),
    max_size=8,
)


@given(bullets=BULLETS)
def test_what_is_rendered_is_parsed_again(bullets: list[Bullet]):
    ordered = in_order(bullets)
    assert (
        list(parse_bullets(render(ordered), [id for bullet in ordered for id in bullet.ids]))
        == ordered
    )
