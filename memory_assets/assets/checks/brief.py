"""Checks of the briefing."""

import dagster as dg

from memory_assets.runs.steps.brief import BRIEFING_MD, BRIEFINGS
from memory_assets.stages.brief.briefing import BUDGET_TOKENS
from memory_assets.store.store import Store
from memory_assets.text.tokens import count_tokens


@dg.asset_check(asset="briefing", name="within_budget", description=f"The briefing has at most {BUDGET_TOKENS} tokens.")
def within_budget(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Measures the files."""
    files = [store.workspace / BRIEFING_MD, *(store.workspace / BRIEFINGS).glob("*.md")]
    tokens = max(count_tokens(path.read_text("utf-8")) for path in files)
    return dg.AssetCheckResult(passed=tokens <= BUDGET_TOKENS, metadata={"tokens": tokens})


CHECKS = [
    within_budget,
]
