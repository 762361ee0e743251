"""Of two answers the fresher, the present and the useful one comes first, for factors that are on by default."""

from pathlib import Path

from memory_assets.memory import MemoryAgent
from memory_assets_tests.stages.recall.first import build, is_ordered, pairs


def test_each_factor_that_is_on_orders_pairs_that_are_not_in_order_without_it(tmp_path: Path):
    settings = build(tmp_path).settings

    def ordered(factor: str, on: list[str]) -> int:
        agent = MemoryAgent(settings.model_copy(update={"recall_factors": on}))
        return sum(is_ordered(agent, pair) for pair in pairs() if pair.factor == factor)

    on = settings.recall_factors
    for factor in on:
        assert ordered(factor, on) > ordered(factor, [one for one in on if one != factor]), factor
