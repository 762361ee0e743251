"""Plans and writes the publication of a project's lines into its AGENTS.md or CLAUDE.md.

Published are the entries of the project's file that a person approved or wrote. Left out is what is
about a person, sensitive, no longer true, or a secret. The ledger notes each publication before the
file is written, because later edits of the block are found by comparing it with its publication.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import chain
from pathlib import Path

from memory_assets.errors import QuestionError, ReviewError
from memory_assets.extras.project.block import block_id, find_block, render_block, with_block
from memory_assets.extras.project.edits import PUBLISHED_LINES, block_edits
from memory_assets.extras.project.target import TargetFile, choose_file, open_file
from memory_assets.services.review.open_triage import triage_of
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.distill.rows import PERSONAL
from memory_assets.stages.embed.harness_memories import parse_items
from memory_assets.stages.reflect.proposals import section_of
from memory_assets.stages.triage.decisions import RULES, person_decided
from memory_assets.stages.triage.entries import EntryStatus
from memory_assets.stages.triage.memory_md import normal
from memory_assets.stages.triage.projects import path_of
from memory_assets.stages.triage.run import Triage
from memory_assets.stages.triage.sensitive import sensitive_reason
from memory_assets.store.places import home_folder
from memory_assets.store.projects import find_git, find_repository, project_of
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.masking.redact import mask_text
from memory_assets.text.terms import text_terms
from memory_assets.text.visible import visible
from memory_assets.text.words import counted

COMMON_TERMS = 2
"""Terms that a line and a hand-written statement need in common to be compared."""

NOT_APPROVED = "no person approved it (`--promoted` publishes it)"


@dataclass(frozen=True)
class Publication:
    """What is published, as it is shown before it is written."""

    project: str
    path: Path
    lines: tuple[str, ...]
    diff: str
    """A unified diff of the file; empty where nothing changes."""
    left_out: dict[str, list[str]]
    """Reason → the entries of the project that are not published."""
    warnings: tuple[str, ...]
    """Hand-written lines that contradict a published one, and edits of other people."""
    is_written: bool = False


def publish_lines(
    store: Store, folder: str, *, is_promoted: bool = False, expected: Publication | None = None
) -> Publication:
    """Returns what is to be published of the folder's project; with `is_promoted`, also lines that
    rules promoted.

    Writes it with `expected`, what was shown; raises `ReviewError` where it is not the same any
    more. Other people's edits of the old block become proposals first.
    """
    home = home_folder()
    root, _ = find_git(folder, home)
    if not root:
        raise QuestionError(
            f"{folder} is in no git repository. Run `memory project publish` in the project whose "
            "lines you want to publish."
        )
    project = project_of(find_repository(folder, home), folder)
    with store.lock():
        triage = triage_of(store)
        entries = [row for row in triage.entry_statuses() if row.path == path_of(project)]
        file = open_file(Path(root), choose_file(Path(root)))
        edits = block_edits(store, project, file, entries)
        left_out = _left_out(store, entries, is_promoted=is_promoted)
        excluded = {*chain.from_iterable(left_out.values())}
        published = [row for row in entries if row.line not in excluded]
        lines, content = _new_content(file, published, triage)
        warnings = [*_contradictions(published, file, triage)]
        if edits:
            count = counted(len(edits), "edit")
            warnings.append(f"{count} of the block are replaced: `memory review` asks about them.")
        shown = (lines, _diff(file, content), left_out, tuple(warnings))
        planned = Publication(project, file.path, *shown)
        if expected and planned != expected:
            raise ReviewError(
                f"{file.path} or its lines changed while you were asked. Nothing was written: run "
                "`memory project publish` again."
            )
        if expected and planned.diff:
            triage.number(edits, RULES)
            place = {"root": root, "file": file.name}
            note = {**place, "id": block_id(lines), "lines": [*lines]}
            store.append_event(PUBLISHED_LINES, project, note)
            file.replace(content)
    return planned


def _new_content(
    file: TargetFile, published: Sequence[EntryStatus], triage: Triage
) -> tuple[tuple[str, ...], bytes]:
    """Returns the published lines, and the file with them; the same if it has them already."""
    order = triage.rules.sections
    sections: dict[str, list[str]] = {name: [] for name in order}
    for row in published:
        sections.setdefault(row.entry.section, []).append(row.line)
    lines = tuple(chain.from_iterable(sections.values()))
    block = find_block(file.content, file.name)
    present = tuple(line.written for line in block.lines) if block else ()
    if present == lines:
        return lines, file.content
    return lines, with_block(file.content, block, render_block(sections, triage.rules.today))


def _left_out(
    store: Store, entries: Sequence[EntryStatus], *, is_promoted: bool
) -> dict[str, list[str]]:
    approved = person_decided(store.ledger.events())
    tombstones = tombstones_of(store)
    reasons: dict[str, list[str]] = defaultdict(list)
    for row in entries:
        is_approved = is_promoted or not row.is_ours or row.proposal_id in approved
        reason = _why_private(row, store.settings)
        if tombstones.holds(row.line.encode()):
            reason = "it was forgotten"
        elif row.is_ours and row.state == "deprecated":
            reason = "it holds no more"
        reason = reason or ("" if is_approved else NOT_APPROVED)
        if reason:
            reasons[reason].append(row.line)
    return dict(reasons)


def _why_private(row: EntryStatus, settings: Settings) -> str:
    """Returns why an entry is not for a file that others read; empty if it is."""
    text = row.entry.text
    sections = {section_of(name, settings.sections, settings.owner) for name in PERSONAL}
    category = row.memory["category"] if row.memory else ""
    names_owner = f" {normal(settings.owner)} " in f" {normal(text)} "
    if row.entry.section in sections or category in PERSONAL or names_owner:
        return "it is about a person"
    if mask_text(text)[1]:
        return "it holds a secret"
    if "<!--" in text or "-->" in text:
        return "it holds a comment of HTML"
    kinds = (sensitive_reason(text) or "").partition(":")[0]
    return f"it {kinds}" if kinds else ""


def _contradictions(
    published: Sequence[EntryStatus], file: TargetFile, triage: Triage
) -> Iterator[str]:
    """Yields hand-written statements of the file that contradict a published line."""
    contradicts = triage.comparison.contradicts
    terms_of = {row.line: frozenset(text_terms(row.entry.text)) for row in published}
    for statement, numbers in parse_items(file.content.decode()):
        terms = frozenset(text_terms(statement))
        for row in published:
            texts = (row.entry.text, statement)
            is_near = len(terms_of[row.line] & terms) >= COMMON_TERMS
            if is_near and (contradicts(*texts) or contradicts(*reversed(texts))):
                where = f"{file.name}:{numbers[0] + 1}"
                yield f"{where} says otherwise: “{visible(statement)}” Published: {row.line}"


def _diff(file: TargetFile, new: bytes) -> str:
    """Returns the unified diff from the file's content to the new one."""
    old_lines = file.content.decode().removeprefix("\ufeff").splitlines()
    new_lines = new.decode().removeprefix("\ufeff").splitlines()
    lines = unified_diff(old_lines, new_lines, f"a/{file.name}", f"b/{file.name}", lineterm="")
    return "\n".join(map(visible, lines))
