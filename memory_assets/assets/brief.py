"""The brief stage as an asset: the briefing of the next session, kept ready as a file, and the status beside it."""

import dagster as dg
import polars as pl

from memory_assets.brief.briefing import BUDGET_TOKENS, render_briefing
from memory_assets.coming import coming_up
from memory_assets.files import write_atomically
from memory_assets.learnt import lessons_of
from memory_assets.maintain.status import keep_status
from memory_assets.present import is_sample
from memory_assets.store import Store
from memory_assets.tokens import count_tokens

GROUP = "brief"
BRIEFING_MD = "briefing.md"


@dg.asset(
    group_name=GROUP,
    owners=["team:memory"],
    kinds={"markdown"},
    code_version="brief/3",
    deps=["memories", "memory_md", "decisions", "triggers", "lessons"],
)
def briefing(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What the next session should know at once: MEMORY.md, recent facts, what comes up, what waits for a decision."""
    with store.lock():
        memory_md = store.workspace / "MEMORY.md"
        memories = store.tables.read("memories")
        newest = max(memories["event_at"], default=None)
        text = render_briefing(
            memory_md.read_text("utf-8", errors="replace") if memory_md.is_file() else "",
            memories,
            pending=store.tables.read("decisions", columns=["state"]).filter(pl.col("state") == "pending").height,
            owner=store.settings.owner,
            due=coming_up(store, memories),
            lessons=lessons_of(store),
            as_of=newest.astimezone(store.settings.zone).date() if newest else None,
        )
        path = store.workspace / BRIEFING_MD
        if not path.is_file() or path.read_text("utf-8") != text:
            write_atomically(path, text.encode())
        keep_status(store, is_sample=is_sample(store.settings))
    return dg.MaterializeResult(metadata={"tokens": count_tokens(text), "path": dg.MetadataValue.path(str(path))})


@dg.asset_check(asset="briefing", name="within_budget", description=f"The briefing has at most {BUDGET_TOKENS} tokens.")
def within_budget(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Measures the file."""
    tokens = count_tokens((store.workspace / BRIEFING_MD).read_text("utf-8"))
    return dg.AssetCheckResult(passed=tokens <= BUDGET_TOKENS, metadata={"tokens": tokens})


ASSETS = [briefing]
CHECKS = [within_budget]
