"""Checks of the briefing."""

from pathlib import Path

import dagster as dg
import polars as pl

from memory_assets.assets.checks.common import Days, check, verdict
from memory_assets.runs.scopes import BRIEFING_MD, BRIEFINGS
from memory_assets.stages.brief.briefing import BUDGET_TOKENS, PACK_SHARE
from memory_assets.store.ready import full_path
from memory_assets.store.store import Store
from memory_assets.text.words import count_tokens


@check("briefing", level="error")
def within_budget(store: Store, days: Days) -> dg.AssetCheckResult:
    """The briefing has at most {BUDGET_TOKENS} tokens, the full one at most {PACK_SHARE} of the
    context.

    Counts the tokens of the longest briefing of each kind, and names the files that are too long.
    """
    short = [store.workspace / BRIEFING_MD, *(store.workspace / BRIEFINGS).glob("*.md")]
    full = [Path(full_path(str(store.root), str(path))) for path in short]
    full_limit = int(PACK_SHARE * store.settings.context_tokens)
    kinds = (("short", short, BUDGET_TOKENS), ("full", full, full_limit))
    rows = [
        (path.relative_to(store.workspace).as_posix(), kind, _tokens_of(path), limit)
        for kind, paths, limit in kinds
        for path in paths
    ]
    columns = {"file": pl.String, "kind": pl.String, "tokens": pl.Int64, "limit": pl.Int64}
    lengths = pl.DataFrame(rows, columns, orient="row")
    too_long = lengths.filter(pl.col("tokens") > pl.col("limit"))
    return verdict(
        too_long.is_empty(),
        too_long,
        tokens=lengths.filter(kind="short")["tokens"].max(),
        full_tokens=lengths.filter(kind="full")["tokens"].max(),
        full_limit=full_limit,
    )


def _tokens_of(path: Path) -> int:
    return count_tokens(path.read_text("utf-8")) if path.is_file() else 0
