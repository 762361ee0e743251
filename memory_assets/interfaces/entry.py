"""The command's entry point: fast paths for `brief`, `status`, `send` and installed hooks, and for
`recall` while a service runs; everything else goes to `cli`.

Harnesses call these at every session start and every prompt, so this path reads prepared files,
imports almost nothing and never fails: missing files are reported on stderr, and the exit code is
0.
"""

import atexit
import gc
import os
import sys

from memory_assets.interfaces.words import split_debug, split_option, split_store
from memory_assets.memory import hooks, places, prepared
from memory_assets.text.visible import printable, visible, visible_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PROMPTS = "--prompts"
"""Of `serve mcp`: also answer the hooks that recall at each prompt."""

PLUGIN = "--plugin"
"""Of what the plugin for a harness runs, with the name of the harness."""

COMPLETION = "_MEMORY_COMPLETE"
"""Variable in which a shell says that it waits for completions."""

NO_STORE = "memory: --store needs the data folder, as in `memory serve mcp --store ~/memory`."
MCP_OPTIONS = frozenset(("--write", "--structured", PROMPTS))


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Runs the command and returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if COMPLETION in os.environ:
        return _complete()
    if words[:2] != ["hooks", "run"] and words[:1] != ["send"]:
        words, store = split_store(words)
        if store == "":
            print(NO_STORE, file=sys.stderr)
            return 2
        words = _apply_options(words, store)
    if words[:2] == ["hooks", "run"]:
        return hooks.run(words[2:], prepared.read_briefing)
    if words[:1] == ["send"] and hooks.is_understood(words[1:]):
        return hooks.send(words[1:])
    warn_of_ignored_settings()
    code = _answer_from_prepared(words)
    if code is None:
        code = _answer_without_parser(words)
    if code is not None:
        return code
    # Imports make many objects, all of which stay: to look for unreachable ones among them, and
    # again when Python ends, takes a fifth of the time of a command.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    from memory_assets.interfaces.cli.app import main as full

    return full(words)


def _complete() -> int:
    """Prints what completes the line of the shell, from the store that the line names."""
    from shlex import split

    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    try:
        words = split(line)
    except ValueError:  # its last quote is open
        words = line.split()
    _apply_options(*split_store(words))
    os.environ["COLUMNS"] = "1000"  # a text beside a word is one line
    from memory_assets.interfaces.cli.app import main as full

    return full([])


def _apply_options(words: "Sequence[str]", store: str | None) -> list[str]:
    """Puts `--store` and `--debug` into the environment, and returns the words without them."""
    remaining, is_debug = split_debug(words)
    if is_debug:
        os.environ["MEMORY_DEBUG"] = "1"
    if store:
        os.environ["MEMORY_DATA"] = os.path.abspath(os.path.expanduser(store))
    return remaining


def _answer_from_prepared(words: "Sequence[str]") -> int | None:
    """Answers from prepared files; returns the exit code, or None where these do not answer."""
    if words[:2] == ["brief", "--session"] and len(words) == 3:
        return brief(places.find_store(), words[2])
    if words == ["brief", "--full"]:
        return brief(places.find_store(), is_full=True)
    quick: dict[tuple[str, ...], Callable[[str], int | None]] = {
        ("brief",): brief,
        ("brief", "--json"): brief_json,
        ("status",): status,
        ("status", "--line"): status_line,
        ("ingest",): ingest,
        ("--version",): version,
    }
    command = quick.get(tuple(words))
    return command(places.find_store()) if command else None


def _answer_without_parser(words: "Sequence[str]") -> int | None:
    """Answers what agents and harnesses call most, without the parser of the command line; None for
    anything else.
    """
    if words[:2] == ["data", "feedback"]:
        from memory_assets.interfaces.feedback import rate

        return rate(words[2:])
    is_idle = False
    if words[:2] == ["serve", "mcp"] and PLUGIN in words:
        words, harness = split_option(words, PLUGIN)
        is_idle = bool(harness) and hooks.is_connected(harness)
    if words[:2] == ["serve", "mcp"] and MCP_OPTIONS.issuperset(words[2:]):
        from memory_assets.interfaces.mcp.stdio import serve

        return serve(
            is_writing="--write" in words,
            is_structured="--structured" in words,
            is_for_prompts=PROMPTS in words,
            is_idle=is_idle,
        )
    if words[:1] == ["recall"]:
        from memory_assets.interfaces.ask_service import run_by_service

        return run_by_service(words)
    return None


def warn_of_ignored_settings() -> None:
    """Warns that a `memory.toml` in the working folder is not read, and names the file to use
    instead.
    """
    file = places.ignored_settings_file()
    if file is None or sys.stderr is None or COMPLETION in os.environ:
        return
    text = (
        f"memory: ignored {file}: no settings are read from the working folder. Yours belong in "
        f"{places.user_settings_file()}."
    )
    try:
        print(printable(text, "?"), file=sys.stderr)
    except OSError:
        return  # stderr is closed


def brief(root: str, session: str = "", *, is_full: bool = False) -> int:
    """Prints the prepared briefing."""
    text = prepared.read_briefing(root, session, is_full=is_full)
    if not text:
        print(prepared.nothing_yet(root), file=sys.stderr)
        return 0
    _print(visible(text.rstrip("\n")))
    return 0


def brief_json(root: str) -> int:
    """Prints the briefing in the envelope of `--json`."""
    import json

    data, warnings = prepared.describe_briefing(root)
    envelope = {"v": 1, "ok": True, "data": data, "warnings": warnings}
    _print(visible_json(json.dumps(envelope, ensure_ascii=False)))
    return 0


def status(root: str) -> int | None:
    """Prints the prepared status; returns None if tables changed since."""
    return _print_if_any(prepared.read_status(root))


def ingest(root: str) -> int | None:
    """Prints that nothing is new, and the prepared status; returns None where something may be
    new.
    """
    return _print_if_any(prepared.render_nothing_new(root))


def status_line(root: str) -> int:
    """Prints one line for a status bar: memories, pending proposals, age of the last update."""
    _print(prepared.render_status_line(root))
    return 0


def version(_: str) -> int:
    """Prints the version."""
    from memory_assets import __version__

    _print(f"memory_assets {__version__}")
    return 0


def _print_if_any(text: str) -> int | None:
    if not text:
        return None
    _print(visible(text))
    return 0


def _print(text: str) -> None:
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
