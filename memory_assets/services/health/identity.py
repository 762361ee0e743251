"""Checks the identity files, which a person writes by hand and every harness reads at the start of
a session.

    ~/.agents/SOUL.md, IDENTITY.md, USER.md   voice and values, name and nature, about the owner
    ~/.agents/AGENTS.md                       instructions; the file of instructions of each
                                              harness is a link to it

A session reads SOUL.md, USER.md, MEMORY.md and the log of the day, in this order. This module
changes none of these files: it reports each problem with a command that fixes it.
"""

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_assets.schema.vocabulary import Harness
from memory_assets.stages.maintain.checks import Check

FOLDER = ".agents"
INSTRUCTIONS = "AGENTS.md"
ABOUT = ("SOUL.md", "IDENTITY.md", "USER.md")
READ_FIRST = ("SOUL.md", "USER.md")

MOST_BYTES = 32_768
"""Codex reads no more of AGENTS.md by default."""

PROMISE = "the identity files can be read, and each harness reads the same AGENTS.md"


@dataclass(frozen=True)
class _Problem:
    text: str
    command: str
    is_advice: bool = False


def check_identity(
    home: Path, instructions: Mapping[Harness, Path], memory_md: Path, log: Path
) -> Check:
    """Returns the check that the files below `home` can be read and that each harness links to
    `AGENTS.md`.

    `instructions` gives the file of each harness by its name. `memory_md` and `log` are the files
    that a session reads afterwards.
    """
    folder = home / FOLDER
    if not any(os.path.lexists(folder / name) for name in (*ABOUT, INSTRUCTIONS)):
        return Check("identity", PROMISE, True, f"no identity files in {folder}")
    unlinked = _unlinked(folder / INSTRUCTIONS, instructions)
    problems = [*_unreadable(folder), *_missing(folder), *unlinked]
    if not problems:
        return Check("identity", PROMISE, True, _read_order(folder, memory_md, log))
    faults = "\n    ".join(f"{problem.text}: {problem.command}" for problem in problems)
    is_advice = all(problem.is_advice for problem in problems)
    return Check("identity", PROMISE, False, faults, "Run the commands named.", is_advice)


def _unreadable(folder: Path) -> Iterator[_Problem]:
    """Yields the files that cannot be read, or are too long to be read whole."""
    for name in (*ABOUT, INSTRUCTIONS):
        path = folder / name
        if path.is_symlink() and not path.exists():
            text = f"{path} is a link to {path.readlink()}, which does not exist"
            yield _Problem(text, _shell("ln", "-sfn", "FILE", path))
            continue
        try:
            size = len(path.read_text("utf-8").encode())
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8"
            command = ("chmod", "u+r") if isinstance(error, OSError) else ("file",)
            yield _Problem(f"{path} cannot be read ({reason})", _shell(*command, path))
            continue
        if size > MOST_BYTES:
            text = f"{path} has {size:,} bytes; Codex reads only the first {MOST_BYTES:,}"
            yield _Problem(text, f"shorten it: $EDITOR {shlex.quote(str(path))}", is_advice=True)


def _missing(folder: Path) -> Iterator[_Problem]:
    """Yields the files that every session reads and that are missing, if there are others."""
    if any((folder / name).exists() for name in ABOUT):
        for path in map(folder.joinpath, READ_FIRST):
            if not os.path.lexists(path):
                command = f"$EDITOR {shlex.quote(str(path))}"
                yield _Problem(f"{path} does not exist", command, is_advice=True)


def _unlinked(instructions: Path, files: Mapping[Harness, Path]) -> Iterator[_Problem]:
    """Yields each harness whose file is missing or is no link to the instructions; only as advice
    if no harness has such a link.
    """
    if not instructions.exists():
        return
    paths = {name: path for name, path in sorted(files.items()) if path.parent.is_dir()}
    is_advice = not any(_is_same(path, instructions) for path in paths.values())
    for name, path in paths.items():
        if _is_same(path, instructions):
            continue
        link = _shell("ln", "-sfn", instructions, path)
        if path.exists():
            rename = _shell("mv", path, path.with_name(f"{path.name}.before"))
            text = f"{name}: {path} is another file than {instructions}"
            yield _Problem(text, f"{rename} && {link}", is_advice)
        else:
            text = "is a link to nothing" if path.is_symlink() else "does not exist"
            yield _Problem(f"{name}: {path} {text}", link, is_advice)


def _read_order(folder: Path, memory_md: Path, log: Path) -> str:
    """Returns the files that a session reads, in order, with their sizes in bytes."""
    files = (*map(folder.joinpath, READ_FIRST), memory_md, log)
    sizes = [f"{path.name} {path.stat().st_size:,} bytes" for path in files if path.is_file()]
    return "read in this order: " + ", ".join(sizes)


def _is_same(path: Path, other: Path) -> bool:
    return path.exists() and path.samefile(other)


def _shell(*words: str | Path) -> str:
    """Returns the words as a command that can be pasted into a shell."""
    return shlex.join(map(str, words))
