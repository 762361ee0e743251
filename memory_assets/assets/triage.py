"""The triage stage as assets: proposals are decided by rules and people, and become lines of MEMORY.md."""

import dagster as dg
import polars as pl

from memory_assets.assets.checks import fresh, no_secrets_check, rows_check, schema_check, verdict
from memory_assets.assets.glue import bars, counts_of, table_asset, write_whole
from memory_assets.errors import ModelError, ModelSetupError
from memory_assets.runs.pending import note_triaged, review_inputs
from memory_assets.schema.protocols import Model
from memory_assets.schema.records import MEMORY_MD
from memory_assets.services.models import open_model
from memory_assets.services.review import keep_tasks_in_step, look_at_tasks, rules_of, triage_answers, workspace_of
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.embed.notes import LEDGER
from memory_assets.stages.friction.review import show_frictions
from memory_assets.stages.triage.amendments import AMEND_VERSION
from memory_assets.stages.triage.batch import BATCH_VERSION, ask_in_batches, read_verdicts
from memory_assets.stages.triage.entries import ENTRIES_VERSION
from memory_assets.stages.triage.memory_md import MOST_BYTES, MOST_ENTRIES, read_entries
from memory_assets.stages.triage.patches import FOLDER, PATCHED
from memory_assets.stages.triage.projects import memory_files
from memory_assets.stages.triage.promote import MOVED, PROMOTED, RETIRED, lost_lines
from memory_assets.stages.triage.run import (
    REVIEW_MD,
    TRIAGE_VERSION,
    amend,
    decide_all,
    earn_trust,
    hear_person,
    list_entries,
    look,
    read_memory,
    session_days,
    waits_for_review,
    write_approved_patches,
    write_memory,
    write_review,
)
from memory_assets.stages.triage.standing import read_proposals
from memory_assets.stages.triage.tasks import KINDS as TASK_KINDS
from memory_assets.stages.triage.tasks import TASKS_VERSION, hear_tasks, open_tasks
from memory_assets.stages.triage.trust import TRUST_VERSION
from memory_assets.store.ledger import Event
from memory_assets.store.store import Store

GROUP = "triage"
IN_STEP = "are_in_step"
WORKSPACE_POOL = "memory_md"


@table_asset("amendments", group=GROUP, version=AMEND_VERSION, daily=False, deps=["memories", "proposals"], pool=WORKSPACE_POOL)
def amendments(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Changes of lines that MEMORY.md holds already: corrected, replaced, contradicted since, or too many."""
    with store.lock():
        frame = amend(workspace_of(store), store.ledger, store.tables, rules_of(store.settings))
        return write_whole(store, "amendments", frame, AMEND_VERSION)


@table_asset(
    "decisions",
    group=GROUP,
    version=TRIAGE_VERSION,
    daily=False,
    deps=["proposals", "friction", "amendments", "model_reviews"],
    pool=WORKSPACE_POOL,
)
def decisions(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What became of each proposal: promoted, merged, rejected, expired or pending."""
    with store.lock():
        workspace, rules = workspace_of(store), rules_of(store.settings)
    seen, looked = look(workspace), look_at_tasks(store)  # may take their time, in which others write
    with store.lock():
        heard = hear_person(workspace, store.ledger, store.tables, rules, seen)
        there = hear_tasks(looked.found, store.ledger, store.tables, rules)
        warnings = [*heard.warnings, *there.warnings, *([looked.problem] if looked.problem else [])]
        for warning in warnings:
            context.log.warning(warning)
        frame = decide_all(workspace, store.ledger, store.tables, rules)
        plots = {
            "states": bars(counts_of(frame, "state")),
            "tiers": bars(counts_of(frame.with_columns(pl.col("tier").cast(pl.String)), "tier")),
        }
        return write_whole(
            store, "decisions", frame, TRIAGE_VERSION, heard=heard.counts, tasks=there.counts, warnings=warnings, **plots
        )


@dg.asset(
    group_name=GROUP,
    owners=["team:memory"],
    kinds={"markdown", "git"},
    code_version=TRIAGE_VERSION,
    deps=["decisions"],
    pool=WORKSPACE_POOL,
    freshness_policy=fresh(days=7),
)
def memory_md(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """MEMORY.md: the small curated file, each promotion a commit that says who learnt what from which session."""
    with store.lock():
        workspace, rules = workspace_of(store), rules_of(store.settings)
        promoted = write_memory(store.tables.read("decisions"), workspace, store.ledger, store.tables, store.archive, rules)
        content = read_memory(workspace)
    path = store.workspace / MEMORY_MD
    return dg.MaterializeResult(
        metadata={
            "entries": len(read_entries(content)),
            "promoted": len(promoted),
            "proposal_ids": promoted,
            "bytes": len(content.encode()),
            "commit": workspace.head() or "-",
            "path": dg.MetadataValue.path(str(path)),
        }
    )


@table_asset("model_reviews", group=GROUP, version=BATCH_VERSION, daily=False, deps=["proposals"])
def model_reviews(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What a model says of proposals that rules left to a person, twenty at a time; skipped where no model is named."""
    answers, model = triage_answers(store), open_model(store.settings)
    told = _ask(store, answers, model) if model else "skipped: no model is named (MEMORY_MODEL)"
    if told.startswith("failed"):
        context.log.warning(told)
    with store.lock():
        frame = read_verdicts(answers.every())
        verdicts = bars(counts_of(frame, "verdict"))
        return write_whole(store, "model_reviews", frame, BATCH_VERSION, asked=told, verdicts=verdicts)


def _ask(store: Store, answers: AnswerStore, model: Model) -> str:
    """Asks about what no model has seen, and returns in words what came of it; a wrong setting fails the run."""
    waiting = waits_for_review(store.tables, read_verdicts(answers.every()))
    entries = read_entries(read_memory(workspace_of(store)))
    try:
        calls = ask_in_batches(waiting, entries, model, answers, store.settings.clock)
    except ModelSetupError as error:
        raise dg.Failure(str(error), allow_retries=False) from error
    except ModelError as error:
        return f"failed, and will be tried again in half an hour: {error}"
    return f"{len(waiting)} proposals in {calls} calls"


@table_asset("trust", group=GROUP, version=TRUST_VERSION, daily=False, deps=["decisions"])
def trust(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """What a person made of the proposals of each category, and which need no tick any more."""
    with store.lock():
        frame = earn_trust(store.ledger, store.tables, rules_of(store.settings))
        return write_whole(store, "trust", frame, TRUST_VERSION, trusted=int(frame["is_trusted"].sum()))


@table_asset("entries", group=GROUP, version=ENTRIES_VERSION, daily=False, deps=["memory_md", "memories"], pool=WORKSPACE_POOL)
def entries(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Each line of MEMORY.md as it stands: candidate, established, proven or deprecated."""
    with store.lock():
        frame = list_entries(workspace_of(store), store.ledger, store.tables, rules_of(store.settings))
        states = bars(counts_of(frame, "state"))
        return write_whole(store, "entries", frame, ENTRIES_VERSION, states=states, by_hand=int(frame["is_by_hand"].sum()))


@dg.asset(
    group_name=GROUP,
    owners=["team:memory"],
    kinds={"git"},
    code_version=TRIAGE_VERSION,
    deps=["decisions"],
    pool=WORKSPACE_POOL,
)
def patches(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Approved changes of files that are not ours, each a patch in the workspace; the files are left alone."""
    with store.lock():
        found = store.tables.read("decisions")
        written = write_approved_patches(found, workspace_of(store), store.ledger, store.tables, store.archive)
    count = len(list((store.workspace / FOLDER).glob("*.patch")))
    return dg.MaterializeResult(metadata={"patches": count, "written": len(written), "proposal_ids": written})


@dg.asset(
    group_name=GROUP,
    owners=["team:memory"],
    kinds={"markdown", "git"},
    code_version=TRIAGE_VERSION,
    deps=["decisions", "memory_md"],
    pool=WORKSPACE_POOL,
)
def review_md(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """REVIEW.md: what waits for a person, to be ticked, struck, edited or left."""
    with store.lock():
        workspace, rules = workspace_of(store), rules_of(store.settings)
        found = store.tables.read("decisions")
        shown = show_frictions(store.tables.read("friction"), session_days(store.tables))
        is_written = write_review(found, workspace, rules, shown)
        if is_written:
            note_triaged(store, review_inputs(store))
        else:
            context.log.warning("REVIEW.md was edited meanwhile; the edit is read at the next triage.")
    problem = workspace.push(store.settings.remote) if store.settings.remote else None
    if problem:
        context.log.warning(problem)
    return dg.MaterializeResult(
        metadata={
            "pushed": problem or store.settings.remote or "no remote is set",
            "pending": found.filter(pl.col("state") == "pending").height,
            "is_written": is_written,
            "path": dg.MetadataValue.path(str(store.workspace / REVIEW_MD)),
        }
    )


@dg.asset(
    group_name=GROUP,
    owners=["team:memory"],
    kinds={"todoist"},
    code_version=TASKS_VERSION,
    deps=["decisions"],
    pool=WORKSPACE_POOL,
    check_specs=[
        dg.AssetCheckSpec(IN_STEP, asset="review_tasks", description="Tasks ask about what waits, where a token is set.")
    ],
)
def review_tasks(context: dg.AssetExecutionContext, store: dg.ResourceParam[Store]) -> dg.MaterializeResult:
    """Tasks in the owner's Todoist that ask about what waits, where a token is set; else nothing."""
    shown = show_frictions(store.tables.read("friction"), session_days(store.tables))
    done, problem = keep_tasks_in_step(store, shown)
    if problem:
        context.log.warning(problem)
    waiting = open_tasks(store.ledger.events(TASK_KINDS))
    in_step = dg.AssetCheckResult(check_name=IN_STEP, passed=not problem, metadata={"problem": problem or "none"})
    return dg.MaterializeResult(metadata={"waiting": len(waiting), **done}, check_results=[in_step])


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


ASSETS = [amendments, model_reviews, decisions, trust, memory_md, patches, entries, review_md, review_tasks]
TABLES = ("amendments", "model_reviews", "decisions", "trust", "entries")
CHECKS = [
    *(schema_check(table) for table in TABLES),
    *(no_secrets_check(table) for table in TABLES),
    rows_check("decisions", "proposals_add_up", "Every proposal is in exactly one state.", _undecided),
    memory_md_kept_every_line,
    promotions_are_there,
    memory_md_is_small,
]
