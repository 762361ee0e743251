"""Renders the answers of `memory library`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memory_assets.interfaces.views.lines import Parts, bold, dim, warning
from memory_assets.text.words import counted, squeezed

if TYPE_CHECKING:
    from memory_assets.extras.library.adrs import AdrRow
    from memory_assets.extras.library.discoveries import Discovered
    from memory_assets.extras.library.documents import (
        Added,
        DocumentHit,
        DocumentRow,
        FoundInDocuments,
    )
    from memory_assets.extras.library.feeds import FeedRow, Polled
    from memory_assets.extras.library.kept_documents import KeptDocument
    from memory_assets.extras.library.slog import SlogAnswer


def render_slog(answer: "SlogAnswer") -> Parts:
    """Renders the entries by time, the latest last, and the commands for the next step."""
    for entry in answer.entries:
        reason = f" ({entry.reason})" if entry.reason else ""
        moment = entry.timestamp[:16].replace("T", " ")
        yield bold(f"{moment} {entry.action} {entry.tool}", f"  {entry.detail}{reason}")
    if not answer.entries:
        yield "No entry was found."
    if answer.is_added:
        yield dim("Logged.")
    elif answer.count > len(answer.entries):
        yield dim(f"{len(answer.entries)} of {answer.count:,} entries, the latest.")
    for rel, command in answer.links:
        yield dim(f"{rel}: `{command}`")


def render_added(added: "Added") -> Parts:
    """Renders each file that could be read, and whether it was added."""
    for document in added.documents:
        size = counted(document.section_count, "page" if document.kind == "pdf" else "section")
        yield bold(document.title, f"  {document.kind}, {size}: {document.state}")
        yield dim(f"   {document.id}")
    if added.documents:
        yield dim('`memory library search "…"` searches them; nothing else does.')


def render_documents(rows: "Sequence[DocumentRow]") -> Parts:
    """Renders the documents with their size, their tags and where they come from."""
    if not rows:
        yield "There are no documents. `memory library add FILE` adds one."
    for row in rows:
        tags = f", tags {' '.join(row.tags)}" if row.tags else ""
        chunks = counted(row.chunk_count, "chunk") if row.chunk_count else "not indexed yet"
        yield bold(row.title, f"  {row.kind}, {chunks}{tags}")
        yield dim(f"   {row.id}, {row.added_at[:10]}, {row.source_path}")


def render_found(answer: "FoundInDocuments") -> Parts:
    """Renders the parts of documents that fit the question, best first, each with its place."""
    if not answer.document_count:
        yield (
            "There is no document to search. `memory library documents` lists them, `memory "
            "library add FILE` adds one."
        )
    elif not answer.hits:
        yield f"Nothing in {counted(answer.document_count, 'document')} fits."
    for hit in answer.hits:
        yield bold(hit.title, f"  {_place(hit)}")
        yield f"   {_below_heading(hit)}"
        yield dim(f"   {hit.doc_id} {hit.source_path}")


def render_removed(removed: "KeptDocument") -> Parts:
    """Renders which document was removed."""
    yield f"Removed {removed.title} ({removed.id}). The file stays: {removed.source_path}"


def render_discovered(note: "Discovered") -> Parts:
    """Renders the note, its tags, and the projects that it is relevant to."""
    yield bold(note.title, f"  {note.kind}: {note.state}")
    yield f"   {note.note}"
    if note.tags:
        yield f"   tags: {' '.join(note.tags)}"
    relevant = ", ".join(f"{name} {cosine:.2f}" for name, cosine in note.relevance.items())
    yield f"   relevant to: {relevant or 'no project yet'}"
    yield dim(
        f"   {note.id}; recalled after the next `memory ingest`, its text is found by "
        "`memory library search`"
    )


def render_feed(feed: "FeedRow") -> Parts:
    """Renders a feed that is watched from now on."""
    yield bold(feed.title, f"  {feed.url}")
    yield dim(f"   {feed.id}; new items become notes, polled every hour while `memory up` runs")


def render_feeds(rows: "Sequence[FeedRow]") -> Parts:
    """Renders the feeds with the outcome of the last poll."""
    if not rows:
        yield "No feed is watched. `memory library feeds add URL` watches one."
    for feed in rows:
        yield bold(
            feed.title, f"  {counted(feed.item_count, 'new item')} since {feed.added_at[:10]}"
        )
        yield dim(f"   {feed.id}, polled {feed.polled_at[:16].replace('T', ' ')} UTC, {feed.url}")
        if feed.problem:
            yield warning(f"   {feed.problem}")


def render_feed_removed(feed: "FeedRow") -> Parts:
    """Renders which feed is not watched any more."""
    yield (
        f"{feed.title} ({feed.url}) is not watched any more. Its notes stay: `memory library "
        "documents` lists them."
    )


def render_polled(polled: "Polled") -> Parts:
    """Renders the new items, and the feeds that could not be read."""
    for title in polled.new:
        yield bold(title)
    yield f"{counted(len(polled.new), 'new item')} in {counted(len(polled.feeds), 'feed')}."
    for feed in polled.feeds:
        if feed.problem:
            yield warning(f"{feed.title}: {feed.problem}")


def _place(hit: "DocumentHit") -> str:
    page = f"page {hit.page}" if hit.page else ""
    return ", ".join(filter(None, [page, hit.chapter, f"chunk {hit.chunk_index}"]))


def _below_heading(hit: "DocumentHit") -> str:
    """Returns the part on one line, without its first line if that is the heading.

    The heading is shown with the place already.
    """
    first_line, _, text = hit.content.partition("\n")
    has_heading = squeezed(first_line.lstrip("# ")) == hit.chapter
    return squeezed(text if has_heading and text.strip() else hit.content)


def render_adrs(rows: "Sequence[AdrRow]") -> Parts:
    """Renders the decision records by folder, each with its status and its problems."""
    if not rows:
        yield (
            "No decision record was found. They are in docs/adr or docs/decisions of a project, "
            "or in MEMORY_ADR_FOLDERS."
        )
    previous_folder = None
    for record in rows:
        folder = Path(record.path).parent
        if folder != previous_folder:
            yield dim(f"{record.project}: {folder}")
        previous_folder = folder
        yield bold(f"{record.number:04d} {record.title}", f"  {_status(record)}")
        for problem in record.problems:
            yield warning(f"   {problem}")


def render_problems(rows: "Sequence[AdrRow]") -> Parts:
    """Renders what is wrong with the decision records, each with its file."""
    problems = [f"{record.path}: {problem}" for record in rows for problem in record.problems]
    yield from map(warning, problems)
    result = counted(len(problems), "problem") if problems else "all in order"
    yield dim(f"{counted(len(rows), 'record')} checked, {result}.")


def _status(record: "AdrRow") -> str:
    parts = [
        record.status or "no valid status",
        _related("supersedes", record.supersedes),
        _related("superseded by", record.superseded_by),
        "in force" if record.is_in_force else "",
    ]
    return "; ".join(filter(None, parts))


def _related(relation: str, numbers: Sequence[int]) -> str:
    listed = ", ".join(f"{number:04d}" for number in numbers)
    return f"{relation} {listed}" if listed else ""
