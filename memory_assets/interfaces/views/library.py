"""Renders the library: documents, entries of the slog, and decision records."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memory_assets.interfaces.views.lines import Parts, bold, counted, dim, warning
from memory_assets.text.short_ids import short_id

if TYPE_CHECKING:
    from memory_assets.services.adrs import AdrRow
    from memory_assets.services.discoveries import Discovered
    from memory_assets.services.documents import Added, DocumentHit, DocumentRow, FoundInDocuments
    from memory_assets.services.feeds import FeedRow, Polled
    from memory_assets.services.slog import SlogAnswer
    from memory_assets.stages.library.adr_contradiction import AdrContradiction
    from memory_assets.store.documents import KeptDocument


def render_slog(answer: "SlogAnswer") -> Parts:
    """Renders the entries by time, the latest last, and how to go on."""
    for one in answer.entries:
        reason = f" ({one.reason})" if one.reason else ""
        yield bold(
            f"{one.timestamp[:16].replace('T', ' ')} {one.action} {one.tool}",
            f"  {one.detail}{reason}",
        )
    if not answer.entries:
        yield "No entry was found."
    if answer.is_added:
        yield dim("Logged.")
    elif answer.count > len(answer.entries):
        yield dim(
            f"{len(answer.entries)} of "
            f"{counted(answer.count, 'entry').replace('entrys', 'entries')}, the latest."
        )
    for rel, command in answer.links:
        yield dim(f"{rel}: `{command}`")


def render_added(added: "Added") -> Parts:
    """Renders what became of each file that could be read."""
    for one in added.documents:
        size = counted(one.section_count, "page" if one.kind == "pdf" else "section")
        yield bold(one.title, f"  {one.kind}, {size}: {one.state}")
        yield dim(f"   {one.id}")
    if added.documents:
        yield dim('`memory library search "…"` searches them; nothing else does.')


def render_documents(found: "Sequence[DocumentRow]") -> Parts:
    """Renders the documents with their size, their tags and where they come from."""
    if not found:
        yield "There are no documents. `memory library add FILE` adds one."
    for one in found:
        tags = f", tags {' '.join(one.tags)}" if one.tags else ""
        chunks = counted(one.chunk_count, "chunk") if one.chunk_count else "not indexed yet"
        yield bold(one.title, f"  {one.kind}, {chunks}{tags}")
        yield dim(f"   {one.id}, {one.added_at[:10]}, {one.source_path}")


def render_found(found: "FoundInDocuments") -> Parts:
    """Renders the parts of documents that fit, best first, each with its place."""
    if not found.document_count:
        yield (
            "There is no document to search. `memory library documents` lists them, `memory "
            "library add FILE` adds one."
        )
    elif not found.hits:
        yield f"Nothing in {counted(found.document_count, 'document')} fits."
    for one in found.hits:
        yield bold(one.title, f"  {_place(one)}")
        yield f"   {_below_heading(one)}"
        yield dim(f"   {one.doc_id} {one.source_path}")


def render_removed(removed: "KeptDocument") -> Parts:
    """Renders which document was removed."""
    yield f"Removed {removed.title} ({removed.id}). The file stays: {removed.source_path}"


def render_discovered(found: "Discovered") -> Parts:
    """Renders the note, its tags, and the projects that it is relevant to."""
    yield bold(found.title, f"  {found.kind}: {found.state}")
    yield f"   {found.note}"
    if found.tags:
        yield f"   tags: {' '.join(found.tags)}"
    relevant = ", ".join(f"{name} {cosine:.2f}" for name, cosine in found.relevance.items())
    yield f"   relevant to: {relevant or 'no project yet'}"
    yield dim(
        f"   {found.id}; recalled after the next `memory ingest`, its text is found by "
        "`memory library search`"
    )


def render_feed(feed: "FeedRow") -> Parts:
    """Renders a feed that is watched from now on."""
    yield bold(feed.title, f"  {feed.url}")
    yield dim(f"   {feed.id}; new items become notes, polled every hour while `memory up` runs")


def render_feeds(found: "Sequence[FeedRow]") -> Parts:
    """Renders the feeds with the outcome of the last poll."""
    if not found:
        yield "No feed is watched. `memory library feeds add URL` watches one."
    for one in found:
        yield bold(one.title, f"  {counted(one.item_count, 'new item')} since {one.added_at[:10]}")
        yield dim(f"   {one.id}, polled {one.polled_at[:16].replace('T', ' ')} UTC, {one.url}")
        if one.problem:
            yield warning(f"   {one.problem}")


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
    for one in polled.feeds:
        if one.problem:
            yield warning(f"{one.title}: {one.problem}")


def _place(hit: "DocumentHit") -> str:
    place = [f"page {hit.page}"] if hit.page else []
    return ", ".join([*place, *([hit.chapter] if hit.chapter else []), f"chunk {hit.chunk_index}"])


def _below_heading(hit: "DocumentHit") -> str:
    """Returns the part on one line, without a first line that is the heading, which its place
    names.
    """
    first, _, rest = hit.content.partition("\n")
    is_heading = " ".join(first.lstrip("# ").split()) == hit.chapter
    return " ".join((rest if is_heading and rest.strip() else hit.content).split())


def render_adrs(found: "Sequence[AdrRow]") -> Parts:
    """Renders the decision records by folder, each with its status, what it replaced, and its
    problems.
    """
    if not found:
        yield (
            "No decision record was found. They are in docs/adr or docs/decisions of a project, "
            "or in MEMORY_ADR_FOLDERS."
        )
    folder = ""
    for one in found:
        if (here := str(Path(one.path).parent)) != folder:
            folder = here
            yield dim(f"{one.project}: {folder}")
        yield bold(f"{one.number:04d} {one.title}", f"  {_status(one)}")
        for problem in one.problems:
            yield warning(f"   {problem}")


def render_problems(found: "Sequence[AdrRow]") -> Parts:
    """Renders what is wrong with the decision records, each with its file."""
    wrong = [(one.path, problem) for one in found for problem in one.problems]
    for path, problem in wrong:
        yield warning(f"{path}: {problem}")
    checked = f"{counted(len(found), 'record')} checked"
    yield dim(
        f"{checked}, {counted(len(wrong), 'problem')}." if wrong else f"{checked}, all in order."
    )


def render_conflicts(conflicts: "Sequence[AdrContradiction]") -> Parts:
    """Renders the memories that contradict a decision record, and how to settle it."""
    for one in conflicts:
        yield warning(f"ADR-{one.number:04d} of {one.project} contradicts a memory ({one.reason}):")
        yield f"   the record: {one.statement}"
        yield f"   the memory: {one.text}"
        memory = short_id(one.memory_id)
        yield dim(
            f'   `memory remember "…" --instead-of {memory}` corrects the memory; a newer '
            f"record supersedes {one.path}"
        )


def _status(one: "AdrRow") -> str:
    relations = {"supersedes": one.supersedes, "superseded by": one.superseded_by}
    named = (
        f"{what} {', '.join(f'{number:04d}' for number in numbers)}"
        for what, numbers in relations.items()
        if numbers
    )
    return "; ".join(
        [one.status or "no valid status", *named, *(["in force"] if one.is_in_force else [])]
    )
