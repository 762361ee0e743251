"""Checks of the briefing."""

import dagster as dg

from memory_assets.assets.checks.common import Days, check, verdict
from memory_assets.runs.steps.brief import BRIEFING_MD, BRIEFINGS
from memory_assets.stages.brief.briefing import BUDGET_TOKENS
from memory_assets.store.store import Store
from memory_assets.text.words import count_tokens


@check("briefing", level="error")
def within_budget(store: Store, days: Days) -> dg.AssetCheckResult:
    """The briefing has at most {BUDGET_TOKENS} tokens.

    Counts the tokens of the longest briefing.
    """
    files = [store.workspace / BRIEFING_MD, *(store.workspace / BRIEFINGS).glob("*.md")]
    tokens = max(count_tokens(path.read_text("utf-8")) for path in files)
    return verdict(tokens <= BUDGET_TOKENS, tokens=tokens)
