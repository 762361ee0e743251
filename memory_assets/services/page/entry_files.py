"""Reads MEMORY.md and the projects' files as they are, each entry with what is known of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.services.review.written_lines import WrittenLine, read_lines
from memory_assets.stages.triage.projects import memory_files
from memory_assets.stages.triage.promote import read_memory
from memory_assets.store.store import Store


@dataclass(frozen=True)
class FileLine:
    """A line of a file; the other fields are empty for one that is no entry."""

    number: int
    text: str
    is_entry: bool = False
    age_days: int = 0
    is_hand_written: bool = False
    record_count: int = 0
    """Records of transcripts behind it."""
    gone_mark: str = ""
    """What it names that is gone."""
    has_names: bool = False
    """Whether it names what was looked up and exists."""


@dataclass(frozen=True)
class EntryFile:
    """A file of entries."""

    path: str
    lines: Sequence[FileLine]


def entry_files(store: Store, today: date) -> list[EntryFile]:
    """Returns MEMORY.md and the projects' files."""
    workspace = GitWorkspace(store.workspace)
    written = {(line.path, line.entry.number): line for line in read_lines(store)}
    names = store.tables.read("verifications").filter(subject="line", state="holds")
    existing = set(names["subject_id"])
    files = []
    for path in memory_files(store.workspace):
        texts = read_memory(workspace, path).removesuffix("\n").split("\n")
        lines = [
            _line(number, text, written.get((path, number)), today, existing)
            for number, text in enumerate(texts, 1)
        ]
        files.append(EntryFile(path, lines))
    return files


def _line(
    number: int, text: str, line: WrittenLine | None, today: date, existing: Collection[str]
) -> FileLine:
    if line is None:
        return FileLine(number, text)
    promotion = line.promotion
    return FileLine(
        number,
        text,
        is_entry=True,
        age_days=(today - line.entry.on).days,
        is_hand_written=promotion is None,
        record_count=len(promotion.payload.get("evidence", ())) if promotion else 0,
        gone_mark=line.gone_names.mark if line.gone_names else "",
        has_names=line.text in existing,
    )
