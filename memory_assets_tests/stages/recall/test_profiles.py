"""How deep a recall goes."""

import pytest

from memory_assets.schema.requests import MOST
from memory_assets.stages.recall.profiles import choose_profile


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (9, 9), (50, MOST)])
def test_a_limit_is_kept_but_never_more_than_ten(asked: int, given: int):
    assert choose_profile("balanced", "which port?", asked).limit == given
