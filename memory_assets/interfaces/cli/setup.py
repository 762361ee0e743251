"""The commands `hooks`, `model` and `config`; and `send`, which hooks and scripts call."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, get_args

import typer

from memory_assets.errors import QuestionError
from memory_assets.interfaces.cli.commands import SET_UP, FirstDay, Json, LastDay, completing, day_of, group, shown
from memory_assets.interfaces.views.setup import render_changes, render_config, render_costs, render_models
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory import MemoryAgent
from memory_assets.schema.records import Harness
from memory_assets.stages.deliver import hook, install
from memory_assets.stages.deliver.events import FIELDS
from memory_assets.stages.deliver.harnesses import harnesses
from memory_assets.store.places import find_data

app = typer.Typer()
hooks_app = group("Connect Claude Code, Codex and pi: they read the briefing and report sessions.")
model_app = group("Choose the model that extracts and reflects, and estimate its cost.")
app.add_typer(hooks_app, name="hooks", rich_help_panel=SET_UP)
app.add_typer(model_app, name="model", rich_help_panel=SET_UP)

HARNESSES = get_args(Harness)
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be written; write nothing.")]
Chosen = Annotated[
    list[str] | None,
    typer.Argument(metavar="HARNESS...", help="claude_code, codex or pi; default: all.", autocompletion=completing(HARNESSES)),
]


@hooks_app.command("install", epilog="Example: `memory hooks install --dry-run`")
def hooks_install(names: Chosen = None, dry_run: DryRun = False, as_json: Json = False) -> Reply:
    """Add our hooks to the settings of Claude Code, Codex and pi; everything else in them is kept."""
    return _hooked(install.plan_install, names, dry_run)


@hooks_app.command("uninstall", epilog="Example: `memory hooks uninstall claude_code`")
def hooks_uninstall(names: Chosen = None, dry_run: DryRun = False, as_json: Json = False) -> Reply:
    """Remove our hooks; a file that you did not edit since is restored byte for byte."""
    return _hooked(install.plan_uninstall, names, dry_run)


@hooks_app.command("status", epilog="Example: `memory hooks status`")
def hooks_status(names: Chosen = None, as_json: Json = False) -> Reply:
    """Show where our hooks are installed, and the last event of each harness."""
    return _hooked(install.status, names, is_dry=True)


def _hooked(plan: Callable[..., list[install.HookChange]], names: list[str] | None, is_dry: bool) -> Reply:
    """Plans the change of each harness's settings file, writes it unless `is_dry`, and reports it."""
    if unknown := sorted(set(names or ()) - set(HARNESSES)):
        raise QuestionError(f"harness must be one of {', '.join(HARNESSES)}, not '{unknown[0]}'.")
    agent, store = MemoryAgent(), Path(find_data())
    changes = plan([one for one in harnesses(str(store)) if not names or one.name in names], store)
    done = changes if is_dry else install.carry_out(changes, store)
    data = {"is_dry_run": is_dry, "files": done, "last_heard": agent.last_heard()}
    return shown(render_changes, data, exit_code=int(any(change.state == install.FAILED for change in done)))


@model_app.command("list", epilog="Example: `memory model list`")
def model_list(as_json: Json = False) -> Reply:
    """Show the configured model, and the models with a known price."""
    from memory_assets.services.configuration import list_models

    return shown(render_models, list_models())


@model_app.command("use", epilog="Example: `memory model use claude-haiku-4-5`")
def model_use(
    name: Annotated[str, typer.Argument(help="A model's name, or `rules`: no model, nothing leaves this machine.")],
    as_json: Json = False,
) -> Reply:
    """Choose a model in the settings file. With one, transcripts are sent to its server."""
    from memory_assets.services.configuration import use_model

    return shown(render_models, use_model(name))


@model_app.command("cost", epilog="Example: `memory model cost --from 2026-04-01 --to 2026-04-30 --model claude-haiku-4-5`")
def model_cost(
    first: FirstDay = None,
    last: LastDay = None,
    model: Annotated[str | None, typer.Option(help="Another model than the configured one.")] = None,
    as_json: Json = False,
) -> Reply:
    """Estimate the calls and the price of extracting these days with a model. Sends nothing."""
    from memory_assets.runs.days import days_between
    from memory_assets.services.model_questions import Consultation

    store = MemoryAgent().store
    days = map(str, days_between(store.tables, day_of(first), day_of(last)))
    return shown(render_costs, Consultation(store, model or store.settings.model).costs(days))


@app.command(rich_help_panel=SET_UP, epilog="Example: `memory config model`")
def config(
    name: Annotated[str | None, typer.Argument(help="Only this setting.")] = None,
    as_json: Json = False,
) -> Reply:
    """Show each setting: its value, its default, and where the value comes from."""
    from memory_assets.services.configuration import read_configuration

    settings = read_configuration(name)
    return Reply({"settings": settings}, render_config(settings))


@app.command(hidden=True, epilog="Example: `memory send memory/session.ended --session 0a000001-1111-4222-8333-444455556666`")
def send(
    event: Annotated[
        str, typer.Argument(help="Its name, such as memory/session.ended.", autocompletion=completing(tuple(FIELDS)))
    ],
    session: Annotated[str | None, typer.Option(help="Id of the session.")] = None,
    data: Annotated[str, typer.Option(help="Its other fields, as a JSON object; - reads it from stdin.")] = "{}",
    store: Annotated[Path | None, typer.Option(help="Data folder; default: MEMORY_DATA.")] = None,
    as_json: Json = False,
) -> Reply:
    """Report an event without waiting; the exit code is always 0."""
    given = {"--session": session, "--data": data, "--store": store and str(store)}
    options = [word for name, value in given.items() if value is not None for word in (name, value)]
    sent, warnings = hook.sent([event, *options])
    return Reply(sent, [f"{event} is queued in {sent['store']}."], warnings=warnings)
