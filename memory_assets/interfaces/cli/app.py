"""The command line: translates words into calls of the facade, and hands its results to the terminal.

Every command returns a `Reply`; `main` prints it, or one JSON object with `--json`, or one clean message where something
went wrong. Exit codes: 0 done, 1 failed (or the doctor found something), 2 the command was not understood.
"""

import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from memory_assets.errors import QuestionError
from memory_assets.interfaces import verbs
from memory_assets.interfaces.dispatcher import Desk, ask
from memory_assets.interfaces.failure import message_of
from memory_assets.interfaces.loopback import LOOPBACK, address_of, listen
from memory_assets.interfaces.views import common as drawing
from memory_assets.interfaces.views import evaluation as drawing_evaluation
from memory_assets.interfaces.views import what_if as drawing_what_if
from memory_assets.interfaces.views.hooks import draw_changes
from memory_assets.interfaces.views.recall import draw_block
from memory_assets.interfaces.views.registry import DRAWINGS
from memory_assets.interfaces.views.terminal import Bars, Reply, print_error, print_reply
from memory_assets.memory import MemoryAgent
from memory_assets.schema.progress import report_to
from memory_assets.schema.records import Harness
from memory_assets.schema.tables import table_names
from memory_assets.services.export import Format, export_table, rows_of
from memory_assets.stages.deliver import hook, install
from memory_assets.stages.deliver.events import FIELDS
from memory_assets.stages.deliver.harnesses import harnesses
from memory_assets.store.places import find_data

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
eval_app = typer.Typer(
    help="Measure what was distilled, against labelled sessions and what people decided.", no_args_is_help=True
)
app.add_typer(eval_app, name="eval")

what_if_app = typer.Typer(help="Try other settings on past days, beside today's tables; then adopt or drop them.")
app.add_typer(what_if_app, name="what-if")

hooks_app = typer.Typer(help="Have harnesses hand out the briefing and tell what happens.", no_args_is_help=True)
app.add_typer(hooks_app, name="hooks")

HTTP_PORT, MCP_PORT = 3100, 3200

MOST_FROM_STDIN = 1_000_000
"""Bytes of a question that are read; no question is that long, and a pipe may never end."""


def _completing(words: Sequence[str]) -> Callable[[str], list[str]]:
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


CATEGORIES, PRIORITIES, SENTIMENTS, KINDS, TRIGGERS, STATES, CORPORA, TABLES, EVENTS, HARNESSES = (
    _completing(words)
    for words in (
        verbs.CATEGORIES,
        verbs.PRIORITIES,
        verbs.SENTIMENTS,
        verbs.KINDS,
        verbs.TRIGGERS,
        verbs.STATES,
        verbs.CORPORA,
        table_names(),
        tuple(FIELDS),
        get_args(Harness),
    )
)

ProfileName = Literal["lean", "balanced", "deep", "auto"]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Since = Annotated[str | None, typer.Option(help="How far back to look at first: 30d, 2026-05-01 or all.")]
FirstDay = Annotated[datetime | None, typer.Option("--from", formats=["%Y-%m-%d"], help="First day; by default the earliest.")]
LastDay = Annotated[datetime | None, typer.Option("--to", formats=["%Y-%m-%d"], help="Last day; by default the latest.")]
ModelName = Annotated[str | None, typer.Option(help="Another model than the settings name.")]
Write = Annotated[bool, typer.Option("--write", help="Also offer what writes: decisions, notes, corrections.")]
Host = Annotated[str, typer.Option(help="Address to listen on; by default only this machine can ask.")]
Session = Annotated[str | None, typer.Option(help="Id of the session in which this is said.")]
GoesOn = Annotated[str | None, typer.Option("--session", help="Id of a session that goes on: also what it established.")]
Project = Annotated[str | None, typer.Option(help="Prefer what was said about this project.")]
OnlyProject = Annotated[str | None, typer.Option(help="Only what was said about this project.")]
OnlyCategory = Annotated[list[str] | None, typer.Option(help="Only this category; repeatable.", autocompletion=CATEGORIES)]
OnlyPriority = Annotated[list[str] | None, typer.Option(help="Only high, medium or low.", autocompletion=PRIORITIES)]
OnlyKind = Annotated[list[str] | None, typer.Option(help="Only this kind of result.", autocompletion=KINDS)]
OnlyTrigger = Annotated[list[str] | None, typer.Option(help="What closed its window.", autocompletion=TRIGGERS)]
SaidSince = Annotated[str | None, typer.Option(help="Said from then on: 2026-05-01, or 30d back.")]
SaidUntil = Annotated[str | None, typer.Option(help="Said up to then, that day included.")]
OnlyPerson = Annotated[str | None, typer.Option(help="Only what was said in sessions of this person.")]
OnlySession = Annotated[str | None, typer.Option(help="Only what was said in this session.")]
Include = Annotated[list[str] | None, typer.Option(help="Also memories in this state.", autocompletion=STATES)]
Probe = Annotated[bool, typer.Option("--probe", help="Do not count the answer as used (for tests and monitors).")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be written; write nothing.")]
OfHarness = Annotated[
    list[str] | None,
    typer.Argument(metavar="HARNESS...", help="claude_code, codex or pi; all by default.", autocompletion=HARNESSES),
]
BranchName = Annotated[str, typer.Argument(metavar="NAME", help="A branch, as `memory what-if list` names it.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many rows.")]


@app.command(epilog="Example: `memory up --no-ui --since 90d`")
def up(
    no_ui: Annotated[bool, typer.Option("--no-ui", help="End when the memory is built; do not serve the UI.")] = False,
    since: Since = None,
    port: Annotated[int | None, typer.Option(help="Port of the Dagster UI; the next free one is taken.")] = None,
    as_json: Json = False,
) -> Reply:
    """Take in transcripts, build the memory, and serve the Dagster UI with its sensors and schedules."""
    from memory_assets.runs.build import build, serve

    built = build(since=since, may_show_sample=True)
    reply = _built(built)
    return reply if no_ui else Reply(reply.data, reply.draw, warnings=reply.warnings, afterwards=lambda: serve(built, port))


@app.command(epilog="Example: `memory ingest`")
def ingest(since: Since = None, as_json: Json = False) -> Reply:
    """Take in what is new and learn from it; does nothing, and says so, when nothing is new."""
    from memory_assets.runs.build import build

    return _built(build(since=since))


@app.command(epilog='Example: `memory recall "how do we deploy" --category operations --since 2026-05-01`')
def recall(
    question: Annotated[str, typer.Argument(help="What you want to know; - reads it from stdin.")],
    profile: Annotated[ProfileName, typer.Option(help="How many, and how deep.")] = "balanced",
    deep: Annotated[bool, typer.Option("--deep", help="Also search narratives and raw messages: --profile deep.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, max=10, help="At most so many, never over ten.")] = None,
    project: Project = None,
    only_project: OnlyProject = None,
    category: OnlyCategory = None,
    priority: OnlyPriority = None,
    kind: OnlyKind = None,
    trigger: OnlyTrigger = None,
    since: SaidSince = None,
    until: SaidUntil = None,
    person: OnlyPerson = None,
    session: OnlySession = None,
    include: Include = None,
    held: Annotated[bool, typer.Option("--held", help="Also what the write gate holds back: --include held.")] = False,
    corpus: Annotated[list[str] | None, typer.Option(help="What is searched.", autocompletion=CORPORA)] = None,
    own_session: Annotated[str | None, typer.Option(help="The asking session; its own words are not handed back.")] = None,
    recent: Annotated[list[str] | None, typer.Option(help="A last message of the conversation; repeatable.")] = None,
    budget: Annotated[bool, typer.Option("--budget", help="Five at most, in few tokens; no model, no graph.")] = False,
    block: Annotated[bool, typer.Option("--block", help="Print the block that goes in front of a prompt.")] = False,
    probe: Probe = False,
    as_json: Json = False,
) -> Reply:
    """Answer a question with the few memories that help, and say where each comes from."""
    states = [*(include or []), *(["held"] if held else [])]
    reply = _asked(
        "recall", question=_question(question), profile="deep" if deep else profile, limit=limit, project=project,
        only_project=only_project, category=category, priority=priority, kind=kind, trigger=trigger, since=since, until=until,
        person=person, session=session, include=states, corpus=corpus, own_session=own_session, recent=recent,
        budget=budget, probe=probe,
    )  # fmt: skip
    return replace(reply, draw=draw_block(reply.data)) if block else reply


@app.command(epilog='Example: `memory remember "The release train leaves on Thursday." --project shop --priority high`')
def remember(
    text: Annotated[str, typer.Argument(help="One fact, in a sentence or two that stand alone; - reads it from stdin.")],
    category: Annotated[
        str | None, typer.Option(help="Where it is filed; read from its words by default.", autocompletion=CATEGORIES)
    ] = None,
    priority: Annotated[str, typer.Option(help="high, medium or low.", autocompletion=PRIORITIES)] = "medium",
    project: Annotated[str, typer.Option(help="The project that it is about; none concerns everyone.")] = "",
    sentiment: Annotated[
        str, typer.Option(help="Tone: frustrated, excited, uncertain or neutral.", autocompletion=SENTIMENTS)
    ] = "neutral",
    session: Session = None,
    as_json: Json = False,
) -> Reply:
    """Write down a fact in your own voice; every recall knows it from now on."""
    about = {"category": category, "priority": priority, "project": project, "sentiment": sentiment}
    return _asked("remember", text=_question(text), **about, session=session)


@app.command(epilog='Example: `memory correct mem_0f3a5c1e "The staging database listens on port 5433."`')
def correct(
    memory: Annotated[str, typer.Argument(metavar="ID", help="The memory: `mem_` and at least six characters.")],
    text: Annotated[str, typer.Argument(help="What is true instead; - reads it from stdin.")],
    session: Session = None,
    as_json: Json = False,
) -> Reply:
    """Replace what a memory says; the old wording is kept, and not recalled any more."""
    return _asked("correct", memory_id=memory, text=_question(text), session=session)


@app.command(epilog="Example: `memory forget mem_0f3a5c1e`, then `memory forget mem_0f3a5c1e --apply`")
def forget(
    target: Annotated[str, typer.Argument(help="A memory (mem_…), or words that are to be forgotten wherever they were said.")],
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without, only show what carries it.")] = False,
    history: Annotated[
        bool, typer.Option("--history", help="Rewrite the workspace's git, too; every commit from there on gets another id.")
    ] = False,
    as_json: Json = False,
) -> Reply:
    """Show what carries a memory or words; with --apply, erase it from everything, down to the archived bytes, and prove it."""
    return _asked("forget", target=target, apply=apply, history=history)


@app.command("why-not", epilog='Example: `memory why-not "the shop runs on Postgres" --question "which database"`')
def why_not(
    text: Annotated[str, typer.Argument(help="What you missed: words of it, or the id of a memory.")],
    question: Annotated[str | None, typer.Option(help="The question that it was missed in; by default its own words.")] = None,
    as_json: Json = False,
) -> Reply:
    """Tell where something that was said stopped on its way to an answer, and why."""
    return _asked("why-not", text=text, question=question)


@app.command(epilog="Example: `memory feedback mem_0f3a5c1e --used`")
def feedback(
    memories: Annotated[list[str], typer.Argument(metavar="ID...", help="Memories, such as mem_0f3a5c1e.")],
    used: Annotated[bool, typer.Option("--used/--unused", help="Whether they helped, or were shown for nothing.")],
    session: Session = None,
    as_json: Json = False,
) -> Reply:
    """Say that recalled memories helped, or did not; those that help come first."""
    return _asked("feedback", memory_ids=memories, used=used, session=session)


@app.command(epilog='Example: `memory reflect "why did we leave the message queue" --only-project shop`')
def reflect(
    question: Annotated[str, typer.Argument(help="What you want to know; - reads it from stdin.")],
    project: Project = None,
    only_project: OnlyProject = None,
    category: OnlyCategory = None,
    priority: OnlyPriority = None,
    kind: OnlyKind = None,
    trigger: OnlyTrigger = None,
    since: SaidSince = None,
    until: SaidUntil = None,
    person: OnlyPerson = None,
    session: OnlySession = None,
    include: Include = None,
    probe: Probe = False,
    as_json: Json = False,
) -> Reply:
    """Answer a question from everything that is known, each sentence with its sources, or say that it is not in memory."""
    return _asked(
        "reflect", question=_question(question), project=project, only_project=only_project, category=category,
        priority=priority, kind=kind, trigger=trigger, since=since, until=until, person=person, session=session,
        include=include, probe=probe,
    )  # fmt: skip


@review_app.callback(invoke_without_command=True)
def review(context: typer.Context, as_json: Json = False) -> Reply | None:
    """Decide what MEMORY.md may learn: on a terminal one proposal after the other, one key a decision; elsewhere list them."""
    if context.invoked_subcommand:
        return None
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return review_list()
    from memory_assets.interfaces.cli.review import Sitting

    def sit(console: Any) -> None:
        if os.name == "nt":
            Sitting(MemoryAgent(), console, typer.getchar, console.input).run()
            return
        from memory_assets.interfaces.cli.keyboard import Keyboard

        with Keyboard() as keyboard:
            Sitting(MemoryAgent(), console, keyboard.key, keyboard.line).run()

    return Reply(None, sit, warnings=MemoryAgent().review_warnings())


@review_app.command("list", epilog="Example: `memory review list`")
def review_list(as_json: Json = False) -> Reply:
    """List the proposals that wait for a decision."""
    return _asked("review")


@review_app.command("approve", epilog="Example: `memory review approve p-20260408-001`")
def review_approve(
    proposals: Annotated[list[str], typer.Argument(metavar="ID...", help="Proposals, such as p-20260408-001.")],
    as_json: Json = False,
) -> Reply:
    """Approve proposals; each becomes a line of MEMORY.md and a commit."""
    return _asked("decide", decision="approve", proposals=proposals)


@review_app.command("reject", epilog='Example: `memory review reject p-20260408-002 --reason "only that one time"`')
def review_reject(
    proposals: Annotated[list[str], typer.Argument(metavar="ID...", help="Proposals, such as p-20260408-001.")],
    reason: Annotated[str, typer.Option(help="Why; it is kept with the decision.")] = "",
    as_json: Json = False,
) -> Reply:
    """Reject proposals; they are not proposed again."""
    return _asked("decide", decision="reject", proposals=proposals, reason=reason)


@review_app.command("edit", epilog='Example: `memory review edit p-20260408-001 "Use uv, never pip."`')
def review_edit(
    proposal: Annotated[str, typer.Argument(metavar="ID", help="A proposal that waits.")],
    text: Annotated[str, typer.Argument(help="Its new wording.")],
    as_json: Json = False,
) -> Reply:
    """Reword a proposal; it still waits for approval afterwards."""
    return _asked("decide", decision="edit", proposals=[proposal], text=text)


@app.command(epilog='Example: `memory explain "Use uv, never pip"`')
def explain(
    target: Annotated[str, typer.Argument(help="A line of MEMORY.md, or the id of a proposal, memory or observation.")],
    as_json: Json = False,
) -> Reply:
    """Show where something comes from: proposal, observations, messages, bytes, with hashes verified again."""
    return _asked("explain", target=target)


@app.command(epilog="Example: `memory graph postgres`")
def graph(
    name: Annotated[str, typer.Argument(help="A file, command, package, service, person, ADR… or another name for it.")],
    as_json: Json = False,
) -> Reply:
    """Show what stands around a name: what it is used with, part of or replaced by, and the memories that say so."""
    return _asked("graph", name=name)


@app.command(epilog="Example: `memory triggers --on 2026-05-01`")
def triggers(
    on: Annotated[
        str | None, typer.Option(help="What comes up on this day or the next; without it, all that is ahead.")
    ] = None,
    as_json: Json = False,
) -> Reply:
    """List days ahead that you named, and what to recall when they come."""
    return _asked("triggers", on=on)


@app.command(epilog="Example: `memory brief`")
def brief(session: GoesOn = None, as_json: Json = False) -> Reply:
    """Print what the next session should know at once; ready in milliseconds."""
    return _asked("brief", session=session)


@app.command(epilog="Example: `memory status --line`")
def status(
    line: Annotated[bool, typer.Option("--line", help="One line, for a status bar; ready in milliseconds.")] = False,
    as_json: Json = False,
) -> Reply:
    """Show how the memory stands: what is in it, what waits, and where its files lie."""
    reply = _asked("status")
    return replace(reply, draw=drawing.draw_status_line(reply.data)) if line else reply


@app.command(epilog="Example: `memory doctor --json`")
def doctor(as_json: Json = False) -> Reply:
    """Count everything from files to observations and check that it adds up; exit code 1 where it does not."""
    health = MemoryAgent().health()
    return Reply(health, drawing.draw_health(health), exit_code=DONE if health.is_well else FAILED)


@app.command(epilog="Example: `memory send memory/session.ended --session 0a000001-1111-4222-8333-444455556666`")
def send(
    event: Annotated[str, typer.Argument(help="Its name, such as memory/session.ended.", autocompletion=EVENTS)],
    session: Annotated[str | None, typer.Option(help="Id of the session that it is about.")] = None,
    data: Annotated[str, typer.Option(help="Its other fields, as a JSON object; - reads it from stdin.")] = "{}",
    store: Annotated[Path | None, typer.Option(help="Data folder; MEMORY_DATA by default.")] = None,
    as_json: Json = False,
) -> Reply:
    """Tell the memory what happened, without waiting for anything; exit code 0, whatever is down."""
    told = {"--session": session, "--data": data, "--store": store and str(store)}
    options = [word for name, value in told.items() if value is not None for word in (name, value)]
    sent, warnings = hook.sent([event, *options])
    return Reply(sent, drawing.draw_text(f"{event} waits in {sent['store']} to be taken in."), warnings=warnings)


@hooks_app.command("install", epilog="Example: `memory hooks install --dry-run`")
def hooks_install(names: OfHarness = None, dry_run: DryRun = False, as_json: Json = False) -> Reply:
    """Add our hooks to the settings of Claude Code, Codex and pi; nothing else in them is touched."""
    return _hooked(install.plan_install, names, dry_run)


@hooks_app.command("uninstall", epilog="Example: `memory hooks uninstall claude_code`")
def hooks_uninstall(names: OfHarness = None, dry_run: DryRun = False, as_json: Json = False) -> Reply:
    """Take our hooks out again; a file that you did not edit since becomes what it was, byte for byte."""
    return _hooked(install.plan_uninstall, names, dry_run)


@hooks_app.command("status", epilog="Example: `memory hooks status`")
def hooks_status(names: OfHarness = None, as_json: Json = False) -> Reply:
    """Show where our hooks are, and when each harness was last heard of."""
    return _hooked(install.status, names, is_dry=True)


def _hooked(plan: Callable[..., list[install.Change]], names: list[str] | None, is_dry: bool) -> Reply:
    """Returns what becomes of each settings file, and does it unless only that is asked for."""
    if unknown := sorted(set(names or ()) - set(get_args(Harness))):
        raise QuestionError(f"There is no harness '{unknown[0]}'; choose from {', '.join(get_args(Harness))}.")
    agent = MemoryAgent()
    store = Path(find_data())
    chosen = [one for one in harnesses(str(store)) if not names or one.name in names]
    changes = plan(chosen, store)
    done = changes if is_dry else install.carry_out(changes, store)
    failed = any(change.state == install.FAILED for change in done)
    data = {"is_dry_run": is_dry, "files": done, "last_heard": agent.last_heard()}
    return Reply(data, draw_changes(data), exit_code=FAILED if failed else DONE)


@app.command(epilog="Example: `memory export observations --format jsonl -o observations.jsonl`")
def export(
    table: Annotated[
        str, typer.Argument(help="A table, such as observations; docs/tables.md lists them.", autocompletion=TABLES)
    ],
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
    table: Annotated[
        str, typer.Argument(help="A table, such as observations; docs/tables.md lists them.", autocompletion=TABLES)
    ],
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
    table: Annotated[str | None, typer.Option(help="Draw whole rows of this table instead.", autocompletion=TABLES)] = None,
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


@eval_app.command("calibration", epilog="Example: `memory eval calibration --set gate.least_useful=0.8 --from 2026-08-01`")
def eval_calibration(
    by: Annotated[
        Literal["reason", "category", "version"] | None, typer.Option(help="Tell verdicts apart by this, too.")
    ] = None,
    limits: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Another limit of the gate or of triage: list what it flips."),
    ] = None,
    first: FirstDay = None,
    last: LastDay = None,
    as_json: Json = False,
) -> Reply:
    """Set the verdicts of the gate, of triage and of a model beside what people made of them; writes nothing."""
    found = MemoryAgent().calibrate(by=by, limits=limits or (), first=_day(first), last=_day(last))
    return Reply(found, drawing_evaluation.draw_calibration(found))


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
    from memory_assets.runs.build import rebuild as rebuild_all

    return _built(rebuild_all(indexes_only=indexes))


@app.command(epilog="Example: `claude mcp add memory -- memory mcp`")
def mcp(
    write: Write = False,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP instead of stdin and stdout.")] = False,
    host: Host = LOOPBACK[0],
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port of --http; the next free one is taken.")] = MCP_PORT,
    as_json: Json = False,
) -> Reply:
    """Serve the memory's tools to agents over the Model Context Protocol; it only reads, unless told otherwise."""
    if not http:
        from memory_assets.interfaces.mcp.stdio import serve

        return Reply(None, lambda _: None, afterwards=lambda: serve(is_writing=write))
    from memory_assets.interfaces.mcp.http import PATH
    from memory_assets.interfaces.mcp.http import serve as serve_http
    from memory_assets.interfaces.mcp.protocol import Protocol

    protocol, listening = Protocol(is_writing=write), listen(host, port)
    return _serving(listening, PATH, protocol.desk, write, lambda: serve_http(protocol, listening, host))


@app.command(epilog="Example: `memory serve`, then `curl '127.0.0.1:3100/recall?question=how+do+we+deploy'`")
def serve(
    write: Write = False,
    host: Host = LOOPBACK[0],
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port; the next free one is taken.")] = HTTP_PORT,
    as_json: Json = False,
) -> Reply:
    """Serve the memory over HTTP, each verb an address; it only reads, unless told otherwise."""
    from memory_assets.interfaces import http as http_api

    desk, listening = Desk(), listen(host, port)
    return _serving(listening, "/", desk, write, lambda: http_api.serve(desk, listening, host, is_writing=write))


@what_if_app.callback(
    invoke_without_command=True,
    epilog="Example: `memory what-if --from 2026-06-01 --to 2026-06-30 --set least_useful=0.6`",
)
def what_if(
    context: typer.Context,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting to try, such as least_useful=0.6; repeatable."),
    ] = None,
    first: FirstDay = None,
    last: LastDay = None,
    name: Annotated[str | None, typer.Option(help="Name of the branch; by default what differs.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would cost; ask nobody, make nothing.")] = False,
    limit: Limit = 20,
    as_json: Json = False,
) -> Reply | None:
    """Make past days anew by other settings in a branch: what would be added, lost and changed, MEMORY.md beside, the cost."""
    if context.invoked_subcommand:
        return None
    changes, days = _changes(settings or ()), (_day(first), _day(last))
    agent = MemoryAgent()
    if dry_run:
        estimate = agent.estimate(changes, *days, name=name)
        return Reply(estimate, drawing_what_if.draw_estimate(estimate))
    found = agent.what_if(changes, *days, name=name)
    return Reply(found, drawing_what_if.draw_what_if(found, limit))


@what_if_app.command("list", epilog="Example: `memory what-if list`")
def what_if_list(as_json: Json = False) -> Reply:
    """List the branches that were made and neither adopted nor dropped."""
    found = MemoryAgent().branches()
    return Reply(found, drawing_what_if.draw_branches(found))


@what_if_app.command("show", epilog="Example: `memory what-if show least_useful-0.6`")
def what_if_show(name: BranchName, limit: Limit = 20, as_json: Json = False) -> Reply:
    """Show a branch beside what it began from."""
    found = MemoryAgent().branch(name)
    return Reply(found, drawing_what_if.draw_what_if(found, limit))


@what_if_app.command("adopt", epilog="Example: `memory what-if adopt least_useful-0.6`")
def what_if_adopt(name: BranchName, as_json: Json = False) -> Reply:
    """Make a branch's settings today's, in memory.toml, and today's tables by them; what is answered costs nothing."""
    adopted = MemoryAgent().adopt(name)
    return Reply(adopted, drawing_what_if.draw_adopted(adopted))


@what_if_app.command("drop", epilog="Example: `memory what-if drop least_useful-0.6`")
def what_if_drop(name: BranchName, as_json: Json = False) -> Reply:
    """Delete a branch; today's tables are as they were."""
    dropped = MemoryAgent().drop(name)
    return Reply(dropped, drawing_what_if.draw_dropped(dropped))


def _changes(settings: Sequence[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in settings]
    unclear = next((whole for whole, (name, sign, _) in zip(settings, pairs, strict=True) if not name or not sign), None)
    if unclear is not None:
        raise QuestionError(f"--set {unclear} sets nothing; write it as NAME=VALUE, such as --set least_useful=0.6.")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _serving(listening: Any, path: str, desk: Desk, is_writing: bool, run: Callable[[], int]) -> Reply:
    """Returns the address, and what goes on once it is told."""
    url = address_of(listening) + path
    told = f"Serving {url} ({'reads and writes' if is_writing else 'only reads; --write lets it write'}). Ctrl-C ends it."
    host = listening.getsockname()[0]
    warnings = [] if host in LOOPBACK else [f"Whoever reaches {host} can read this memory: there is no password."]

    def go_on() -> int:
        sys.stdout.flush()
        threading.Thread(target=desk.try_to_warm_up, daemon=True).start()
        return run()

    return Reply({"url": url, "is_writing": is_writing}, drawing.draw_text(told), warnings=warnings, afterwards=go_on)


def _export_to_stdout(agent: MemoryAgent, table: str, format: Format) -> None:
    export_table(agent.store.tables, table, sys.stdout.buffer, format)
    sys.stdout.flush()


def _day(moment: datetime | None) -> date | None:
    return moment.date() if moment else None


def _built(built: Any) -> Reply:
    return Reply(built.to_dict(), drawing.draw_built(built), warnings=built.warnings)


def _asked(verb: str, **given: Any) -> Reply:
    """Returns the facade's answer to a verb that all doors share, with the drawing that shows it."""
    said = ask(MemoryAgent(), verb, given)
    return Reply(said.data, DRAWINGS[verb](said.data), warnings=said.warnings)


def _question(words: str) -> str:
    """Returns the question, from stdin where it is a dash."""
    return sys.stdin.buffer.read(MOST_FROM_STDIN).decode("utf-8", "replace") if words == "-" else words


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
    print_error(error, message_of(error), as_json=as_json)
    return MISUSED if isinstance(error, QuestionError) else FAILED


def _usage(error: typer.TyperException) -> str:
    return error.format_message() if hasattr(error, "format_message") else str(error)
