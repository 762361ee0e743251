"""Builds decisions, MEMORY.md and the review surfaces from proposals."""

from collections import defaultdict

import polars as pl

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.errors import ModelError, ModelSetupError
from memory_assets.runs.due import triage_state
from memory_assets.runs.results import Builder, Markdown, Report, Rows, Run, per_partition
from memory_assets.runs.scopes import file_of
from memory_assets.schema.extras import gather
from memory_assets.schema.protocols import Model
from memory_assets.schema.records import MEMORY_MD
from memory_assets.services.models.model_budget import Budget
from memory_assets.services.models.open_models import open_model
from memory_assets.services.review import open_triage
from memory_assets.stages.distill.daily_log import render_reflected, update_reflected
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.triage.batch import ask_in_batches, of_first_batch, read_verdicts
from memory_assets.stages.triage.memory_md import read_entries, render_outline
from memory_assets.stages.triage.patches import FOLDER
from memory_assets.stages.triage.promote import read_memory
from memory_assets.stages.triage.run import REVIEW_MD, read_settled_review
from memory_assets.stages.triage.tasks import KINDS as TASK_KINDS
from memory_assets.stages.triage.tasks import apply_task_changes, open_tasks
from memory_assets.store.store import Store
from memory_assets.text.files import bytes_of, write_atomically
from memory_assets.text.words import counted


@per_partition
def amendments(store: Store, _: str) -> pl.DataFrame:
    """Proposes changes of existing lines of MEMORY.md."""
    triage = open_triage.triage_of(store)
    return triage.amend(gather("amendments", store, triage))


def model_reviews(store: Store, _: Run) -> Builder:
    """Asks the configured model about proposals that rules left open, several in one call."""
    answers = open_triage.triage_answers(store)
    model = open_model(store, "reflector")
    outcome = "skipped: no model is configured (MEMORY_MODEL)"
    if model:
        outcome = _ask(store, answers, model)
    warnings = [outcome] if outcome.startswith("failed") else []
    return lambda _: Rows(read_verdicts(answers.every()), {"asked": outcome}, warnings=warnings)


def _ask(store: Store, answers: AnswerStore, model: Model) -> str:
    """Asks about proposals without a review, and returns the outcome as text.

    Raises `ModelSetupError` for a wrong setting. Every other failure is returned as the outcome.
    """
    call_count = 0
    proposal_count = 0
    questions = of_first_batch(open_triage.review_questions(store, model.name))
    try:
        while questions:
            tokens = [question.request.estimated_tokens() for question in questions]
            Budget(store, model.name).check(tokens)
            ask_in_batches(questions, model, answers, store.settings.clock)
            call_count += len(questions)
            proposal_count += len(questions[0].shown)
            # Its verdicts are part of the next batch's question.
            questions = of_first_batch(open_triage.review_questions(store, model.name))
    except ModelSetupError:
        raise
    except ModelError as error:
        return f"failed, retried in half an hour: {error}"
    return f"{proposal_count} proposals in {call_count} calls"


def decisions(store: Store, _: Run) -> Builder:
    """Reads the decisions of people in REVIEW.md, files and tasks; decides the rest by rules."""
    with store.lock():
        triage = open_triage.triage_of(store)
    # Not under the lock, because the server of the task list may be slow.
    review = read_settled_review(triage.workspace)
    snapshot = open_triage.read_task_snapshot(store)

    def build(_: str) -> Rows:
        edits = triage.apply_review_edits(review)
        changes = apply_task_changes(snapshot.tasks, triage)
        warnings = [*edits.warnings, *changes.warnings, *filter(None, [snapshot.problem])]
        figures = {"heard": edits.counts, "tasks": changes.counts, "warnings": warnings}
        return Rows(triage.decide_all(), figures, warnings=warnings)

    return build


@per_partition
def trust(store: Store, _: str) -> Rows:
    """Counts how people decided the proposals of each category, and which category is trusted."""
    frame = open_triage.triage_of(store).earn_trust()
    return Rows(frame, {"trusted": int(frame["is_trusted"].sum())})


def memory_md(store: Store, run: Run) -> Report:
    """Writes promoted lines into the files of the run's scopes, with a commit for each line."""
    files = {scope: file_of(scope) for scope in run.partitions}
    with store.lock():
        workspace = open_triage.workspace_of(store)
        triage = open_triage.triage_of(store, workspace)
        promoted = triage.write_memory(frozenset(files.values()))
        texts = {file: read_memory(workspace, file) for file in files.values()}
    sections = triage.rules.sections
    sizes = {
        scope: {
            "entries": len(read_entries(texts[file])),
            "bytes": len(texts[file].encode()),
            "preview": Markdown(render_outline({file: texts[file]}, sections)),
        }
        for scope, file in files.items()
    }
    figures = {
        "entries": sum(size["entries"] for size in sizes.values()),
        "promoted": len(promoted),
        "proposal_ids": promoted,
        "commit": workspace.head() or "-",
        "path": store.workspace / MEMORY_MD,
        "all_files": Markdown(render_outline(texts, sections)),
    }
    return Report(figures, by_partition=sizes)


def patches(store: Store, _: Run) -> Report:
    """Writes approved changes of files outside the workspace as patches."""
    with store.lock():
        written = open_triage.triage_of(store).write_approved_patches()
    count = len(list((store.workspace / FOLDER).glob("*.patch")))
    return Report({"patches": count, "written": len(written), "proposal_ids": written})


@per_partition
def entries(store: Store, _: str) -> Rows:
    """Lists the lines of MEMORY.md with their states."""
    frame = open_triage.triage_of(store).list_entries()
    return Rows(frame, {"by_hand": int(frame["is_by_hand"].sum())})


def reflected_log(store: Store, _: Run) -> Report:
    """Updates the section of each daily log about the day's reflections; commits the changes."""
    reflected = store.tables.read("reflections").partition_by("day", as_dict=True)
    proposals_by_day: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in store.tables.read("decisions").sort("proposal_id").iter_rows(named=True):
        # The second part of an id such as `p-20260408-001` is the day of the proposal.
        proposals_by_day[row["proposal_id"].split("-")[1]].append(row)
    changed = list[str]()
    with store.lock():
        for (day,), rows in sorted(reflected.items()):
            path = store.workspace / "memory" / f"{day.isoformat()}.md"
            text = (bytes_of(path) or b"").decode("utf-8", "surrogateescape")
            proposals = proposals_by_day.get(f"{day:%Y%m%d}", ())
            section = render_reflected(day, rows, proposals)
            updated = update_reflected(text, section, title=day.isoformat())
            if updated != text:
                write_atomically(path, updated.encode("utf-8", "surrogateescape"))
                changed.append(f"memory/{path.name}")
        if changed:
            days = counted(len(changed), "day")
            open_triage.workspace_of(store).commit(f"Log the reflections of {days}", changed)
    return Report({"days_changed": len(changed)})


def review_md(store: Store, run: Run) -> Report:
    """Writes REVIEW.md, and pushes the workspace if a remote is set."""
    with store.lock():
        workspace = open_triage.workspace_of(store)
        decisions = store.tables.read("decisions")
        is_written = open_triage.write_review(store, workspace)
        if is_written:
            store.note(run.table.name, triage_state(store))
    warnings = list[str]()
    if not is_written:
        warnings.append("REVIEW.md was edited meanwhile; the next triage reads the edit.")
    problem = _push_workspace(store) if store.settings.remote else None
    if problem:
        warnings.append(problem)
    figures = {
        "pushed": problem or store.settings.remote or "no remote is set",
        "pending": decisions.filter(state="pending").height,
        "is_written": is_written,
        "path": store.workspace / REVIEW_MD,
    }
    return Report(figures, warnings)


def review_tasks(store: Store, _: Run) -> Report:
    """Makes the owner's tasks in Todoist match the pending proposals, if a token is set."""
    counts, problem = open_triage.sync_task_list(store, open_triage.shown_frictions(store))
    waiting = open_tasks(store.ledger.events(TASK_KINDS))
    warnings = [problem] if problem else []
    figures = {"waiting": len(waiting), **counts}
    return Report(figures, warnings, checks={"are_in_step": problem})


def _push_workspace(store: Store) -> str | None:
    """Pushes the workspace to its remote, and returns the problem, if any.

    A shared store first merges what others pushed.
    """
    if store.shared is not None:
        return store.shared.exchange_workspace()
    return GitWorkspace(store.workspace).push(store.settings.remote)


BUILDERS = (
    amendments, model_reviews, decisions, trust, memory_md, patches, entries,
    reflected_log, review_md, review_tasks,
)  # fmt: skip
"""The functions that build the tables of their names (`runs.builders`)."""
