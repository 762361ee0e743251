"""The commands `hooks` and `model`; and `send`, which hooks and scripts call."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from memory_assets.errors import QuestionError
from memory_assets.harnesses.hooks import harnesses
from memory_assets.interfaces.cli.commands import (
    SET_UP,
    FirstDay,
    Json,
    LastDay,
    completing,
    day_of,
    group,
    shown,
)
from memory_assets.interfaces.verbs import VERBS
from memory_assets.interfaces.views.next_steps import after_hooks
from memory_assets.interfaces.views.setup import (
    render_changes,
    render_choice,
    render_costs,
    render_models,
    render_overview,
)
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory import MemoryAgent
from memory_assets.schema.vocabulary import Harness
from memory_assets.stages.deliver import hook, install
from memory_assets.stages.deliver.events import FIELDS
from memory_assets.store.places import find_data

if TYPE_CHECKING:
    from memory_assets.services.models.model_offers import ModelOverview
    from memory_assets.services.settings.configuration import Models
    from memory_assets.store.store import Store

app = typer.Typer()
hooks_app = group("Connect Claude Code, Codex and pi: they read the briefing and report sessions.")
model_app = group(
    "Show what this machine offers as a model, choose one, and estimate its cost.",
    no_args_is_help=False,
)
app.add_typer(hooks_app, name="hooks", rich_help_panel=SET_UP)
app.add_typer(model_app, name="model", rich_help_panel=SET_UP)

HARNESSES = get_args(Harness)
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be written; write nothing.")
]
Recalls = Annotated[
    bool,
    typer.Option(
        "--recall-each-prompt",
        help="Also show at most three memories near a prompt, at each prompt; "
        "`--no-recall-each-prompt` removes that.",
    ),
]
RecallsNo = Annotated[bool, typer.Option("--no-recall-each-prompt", hidden=True)]
Chosen = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="HARNESS...",
        help="claude_code, codex or pi; default: all.",
        autocompletion=completing(*HARNESSES),
    ),
]


@hooks_app.command("install", epilog="Example: `memory hooks install --dry-run`")
def hooks_install(
    names: Chosen = None,
    recall_each_prompt: Recalls = False,
    no_recall_each_prompt: RecallsNo = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> Reply:
    """Add our hooks and tools to the settings of Claude Code, Codex and pi; everything else in them
    is kept.
    """
    if recall_each_prompt and no_recall_each_prompt:
        raise QuestionError(
            "--recall-each-prompt and --no-recall-each-prompt exclude each other. Give one "
            "of them, or neither."
        )
    is_recalling = True if recall_each_prompt else False if no_recall_each_prompt else None
    return _hooked(install.plan_install, names, dry_run, is_recalling=is_recalling)


@hooks_app.command("uninstall", epilog="Example: `memory hooks uninstall claude_code`")
def hooks_uninstall(names: Chosen = None, dry_run: DryRun = False, as_json: Json = False) -> Reply:
    """Remove our hooks and tools; a file that you did not edit since is restored byte for byte."""
    return _hooked(install.plan_uninstall, names, dry_run)


@hooks_app.command("status", epilog="Example: `memory hooks status`")
def hooks_status(names: Chosen = None, as_json: Json = False) -> Reply:
    """Show where our hooks and tools are installed, and the last event of each harness."""
    return _hooked(install.status, names, is_dry=True)


def _hooked(
    plan: Callable[..., list[install.HookChange]],
    names: list[str] | None,
    is_dry: bool,
    is_recalling: bool | None = None,
) -> Reply:
    """Plans the change of each harness's settings file, writes it unless `is_dry`, and reports
    it.
    """
    if unknown := sorted(set(names or ()) - set(HARNESSES)):
        raise QuestionError(f"harness must be one of {', '.join(HARNESSES)}, not '{unknown[0]}'.")
    agent, store = MemoryAgent(), Path(find_data())
    tools = [verb.tool for verb in VERBS if not verb.is_writing]
    recalling = (
        install.find_recalling(harnesses(str(store)))
        if is_recalling is None
        else HARNESSES
        if is_recalling
        else ()
    )
    planned = [
        one
        for one in harnesses(str(store), tools=tools, recalling=recalling)
        if not names or one.name in names
    ]
    changes = plan(planned, store)
    done = changes if is_dry else install.carry_out(changes, store)
    is_wanted = plan is install.plan_install and not is_dry
    data = {"is_dry_run": is_dry, "files": done, "last_heard": agent.last_heard()}
    following = after_hooks(data, is_installing=plan is install.plan_install)
    failed = any(change.state == install.FAILED for change in done)
    is_nowhere = all(change.state == install.ELSEWHERE for change in done)
    return shown(
        render_changes,
        data,
        exit_code=int(failed or (is_nowhere and is_wanted)),
        next_step="" if failed else following,
    )


@model_app.callback(invoke_without_command=True)
def model(context: typer.Context, as_json: Json = False) -> Reply | None:
    """Shows the configured models, what this machine offers, what each would cost, and what would
    be sent.
    """
    return None if context.invoked_subcommand else shown(render_overview, _overview())


@model_app.command("list", epilog="Example: `memory model list`")
def model_list(as_json: Json = False) -> Reply:
    """Show the configured models, and the models with a known price."""
    from memory_assets.services.settings.configuration import list_models

    return shown(render_models, list_models())


@model_app.command("use", epilog="Example: `memory model use claude-code`")
def model_use(
    name: Annotated[
        str,
        typer.Argument(
            help="claude-code, codex, a model's name, or `rules`: no model, nothing is sent."
        ),
    ],
    reflector: Annotated[
        str | None, typer.Option(help="Another model for reflections, reviews and answers.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="Server with the Messages API; `default`: the vendor's.")
    ] = None,
    project: Annotated[
        list[str] | None,
        typer.Option(
            help="Send only this project; can be repeated.",
            autocompletion=completing(kind="project"),
        ),
    ] = None,
    all_projects: Annotated[
        bool, typer.Option("--all-projects", help="Send later projects, too.")
    ] = False,
    free: Annotated[
        bool,
        typer.Option("--free", help="No question is billed: a subscription, a server of yours."),
    ] = False,
    as_json: Json = False,
) -> Reply:
    """Choose a model, and allow that it is sent the present projects. Later projects wait for
    `memory model add`.
    """
    from memory_assets.services.models.open_models import projects_of
    from memory_assets.services.settings.configuration import use_model
    from memory_assets.store.settings import ALL_PROJECTS

    projects = [ALL_PROJECTS] if all_projects else project or projects_of(_present_store())
    return _chosen(
        use_model(
            name, projects, reflector=reflector, url="" if url == "default" else url, is_free=free
        )
    )


@model_app.command("add", epilog="Example: `memory model add my-project`")
def model_add(
    projects: Annotated[
        list[str],
        typer.Argument(
            metavar="PROJECT...",
            help="Projects, as `memory model` names them.",
            autocompletion=completing(kind="project"),
        ),
    ],
    as_json: Json = False,
) -> Reply:
    """Allow that the configured models are sent these projects, too."""
    from memory_assets.services.models.open_models import projects_of
    from memory_assets.services.settings.configuration import add_projects

    known = projects_of(_present_store())
    if unknown := [name for name in projects if name not in known]:
        raise QuestionError(
            f"There is no project '{unknown[0]}'; there are {', '.join(known) or 'none'}."
        )
    return _chosen(add_projects(projects))


def _present_store() -> "Store":
    """Returns the store, also if nothing was read into it yet."""
    from memory_assets.store.store import Store

    agent = MemoryAgent()
    return agent.store if agent.exists else Store(agent.settings, agent.settings.data)


def _overview() -> "ModelOverview":
    from memory_assets.runs.model_costs import overview
    from memory_assets.services.settings.configuration import list_models

    return overview(_present_store(), list_models().origin)


def _chosen(models: "Models") -> Reply:
    """Returns the models that are configured now, after the status names the projects that wait."""
    from memory_assets.services.health.status import keep_status

    agent = MemoryAgent()
    if agent.exists:
        keep_status(agent.store, is_sample=agent.is_sample)
    overview = _overview()
    return Reply(overview, render_choice(overview, models.path), warnings=models.warnings)


@model_app.command(
    "cost",
    epilog="Example: `memory model cost --from 2026-04-01 --to 2026-04-30 --model "
    "claude-haiku-4-5`",
)
def model_cost(
    first: FirstDay = None,
    last: LastDay = None,
    model: Annotated[
        str | None, typer.Option(help="Another model than the configured one.")
    ] = None,
    reflector: Annotated[
        str | None, typer.Option(help="Another model for reflections, reviews and answers.")
    ] = None,
    as_json: Json = False,
) -> Reply:
    """Estimate the calls and the price of asking models about these days, in every step. Sends
    nothing.
    """
    from memory_assets.runs.days import days_between
    from memory_assets.runs.model_costs import costs_of
    from memory_assets.store.settings import changed_settings
    from memory_assets.store.store import Store

    store = MemoryAgent().store
    changes = {
        name: value
        for name, value in {"model": model, "reflector_model": reflector}.items()
        if value
    }
    store = Store(changed_settings(store.settings, changes), store.root)
    return shown(
        render_costs,
        costs_of(store, map(str, days_between(store.tables, day_of(first), day_of(last)))),
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
            help="Its name, such as memory/session.ended.", autocompletion=completing(*FIELDS)
        ),
    ],
    session: Annotated[str | None, typer.Option(help="Id of the session.")] = None,
    data: Annotated[
        str, typer.Option(help="Its other fields, as a JSON object; - reads it from stdin.")
    ] = "{}",
    store: Annotated[Path | None, typer.Option(help="Data folder; default: MEMORY_DATA.")] = None,
    as_json: Json = False,
) -> Reply:
    """Report an event without waiting; the exit code is always 0."""
    given = {"--session": session, "--data": data, "--store": store and str(store)}
    options = [word for name, value in given.items() if value is not None for word in (name, value)]
    sent, warnings = hook.sent([event, *options])
    return Reply(sent, [f"{event} is queued in {sent['store']}."], warnings=warnings)
