"""The command line: translates words into calls of the facade, and hands its results to the terminal.

Every command returns a `Reply`; `main` prints it, or one JSON object with `--json`, or one clean message where something
went wrong. Exit codes: 0 done, 1 failed (or the doctor found something), 2 the command was not understood.
"""

import contextlib
import errno
import os
import sys
import traceback
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from memory_assets import drawing, drawing_evaluation
from memory_assets.errors import MemoryAssetsError
from memory_assets.export import Format, export_table, rows_of
from memory_assets.memory import MemoryAgent
from memory_assets.progress import report_to
from memory_assets.terminal import Bars, Reply, print_error, print_reply

DONE, FAILED, MISUSED = 0, 1, 2
INTERRUPTED = 130

app = typer.Typer(
    name="memory",
    help="Long-term memory for coding agents: transcripts in, a small curated MEMORY.md out.",
    epilog="Exit codes: 0 done, 1 failed (or the doctor found something), 2 not understood. MEMORY_DEBUG=1 shows tracebacks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
review_app = typer.Typer(help="Decide what MEMORY.md may learn: list, approve, reject or edit proposals.")
app.add_typer(review_app, name="review")
eval_app = typer.Typer(help="Measure what was distilled, against sessions that people labelled.", no_args_is_help=True)
app.add_typer(eval_app, name="eval")

ProfileName = Literal["lean", "balanced", "deep", "auto"]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Since = Annotated[str | None, typer.Option(help="How far back to look at first: 30d, 2026-05-01 or all.")]
FirstDay = Annotated[datetime | None, typer.Option("--from", formats=["%Y-%m-%d"], help="First day; by default the earliest.")]
LastDay = Annotated[datetime | None, typer.Option("--to", formats=["%Y-%m-%d"], help="Last day; by default the latest.")]
ModelName = Annotated[str | None, typer.Option(help="Another model than the settings name.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many rows.")]


@app.command(epilog="Example: `memory up --no-ui --since 90d`")
def up(
    no_ui: Annotated[bool, typer.Option("--no-ui", help="End when the memory is built; do not serve the UI.")] = False,
    since: Since = None,
    port: Annotated[int | None, typer.Option(help="Port of the Dagster UI; the next free one is taken.")] = None,
    as_json: Json = False,
) -> Reply:
    """Take in transcripts, build the memory, and serve the Dagster UI with its sensors and schedules."""
    from memory_assets.build import build, serve

    built = build(since=since, may_show_sample=True)
    reply = _built(built)
    return reply if no_ui else Reply(reply.data, reply.draw, warnings=reply.warnings, afterwards=lambda: serve(built, port))


@app.command(epilog="Example: `memory ingest`")
def ingest(since: Since = None, as_json: Json = False) -> Reply:
    """Take in what is new and learn from it; does nothing, and says so, when nothing is new."""
    from memory_assets.build import build

    return _built(build(since=since))


@app.command(epilog='Example: `memory recall "how do we install packages here" --limit 3`')
def recall(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    profile: Annotated[ProfileName, typer.Option(help="How many, and how deep.")] = "balanced",
    deep: Annotated[bool, typer.Option("--deep", help="Also search narratives and raw messages: --profile deep.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, max=10, help="At most so many, never over ten.")] = None,
    project: Annotated[str | None, typer.Option(help="Prefer what was said about this project.")] = None,
    held: Annotated[bool, typer.Option("--held", help="Also what the write gate holds back.")] = False,
    probe: Annotated[bool, typer.Option("--probe", help="Do not count the answer as used (for tests and monitors).")] = False,
    as_json: Json = False,
) -> Reply:
    """Answer a question with the few memories that help, and say where each comes from."""
    from memory_assets.recall.search import Filters

    answer = MemoryAgent().recall(
        question,
        profile="deep" if deep else profile,
        limit=limit,
        project=project,
        filters=Filters(include=["held"] if held else []),
        is_probe=probe,
    )
    return Reply(answer, drawing.draw_answer(answer), warnings=answer.notes)


@review_app.callback(invoke_without_command=True)
def review(context: typer.Context, as_json: Json = False) -> Reply | None:
    """Decide what MEMORY.md may learn; without a subcommand, list what waits."""
    return None if context.invoked_subcommand else review_list()


@review_app.command("list", epilog="Example: `memory review list`")
def review_list(as_json: Json = False) -> Reply:
    """List the proposals that wait for a decision."""
    pending = MemoryAgent().pending()
    return Reply({"pending": pending}, drawing.draw_pending(pending))


@review_app.command("approve", epilog="Example: `memory review approve p-20260408-001`")
def review_approve(
    proposals: Annotated[list[str], typer.Argument(metavar="ID...", help="Proposals, such as p-20260408-001.")],
    as_json: Json = False,
) -> Reply:
    """Approve proposals; each becomes a line of MEMORY.md and a commit."""
    return _reviewed(MemoryAgent().approve(*proposals))


@review_app.command("reject", epilog='Example: `memory review reject p-20260408-002 --reason "only that one time"`')
def review_reject(
    proposals: Annotated[list[str], typer.Argument(metavar="ID...", help="Proposals, such as p-20260408-001.")],
    reason: Annotated[str, typer.Option(help="Why; it is kept with the decision.")] = "",
    as_json: Json = False,
) -> Reply:
    """Reject proposals; they are not proposed again."""
    return _reviewed(MemoryAgent().reject(*proposals, reason=reason))


@review_app.command("edit", epilog='Example: `memory review edit p-20260408-001 "Use uv, never pip."`')
def review_edit(
    proposal: Annotated[str, typer.Argument(metavar="ID", help="A proposal that waits.")],
    text: Annotated[str, typer.Argument(help="Its new wording.")],
    as_json: Json = False,
) -> Reply:
    """Reword a proposal; it still waits for approval afterwards."""
    return _reviewed(MemoryAgent().edit(proposal, text))


@app.command(epilog='Example: `memory explain "Use uv, never pip"`')
def explain(
    target: Annotated[str, typer.Argument(help="A line of MEMORY.md, or the id of a proposal, memory or observation.")],
    as_json: Json = False,
) -> Reply:
    """Show where something comes from: proposal, observations, messages, bytes, with hashes verified again."""
    explanation = MemoryAgent().explain(target)
    return Reply(explanation, drawing.draw_explanation(explanation))


@app.command(epilog="Example: `memory brief`")
def brief(as_json: Json = False) -> Reply:
    """Print what the next session should know at once; ready in milliseconds."""
    briefing = MemoryAgent().brief()
    return Reply(briefing, drawing.draw_text(briefing.text.rstrip("\n")))


@app.command(epilog="Example: `memory status --line`")
def status(
    line: Annotated[bool, typer.Option("--line", help="One line, for a status bar; ready in milliseconds.")] = False,
    as_json: Json = False,
) -> Reply:
    """Show how the memory stands: what is in it, what waits, and where its files lie."""
    found = MemoryAgent().status()
    return Reply(found, drawing.draw_status_line(found) if line else drawing.draw_status(found))


@app.command(epilog="Example: `memory doctor --json`")
def doctor(as_json: Json = False) -> Reply:
    """Count everything from files to observations and check that it adds up; exit code 1 where it does not."""
    health = MemoryAgent().health()
    return Reply(health, drawing.draw_health(health), exit_code=DONE if health.is_well else FAILED)


@app.command(epilog="Example: `memory export observations --format jsonl -o observations.jsonl`")
def export(
    table: Annotated[str, typer.Argument(help="A table, such as observations; docs/tables.md lists them.")],
    format: Annotated[Format, typer.Option(help="How rows are written.")] = "jsonl",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; stdout by default.")] = None,
    as_json: Json = False,
) -> Reply:
    """Write a table as JSON Lines, CSV or Parquet."""
    agent = MemoryAgent()
    if output is not None:
        count = agent.export(table, output, format)
        return Reply({"table": table, "path": output, "rows": count}, drawing.draw_text(f"{count:,} rows in {output}"))
    if as_json:
        return Reply({"table": table, "rows": list(rows_of(agent.store.tables, table))}, drawing.draw_text(""))
    if format == "parquet" and sys.stdout.isatty():
        raise typer.BadParameter("Parquet is not for terminals; name a file with -o.")
    return Reply(None, lambda _: _export_to_stdout(agent, table, format))


@app.command(epilog="Example: `memory show observations --day 2026-04-08 --limit 5`")
def show(
    table: Annotated[str, typer.Argument(help="A table, such as observations; docs/tables.md lists them.")],
    day: Annotated[str | None, typer.Option(help="Only the rows of this day.")] = None,
    limit: Limit = 10,
    as_json: Json = False,
) -> Reply:
    """Print rows of a table."""
    rows = MemoryAgent().show(table, day=day, limit=limit)
    return Reply(rows, drawing.draw_rows(rows))


@app.command(epilog="Example: `memory sample 20 --seed $(git rev-parse HEAD)`")
def sample(
    count: Annotated[int, typer.Argument(min=1, help="How many.")] = 10,
    seed: Annotated[str, typer.Option(help="Any word or number; the same seed draws the same ones.")] = "0",
    table: Annotated[str | None, typer.Option(help="Draw whole rows of this table instead.")] = None,
    as_json: Json = False,
) -> Reply:
    """Print allowed facts drawn at random, for judging each without its session: what the memory is made of."""
    rows = MemoryAgent().sample(count, seed=seed, table=table)
    return Reply(rows, drawing.draw_rows(rows) if table else drawing_evaluation.draw_facts(rows))


@eval_app.command("gold", epilog="Example: `memory eval gold labels/ --show misses`")
def eval_gold(
    labels: Annotated[Path | None, typer.Argument(help="Folder of labelled sessions; MEMORY_GOLD by default.")] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            help="Score beside the store's: an earlier `memory export observations`, or a folder of a model's answers."
        ),
    ] = None,
    show: Annotated[
        Literal["misses", "wrong", "noise"] | None,
        typer.Option(help="List the labels that were missed, the facts that are wrong, or those that are noise."),
    ] = None,
    as_json: Json = False,
) -> Reply:
    """Score the observations of labelled sessions: recall by priority, the owner's rules, precision, noise."""
    found = MemoryAgent().evaluate(labels, against=against, show=show)
    missing = [f"Not in this store, and left out of the figures: {session}." for session in found.missing]
    return Reply(found, drawing_evaluation.draw_evaluation(found), warnings=missing)


@app.command(epilog="Example: `memory cost --from 2026-04-01 --to 2026-04-30 --model claude-haiku-4-5`")
def cost(first: FirstDay = None, last: LastDay = None, model: ModelName = None, as_json: Json = False) -> Reply:
    """Count what asking a model about the days would call and cost; asks nobody."""
    costs = MemoryAgent().cost(_day(first), _day(last), model=model)
    return Reply(costs, drawing.draw_costs(costs))


@app.command(epilog="Example: `memory backfill --from 2026-04-01`")
def backfill(first: FirstDay = None, last: LastDay = None, as_json: Json = False) -> Reply:
    """Ask the model about days again, with the present prompt, and learn from its answers; what is stored is not paid again."""
    return _built(MemoryAgent().backfill(_day(first), _day(last)))


@app.command(epilog="Example: `memory flush`")
def flush(as_json: Json = False) -> Reply:
    """End every open session now and learn from it, without waiting for it to be idle."""
    return _built(MemoryAgent().flush())


@app.command(epilog="Example: `memory rebuild`")
def rebuild(
    indexes: Annotated[bool, typer.Option("--indexes", help="Only the vector and text indexes, from the tables.")] = False,
    as_json: Json = False,
) -> Reply:
    """Delete everything that is derived and make it again from the archive, the ledger and the workspace."""
    from memory_assets.build import rebuild as rebuild_all

    return _built(rebuild_all(indexes_only=indexes))


def _export_to_stdout(agent: MemoryAgent, table: str, format: Format) -> None:
    export_table(agent.store.tables, table, sys.stdout.buffer, format)
    sys.stdout.flush()


def _day(moment: datetime | None) -> date | None:
    return moment.date() if moment else None


def _built(built: Any) -> Reply:
    return Reply(built.to_dict(), drawing.draw_built(built), warnings=built.warnings)


def _reviewed(reviewed: Sequence[Any]) -> Reply:
    return Reply({"decided": reviewed}, drawing.draw_reviewed(reviewed))


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    words = list(sys.argv[1:] if words is None else words)
    as_json = "--json" in words
    try:
        reply = _run(words, as_json=as_json)
        if reply == INTERRUPTED:  # typer has caught it
            raise KeyboardInterrupt
        if not isinstance(reply, Reply):
            return reply if isinstance(reply, int) else DONE
        print_reply(reply, as_json=as_json)
        return reply.exit_code or reply.afterwards()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read had seen enough
        return DONE
    except (Exception, KeyboardInterrupt) as error:
        return _fail(error, as_json=as_json)


def _run(words: Sequence[str], *, as_json: bool) -> Any:
    """Returns the reply; with `--json` nothing that a library prints gets in its way."""
    quiet = contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext()
    with quiet, report_to(None if as_json else Bars()):
        return app(args=list(words), prog_name="memory", standalone_mode=False)


def _fail(error: BaseException, *, as_json: bool) -> int:
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        print_error(error, "Interrupted; running the same command again goes on where it stopped.", as_json=as_json)
        return INTERRUPTED
    if os.environ.get("MEMORY_DEBUG"):
        traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, typer.TyperException):
        print_error(error, f"{_usage(error)} Try `memory --help`.", as_json=as_json)
        return MISUSED
    print_error(error, _message(error), as_json=as_json)
    return FAILED


def _usage(error: typer.TyperException) -> str:
    return error.format_message() if hasattr(error, "format_message") else str(error)


def _message(error: BaseException) -> str:
    """Returns what a person should read; a failed asset's own error, not Dagster's account of it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryAssetsError):
            return str(cause)
        if isinstance(cause, OSError) and cause.errno == errno.ENOSPC:
            return f"The disk is full: {cause}. Free space, then run the same command again; it goes on where it stopped."
        cause = cause.__cause__ or cause.__context__
    return f"{type(error).__name__}: {error}. This is a fault of memory_assets; MEMORY_DEBUG=1 shows where it happened."
