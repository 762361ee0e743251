"""Reads the entries of MEMORY.md and of the projects' files, each with its promotion, and what they
name that is gone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.stages.triage.memory_md import Entry, read_entries, render_entry
from memory_assets.stages.triage.projects import memory_files
from memory_assets.stages.triage.promote import PROMOTED, read_memory
from memory_assets.stages.verify.verifications import GoneNames, gone_names
from memory_assets.store.ledger import Event
from memory_assets.store.store import Store
from memory_assets.text.words import counted


@dataclass(frozen=True)
class WrittenLine:
    """An entry of a file, and its promotion (None: a person wrote it)."""

    path: str
    entry: Entry
    promotion: Event | None
    gone_names: GoneNames | None
    """What it named that was gone when it was last looked up."""

    @property
    def text(self) -> str:
        """The entry as it is written."""
        return render_entry(self.entry.on, self.entry.text)


def read_lines(store: Store) -> Iterator[WrittenLine]:
    """Yields the entries, file by file."""
    promotions = {event.payload["line"]: event for event in store.ledger.events([PROMOTED])}
    names = gone_names(store.tables.read("verifications"), "line")
    workspace = GitWorkspace(store.workspace)
    for path in memory_files(store.workspace):
        for entry in read_entries(read_memory(workspace, path)):
            line = render_entry(entry.on, entry.text)
            yield WrittenLine(path, entry, promotions.get(line), names.get(line))


def count_outdated(lines: Sequence[WrittenLine]) -> str:
    """Says how many of the lines name something that is gone; empty if none does."""
    count = sum(line.gone_names is not None for line in lines)
    verb = "names" if count == 1 else "name"
    of_all = f"{count:,} of {counted(len(lines), 'line')}"
    return f"{of_all} {verb} things that are gone" if count else ""
