"""Makes commands from verbs: options from the request model, help and example from the verb, a
reply from the facade's answer.

A required parameter becomes an argument, any other an option. Only the request validates values, so
that errors read the same in every interface.
"""

import inspect
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
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

EVERY_DAY, SET_UP, KEEP_WELL, GROUPS = "Every day", "Set up", "Keep well", "Groups"

MOST_FROM_STDIN = 1_000_000
"""Bytes read from stdin for an argument; a pipe may never end."""

SPELLINGS = {"limit": ("--limit", "-n"), "used": ("--used/--unused",)}
"""Parameters whose option is not just `--name`."""

ORDER = (
    "up", "recall", "remember", "review", "explain", "forget", "status", "brief",
    "hooks", "model", "config", "ingest", "doctor", "restore",
)  # fmt: skip
"""The order of commands in the help; the others come last."""

STORED = {
    "project": "project", "only_project": "project", "person": "person", "session": "session",
    "own_session": "session",
    "instead_of": "memory", "since": "day", "until": "day", "on": "day", "memory_ids": "memory",
    "target": "target",
}  # fmt: skip
"""Parameters of verbs → the kind of words that a shell completes."""

STORED_OF = {("forget", "target"): "memory", ("restore", "memory_ids"): "unused_memory"}

METAVARS: Mapping[Any, str] = {int: "NUMBER", float: "NUMBER", Path: "PATH", datetime: "DAY"}
"""Type of an option → the placeholder of its value in the help."""

EVALUATED = str.maketrans({"'": "’", '"': "”", "`": "’", "$": None, "\\": None, "!": "."})
"""Characters that zsh evaluates in the text beside a word, which may quote a stranger, and what is
shown instead.
"""

placed: set[str] = set()
"""Names of the verbs that have a command."""


class Group(TyperGroup):
    """A group whose help names the values of options for people, and lists whole sentences."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Returns the command."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            found.short_help = found.short_help or (found.help or "").partition("\n\n")[0]
            _name_values([*found.params, found.get_help_option(ctx)])
        return found

    def get_params(self, ctx: Any) -> list[Any]:
        """Returns the options of the group itself."""
        return _name_values(super().get_params(ctx))


class OrderedGroup(Group):
    """A group that lists its commands in the given order."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Returns the names, those of `ORDER` first."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


def _name_values(parameters: list[Any]) -> list[Any]:
    """Returns the parameters, whose placeholders are words of people in capitals and not names of
    Python's types.
    """
    for one in parameters:
        if one is None:
            continue
        if one.param_type_name == "argument":
            name = one.metavar or one.name.upper() + ("" if one.nargs == 1 else "...")
            pieces = [name if one.required else f"[{name}]"]
            one.metavar, one.display_type_rich, one.get_usage_pieces = (
                name,
                lambda ctx: None,
                lambda ctx, pieces=pieces: pieces,
            )
        elif one.metavar is None and not one.type_descriptor.is_choice:
            one.metavar = (
                "" if one.is_flag else METAVARS.get(one.type_descriptor.annotation, "TEXT")
            )
    return parameters


def completing(*words: str, kind: str = "") -> Callable[[typer.Context, str], list[Any]]:
    """Returns a completion function for these words, or for those of a kind that the store knows
    (`memory.completion`).
    """

    def complete(ctx: typer.Context, incomplete: str) -> list[Any]:
        if not kind:
            return [word for word in words if word.startswith(incomplete)]
        from memory_assets.memory.completion import find_words

        matches = find_words(kind, incomplete, ctx.params.get("table"))
        return [(word, escape(text.translate(EVALUATED))) for word, text in matches]

    return complete


Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON object and nothing else; --json-schema describes it."
    ),
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
        help="A table, such as observations; docs/tables.md lists them.",
        autocompletion=completing(kind="table"),
    ),
]


def day_of(moment: datetime | None) -> date | None:
    """Returns the day of the moment, or None."""
    return moment.date() if moment else None


def group(help: str, **options: Any) -> typer.Typer:
    """Returns an empty group of commands."""
    return typer.Typer(help=help, **{"no_args_is_help": True, "cls": Group, **options})


def shown(
    view: Callable[[Any], Parts],
    data: Any,
    warnings: Sequence[str] = (),
    exit_code: int = 0,
    next_step: str = "",
) -> Reply:
    """Returns the data, with its own warnings or these, as a reply that the view renders."""
    return Reply(data, view(data), exit_code, warnings or warnings_of(data), next_step)


def reply_to(verb: Verb, request: Request | None = None, **given: Any) -> Reply:
    """Returns the facade's answer to the request, or to one with these fields, with the verb's
    view.
    """
    answer = getattr(MemoryAgent(), verb.name)(request or verb.request(**given))
    return shown(view_of(verb.name), answer, next_step=next_step(verb.name, answer))


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
    """Adds the verb as a command; the function gets the request, and the additional options of its
    own signature by name.

    `path` is the full name of a command inside a group; `shortcuts` are flags that set parameters.
    """
    placed.add(verb.name)

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]

        def invoke(as_json: bool, **words: Any) -> Any:
            rest = {one.name: words.pop(one.name) for one in own}
            for name, (_, implied) in shortcuts.items():
                if words.pop(name):
                    words |= {
                        one: [*(words[one] or ()), *value] if isinstance(value, list) else value
                        for one, value in implied.items()
                    }
            return run(verb.request(**_given(verb, words)), **rest)

        made = [_parameter(verb, name, one) for name, one in verb.parameters.items()]
        made += [
            _option(name, bool, False, typer.Option(f"--{name}", help=about))
            for name, (about, _) in shortcuts.items()
        ]
        made += [one.replace(kind=one.KEYWORD_ONLY) for one in own]
        made += [
            inspect.Parameter(
                "as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json
            )
        ]
        invoke.__signature__ = inspect.Signature(made)  # pyright: ignore[reportFunctionMemberAccess]
        invoke.__annotations__ = {one.name: one.annotation for one in made}
        example = f"Example: `{example_of(verb, path)}`"
        app.command(verb.name, help=verb.summary, epilog=example, rich_help_panel=panel)(invoke)
        return run

    return register


def example_of(verb: Verb, path: str = "") -> str:
    """Returns the verb's example as a shell command."""
    words = ["memory", *(path or verb.name).split()]
    for name, value in verb.example.items():
        flag = [] if name in verb.required and not isinstance(value, bool) else [option_of(name)]
        values = [] if isinstance(value, bool) else value if isinstance(value, list) else [value]
        words += [word for one in values for word in (*flag, _quoted(str(one)))] or flag
    return " ".join(words)


def _quoted(word: str) -> str:
    return word if shlex.quote(word) == word else f'"{word}"'


def option_of(name: str) -> str:
    """Returns the option of the parameter on the command line."""
    return SPELLINGS.get(name, (f"--{name.replace('_', '-')}",))[0].split("/")[0]


def _parameter(verb: Verb, name: str, schema: Mapping[str, Any]) -> inspect.Parameter:
    """Returns the argument or option for the verb's parameter."""
    of_one = schema.get("items", schema)
    is_list, is_flag, is_needed = (
        schema["type"] == "array",
        schema["type"] == "boolean",
        name in verb.required,
    )
    words, type_ = of_one.get("enum", ()), list[str] if is_list else bool if is_flag else str
    about = schema["description"] + (f" One of: {', '.join(words)}." if words else "")
    kind = STORED_OF.get((verb.name, name)) or STORED.get(name, "")
    more: dict[str, Any] = (
        {"autocompletion": completing(*words, kind=kind)} if words or kind else {}
    )
    if is_needed and not is_flag:
        about += "" if is_list else " A dash (-) reads it from stdin."
        return _option(
            name,
            type_,
            ...,
            typer.Argument(metavar="ID..." if is_list else name.upper(), help=about, **more),
        )
    about += " Repeatable." if is_list else ""
    about += f" Default: {default}." if (default := schema.get("default")) else ""
    more |= {"metavar": "NUMBER"} if schema["type"] == "integer" else {}
    info = typer.Option(
        *SPELLINGS.get(name, (option_of(name),)), help=about, show_default=False, **more
    )
    if is_flag:
        return _option(name, bool, ... if is_needed else False, info)
    return _option(name, type_ | None, None, info)


def _option(name: str, type_: Any, default: Any, info: Any) -> inspect.Parameter:
    given = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=Annotated[type_, info]
    )


def _given(verb: Verb, words: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the parameters that were given on the command line, with stdin in place of a dash."""
    given = {
        name: value
        for name, value in words.items()
        if value or value == "" or name in verb.required
    }
    return {name: _read_stdin() if value == "-" else value for name, value in given.items()}


def _read_stdin() -> str:
    return sys.stdin.buffer.read(MOST_FROM_STDIN).decode("utf-8", "replace")
