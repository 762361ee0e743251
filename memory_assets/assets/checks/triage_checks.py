"""Checks of decisions and MEMORY.md."""

import dagster as dg
import polars as pl

from memory_assets.assets.checks.common import Days, check, problems, verdict
from memory_assets.services.review.open_triage import workspace_of
from memory_assets.stages.embed.notes import LEDGER
from memory_assets.stages.triage.auto import PUBLISHED
from memory_assets.stages.triage.current import read_proposals
from memory_assets.stages.triage.file_sizes import read_sizes
from memory_assets.stages.triage.patches import PATCHED
from memory_assets.stages.triage.projects import memory_files
from memory_assets.stages.triage.promote import PROMOTED, REPLACING, RETIRED, lost_lines
from memory_assets.store.ledger import Event
from memory_assets.store.store import Store


@check("decisions")
def proposals_add_up(store: Store, days: Days) -> pl.DataFrame:
    """Every proposal is in exactly one state."""
    proposed = read_proposals(store.tables).select("proposal_id")
    decided = store.tables.read("decisions").select("proposal_id")
    return problems(
        in_no_state=proposed.join(decided, on="proposal_id", how="anti"),
        decided_and_not_proposed=decided.join(proposed, on="proposal_id", how="anti"),
    )


@check("memory_md")
def kept_every_line(store: Store, days: Days) -> pl.DataFrame:
    """No commit of this program deleted a line of MEMORY.md unintentionally.

    Compares the last commits of these files with the version before each, except for lines that
    were replaced, moved or taken back on purpose.
    """
    payloads = [event.payload for event in store.ledger.events(REPLACING)]
    replaced = {change["commit"]: change.get("replaces", "").encode() for change in payloads}
    workspace = workspace_of(store)
    broken = list[tuple[str, int]]()
    for path in memory_files(store.workspace):
        for commit, lines in workspace.lines_lost_by_us(path, lost_lines):
            count = sum(line.strip() != replaced.get(commit) for line in lines)
            if count:
                broken.append((commit, count))
    return pl.DataFrame(broken, {"commit": pl.String, "lines": pl.Int64}, orient="row")


@check("memory_md", level="error")
def promotions_are_there(store: Store, days: Days) -> dg.AssetCheckResult:
    """Every promoted line was written, and its evidence is archived.

    Returns promoted decisions without an entry, and entries whose evidence is missing in the
    archive.
    """
    promoted = {event.target: event for event in store.ledger.events([PROMOTED, RETIRED, PATCHED])}
    decided = store.tables.read("decisions").filter(state="promoted")["proposal_id"]
    archived = set(store.archive.resources()["id"])
    rows = [(id, "no entry") for id in decided if id not in promoted]
    rows += [(id, "no evidence") for id, event in promoted.items() if not _has_evidence(event)]
    for id, event in promoted.items():
        evidence = event.payload.get("evidence", ())
        if not archived.issuperset(record["resource_id"] for record in evidence):
            rows.append((id, "evidence not archived"))
    broken = pl.DataFrame(rows, {"proposal_id": pl.String, "problem": pl.String}, orient="row")
    return verdict(not rows, broken, promoted=len(promoted))


def _has_evidence(event: Event) -> bool:
    """Returns whether records or a note are evidence for the line, or the line was removed."""
    return (
        event.kind == RETIRED
        or bool(event.payload["evidence"])
        or not {LEDGER, PUBLISHED}.isdisjoint(event.payload["session_ids"])
    )


@check("memory_md", level="warn")
def is_small(store: Store, days: Days) -> dg.AssetCheckResult:
    """MEMORY.md and the files of projects are short enough for a session.

    Returns the files with too many entries or bytes; REVIEW.md asks which lines to remove.
    """
    sizes = list(read_sizes(store.workspace))
    rows = [(size.path, size.entry_count, size.byte_count) for size in sizes if size.is_too_long]
    columns = {"path": pl.String, "entries": pl.Int64, "bytes": pl.Int64}
    too_long = pl.DataFrame(rows, columns, orient="row")
    return verdict(not rows, too_long, entries=sum(size.entry_count for size in sizes))
