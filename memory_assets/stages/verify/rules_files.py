"""Checks the files that tell agents and people how to work in a repository: what do they name that
is gone?
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from memory_assets.schema.protocols import History
from memory_assets.stages.verify.file_reading import read_text
from memory_assets.stages.verify.lookups import Lookups
from memory_assets.stages.verify.named import Named, NamedKind
from memory_assets.stages.verify.names_of_markdown import FOUND_IN_FILES, names_in
from memory_assets.stages.verify.verdict import UNKNOWN, State, Verdict
from memory_assets.text.visible import printable

FOR_AGENTS = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", "MEMORY.md")
"""Files of rules in any folder."""

RULES = (".claude/rules/**/*.md", ".cursor/rules/**/*.mdc", ".github/copilot-instructions.md")
FOR_PEOPLE = ("README.md", "CONTRIBUTING.md")
"""Read at the top of the repository only."""


@dataclass(frozen=True)
class GoneName:
    """A name that is not there any more."""

    file: str
    line: int
    kind: NamedKind
    name: str
    state: State
    since: date | None
    """The day from which it is gone; None where no history says."""
    commit: str
    moved_to: str


@dataclass(frozen=True)
class Checked:
    """What the rules files of a folder name."""

    root: str
    has_history: bool
    files: tuple[str, ...]
    unread: tuple[str, ...]
    """What is not read, or not to its end: file and reason."""
    names: int
    """How many names were looked up, a repeated one each time."""
    unknown: int
    """How many of them nothing is known of."""
    findings: tuple[GoneName, ...]


def check_folder(root: Path, history: History | None) -> Checked:
    """Looks up what the rules files below the folder name, in its history if it has one."""
    lookups = Lookups(root, history)
    files = rules_files(root, lookups)
    texts = {file: read_text(root, file) for file in files}
    names = [(file, named) for file, text in texts.items() for named in names_in(text.text)]
    verdicts = list(_verdicts(root, names, lookups))
    gone_names = [_gone_name(*checked) for checked in verdicts if checked[2].is_gone]
    return Checked(
        printable(str(root)),
        history is not None,
        tuple(printable(file) for file, text in texts.items() if text.is_read),
        tuple(f"{printable(file)}: {text.problem}" for file, text in texts.items() if text.problem),
        names=len(verdicts),
        unknown=sum(verdict.state == "unknown" for *_, verdict in verdicts),
        findings=tuple(sorted(dict.fromkeys(gone_names), key=lambda name: (name.file, name.line))),
    )


def _verdicts(
    root: Path, names: Sequence[tuple[str, Named]], lookups: Lookups
) -> Iterator[tuple[str, Named, Verdict]]:
    """Yields what became of the names; of a symbol and the like only if it is the project's own.

    These come last, because they need all files, and git has little time.
    """
    for file, named in sorted(names, key=lambda name: name[1].kind in FOUND_IN_FILES):
        verdict = lookups.verdict(named, (root / file).parent)
        if verdict != UNKNOWN or named.kind not in FOUND_IN_FILES:
            yield file, named, verdict


def rules_files(root: Path, lookups: Lookups) -> list[str]:
    """Returns the files of rules, in order; of several links to one file, the first."""
    at_top = (name for name in (*FOR_AGENTS, *FOR_PEOPLE) if os.path.lexists(root / name))
    in_folders = (path for pattern in RULES for path in root.glob(pattern))
    below = (str(path.relative_to(root)) for path in in_folders)
    names = sorted({*lookups.files_named(FOR_AGENTS), *at_top, *below})
    links_last = sorted(names, key=lambda name: (root / name).is_symlink())
    targets = {os.path.realpath(root / name): name for name in reversed(links_last)}
    return sorted(targets.values())


def _gone_name(file: str, named: Named, verdict: Verdict) -> GoneName:
    became = (verdict.state, verdict.since, verdict.commit[:12], printable(verdict.moved_to))
    return GoneName(printable(file), named.line, named.kind, printable(named.text), *became)
