"""Finds what other people changed between the published lines, as amendments for the owner.

The block names its publication, so a checkout of an older one is compared with that one. A line
that was edited or removed asks to change or retire the entry, a new line asks for a new entry. None
of it is a fact, or the owner's word: a person decides each.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from memory_assets.adapters.git_reading import reading
from memory_assets.errors import ReviewError
from memory_assets.extras.project.block import BlockLine, find_block
from memory_assets.extras.project.target import TargetFile, open_file
from memory_assets.services.review.open_triage import reading_triage
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.maintain.checks import Check, judge
from memory_assets.stages.reflect.proposals import section_of
from memory_assets.stages.triage.amendments import WITHOUT_MEMORY, PlannedAmendment
from memory_assets.stages.triage.auto import PUBLISHED
from memory_assets.stages.triage.entries import EntryStatus
from memory_assets.stages.triage.memory_md import Entry, normal, read_entries
from memory_assets.stages.triage.projects import path_of
from memory_assets.stages.triage.run import Triage
from memory_assets.store.store import Store
from memory_assets.text.masking.redact import mask_text
from memory_assets.text.visible import visible
from memory_assets.text.words import counted, shortened, squeezed, text_hash

PUBLISHED_LINES = "project.published"
"""Kind of the ledger's events about publications."""

MOST_EDITS = 20
"""Edits of one publication that become proposals, so that a person can review them at once."""

COMPARED = 200
"""New lines that are compared with removed ones; further ones are new."""

LONGEST = 500
"""Characters of a line; a longer one is a document."""

SAME_LINE = 0.3
"""Share of common words from which a new line is an edit of a removed one."""

LONGEST_NAME = 60


@dataclass(frozen=True)
class BlockEdit:
    """A published line (empty for a new one) and what stands in its place (None: nothing)."""

    published: str
    line: BlockLine | None


def published_files(store: Store) -> list[Path]:
    """Returns the files that lines were published into."""
    return [Path(place["root"], place["file"]) for place in _places(store).values()]


def plan_amendments(store: Store, triage: Triage) -> list[PlannedAmendment]:
    """Returns the amendments that edits of all published blocks ask for."""
    planned: list[PlannedAmendment] = []
    statuses = triage.entry_statuses()
    for project, place in _places(store).items():
        # The check of published blocks names what cannot be read.
        with suppress(ReviewError):
            file = open_file(Path(place["root"]), place["file"])
            planned += block_edits(store, project, file, statuses)
    return planned


def problems_of_blocks(store: Store, triage: Triage) -> Iterator[tuple[str, str]]:
    """Yields each file whose block cannot be read, or is behind the project's entries, with the
    problem.
    """
    statuses = triage.entry_statuses()
    for project, place in _places(store).items():
        root = Path(place["root"])
        entries = {row.line for row in statuses if row.path == path_of(project)}
        changed = [line for line in place["lines"] if line not in entries]
        try:
            file = open_file(root, place["file"])
            block = find_block(file.content, file.name)
        except ReviewError as error:
            yield place["file"], str(error)
            continue
        if changed and block and block.id == place["id"]:
            count = counted(len(changed), "published line")
            yield place["file"], f"{count} changed since; run `memory project publish` in {root}"


def check_blocks(store: Store, _: date | None) -> Iterator[Check]:
    """Yields whether the published blocks can be read and are current, as advice."""
    problems = [problem for _, problem in problems_of_blocks(store, reading_triage(store))]
    promise = "every published block can be read and has the present lines"
    yield judge("published", promise, " ".join(problems), is_advice=True)


def block_edits(
    store: Store, project: str, file: TargetFile, statuses: Sequence[EntryStatus]
) -> list[PlannedAmendment]:
    """Returns what the block in the file asks for, the removed and edited lines first; raises
    `ReviewError` for a damaged block.
    """
    block = find_block(file.content, file.name)
    if block is None:
        return []
    events = store.ledger.events([PUBLISHED_LINES])
    publications = {event.payload["id"]: event.payload["lines"] for event in events}
    edits = list(find_edits(publications.get(block.id, ()), block.lines))
    entries = [row for row in statuses if row.path == path_of(project)]
    source = _Source(store, project, file, block.id, _authors(file) if edits else {})
    return list(islice(source.amendments(edits, entries), MOST_EDITS))


def find_edits(published: Sequence[str], lines: Sequence[BlockLine]) -> Iterator[BlockEdit]:
    """Yields what differs between the published entries and the lines of the block."""
    present = {normal(line.text) for line in lines}
    texts = {normal(read_entries(entry)[0].text): entry for entry in published}
    removed = {text: entry for text, entry in texts.items() if text not in present}
    new_lines = [line for line in lines if normal(line.text) not in (*texts, "")]
    for number, line in enumerate(new_lines):
        text = _nearest(normal(line.text), removed) if number < COMPARED else ""
        yield BlockEdit(removed.pop(text, ""), line)
    for entry in removed.values():
        yield BlockEdit(entry, None)


def _nearest(text: str, others: Iterable[str]) -> str:
    """Returns the text of the others with the most words in common; empty if that is no edit."""
    words = set(text.split())
    shares = {other: _share(words, set(other.split())) for other in others}
    nearest = max(shares, key=lambda other: shares[other], default="")
    return nearest if shares.get(nearest, 0) >= SAME_LINE else ""


def _share(words: set[str], others: set[str]) -> float:
    return len(words & others) / max(len(words | others), 1)


@dataclass(frozen=True)
class _Source:
    """The block of a file, and who wrote the file's lines."""

    store: Store
    project: str
    file: TargetFile
    publication: str
    authors: Mapping[str, tuple[str, date]]

    def amendments(
        self, edits: Sequence[BlockEdit], entries: Sequence[EntryStatus]
    ) -> Iterator[PlannedAmendment]:
        """Yields the amendments of edits that the entries do not have already."""
        by_line = {row.line: row for row in entries}
        texts = {normal(row.entry.text) for row in entries}
        tombstones = tombstones_of(self.store)
        for edit in sorted(edits, key=lambda edit: not edit.published):
            status = by_line.get(edit.published)
            text = visible(mask_text(edit.line.text)[0]) if edit.line else ""
            is_known = normal(text) in texts if text else status is None
            if not (is_known or len(text) > LONGEST or tombstones.holds(text.encode())):
                yield self._amendment(edit, text, status)

    def _amendment(
        self, edit: BlockEdit, text: str, status: EntryStatus | None
    ) -> PlannedAmendment:
        settings = self.store.settings
        done = "changed" if edit.published else "added"
        section = section_of("projects", settings.sections, settings.owner)
        changed_at = datetime.fromtimestamp(self.file.path.stat().st_mtime, settings.zone)
        author = ("", min(changed_at, settings.clock()).date())
        if edit.line is None:
            done = "removed"
        else:
            author = self.authors.get(edit.line.written, author)
            is_section = edit.line.section in settings.sections.values()
            section = edit.line.section if is_section else section
        name = shortened(squeezed(visible(author[0])), LONGEST_NAME) or "somebody"
        about = {"project": self.project, "author": "file", "session_ids": [PUBLISHED]}
        return PlannedAmendment(
            f"published:{self.publication}:{text_hash(f'{edit.published} → {text}')[:16]}",
            status or EntryStatus(Entry(0, section, author[1], ""), None, None),
            text,
            author[1],
            f"{name} {done} it in the published lines of {self.file.name}",
            {**WITHOUT_MEMORY, **about},
        )


def _places(store: Store) -> dict[str, Mapping[str, Any]]:
    """Returns the last publication of each project."""
    return {event.target: event.payload for event in store.ledger.events([PUBLISHED_LINES])}


def _authors(file: TargetFile) -> dict[str, tuple[str, date]]:
    """Returns who wrote the committed lines of the file, and when."""
    path = file.path.relative_to(file.root.resolve()).as_posix()
    with reading(file.root) as history:
        try:
            return history.authors_of_lines(path) if history else {}
        except (ValueError, OverflowError):
            return {}  # a time that is no day
