"""The command's entry: `brief` and `status --line` at once, on files kept ready; everything else goes to `cli`.

Harnesses call these two at every session start and at every prompt, so this path imports the standard library only and never
fails: what is not there yet is said on stderr, and the exit code is 0.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from memory_assets.places import data_folder, store_root

BRIEFING = Path("workspace", "briefing.md")
REVIEW = Path("workspace", "REVIEW.md")
NOTHING_YET = "There is no briefing yet. Run `memory up` to take in transcripts and build the memory."
WAITING = "- [ ] `p-"
"""How REVIEW.md begins a proposal that nobody decided."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    quick: dict[tuple[str, ...], Callable[[Path], int]] = {
        ("brief",): brief,
        ("brief", "--json"): brief_json,
        ("status", "--line"): status_line,
    }
    if command := quick.get(tuple(words)):
        return command(store_root(data_folder()))
    if words[:1] == ["mcp"] and set(words[1:]) <= {"--write"}:
        from memory_assets.mcp_server import serve

        return serve(is_writing="--write" in words)
    from memory_assets.cli import main as full

    return full(words)


def brief(root: Path) -> int:
    """Prints the briefing that the pipeline keeps ready."""
    text = _text(root / BRIEFING)
    if not text:
        print(NOTHING_YET, file=sys.stderr)
        return 0
    _print(text.rstrip("\n"))
    return 0


def brief_json(root: Path) -> int:
    """Prints the briefing in the envelope of `--json`."""
    import json

    text = _text(root / BRIEFING)
    data = {"text": text, "path": str(root / BRIEFING), "written_at": _written_at(root / BRIEFING)}
    warnings = [] if text else [NOTHING_YET]
    _print(json.dumps({"v": 1, "ok": True, "data": data, "warnings": warnings}, ensure_ascii=False))
    return 0


def status_line(root: Path) -> int:
    """Prints one line for a status bar: memories, what waits for a decision, how old the last look at transcripts is."""
    memories = rows_of(root / "tables" / "memories" / "all")
    if memories is None:
        _print("memory: empty")
        return 0
    parts = [f"{memories} memories"]
    if waiting := waiting_in(_text(root / REVIEW)):
        parts.append(f"{waiting} to review")
    parts.append(f"{_age(root / 'tables' / 'memories' / 'all' / 'manifest.json')} old")
    _print("memory: " + " · ".join(parts))
    return 0


def rows_of(part: Path) -> int | None:
    """Returns the rows of one part of a table, from its manifest; None where it was never written."""
    import json

    try:
        return sum(file["rows"] for file in json.loads((part / "manifest.json").read_bytes())["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def waiting_in(review: str) -> int:
    """Returns how many proposals of REVIEW.md nobody has decided."""
    return sum(line.startswith(WAITING) for line in review.splitlines())


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _written_at(path: Path) -> str | None:
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(path.stat().st_mtime))
    except OSError:
        return None


def _age(path: Path) -> str:
    seconds = max(0.0, time.time() - path.stat().st_mtime)
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
