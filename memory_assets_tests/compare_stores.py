"""Compares what two versions of the code make of the same transcripts: the gate of every refactoring.

    python -m memory_assets_tests.compare_stores snapshot OUT [--transcripts DIR] [--questions FILE]
    python -m memory_assets_tests.compare_stores compare BEFORE AFTER [--texts FILE]

`snapshot` builds a store with the `memory` command at a fixed clock, from the bundled sample or from the folder of transcripts,
and keeps in OUT every table as JSON Lines, every text file of the workspace and the answers of `memory recall`. Run it in a
checkout of the older commit, then in the newer one. `compare` prints each difference and returns 1 when there is one. Run
ids, durations and version or hash columns are left out; `--texts` names a file of `old<TAB>new` lines for texts that were
reworded on purpose.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

NOW = "2026-11-20T12:00:00+00:00"
QUESTIONS = (
    "how do we install packages here",
    "which package manager for JavaScript",
    "may I force push",
    "how is the service deployed",
    "what went wrong with the flaky test",
    "what does exit code 3 mean",
    "which port does the database use",
    "what is still open",
)
LEFT_OUT = re.compile(
    r"(^|_)(versions?|hash|hashes|hmac|sha256|inputs|run_id|took|seconds|duration_ms|written_at|bytes)$"
)
"""Columns and keys that differ between any two runs or commits."""

READ_TABLE = """
import sys, memory_assets
frame = memory_assets.scan(sys.argv[1]).collect()
plain = [name for name, dtype in frame.schema.items() if str(dtype) not in ("Binary",)]
print("\\n".join(sorted(frame.select(plain).write_ndjson().splitlines())))
"""


def snapshot(out: Path, transcripts: Path | None, questions: Sequence[str]) -> None:
    """Builds a store and keeps what a person or a program sees of it in the folder."""
    work = out / "work"
    shutil.rmtree(out, ignore_errors=True)
    work.mkdir(parents=True)
    environment = _environment(work, transcripts)
    store = work / "store" if transcripts else work / "store" / "sample"
    _run(environment, "-m", _entry(), "up", "--no-ui")
    for table in sorted(
        folder.name
        for folder in (store / "tables").iterdir()
        if folder.is_dir() and folder.name[0] != "."
    ):
        rows = _run(environment | {"MEMORY_DATA": str(store)}, "-c", READ_TABLE, table)
        _write(
            out / "tables" / f"{table}.jsonl",
            "\n".join(sorted(map(_plain_line, filter(None, rows.splitlines())))),
        )
    for file in sorted((store / "workspace").rglob("*")):
        if file.is_file() and ".git" not in file.parts:
            _write(
                out / "workspace" / file.relative_to(store / "workspace"),
                file.read_text("utf-8", "replace"),
            )
    for number, question in enumerate(questions):
        answer = json.loads(_run(environment, "-m", _entry(), "recall", question, "--json"))
        _write(
            out / "recall" / f"{number:03}.json",
            json.dumps(_plain(answer), indent=1, sort_keys=True, ensure_ascii=False),
        )


def _environment(work: Path, transcripts: Path | None) -> dict[str, str]:
    """Returns variables that leave nothing of this machine in the store."""
    home = work / "home"
    home.mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MEMORY_", "CLAUDE", "CODEX", "PI_"))
    }
    own = (
        {"MEMORY_OWNER": "soph", "MEMORY_SOURCES": str(transcripts)}
        if transcripts
        else {"MEMORY_OWNER": "mira"}
    )
    folders = {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(work / "cache"),
        "XDG_CONFIG_HOME": str(work / "config"),
    }
    fixed = {"MEMORY_NOW": NOW, "MEMORY_TIMEZONE": "UTC", "MEMORY_DATA": str(work / "store")}
    return {**kept, **folders, **own, **fixed, "PYTHONWARNINGS": "ignore"}


def _entry() -> str:
    """Returns the module that is the `memory` command, of this version or an older one."""
    import importlib.util

    here = importlib.util.find_spec("memory_assets.interfaces")
    return "memory_assets.interfaces.entry" if here else "memory_assets.fast"


def _run(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(
            f"{' '.join(arguments[:4])} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        )
    return done.stdout.replace(str(Path(environment["HOME"]).parent), "WORK")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", "utf-8")


def _plain_line(line: str) -> str:
    return json.dumps(_plain(json.loads(line)), sort_keys=True, ensure_ascii=False)


def _plain(value: object) -> object:
    """Returns the value without keys that differ between any two runs."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if not LEFT_OUT.search(key)}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return round(value, 6) if isinstance(value, float) else value


def compare(before: Path, after: Path, texts: Iterable[tuple[str, str]] = ()) -> list[str]:
    """Returns one line for each file that differs, with its first differing lines."""
    texts = list(texts)
    names = {path.relative_to(root) for root in (before, after) for path in _kept(root)}
    return [
        line
        for name in sorted(names)
        if (line := _difference(before / name, after / name, name, texts))
    ]


def _kept(root: Path) -> Iterator[Path]:
    for part in ("tables", "workspace", "recall"):
        yield from (path for path in (root / part).rglob("*") if path.is_file())


def _difference(old: Path, new: Path, name: Path, texts: list[tuple[str, str]]) -> str:
    if not old.is_file() or not new.is_file():
        return f"{name}: only {'after' if new.is_file() else 'before'}"
    was, now = _lines(old, texts), _lines(new, [])
    if was == now:
        return ""
    gone, came = sorted(set(was) - set(now)), sorted(set(now) - set(was))
    shown = [
        *(f"  - {line[:300]}" for line in gone[:3]),
        *(f"  + {line[:300]}" for line in came[:3]),
    ]
    return "\n".join(
        [
            f"{name}: {len(gone)} lines gone, {len(came)} lines came, {len(was)} before, {len(now)} after",
            *shown,
        ]
    )


def _lines(path: Path, texts: list[tuple[str, str]]) -> list[str]:
    text = path.read_text("utf-8")
    for old, new in texts:
        text = text.replace(old, new)
    return text.splitlines()


def main(arguments: Sequence[str]) -> int:
    """Runs the command and returns its exit code: 1 where two snapshots differ."""
    parser = argparse.ArgumentParser(
        prog="compare_stores", description=(__doc__ or "").splitlines()[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    taking = commands.add_parser("snapshot", help="build a store and keep what is seen of it")
    taking.add_argument("out", type=Path)
    taking.add_argument(
        "--transcripts", type=Path, help="folder of transcripts (default: the bundled sample)"
    )
    taking.add_argument(
        "--questions",
        type=Path,
        help="file with one question a line (default: eight about the sample)",
    )
    comparing = commands.add_parser("compare", help="print what differs between two snapshots")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument(
        "--texts",
        type=Path,
        help="file of `old<TAB>new` lines: texts that were reworded on purpose",
    )
    given = parser.parse_args(arguments)
    if given.command == "snapshot":
        questions = (
            given.questions.read_text("utf-8").splitlines() if given.questions else QUESTIONS
        )
        snapshot(given.out.resolve(), given.transcripts and given.transcripts.resolve(), questions)
        return 0
    rewordings = given.texts.read_text("utf-8").splitlines() if given.texts else []
    pairs = [(old, new) for old, _, new in (line.partition("\t") for line in rewordings)]
    found = compare(given.before, given.after, pairs)
    print("\n".join(found) or "No difference.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
