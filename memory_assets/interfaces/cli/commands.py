"""Makes commands of verbs: options from the request model, help and example from the verb, a reply from the facade's answer.

A parameter that must be given is an argument, any other an option; words are checked by the request alone, so that a mistake
is reported as the other interfaces report it.
"""

import inspect
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from memory_assets.interfaces.dispatcher import call
from memory_assets.interfaces.verbs import Verb
from memory_assets.interfaces.views.registry import view_of
from memory_assets.interfaces.views.terminal import Reply
from memory_assets.memory import MemoryAgent
from memory_assets.schema.requests import Request
from memory_assets.schema.tables import table_names

EVERY_DAY, SET_UP, KEEP_WELL, GROUPS = "Every day", "Set up", "Keep well", "Groups"

MOST_FROM_STDIN = 1_000_000
"""Bytes of an argument that are read from stdin; a pipe may never end."""

SPELLINGS = {"limit": ("--limit", "-n"), "used": ("--used/--unused",)}
"""Options that are not spelled as `--name` alone."""

ORDER = (
    "up", "recall", "remember", "review", "explain", "forget", "status", "brief",
    "hooks", "model", "config", "ingest", "doctor",
)  # fmt: skip
"""Commands as the help lists them; the others follow."""

placed: set[str] = set()
"""Verbs that have a command."""


class InOrder(TyperGroup):
    """The commands in the order of the map."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Returns the names, those of the map first."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


def completing(words: Sequence[str]) -> Callable[[str], list[str]]:
    """Returns what completes one of the words in a shell."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Since = Annotated[str | None, typer.Option(help="How far back to read transcripts at first: 30d, 2026-05-01 or all.")]
FirstDay = Annotated[datetime | None, typer.Option("--from", formats=["%Y-%m-%d"], help="First day; default: the earliest.")]
LastDay = Annotated[datetime | None, typer.Option("--to", formats=["%Y-%m-%d"], help="Last day; default: the latest.")]
RowCount = Annotated[int, typer.Option("--limit", "-n", min=1, help="Number of rows.")]
Table = Annotated[
    str,
    typer.Argument(help="A table, such as observations; docs/tables.md lists them.", autocompletion=completing(table_names())),
]


def day_of(moment: datetime | None) -> date | None:
    """Returns the day that was given."""
    return moment.date() if moment else None


def group(help: str, **options: Any) -> typer.Typer:
    """Returns an empty group of commands."""
    return typer.Typer(help=help, **{"no_args_is_help": True, **options})


def answer(verb: Verb, **given: Any) -> Reply:
    """Returns the facade's answer to a verb, with the view that shows it."""
    return reply_to(verb, verb.request(**given))


def reply_to(verb: Verb, request: Request) -> Reply:
    """Returns the facade's answer to the request, with the view that shows it."""
    result = call(MemoryAgent(), verb, request)
    return Reply(result.data, view_of(verb.name)(result.data), warnings=result.warnings)


def add(app: typer.Typer, verb: Verb, panel: str | None = None, *, path: str = "") -> None:
    """Adds the verb as a command that has the verb's parameters alone."""
    command(app, verb, panel, path=path)(lambda request: reply_to(verb, request))


def command(
    app: typer.Typer,
    verb: Verb,
    panel: str | None = None,
    *,
    path: str = "",
    shortcuts: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType({}),
) -> Callable[..., Any]:
    """Adds the verb as a command; the function gets the request, and the further options of its own signature by name.

    `path` names the command where it lies in a group; `shortcuts` are flags that stand for parameters.
    """
    placed.add(verb.name)

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]

        def invoke(as_json: bool, **words: Any) -> Any:
            rest = {one.name: words.pop(one.name) for one in own}
            for name, (_, meant) in shortcuts.items():
                words |= {one: _both(words[one], value) for one, value in meant.items()} if words.pop(name) else {}
            return run(verb.request(**_given(verb, words)), **rest)

        made = [_parameter(verb, name, one) for name, one in verb.parameters.items()]
        made += [_option(name, bool, False, typer.Option(f"--{name}", help=about)) for name, (about, _) in shortcuts.items()]
        made += [one.replace(kind=one.KEYWORD_ONLY) for one in own]
        made += [inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json)]
        invoke.__signature__ = inspect.Signature(made)  # pyright: ignore[reportFunctionMemberAccess]
        invoke.__annotations__ = {one.name: one.annotation for one in made}
        example = f"Example: `{example_of(verb, path)}`"
        app.command(verb.name, help=verb.summary, epilog=example, rich_help_panel=panel)(invoke)
        return run

    return register


def example_of(verb: Verb, path: str = "") -> str:
    """Returns the verb's example as a line for a shell."""
    words = ["memory", *(path or verb.name).split()]
    for name, value in verb.example.items():
        flag = [] if name in verb.required and not isinstance(value, bool) else [option_of(name)]
        values = [] if isinstance(value, bool) else value if isinstance(value, list) else [value]
        words += [word for one in values for word in (*flag, quoted(str(one)))] or flag
    return " ".join(words)


def quoted(word: str) -> str:
    """Returns the word for a shell, in double quotes where it needs any."""
    return word if shlex.quote(word) == word else f'"{word}"'


def option_of(name: str) -> str:
    """Returns how the command line spells the parameter."""
    return SPELLINGS.get(name, (f"--{name.replace('_', '-')}",))[0].split("/")[0]


def _parameter(verb: Verb, name: str, schema: Mapping[str, Any]) -> inspect.Parameter:
    """Returns the argument or option of the command that stands for the verb's parameter."""
    of_one = schema.get("items", schema)
    is_list, is_flag, is_needed = schema["type"] == "array", schema["type"] == "boolean", name in verb.required
    words, type_ = of_one.get("enum", ()), list[str] if is_list else bool if is_flag else str
    about = schema["description"] + (f" One of: {', '.join(words)}." if words else "")
    if is_needed and not is_flag:
        about += "" if is_list else " A dash (-) reads it from stdin."
        return _option(name, type_, ..., typer.Argument(metavar="ID..." if is_list else name.upper(), help=about))
    about += f" Default: {default}." if (default := schema.get("default")) else ""
    more: dict[str, Any] = {"autocompletion": completing(words)} if words else {}
    more |= {"metavar": "NUMBER"} if schema["type"] == "integer" else {}
    info = typer.Option(*SPELLINGS.get(name, (option_of(name),)), help=about, show_default=False, **more)
    if is_flag:
        return _option(name, bool, ... if is_needed else False, info)
    return _option(name, type_ | None, None, info)


def _option(name: str, type_: Any, default: Any, info: Any) -> inspect.Parameter:
    given = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=Annotated[type_, info])


def _both(said: Any, meant: Any) -> Any:
    return [*(said or ()), *meant] if isinstance(meant, list) else meant


def _given(verb: Verb, words: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what was said on the command line: nothing that was left out, and stdin in place of a dash."""
    said = {name: value for name, value in words.items() if value or value == "" or name in verb.required}
    return {name: from_stdin() if value == "-" else value for name, value in said.items()}


def from_stdin() -> str:
    """Returns what stdin holds."""
    return sys.stdin.buffer.read(MOST_FROM_STDIN).decode("utf-8", "replace")
