"""The command's entry point: fast paths for `brief`, `status`, `send` and installed hooks;
everything else goes to `cli`.

Harnesses call these at every session start and every prompt, so this path reads prepared files,
imports almost nothing and never fails: missing files are reported on stderr, and the exit code is
0.
"""

import os
import sys
import time

from memory_assets.adapters.parquet_footer import read_facts
from memory_assets.interfaces.words import split_debug, split_store
from memory_assets.stages.deliver import hook
from memory_assets.stages.deliver.silence import alarm
from memory_assets.store import ready
from memory_assets.store.places import (
    find_data,
    ignored_settings_file,
    present_root,
    user_settings_file,
)
from memory_assets.text.visible import visible, visible_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MEMORIES = os.path.join("tables", "memories", "data.parquet")
PROMPTS = "--prompts"
"""Of `serve mcp`: also answer the hooks that recall at each prompt."""

PENDING = "- [ ] `p-"
"""The start of a pending proposal's line in REVIEW.md."""


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Runs the command and returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "_MEMORY_COMPLETE" in os.environ:
        from memory_assets.interfaces.completion import main as complete

        if (code := complete(os.environ)) is not None:
            return code
    if words[:2] != ["hooks", "run"] and words[:1] != ["send"]:
        words, store = split_store(words)
        if store == "":
            print(
                "memory: --store needs the data folder, as in `memory serve mcp --store ~/memory`.",
                file=sys.stderr,
            )
            return 2
        words, is_debug = split_debug(words)
        if is_debug:
            os.environ["MEMORY_DEBUG"] = "1"
        if store:
            os.environ["MEMORY_DATA"] = os.path.abspath(os.path.expanduser(store))
    if words[:2] == ["hooks", "run"]:
        return hook.run(words[2:], ready_briefing)
    if words[:1] == ["send"] and hook.is_understood(words[1:]):
        return hook.send(words[1:])
    warn_of_ignored_settings()
    if words[:2] == ["brief", "--session"] and len(words) == 3:
        return brief(present_root(find_data()), words[2])
    if words == ["brief", "--full"]:
        return brief(present_root(find_data()), is_full=True)
    quick: dict[tuple[str, ...], Callable[[str], int | None]] = {
        ("brief",): brief,
        ("brief", "--json"): brief_json,
        ("status",): status,
        ("status", "--line"): status_line,
        ("ingest",): ingest,
        ("--version",): version,
    }
    command = quick.get(tuple(words))
    if command and (code := command(present_root(find_data()))) is not None:
        return code
    if words[:2] == ["data", "feedback"]:
        from memory_assets.interfaces.feedback import rate

        if (code := rate(words[2:])) is not None:
            return code
    if words[:2] == ["serve", "mcp"] and set(words[2:]) <= {"--write", "--structured", PROMPTS}:
        from memory_assets.interfaces.mcp.stdio import serve

        return serve(
            is_writing="--write" in words,
            is_structured="--structured" in words,
            is_for_prompts=PROMPTS in words,
        )
    from memory_assets.interfaces.cli.app import main as full

    return full(words)


def warn_of_ignored_settings() -> None:
    """Warns that a `memory.toml` in the working folder is not read, and names the file to use
    instead.
    """
    file = ignored_settings_file()
    if file is None or sys.stderr is None or "_MEMORY_COMPLETE" in os.environ:
        return
    text = (
        f"memory: ignored {file}: no settings are read from the working folder. Yours belong in "
        f"{user_settings_file()}."
    )
    try:
        print("".join(letter if letter.isprintable() else "?" for letter in text), file=sys.stderr)
    except OSError:
        return  # stderr is closed


def brief(root: str, session: str = "", *, is_full: bool = False) -> int:
    """Prints the prepared briefing."""
    text = ready_briefing(root, session, is_full=is_full)
    if not text:
        print(ready.NOTHING_YET, file=sys.stderr)
        return 0
    _print(visible(text.rstrip("\n")))
    return 0


def ready_briefing(root: str, session: str = "", *, is_full: bool = False) -> str:
    """Returns the prepared briefing, after a warning about the spool if needed; empty where there
    is none.

    For a continued session, the facts of that session itself are added.
    """
    text = ready.read_briefing(root, ready.here(), session, is_full=is_full)
    wrong = alarm(root)
    return f"⚠ {wrong}\n\n{text}" if text and wrong else text


def brief_json(root: str) -> int:
    """Prints the briefing in the envelope of `--json`."""
    import json

    path = ready.briefing_path(root, ready.here())
    text = ready.read_text(path)
    data = {"text": text, "path": path, "written_at": _written_at(path)}
    warnings = [*([] if text else [ready.NOTHING_YET]), *filter(None, [alarm(root)])]
    _print(
        visible_json(
            json.dumps({"v": 1, "ok": True, "data": data, "warnings": warnings}, ensure_ascii=False)
        )
    )
    return 0


def status(root: str) -> int | None:
    """Prints the prepared status; returns None if tables changed since."""
    if not (text := _prepared_status(root)):
        return None
    _print(visible(text))
    return 0


def _prepared_status(root: str) -> str:
    """Returns the prepared status with the alarm; empty if tables changed since."""
    written, _, text = ready.read_text(os.path.join(root, ready.STATUS)).partition("\n\n")
    if not text or written != ready.stamp(root):
        return ""
    return f"{text}\n⚠ {wrong}" if (wrong := alarm(root)) else text


def ingest(root: str) -> int | None:
    """Prints that nothing is new, and the prepared status; returns None where something may be
    new.
    """
    from memory_assets.store.unchanged import is_unchanged

    started = time.monotonic()
    if not is_unchanged(root) or not (text := _prepared_status(root)):
        return None
    seconds = time.monotonic() - started
    is_all_read = "\nnot read " not in text
    what = f"Nothing new{': every transcript was read already' if is_all_read else ''}"
    _print(visible(f"{what} ({seconds:.1f} s).\n{text}"))
    return 0


def status_line(root: str) -> int:
    """Prints one line for a status bar: memories, pending proposals, age of the last update."""
    table = os.path.join(root, MEMORIES)
    memories = read_row_count(table)
    if memories is None:
        _print("memory: empty")
        return 0
    parts = [f"{memories} memories"]
    if pending := count_pending(ready.read_text(os.path.join(root, ready.REVIEW))):
        parts.append(f"{pending} to review")
    parts.append(f"{_age(table)} old")
    parts += ["⚠ input waits"] if alarm(root) else []
    _print("memory: " + " · ".join(parts))
    return 0


def version(_: str) -> int:
    """Prints the version."""
    from memory_assets import __version__

    _print(f"memory_assets {__version__}")
    return 0


def read_row_count(path: str) -> int | None:
    """Returns the number of rows of a Parquet file from its footer; None if it does not exist."""
    try:
        facts = read_facts(path)
    except OSError:
        return None
    count = facts.partition('"rows":')[2].partition(",")[0].strip()
    return int(count) if count.isdigit() else None


def count_pending(review: str) -> int:
    """Returns the number of pending proposals in REVIEW.md."""
    return sum(line.startswith(PENDING) for line in review.splitlines())


def _written_at(path: str) -> str | None:
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(os.stat(path).st_mtime))
    except OSError:
        return None


def _age(path: str) -> str:
    seconds = max(0.0, time.time() - ready.changed_at(path) / 1e9)
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return "seconds"


def _print(text: str) -> None:
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
