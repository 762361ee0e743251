"""Checks the files that tell agents and people how to work in a repository: what do they name that
is gone?
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from memory_assets.schema.protocols import History
from memory_assets.stages.verify.lookups import Lookups, State, Verdict
from memory_assets.stages.verify.named import Named, NamedKind, names_in

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
    names: int
    """How many names were looked up, a repeated one each time."""
    unknown: int
    """How many of them nothing is known of."""
    findings: tuple[GoneName, ...]


def check_folder(root: Path, history: History | None) -> Checked:
    """Looks up what the rules files below the folder name, in its history if it has one."""
    lookups = Lookups(root, history)
    files = sorted(set(_rules_files(root, lookups)))
    verdicts = [
        (file, named, lookups.verdict(named, (root / file).parent))
        for file in files
        for named in names_in((root / file).read_text("utf-8", "replace"))
    ]
    gone_names = [_gone_name(*checked) for checked in verdicts if checked[2].is_gone]
    return Checked(
        str(root),
        history is not None,
        tuple(files),
        names=len(verdicts),
        unknown=sum(verdict.state == "unknown" for *_, verdict in verdicts),
        findings=tuple(dict.fromkeys(gone_names)),
    )


def _rules_files(root: Path, lookups: Lookups) -> Iterator[str]:
    yield from lookups.files_named(FOR_AGENTS)
    for name in (*FOR_AGENTS, *FOR_PEOPLE):
        if (root / name).is_file():
            yield name
    for pattern in RULES:
        yield from (str(path.relative_to(root)) for path in root.glob(pattern) if path.is_file())


def _gone_name(file: str, named: Named, verdict: Verdict) -> GoneName:
    became = (verdict.state, verdict.since, verdict.commit[:12], verdict.moved_to)
    return GoneName(file, named.line, named.kind, named.text, *became)
