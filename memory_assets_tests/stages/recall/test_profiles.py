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


def test_auto_is_balanced_for_a_plain_question_and_deep_for_a_long_one():
    assert choose_profile("auto", "which port?").name == "balanced"
    assert choose_profile("auto", "which port " * 7).name == "deep"


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (9, 9), (50, MOST)])
def test_a_limit_is_kept_but_never_more_than_ten(asked: int, given: int):
    assert choose_profile("balanced", "which port?", asked).limit == given


def test_only_a_deep_recall_that_asks_for_more_than_ten_gets_them_and_never_more_than_fifteen():
    assert [choose_profile("deep", "which port?", limit).limit for limit in (None, 12, 50)] == [
        MOST,
        12,
        15,
    ]
    assert choose_profile("auto", "which port " * 10, 12).limit == MOST
