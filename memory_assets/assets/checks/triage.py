"""Checks of decisions and MEMORY.md."""

import dagster as dg
import polars as pl

from memory_assets.assets.checks.common import rows_check, verdict
from memory_assets.services.review import workspace_of
from memory_assets.stages.embed.notes import LEDGER
from memory_assets.stages.triage.current import read_proposals
from memory_assets.stages.triage.memory_md import MOST_BYTES, MOST_ENTRIES, read_entries
from memory_assets.stages.triage.patches import PATCHED
from memory_assets.stages.triage.projects import memory_files
from memory_assets.stages.triage.promote import MOVED, PROMOTED, RETIRED, lost_lines, read_memory
from memory_assets.store.ledger import Event
from memory_assets.store.store import Store


def _undecided(store: Store, days: list[str] | None) -> pl.DataFrame:
    proposed, decided = read_proposals(store.tables).select("proposal_id"), store.tables.read("decisions").select("proposal_id")
    missing = proposed.join(decided, on="proposal_id", how="anti").with_columns(problem=pl.lit("in no state"))
    extra = decided.join(proposed, on="proposal_id", how="anti").with_columns(problem=pl.lit("decided and not proposed"))
    return pl.concat([missing, extra])


@dg.asset_check(
    asset="memory_md", name="kept_every_line", blocking=True, description="No line of MEMORY.md was lost by any commit of ours."
)
def memory_md_kept_every_line(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Compares each of our last commits of these files with the version before it; only what was meant to go may be gone."""
    events = store.ledger.events([PROMOTED, RETIRED, MOVED])
    meant = {event.payload["commit"]: event.payload.get("replaces", "").encode() for event in events}
    workspace = workspace_of(store)
    lost = [one for path in memory_files(store.workspace) for one in workspace.lines_lost_by_us(path, lost_lines)]
    found = [(commit, [line for line in lines if line.strip() != meant.get(commit)]) for commit, lines in lost]
    rows = [(commit, len(lines)) for commit, lines in found if lines]
    broken = pl.DataFrame(rows, schema={"commit": pl.String, "lines": pl.Int64}, orient="row")
    return verdict(broken.is_empty(), broken)


@dg.asset_check(
    asset="memory_md",
    name="promotions_are_there",
    description="Every promoted line was written, with evidence that is archived.",
)
def promotions_are_there(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Looks for promoted decisions without an entry, and for evidence in ranges that the archive does not hold."""
    done = store.ledger.events([PROMOTED, RETIRED, PATCHED])
    promoted = {event.target: event for event in done}
    decided = store.tables.read("decisions").filter(pl.col("state") == "promoted")["proposal_id"]
    known = set(store.archive.resources()["id"])
    rows = [(id, "no entry") for id in decided if id not in promoted]
    rows += [(id, "no evidence") for id, event in promoted.items() if not _has_evidence(event)]
    rows += [
        (id, "evidence not archived")
        for id, event in promoted.items()
        if any(record["resource_id"] not in known for record in event.payload.get("evidence", ()))
    ]
    broken = pl.DataFrame(rows, schema={"proposal_id": pl.String, "problem": pl.String}, orient="row")
    return verdict(broken.is_empty(), broken, promoted=len(promoted))


def _has_evidence(event: Event) -> bool:
    """Returns whether the line rests on records, or on what was told outright; one that goes needs none."""
    return event.kind == RETIRED or bool(event.payload["evidence"]) or LEDGER in event.payload["session_ids"]


@dg.asset_check(
    asset="memory_md", name="is_small", description=f"MEMORY.md has at most {MOST_ENTRIES} entries and {MOST_BYTES:,} bytes."
)
def memory_md_is_small(context: dg.AssetCheckExecutionContext, store: dg.ResourceParam[Store]) -> dg.AssetCheckResult:
    """Warns when the file outgrows what a session can carry; REVIEW.md asks what may go."""
    contents = {path: read_memory(workspace_of(store), path) for path in memory_files(store.workspace)}
    rows = [(path, len(read_entries(content)), len(content.encode())) for path, content in contents.items()]
    found = pl.DataFrame(rows, schema={"path": pl.String, "entries": pl.Int64, "bytes": pl.Int64}, orient="row")
    large = found.filter((pl.col("entries") > MOST_ENTRIES) | (pl.col("bytes") > MOST_BYTES))
    return verdict(large.is_empty(), large, dg.AssetCheckSeverity.WARN, entries=int(found["entries"].sum()))


CHECKS = [
    rows_check("decisions", "proposals_add_up", "Every proposal is in exactly one state.", _undecided),
    memory_md_kept_every_line,
    promotions_are_there,
    memory_md_is_small,
]
