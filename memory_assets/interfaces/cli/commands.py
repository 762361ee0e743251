"""Makes commands of verbs (`interfaces.verbs`), and declares options that several commands share.

The options come from the verb's request model, the help and the example from the verb, the reply
from the facade's answer. A required parameter becomes an argument, any other an option. Only the
request validates values, so that errors read the same in every interface.
"""

import inspect
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from memory_assets.interfaces.envelope import warnings_of
from memory_assets.interfaces.verb import Verb
from memory_assets.interfaces.views.lines import Parts
from memory_assets.interfaces.views.next_steps import next_step
from memory_assets.interfaces.views.registry import view_of
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory import MemoryAgent
from memory_assets.schema.requests import Request

EVERY_DAY = "Every day"
SET_UP = "Set up"
KEEP_WELL = "Keep well"
GROUPS = "Groups"

MOST_FROM_STDIN = 1_000_000
"""Most bytes that are read from stdin for an argument; a pipe may never end."""

SPELLINGS = {"limit": ("--limit", "-n"), "used": ("--used/--unused",)}
"""Parameters whose option is not just `--name`."""

ORDER = (
    "up", "recall", "remember", "review", "explain", "forget", "status", "brief", "handoff",
    "check", "hooks", "model", "config", "ingest", "doctor", "restore", "docs",
)  # fmt: skip
"""The order of commands in the help; the others come last."""

WORD_KINDS = {
    "project": "project", "only_project": "project", "person": "person", "session": "session",
    "own_session": "session", "instead_of": "memory", "since": "day", "until": "day", "on": "day",
    "memory_ids": "memory", "target": "target",
}  # fmt: skip
"""Parameter → the kind of words (`memory.completion`) with which a shell completes its value."""

OVERRIDES = {("forget", "target"): "memory", ("restore", "memory_ids"): "unused_memory"}
"""Verb and parameter → the kind of words that this verb needs instead."""

METAVARS: Mapping[Any, str] = {int: "NUMBER", float: "NUMBER", Path: "PATH", datetime: "DAY"}
"""Type of an option → the placeholder of its value in the help."""

EVALUATED = str.maketrans({"'": "’", '"': "”", "`": "’", "$": None, "\\": None, "!": "."})
"""Characters that zsh evaluates → what is shown instead. The text beside a completed word may quote
a stranger.
"""

KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
NO_DEFAULT = inspect.Parameter.empty
"""The default of a parameter that the command line must name."""

command_verbs: set[str] = set()
"""Names of the verbs that a module made a command."""


class Group(TyperGroup):
    """A group of commands whose help has readable placeholders and whole sentences."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Returns the command."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            command.short_help = command.short_help or (command.help or "").partition("\n\n")[0]
            _set_placeholders([*command.params, command.get_help_option(ctx)])
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command that the words name; of a table, the error names what shows it."""
        try:
            return super().resolve_command(ctx, args)
        except typer.TyperException as error:
            from memory_assets.schema.tables import TABLES

            if args[0] in TABLES:
                error.message += f" Did you mean `memory data show {args[0]}`?"
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        """Returns the options of the group itself."""
        return _set_placeholders(super().get_params(ctx))


class OrderedGroup(Group):
    """A group that lists its commands in the order of `ORDER`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Returns the names, those of `ORDER` first."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


def _set_placeholders(parameters: list[Any]) -> list[Any]:
    """Sets placeholders of values for people, such as NUMBER, and returns the parameters.

    Without them the help would show the names of Python's types.
    """
    for parameter in parameters:
        if parameter is None:
            continue
        if parameter.param_type_name == "argument":
            dots = "" if parameter.nargs == 1 else "..."
            name = parameter.metavar or f"{parameter.name.upper()}{dots}"
            pieces = [name if parameter.required else f"[{name}]"]
            parameter.metavar = name
            # Typer calls the first to show a type behind the name, the second for the usage line.
            parameter.display_type_rich = lambda ctx: None
            parameter.get_usage_pieces = lambda ctx, pieces=pieces: pieces
        # Typer itself lists the values of a choice.
        elif parameter.metavar is None and not parameter.type_descriptor.is_choice:
            kind = METAVARS.get(parameter.type_descriptor.annotation, "TEXT")
            parameter.metavar = "" if parameter.is_flag else kind
    return parameters


def completing(*words: str, kind: str = "") -> Callable[[typer.Context, str], list[Any]]:
    """Returns a function for typer that completes these words, or the store's words of a kind."""

    def complete(ctx: typer.Context, incomplete: str) -> list[Any]:
        if not kind:
            return [word for word in words if word.startswith(incomplete)]
        from memory_assets.memory.completion import find_words

        # Days are those of the table that the command line names before them.
        matches = find_words(kind, incomplete, table=ctx.params.get("table"))
        return [(word, escape(text.translate(EVALUATED))) for word, text in matches]

    return complete


Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON object and nothing else; --json-schema describes it."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be written; write nothing.")
]
Port = Annotated[
    int | None, typer.Option(help="Port of the Dagster UI; the next free one is used.")
]
Since = Annotated[
    str | None,
    typer.Option(help="How far back to read transcripts at first: 30d, 2026-05-01 or all."),
]
A_DAY: Mapping[str, Any] = {"formats": ["%Y-%m-%d"], "autocompletion": completing(kind="day")}
FirstDay = Annotated[
    datetime | None, typer.Option("--from", help="First day; default: the earliest.", **A_DAY)
]
LastDay = Annotated[
    datetime | None, typer.Option("--to", help="Last day; default: the latest.", **A_DAY)
]
AsOf = Annotated[
    datetime | None,
    typer.Option(
        "--as-of", help="Of the table memories: as they were at the end of this day.", **A_DAY
    ),
]
RowCount = Annotated[int, typer.Option("--limit", "-n", min=1, help="Number of rows.")]
Table = Annotated[
    str,
    typer.Argument(
        help="A table, such as observations; `memory docs tables` lists them.",
        autocompletion=completing(kind="table"),
    ),
]


def day_of(moment: datetime | None) -> date | None:
    """Returns the day of the moment, or None."""
    return moment.date() if moment else None


class Commands(typer.Typer):
    """Commands that all have the option `--json`, which `app.main` reads; a function need not take
    it.
    """

    def command(self, *names: Any, **options: Any) -> Callable[..., Any]:
        """Returns a decorator that makes a function a command."""
        register = super().command(*names, **options)

        def add_command(run: Callable[..., Any]) -> Callable[..., Any]:
            """Adds the command, with `--json`."""
            register(_with_json(run))
            return run

        return add_command


def _with_json(run: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function with the parameter `as_json`, unless it has it."""
    parameters = keyword_parameters(run)
    if any(parameter.name == "as_json" for parameter in parameters):
        return run

    @wraps(run)
    def invoke(as_json: bool, **values: Any) -> Any:
        """Runs the command; `as_json` was read from the line already."""
        return run(**values)

    set_parameters(
        invoke,
        [*parameters, inspect.Parameter("as_json", KEYWORD_ONLY, default=False, annotation=Json)],
    )
    return invoke


def group(help: str, **options: Any) -> Commands:
    """Returns an empty group of commands."""
    return Commands(help=help, **{"no_args_is_help": True, "cls": Group, **options})


def view_reply(
    view: Callable[[Any], Parts],
    data: Any,
    warnings: Sequence[str] = (),
    exit_code: int = 0,
    next_step: str = "",
) -> Reply:
    """Returns a reply with the data, rendered by the view, and with these or its own warnings."""
    return Reply(data, view(data), exit_code, warnings or warnings_of(data), next_step)


def reply_to(verb: Verb, request: Request | None = None, **fields: Any) -> Reply:
    """Returns the facade's answer, rendered by the verb's view.

    Takes the request, or the fields of one.
    """
    answer = getattr(MemoryAgent(), verb.name)(request or verb.request(**fields))
    return view_reply(view_of(verb.name), answer, next_step=next_step(verb.name, answer))


def add(app: typer.Typer, verb: Verb, panel: str | None = None, *, path: str = "") -> None:
    """Adds the verb as a command with the verb's parameters only."""
    command(app, verb, panel, path=path)(lambda request: reply_to(verb, request))


def command(
    app: typer.Typer,
    verb: Verb,
    panel: str | None = None,
    *,
    path: str = "",
    shortcuts: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType({}),
) -> Callable[..., Any]:
    """Returns a decorator that makes a function the command of the verb.

    The function gets the request. Its further parameters become further options of the command.
    `path` is the full name of a command inside a group. A shortcut is a flag with its help and the
    parameters that it sets.
    """
    command_verbs.add(verb.name)

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        additional = keyword_parameters(run)[1:]

        def invoke(**values: Any) -> Any:
            options = {parameter.name: values.pop(parameter.name) for parameter in additional}
            for name, (_, implied) in shortcuts.items():
                # The flag is removed, because it is no parameter of the request.
                if values.pop(name):
                    values |= _implied_values(implied, values)
            return run(verb.request(**_request_values(verb, values)), **options)

        parameters = [_parameter(verb, name, schema) for name, schema in verb.parameters.items()]
        for name, (about, _) in shortcuts.items():
            option = typer.Option(f"--{name}", help=about)
            parameters.append(_declaration(name, bool, False, option))
        parameters += additional
        set_parameters(invoke, parameters)
        example = f"Example: `{example_of(verb, path)}`"
        app.command(verb.name, help=verb.summary, epilog=example, rich_help_panel=panel)(invoke)
        return run

    return register


def keyword_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Returns the parameters of the function as parameters that are passed by name only."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return [parameter.replace(kind=KEYWORD_ONLY) for parameter in parameters]


def set_parameters(function: Any, parameters: Sequence[inspect.Parameter]) -> None:
    """Makes typer read these parameters as the options and arguments of the function."""
    function.__signature__ = inspect.Signature(parameters)
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


def example_of(verb: Verb, path: str = "") -> str:
    """Returns the verb's example as a shell command."""
    words = [f"memory {path or verb.name}"]
    for name, value in verb.example.items():
        if isinstance(value, bool):
            words.append(option_of(name))
            continue
        option = [] if name in (verb.argument, *verb.required) else [option_of(name)]
        values = value if isinstance(value, list) else [value]
        for item in values:
            words += [*option, _quoted(str(item))]
    return " ".join(words)


def _quoted(word: str) -> str:
    return word if shlex.quote(word) == word else f'"{word}"'


def option_of(name: str) -> str:
    """Returns the option of the parameter on the command line."""
    spelling = SPELLINGS.get(name, (f"--{name.replace('_', '-')}",))[0]
    return spelling.partition("/")[0]


def _implied_values(implied: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values that a shortcut sets; a list is appended to the values that are set."""
    return {
        name: [*(values[name] or ()), *value] if isinstance(value, list) else value
        for name, value in implied.items()
    }


def _parameter(verb: Verb, name: str, schema: Mapping[str, Any]) -> inspect.Parameter:
    """Returns the argument or option for the verb's parameter."""
    # In the schema of a list, `items` is the schema of each value.
    words = schema.get("items", schema).get("enum", ())
    about = schema["description"] + (f" One of: {', '.join(words)}." if words else "")
    kind = OVERRIDES.get((verb.name, name)) or WORD_KINDS.get(name, "")
    details: dict[str, Any] = {}
    if words or kind:
        details["autocompletion"] = completing(*words, kind=kind)
    is_needed = name in verb.required
    if name == verb.argument or (is_needed and schema["type"] != "boolean"):
        return _argument(name, schema, about, details, is_needed=is_needed)
    if schema["type"] == "integer":
        details["metavar"] = "NUMBER"
    about += _remarks(schema)
    spelling = SPELLINGS.get(name, (option_of(name),))
    info = typer.Option(*spelling, help=about, show_default=False, **details)
    if schema["type"] == "boolean":
        default = NO_DEFAULT if is_needed else False
        return _declaration(name, bool, default, info)
    return _declaration(name, _type_of(schema) | None, None, info)


def _argument(
    name: str, schema: Mapping[str, Any], about: str, details: Mapping[str, Any], *, is_needed: bool
) -> inspect.Parameter:
    """Returns the argument for a parameter; the value of a single one may be on stdin."""
    metavar = "ID..."
    if schema["type"] != "array":
        metavar = name.upper()
        about += " A dash (-) reads it from stdin."
    info = typer.Argument(metavar=metavar, help=about, **details)
    if not is_needed:
        return _declaration(name, _type_of(schema) | None, None, info)
    return _declaration(name, _type_of(schema), NO_DEFAULT, info)


def _type_of(schema: Mapping[str, Any]) -> Any:
    return list[str] if schema["type"] == "array" else str


def _remarks(schema: Mapping[str, Any]) -> str:
    """Returns what the help of an option says behind its description."""
    default = schema.get("default")
    remark = " Repeatable." if schema["type"] == "array" else ""
    return f"{remark} Default: {default}." if default else remark


def _declaration(name: str, type_: Any, default: Any, info: Any) -> inspect.Parameter:
    """Returns the function parameter that typer turns into the option or argument `info`."""
    annotation = Annotated[type_, info]
    return inspect.Parameter(name, KEYWORD_ONLY, default=default, annotation=annotation)


def _request_values(verb: Verb, parsed_values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of the parameters that the command line names, for a dash the text of
    stdin.
    """
    values = {}
    for name, value in parsed_values.items():
        # For an option that is not named, typer passes None, an empty list or False.
        if value or value == "" or name in verb.required:
            values[name] = value
        if value == "-":
            values[name] = sys.stdin.buffer.read(MOST_FROM_STDIN).decode("utf-8", "replace")
    return values
