"""The commands of every day: up, recall, check, remember, review, explain, forget, status, brief.

Also ingest, doctor, restore and docs, which keep the memory well.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from memory_assets.errors import QuestionError
from memory_assets.interfaces import verbs
from memory_assets.interfaces.cli import commands
from memory_assets.interfaces.cli.model_choice import choose_model, is_terminal
from memory_assets.interfaces.ports import PAGE_PORT, free_port
from memory_assets.interfaces.views.checking import render_checked
from memory_assets.interfaces.views.health import (
    render_built,
    render_health,
    render_model_hint,
)
from memory_assets.interfaces.views.memories import render_block
from memory_assets.interfaces.views.next_steps import after_doctor
from memory_assets.interfaces.views.terminal import Raw, Reply, console, print_reply, tell
from memory_assets.memory import MemoryAgent, documentation
from memory_assets.memory.places import find_store
from memory_assets.memory.prepared import render_status_line
from memory_assets.schema.requests import AnswerRequest, RecallRequest, StatusRequest

app = commands.Commands()
review_app = commands.group(verbs.REVIEW.summary, no_args_is_help=False)
ALSO_DEEP = "Also search narratives and messages: short for --profile deep."
NEXT_ONES = "Show the results after the first ones: short for --page 2."
ALSO_HELD = "Also what the write gate holds: short for --include held."
SHORTCUTS = {
    "deep": (ALSO_DEEP, {"profile": "deep"}),
    "more": (NEXT_ONES, {"page": 2}),
    "held": (ALSO_HELD, {"include": ["held"]}),
}
Proposals = Annotated[
    list[str],
    typer.Argument(
        metavar="ID...",
        help="Proposals, such as p-20260408-001.",
        autocompletion=commands.completing(kind="proposal"),
    ),
]

Folder = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="In the repository.", show_default="the present folder"),
]


def built_reply(built: Any, afterwards: Callable[[], int] = lambda: 0) -> Reply:
    """Returns a reply about what a build did; `afterwards` runs when it is printed."""
    return Reply(
        built.to_dict(),
        render_built(built),
        warnings=built.warnings,
        exit_code=int(bool(built.model_failure)),
        afterwards=afterwards,
    )


@app.command(rich_help_panel=commands.EVERY_DAY, epilog="Example: `memory up --no-ui --since 90d`")
def up(
    no_ui: Annotated[
        bool, typer.Option("--no-ui", help="Exit when the memory is built; do not serve the UI.")
    ] = False,
    since: commands.Since = None,
    port: commands.Port = None,
    as_json: commands.Json = False,
) -> Reply:
    """Serve the Dagster UI, read transcripts, build the memory, and process sessions as they
    end.
    """
    from memory_assets.memory import running

    choice = running.choose(since=since)
    if no_ui:
        built = running.fill(choice)
        reply = built_reply(built)
        read_past = partial(running.backfill, None, None)
    else:
        ui_port = free_port(port or choice.settings.port)
        serving = running.serve(choice, ui_port, tell, free_port(PAGE_PORT))
        built = serving.during(lambda: running.fill(choice))
        reply = built_reply(built, serving.wait)
        read_past = partial(serving.during, partial(running.backfill, None, None))
    if built.status.uses_models:
        return reply
    if as_json or not is_terminal():
        return replace(reply, parts=chain(reply.parts, render_model_hint()))
    return replace(reply, afterwards=partial(_offer_model, read_past, reply.afterwards))


def _offer_model(read_past: Callable[[], Any], afterwards: Callable[[], int]) -> int:
    """Asks a person for a model, and has a chosen one read the past sessions."""
    code = 0
    if choose_model():
        reply = built_reply(read_past())
        print_reply(reply, as_json=False)
        code = reply.exit_code
    return afterwards() or code


@commands.command(app, verbs.RECALL, commands.EVERY_DAY, shortcuts=SHORTCUTS)
def recall(
    request: RecallRequest,
    cited: Annotated[
        bool,
        typer.Option(
            "--answer", help="Write one answer in which every sentence cites its sources."
        ),
    ] = False,
    block: Annotated[
        bool, typer.Option("--block", help="Print only the lines that go in front of a prompt.")
    ] = False,
) -> Reply:
    """Returns the memories, the lines for a prompt, or an answer with sources."""
    if request.project:
        MemoryAgent().check_project(request.project)
    if cited:
        given = {name: getattr(request, name) for name in request.model_fields_set}
        unused = [name for name in given if name not in AnswerRequest.model_fields]
        if unused:
            option = commands.option_of(unused[0])
            raise QuestionError(f"--answer cannot be combined with {option}.")
        return commands.reply_to(verbs.ANSWER, **given)
    reply = commands.reply_to(verbs.RECALL, request)
    return replace(reply, parts=render_block(reply.data), next_step="") if block else reply


commands.add(app, verbs.REMEMBER, commands.EVERY_DAY)
app.add_typer(review_app, name="review", rich_help_panel=commands.EVERY_DAY)
commands.command_verbs.update((verbs.ANSWER.name, verbs.REVIEW.name, verbs.DECIDE.name))


@review_app.callback(invoke_without_command=True, help=verbs.REVIEW.summary)
def review(context: typer.Context, as_json: commands.Json = False) -> Reply | None:
    """Reviews on a terminal, lists the proposals elsewhere."""
    if context.invoked_subcommand:
        return None
    if as_json or not is_terminal():
        return commands.reply_to(verbs.REVIEW)
    return Reply(None, afterwards=_review_on_terminal, warnings=MemoryAgent().review().warnings)


def _review_on_terminal() -> int:
    from memory_assets.interfaces.cli.review_session import ReviewSession

    screen = console()
    if os.name == "nt":
        ReviewSession(
            MemoryAgent(), screen, typer.getchar, lambda prompt, _: screen.input(prompt)
        ).run()
        return 0
    from memory_assets.interfaces.cli.keyboard import Keyboard

    with Keyboard() as keyboard:
        ReviewSession(MemoryAgent(), screen, keyboard.key, keyboard.line).run()
    return 0


@review_app.command("list", epilog="Example: `memory review list`")
def review_list() -> Reply:
    """List the proposals that wait for a decision."""
    return commands.reply_to(verbs.REVIEW)


@review_app.command("approve", epilog="Example: `memory review approve p-20260408-001`")
def review_approve(proposals: Proposals) -> Reply:
    """Approve proposals; each becomes a line of MEMORY.md and a commit."""
    return commands.reply_to(verbs.DECIDE, decision="approve", proposals=proposals)


@review_app.command(
    "reject", epilog='Example: `memory review reject p-20260408-002 --reason "only that one time"`'
)
def review_reject(
    proposals: Proposals,
    reason: Annotated[str, typer.Option(help="Why; kept with the decision.")] = "",
) -> Reply:
    """Reject proposals; they are not proposed again."""
    return commands.reply_to(verbs.DECIDE, decision="reject", proposals=proposals, reason=reason)


@review_app.command(
    "edit", epilog='Example: `memory review edit p-20260408-001 "Use uv, never pip."`'
)
def review_edit(
    proposal: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A pending proposal.",
            autocompletion=commands.completing(kind="proposal"),
        ),
    ],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Its new wording.")],
) -> Reply:
    """Reword a proposal; it still waits for approval."""
    return commands.reply_to(verbs.DECIDE, decision="edit", proposals=[proposal], text=text)


commands.add(app, verbs.EXPLAIN, commands.EVERY_DAY)
commands.add(app, verbs.FORGET, commands.EVERY_DAY)


@commands.command(app, verbs.STATUS, commands.EVERY_DAY)
def status(
    request: StatusRequest,
    line: Annotated[bool, typer.Option("--line", help="Print one line, for a status bar.")] = False,
) -> Reply:
    """Returns the state of the store; the exit code is 1 where there is no memory yet."""
    reply = commands.reply_to(verbs.STATUS, request)
    if line:
        return replace(reply, parts=[render_status_line(find_store())])
    return replace(reply, exit_code=int(reply.data.is_empty))


commands.add(app, verbs.BRIEF, commands.EVERY_DAY)


@app.command(rich_help_panel=commands.KEEP_WELL, epilog="Example: `memory ingest`")
def ingest(since: commands.Since = None) -> Reply:
    """Read new transcripts and update the memory."""
    from memory_assets.memory import running

    return built_reply(running.ingest(since=since))


@app.command(rich_help_panel=commands.KEEP_WELL, epilog="Example: `memory doctor --json`")
def doctor(
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Also read every stored byte and compare it with its hash."),
    ] = False,
) -> Reply:
    """Check that every file, message and memory is accounted for; the exit code is 1 if not."""
    health = MemoryAgent().health(is_deep=deep)
    following = after_doctor(health, is_deep=deep)
    return commands.view_reply(
        render_health, health, exit_code=int(not health.is_well), next_step=following
    )


@app.command(rich_help_panel=commands.EVERY_DAY, epilog="Example: `memory check ~/work/tidewatch`")
def check(folder: Folder = Path()) -> Reply:
    """Look up what CLAUDE.md, AGENTS.md and other rules of a repository name; the exit code is 1 if
    something is gone.
    """
    from memory_assets.memory import checking

    checked = checking.check(folder)
    return commands.view_reply(render_checked, checked, exit_code=int(bool(checked.findings)))


@app.command(rich_help_panel=commands.EVERY_DAY, epilog="Example: `memory handoff --to codex`")
def handoff(
    project: Annotated[
        str | None,
        typer.Option(
            help="Whose last session; by default that of the present folder.",
            autocompletion=commands.completing(kind="project"),
        ),
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="HARNESS", help="Start this client with it.")
    ] = None,
) -> Reply:
    """Print what the last session of a project was in the middle of, as a prompt for the next."""
    from memory_assets.memory.handoff import command_for, find_handoff

    command = command_for(to) if to else []
    stopped = find_handoff(project)
    if command:
        os.execvp(command[0], [*command, stopped.text.replace("\0", "")])
    return Reply(stopped.to_dict(), [stopped.text])


commands.add(app, verbs.RESTORE, commands.KEEP_WELL)


@app.command(rich_help_panel=commands.KEEP_WELL, epilog="Example: `memory docs hooks`")
def docs(
    page: Annotated[
        str,
        typer.Argument(
            metavar="PAGE",
            help="Name of a page; README lists them.",
            autocompletion=documentation.complete,
        ),
    ] = documentation.INDEX,
) -> Reply:
    """Print a page of the documentation."""
    content = documentation.read_page(page)
    return Reply(content, [Raw(content.text.rstrip("\n"))], is_paged=True)


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's data."""
    from memory_assets.memory import verb_answers as types
    from memory_assets.memory.checking import Checked
    from memory_assets.memory.handoff import Handoff
    from memory_assets.memory.running import Built

    return {
        "up": Built,
        "ingest": Built,
        "recall": types.Answer | types.CitedAnswer,
        "remember": types.Noted,
        "review": types.Review,
        "review list": types.Review,
        "review approve": types.Decided,
        "review reject": types.Decided,
        "review edit": types.Decided,
        "explain": types.Explanation | types.WhyNot | types.Opened,
        "forget": types.Forgetting,
        "status": types.Status,
        "brief": types.Briefing,
        "doctor": types.Health,
        "check": Checked,
        "handoff": Handoff,
        "restore": types.Restored,
        "docs": documentation.Page,
    }
