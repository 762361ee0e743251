"""The commands `hooks` and `model`; and `send`, which hooks and scripts call."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_assets.errors import QuestionError
from memory_assets.interfaces.cli import commands
from memory_assets.interfaces.verbs import FOR_AGENTS, VERBS
from memory_assets.interfaces.views import setup as setup_views
from memory_assets.interfaces.views.next_steps import after_hooks
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory import MemoryAgent, hooks
from memory_assets.schema.vocabulary import HARNESS_NAMES, HARNESS_TITLES

if TYPE_CHECKING:
    from memory_assets.memory.hook_settings import HookChange
    from memory_assets.memory.models import Models

HARNESSES = tuple(HARNESS_TITLES)

app = commands.Commands()
hooks_app = commands.group(
    f"Connect {HARNESS_NAMES}: each reads the briefing and reports sessions."
)
model_app = commands.group(
    "Show what this machine offers as a model, choose one, and estimate its cost.",
    no_args_is_help=False,
)
app.add_typer(hooks_app, name="hooks", rich_help_panel=commands.SET_UP)
app.add_typer(model_app, name="model", rich_help_panel=commands.SET_UP)

READING_TOOLS = [verb.tool for verb in (*VERBS, *FOR_AGENTS) if not verb.is_writing]
"""Tools that a harness may call without asking."""

Recalls = Annotated[
    bool,
    typer.Option(
        "--recall-each-prompt",
        help="Also show at most three memories near a prompt, at each prompt; "
        "`--no-recall-each-prompt` removes that.",
    ),
]
RecallsNo = Annotated[bool, typer.Option("--no-recall-each-prompt", hidden=True)]
BeforeTools = Annotated[
    bool,
    typer.Option(
        "--before-tools",
        help="Also say in one line what is surely known of a file or command, before a tool uses "
        "it, while `memory up` runs; `--no-before-tools` removes that.",
    ),
]
BeforeToolsNo = Annotated[bool, typer.Option("--no-before-tools", hidden=True)]
Reflector = Annotated[
    str | None, typer.Option(help="Another model for reflections, reviews and answers.")
]
Chosen = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="HARNESS...",
        help=f"{', '.join(HARNESSES)}; default: all.",
        autocompletion=commands.completing(*HARNESSES),
    ),
]


@hooks_app.command("install", epilog="Example: `memory hooks install --dry-run`")
def hooks_install(
    names: Chosen = None,
    recall_each_prompt: Recalls = False,
    no_recall_each_prompt: RecallsNo = False,
    before_tools: BeforeTools = False,
    no_before_tools: BeforeToolsNo = False,
    dry_run: commands.DryRun = False,
) -> Reply:
    """Add our hooks and tools to the settings of your coding agents; everything else in them is
    kept.
    """
    from memory_assets.memory import hook_settings

    planned = hook_settings.plan_install(
        _checked(names),
        READING_TOOLS,
        is_recalling=_switch("recall-each-prompt", recall_each_prompt, no_recall_each_prompt),
        is_before_tools=_switch("before-tools", before_tools, no_before_tools),
    )
    changes = planned if dry_run else hook_settings.carry_out(planned)
    return _hooks_reply(changes, is_dry=dry_run, is_installing=True)


def _switch(name: str, is_on: bool, is_off: bool) -> bool | None:
    """Returns whether the option switches something on or off; None where it is not given."""
    if is_on and is_off:
        both = f"--{name} and --no-{name}"
        raise QuestionError(f"{both} exclude each other. Give one of them, or neither.")
    return is_on if is_on or is_off else None


@hooks_app.command("uninstall", epilog="Example: `memory hooks uninstall claude_code`")
def hooks_uninstall(names: Chosen = None, dry_run: commands.DryRun = False) -> Reply:
    """Remove our hooks and tools; a file that you did not edit since is restored byte for byte."""
    from memory_assets.memory import hook_settings

    planned = hook_settings.plan_uninstall(_checked(names), READING_TOOLS)
    changes = planned if dry_run else hook_settings.carry_out(planned)
    return _hooks_reply(changes, is_dry=dry_run)


@hooks_app.command("status", epilog="Example: `memory hooks status`")
def hooks_status(names: Chosen = None) -> Reply:
    """Show where our hooks and tools are installed, and the last event of each harness."""
    from memory_assets.memory import hook_settings

    return _hooks_reply(hook_settings.read_states(_checked(names), READING_TOOLS), is_dry=True)


def _checked(names: Sequence[str] | None) -> Sequence[str]:
    """Returns the names, all of harnesses; raises `QuestionError` for any other name."""
    unknown = sorted(set(names or ()) - set(HARNESSES))
    if unknown:
        raise QuestionError(f"harness must be one of {', '.join(HARNESSES)}, not '{unknown[0]}'.")
    return names or ()


def _hooks_reply(
    changes: "Sequence[HookChange]", *, is_dry: bool, is_installing: bool = False
) -> Reply:
    """Returns a reply with changes or states of settings files, and each harness's last event."""
    data = {"is_dry_run": is_dry, "files": changes, "last_heard": MemoryAgent().last_heard()}
    has_failed = any(change.has_failed for change in changes)
    is_nowhere = all(change.is_elsewhere for change in changes)
    is_in_vain = is_installing and is_nowhere
    next_step = "" if has_failed else after_hooks(data, is_installing=is_installing)
    return commands.view_reply(
        setup_views.render_changes,
        data,
        exit_code=int(has_failed or is_in_vain),
        next_step=next_step,
    )


@model_app.callback(invoke_without_command=True)
def model(context: typer.Context, as_json: commands.Json = False) -> Reply | None:
    """Shows the configured models, what this machine offers, what each would cost, and what would
    be sent.
    """
    if context.invoked_subcommand:
        return None
    from memory_assets.memory.models import overview

    return commands.view_reply(setup_views.render_overview, overview())


@model_app.command("list", epilog="Example: `memory model list`")
def model_list() -> Reply:
    """Show the configured models, and the models with a known price."""
    from memory_assets.memory.models import list_models

    return commands.view_reply(setup_views.render_models, list_models())


@model_app.command("use", epilog="Example: `memory model use claude-code`")
def model_use(
    name: Annotated[
        str,
        typer.Argument(
            help="claude-code, codex, a model's name; `agent`: agents that you ask; or `rules`: no "
            "model, nothing is sent."
        ),
    ],
    reflector: Reflector = None,
    url: Annotated[
        str | None, typer.Option(help="Server with the Messages API; `default`: the vendor's.")
    ] = None,
    project: Annotated[
        list[str] | None,
        typer.Option(
            help="Send only this project; can be repeated.",
            autocompletion=commands.completing(kind="project"),
        ),
    ] = None,
    all_projects: Annotated[
        bool, typer.Option("--all-projects", help="Send later projects, too.")
    ] = False,
    free: Annotated[
        bool,
        typer.Option("--free", help="No question is billed: a subscription, a server of yours."),
    ] = False,
) -> Reply:
    """Choose a model, and allow that it is sent the present projects. Later projects wait for
    `memory model add`.
    """
    from memory_assets.memory.models import use_model

    models = use_model(
        name,
        project,
        is_for_all=all_projects,
        reflector=reflector,
        url="" if url == "default" else url,
        is_free=free,
    )
    return _chosen(models)


@model_app.command("add", epilog="Example: `memory model add my-project`")
def model_add(
    projects: Annotated[
        list[str],
        typer.Argument(
            metavar="PROJECT...",
            help="Projects, as `memory model` names them.",
            autocompletion=commands.completing(kind="project"),
        ),
    ],
) -> Reply:
    """Allow that the configured models are sent these projects, too."""
    from memory_assets.memory.models import add_projects

    return _chosen(add_projects(projects))


def _chosen(models: "Models") -> Reply:
    """Returns a reply with the models that are configured now."""
    from memory_assets.memory.models import overview

    state = overview()
    return Reply(state, setup_views.render_choice(state, models.path), warnings=models.warnings)


@model_app.command(
    "cost",
    epilog="Example: `memory model cost --from 2026-04-01 --to 2026-04-30 --model "
    "claude-haiku-4-5`",
)
def model_cost(
    first: commands.FirstDay = None,
    last: commands.LastDay = None,
    model: Annotated[
        str | None, typer.Option(help="Another model than the configured one.")
    ] = None,
    reflector: Reflector = None,
) -> Reply:
    """Estimate the calls and the price of asking models about these days, in every step. Sends
    nothing.
    """
    from memory_assets.memory.models import costs_of

    return commands.view_reply(
        setup_views.render_costs,
        costs_of(commands.day_of(first), commands.day_of(last), model, reflector),
    )


@app.command(
    hidden=True,
    epilog="Example: `memory send memory/session.ended --session "
    "0a000001-1111-4222-8333-444455556666`",
)
def send(
    event: Annotated[
        str,
        typer.Argument(
            help="Its name, such as memory/session.ended.",
            autocompletion=commands.completing(*hooks.EVENTS),
        ),
    ],
    session: Annotated[str | None, typer.Option(help="Id of the session.")] = None,
    data: Annotated[
        str, typer.Option(help="Its other fields, as a JSON object; - reads it from stdin.")
    ] = "{}",
    store: Annotated[Path | None, typer.Option(help="Data folder; default: MEMORY_DATA.")] = None,
) -> Reply:
    """Report an event without waiting; the exit code is always 0."""
    given = {"--session": session, "--data": data, "--store": store and str(store)}
    options = ((name, value) for name, value in given.items() if value is not None)
    sent, warnings = hooks.spool_words([event, *chain.from_iterable(options)])
    return Reply(sent, [f"{event} is queued in {sent['store']}."], warnings=warnings)


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's data."""
    from memory_assets.interfaces.json_schema import fields
    from memory_assets.memory.hook_settings import HookChange
    from memory_assets.memory.models import Costs, ModelOverview, Models

    states = fields(is_dry_run=bool, files=list[HookChange], last_heard=dict[str, datetime])
    types = dict.fromkeys(("hooks install", "hooks uninstall", "hooks status"), states)
    types |= dict.fromkeys(("model", "model use", "model add"), ModelOverview)
    return types | {
        "model list": Models,
        "model cost": Costs,
        "send": dict[str, Any],
    }
