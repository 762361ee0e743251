"""The command line: assembles the commands of the other modules, prints replies and reports errors.

Every command returns a `Reply`; `main` prints it, as one JSON object with `--json`, or one clean
message where it fails. Exit codes: 0 done, 1 failed (or the doctor found something), 2 the command
or its arguments are not valid.
"""

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from memory_assets.errors import QuestionError, UnknownTableError
from memory_assets.interfaces.cli import commands, config, data, everyday, serve, setup, uninstall
from memory_assets.interfaces.envelope import message_of
from memory_assets.interfaces.verbs import COMMANDS, VERBS
from memory_assets.interfaces.views.progress import Bars
from memory_assets.interfaces.views.terminal import Reply, print_error, print_reply
from memory_assets.memory import announcements
from memory_assets.schema.extras import extras
from memory_assets.schema.progress import report_to

DONE = 0
FAILED = 1
MISUSED = 2
SCHEMA_OPTION = "--json-schema"
PANELS = (everyday, setup, config, uninstall)
CORE_GROUPS = {"data": data, "serve": serve}
INTERRUPTED = 130
TAKING_WORDS = ("memory recall", "memory remember", "memory explain", "memory forget")
"""Commands whose argument is free text."""


def make_app(*, is_terminal: bool = False) -> commands.Commands:
    """Returns all commands: the panels, the groups, and each verb that no module made a command."""
    app = commands.Commands(
        name="memory",
        cls=commands.OrderedGroup,
        help="Long-term memory for coding agents: transcripts in, a small curated MEMORY.md out.",
        epilog="Exit codes: 0 done, 1 failed (or the doctor found something), 2 the command or its "
        "arguments are not valid, 130 interrupted. `--store` and `--debug` may also stand behind "
        "the command.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown" if is_terminal else None,  # no boxes in a pipe
    )
    app.callback()(options)
    for panel in PANELS:
        app.add_typer(panel.app)
    for verb in (*VERBS, *COMMANDS):
        if verb.name not in placed_verb_names():
            commands.add(app, verb, commands.EVERY_DAY)
    for name, group in sorted(groups().items()):
        app.add_typer(group, name=name, rich_help_panel=commands.GROUPS)
    return app


@cache
def placed_verb_names() -> frozenset[str]:
    """Returns the names of the verbs that one of the modules made a command."""
    groups()  # imports the modules of optional capabilities
    return frozenset(commands.command_verbs)


@cache
def groups() -> dict[str, typer.Typer]:
    """Returns the groups by name, with the commands that optional capabilities add."""
    by_name = {name: module.app for name, module in CORE_GROUPS.items()}
    core_groups = {**by_name, "config": config.config_app}
    for extra in extras():
        for name, app in extra.commands.items():
            if name in core_groups:
                core_groups[name].add_typer(extra.load(app))
            else:
                by_name[name] = extra.load(app)
    return by_name


def print_version(has_option: bool) -> None:
    """Prints the version and ends the command, if the option is given."""
    if has_option:
        from memory_assets import __version__

        typer.echo(f"memory_assets {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version", callback=print_version, is_eager=True, help="Print the version and exit."
    ),
]


Store = Annotated[
    Path | None,
    typer.Option("--store", metavar="FOLDER", help="Use the store in this data folder."),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of an error; so does MEMORY_DEBUG=1.")
]


def options(version: Version = False, store: Store = None, debug: Debug = False) -> None:
    """Takes the options in front of a command; `entry` reads `--store` and `--debug` wherever they
    stand.
    """


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    words = list(sys.argv[1:] if words is None else words)
    as_json = "--json" in words
    if SCHEMA_OPTION in words:
        return _print_schema(words)
    announcements()  # drops what an earlier command of this process announced
    try:
        reply = _run(words, as_json=as_json)
        if reply == INTERRUPTED:  # typer caught the interrupt
            raise KeyboardInterrupt
        if not isinstance(reply, Reply):
            return reply if isinstance(reply, int) else DONE
        warnings = dict.fromkeys([*reply.warnings, *announcements()])
        print_reply(replace(reply, warnings=list(warnings)), as_json=as_json)
        code = reply.afterwards()
        return reply.exit_code or code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader closed the pipe
        return DONE
    except (Exception, KeyboardInterrupt) as error:
        return fail(error, as_json=as_json)


def _run(words: Sequence[str], *, as_json: bool) -> Any:
    """Returns the reply; with `--json`, output of libraries goes to stderr."""
    quiet = contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext()
    with quiet, contextlib.closing(Bars()) as bars, report_to(None if as_json else bars):
        run = _commands(sys.stdout.isatty())
        return run(args=list(words), prog_name="memory", standalone_mode=False)


@cache
def _commands(is_terminal: bool) -> Callable[..., Any]:
    """Returns all commands, which a process makes once for each kind of stdout."""
    return typer.main.get_command(make_app(is_terminal=is_terminal))


def _print_schema(words: Sequence[str]) -> int:
    from memory_assets.interfaces.json_schema import schema_for

    try:
        typer.echo(json.dumps(schema_for(words, answer_sources()), ensure_ascii=False, indent=1))
    except QuestionError as error:
        return fail(error, as_json=False)
    return DONE


def answer_sources() -> list[Callable[[], Mapping[str, Any]]]:
    """Returns the function `answer_types` of each module with commands, in the core and extras."""
    modules = (*PANELS, *CORE_GROUPS.values())
    of_extras = [extra.load(extra.answers) for extra in extras() if extra.answers]
    return [*(module.answer_types for module in modules), *of_extras, types_of_unplaced]


def types_of_unplaced() -> Mapping[str, Any]:
    """Returns the type of the verb that is a first command where `lab` is not there."""
    from memory_assets.memory.verb_answers import Triggers

    return {} if "triggers" in placed_verb_names() else {"triggers": Triggers}


def fail(error: BaseException, *, as_json: bool) -> int:
    """Prints the error and returns the exit code."""
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        print_error(error, "Interrupted. Run the same command again to continue.", as_json=as_json)
        return INTERRUPTED
    if os.environ.get("MEMORY_DEBUG"):
        traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, typer.TyperException):
        if type(error).__name__ == "NoArgsIsHelpError":  # typer does not export the class
            typer.echo(str(error).rstrip())  # empty where boxes were printed
            return DONE
        usage = error.format_message() if hasattr(error, "format_message") else str(error)
        path = getattr(getattr(error, "ctx", None), "command_path", "memory")
        sentence = usage.replace(": Value error, ", ": ")
        stop = "" if sentence.endswith((".", "?")) else "."
        hint = f" Words that begin with a dash stand behind `--`: `{path} -- WORDS`."
        is_word = sentence.startswith("No such option") and path in TAKING_WORDS
        message = f"{sentence}{stop}{hint if is_word else ''} Try `{path} --help`."
        print_error(error, message, as_json=as_json)
        return MISUSED
    print_error(error, message_of(error), as_json=as_json)
    return MISUSED if isinstance(error, QuestionError | UnknownTableError) else FAILED
