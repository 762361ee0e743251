"""`memory lab`: measure the memory, try other settings, look at dates."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import typer

from memory_assets.errors import QuestionError
from memory_assets.extras.lab import views as view
from memory_assets.interfaces import verbs
from memory_assets.interfaces.cli import commands
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory import MemoryAgent

app = commands.group("Measure the memory, try other settings, look at dates.")
what_if_app = commands.group(
    "Rebuild past days with other settings in a branch; then adopt or drop it.",
    no_args_is_help=False,
)
Branch = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A branch, as `memory lab what-if list` shows it.",
        autocompletion=commands.completing(kind="branch"),
    ),
]


@app.command("eval", epilog="Example: `memory lab eval labels/ --show misses`")
def evaluate(
    labels: Annotated[
        Path | None, typer.Argument(help="Folder of labelled sessions; default: MEMORY_GOLD.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            help="Also score this: an earlier `memory data export observations`, or a folder of a "
            "model's answers."
        ),
    ] = None,
    show: Annotated[
        Literal["misses", "wrong", "noise"] | None,
        typer.Option(help="List missed labels, wrong facts or noise."),
    ] = None,
) -> Reply:
    """Score the observations of labelled sessions: recall by priority, the owner's rules,
    precision, noise.
    """
    evaluation = MemoryAgent().evaluate(labels, against=against, show=show)
    uncounted = "is not in this store and is not counted."
    warnings = [f"Session {session} {uncounted}" for session in evaluation.missing]
    following = view.after_evaluation(evaluation)
    return commands.view_reply(view.render_evaluation, evaluation, warnings, next_step=following)


@app.command(
    epilog="Example: `memory lab calibration --set gate.least_useful=0.8 --from 2026-08-01`"
)
def calibration(
    by: Annotated[
        Literal["reason", "category", "version"] | None,
        typer.Option(help="Also group verdicts by this."),
    ] = None,
    limits: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Another threshold of the gate or of triage: list what it flips.",
        ),
    ] = None,
    first: commands.FirstDay = None,
    last: commands.LastDay = None,
) -> Reply:
    """Compare the verdicts of the gate, of triage and of a model with people's decisions. Writes
    nothing.
    """
    from memory_assets.extras.lab.calibrate import calibrate_all
    from memory_assets.runs.days import days_between

    store = MemoryAgent().store
    days = days_between(store.tables, commands.day_of(first), commands.day_of(last))
    data = calibrate_all(store, by=by, limits=limits or (), days=days)
    return commands.view_reply(view.render_calibration, data)


@what_if_app.callback(
    invoke_without_command=True,
    epilog="Example: `memory lab what-if --from 2026-06-01 --set facts_per_session=1`",
)
def what_if(
    context: typer.Context,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting to try, such as facts_per_session=1; repeatable.",
        ),
    ] = None,
    first: commands.FirstDay = None,
    last: commands.LastDay = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the branch; default: the settings.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only estimate the cost; send nothing, write nothing.")
    ] = False,
    limit: commands.RowCount = 20,
    as_json: commands.Json = False,
) -> Reply | None:
    """Rebuild past days with other settings in a branch: memories added, lost and changed,
    MEMORY.md side by side, the cost.
    """
    if context.invoked_subcommand:
        return None
    request = (
        MemoryAgent().store,
        commands.day_of(first),
        commands.day_of(last),
        _changes(settings or ()),
        name,
    )
    if dry_run:
        return commands.view_reply(view.render_estimate, _what_if().estimate(*request))
    return commands.view_reply(partial(view.render_what_if, most=limit), _what_if().make(*request))


@what_if_app.command("list", epilog="Example: `memory lab what-if list`")
def what_if_list() -> Reply:
    """List the branches."""
    branches = _what_if().list_branches(MemoryAgent().store)
    return commands.view_reply(
        view.render_branches, branches, next_step=view.after_branches(branches)
    )


@what_if_app.command("show", epilog="Example: `memory lab what-if show facts_per_session-1`")
def what_if_show(name: Branch, limit: commands.RowCount = 20) -> Reply:
    """Compare a branch with the tables it started from."""
    branch = _what_if().show(MemoryAgent().store, name)
    return commands.view_reply(partial(view.render_what_if, most=limit), branch)


@what_if_app.command("adopt", epilog="Example: `memory lab what-if adopt facts_per_session-1`")
def what_if_adopt(name: Branch) -> Reply:
    """Write a branch's settings into memory.toml and rebuild the tables with them; stored answers
    cost nothing.
    """
    return commands.view_reply(view.render_adopted, _what_if().adopt(MemoryAgent().store, name))


@what_if_app.command("drop", epilog="Example: `memory lab what-if drop facts_per_session-1`")
def what_if_drop(name: Branch) -> Reply:
    """Delete a branch."""
    _what_if().drop(MemoryAgent().store, name)
    return Reply({"name": name}, [f"The branch {name} was deleted; the tables were not changed."])


app.add_typer(what_if_app, name="what-if")
commands.add(app, verbs.TRIGGERS, path="lab triggers")


def _changes(settings: Sequence[str]) -> dict[str, str]:
    """Returns the value of each setting; raises `QuestionError` for what is not NAME=VALUE."""
    changes = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        if not name or name == setting:
            message = f"--set must be NAME=VALUE, such as facts_per_session=1, not '{setting}'."
            raise QuestionError(message)
        changes[name.strip()] = value.strip()
    return changes


def _what_if() -> ModuleType:
    """Returns the module that builds branches; it is imported late because it loads Dagster."""
    from memory_assets.extras.lab import what_if

    return what_if


def answer_types() -> dict[str, Any]:
    """Returns the type of each command's data."""
    from memory_assets.extras.lab.calibrate import Calibration
    from memory_assets.extras.lab.gold import Evaluation
    from memory_assets.extras.lab.what_if import Adopted, Estimate, WhatIf
    from memory_assets.interfaces.json_schema import fields
    from memory_assets.memory.verb_answers import Triggers

    return {
        "lab eval": Evaluation,
        "lab calibration": Calibration,
        "lab what-if": WhatIf | Estimate,
        "lab what-if list": list[dict[str, Any]],
        "lab what-if show": WhatIf,
        "lab what-if adopt": Adopted,
        "lab what-if drop": fields(name=str),
        "lab triggers": Triggers,
    }
