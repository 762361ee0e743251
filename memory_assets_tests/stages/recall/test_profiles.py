"""How deep a recall goes."""

import pytest

from memory_assets.schema.requests import MOST
from memory_assets.stages.recall.profiles import choose_profile


@pytest.mark.parametrize(
    ("name", "limit", "messages"),
    [
        ("lean", 3, "in need"),
        ("budget", 10, "none"),
        ("balanced", 7, "beside"),
        ("deep", 10, "beside"),
    ],
)
def test_a_profile_has_its_size(name: str, limit: int, messages: str):
    profile = choose_profile(name, "which port?")
    assert (profile.name, profile.limit, profile.messages) == (name, limit, messages)


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (9, 9), (50, MOST)])
def test_a_limit_is_kept_but_never_more_than_ten(asked: int, given: int):
    assert choose_profile("balanced", "which port?", asked).limit == given
