"""Carries decisions out: lines of MEMORY.md, their commits, and the evidence that explains each
line.

What lies on disk is committed as written by hand first. Then one line is added, replaced or
removed, and the file swapped in only if it is still the one that was read; otherwise the edit
starts over. Evidence is gathered first, then come the file, the commit and the ledger, in this
order: after a crash between any two of them, the next run finds a line (and commits it as ours), or
our commit (and records it), or neither (and starts over). A line that a person removed after its
commit stays removed; one that is missing from the history (the workspace was lost) is written
again.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from memory_assets.errors import ReviewError, TranscriptError
from memory_assets.schema.protocols import Row
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.triage import projects
from memory_assets.stages.triage.memory_md import (
    FILE_HINT,
    NEW_FILE,
    change,
    read_entries,
    render_entry,
    written_line,
)
from memory_assets.store.ledger import Event, Ledger
from memory_assets.text.files import bytes_of, path_within, replace_if_same

PROMOTED = "entry.promoted"
RETIRED = "entry.retired"
MOVED = "entry.moved"
TAKEN_BACK = "entry.taken_back"
REPLACING = (PROMOTED, RETIRED, MOVED, TAKEN_BACK)
"""Events whose commits may remove the line that they name."""
ATTEMPTS = 5
_MOVE = re.compile(r"^(p-\d{8}-\d{3,}): move to ")
_BACK = re.compile(r"^([a-z]-\d{8}-\d{3,}): take back in ")
_SUBJECT = re.compile(r"^([a-z]-\d{8}-\d{3,}): (?:add to|replace in|retire from) ")


class Workspace(Protocol):
    """The repository of the workspace; a commit has `id`, `message` and `is_ours`."""

    root: Path

    def commit_content(  # noqa: D102
        self, message: str, contents: Mapping[str, bytes | None], *, author: str | None = None
    ) -> str | None: ...
    def commit_by_hand(self, paths: Sequence[str], owner: str) -> str | None: ...  # noqa: D102
    def at_head(self, path: str) -> bytes | None: ...  # noqa: D102
    def restore(self, paths: Sequence[str]) -> None: ...  # noqa: D102
    def history(self, path: str, limit: int = ...) -> Sequence[Any]: ...  # noqa: D102
    def commit_of_line(self, path: str, number: int) -> Any: ...  # noqa: D102


@dataclass(frozen=True)
class Edit:
    """One line to be added, replaced or removed."""

    proposal_id: str
    section: str
    line: str
    """The new line; empty for a removal."""
    replaces: str
    """The line to remove; empty for an addition."""
    reason: str
    actor: str
    session_ids: tuple[str, ...]
    path: str = MEMORY_MD
    """The file, relative to the workspace."""
    moves_to: str = ""
    """The file that the line moves to, if this is one half of a move."""
    is_taken_back: bool = False
    """Whether it takes an earlier edit of the proposal back."""

    @property
    def kind(self) -> str:
        """The event that records it."""
        return PROMOTED if self.line else RETIRED

    def change(self, content: bytes, order: Sequence[str]) -> bytes | None:
        """Returns the changed file; None if there is nothing left to do."""
        return change(content or new_file(self.path), self.section, self.line, self.replaces, order)


def read_memory(workspace: Workspace, path: str = MEMORY_MD) -> str:
    """Returns MEMORY.md, or a project's file, as it is on disk; empty if it does not exist. Raises
    `StoreError` for a link out of the workspace.
    """
    content = bytes_of(path_within(workspace.root, path))
    return (content or b"").decode("utf-8", "replace")


def read_lines(workspace: Workspace) -> dict[str, frozenset[str]]:
    """Returns the entries of each file as they are written."""
    lines = {}
    for path in projects.memory_files(workspace.root):
        entries = read_entries(read_memory(workspace, path))
        lines[path] = frozenset(render_entry(entry.on, entry.text) for entry in entries)
    return lines


@dataclass(frozen=True)
class Writing:
    """Where lines are written, on whose behalf, and which sections come first."""

    workspace: Workspace
    ledger: Ledger
    owner: str
    order: Sequence[str]


def carry_out(
    decisions: Sequence[Row],
    proposals: Mapping[str, Row],
    writing: Writing,
    evidence_of: Callable[[str], dict[str, Any]],
    files: Collection[str] | None = None,
) -> list[str]:
    """Makes, commits and records each promoted edit that has not been made, moves lines, and
    returns the ids of the edits.

    `files` limits it to these files of entries: to edits of them, and to lines that move into them.
    Edits that a decision made elsewhere overrules are taken back first. If the evidence of one
    cannot be read, its error is raised after all others are done.
    """
    workspace = writing.workspace
    _begin_files(workspace, writing.ledger)
    _take_back_overruled(decisions, proposals, writing, files)
    moved = {event.target for event in writing.ledger.events([MOVED])}
    begun = projects.plan_moves(proposals, writing.ledger.events([PROMOTED]), moved)
    _commit_left_over_moves(begun, workspace, writing.order)
    commits = _commits_of(workspace, _SUBJECT)
    about = (standing_edits(writing.ledger), commits, read_lines(workspace))
    planned = _plan_edits(decisions, proposals, *about)
    edits = [edit for edit in planned if files is None or edit.path in files]
    for edit in edits:
        _note_left_over(edit, commits, writing)
    workspace.commit_by_hand(projects.memory_files(workspace.root), writing.owner)
    unreadable = list(_write_edits(edits, commits, writing, evidence_of))
    if unreadable:
        raise unreadable[0]
    all_moves = projects.plan_moves(proposals, writing.ledger.events([PROMOTED]), moved)
    moves = [move for move in all_moves if files is None or move.path in files]
    _carry_out_moves(moves, writing)
    return [edit.proposal_id for edit in edits]


def _note_left_over(edit: Edit, commits: dict[str, str], writing: Writing) -> None:
    """Commits what a killed run left of an edit, and adds the commit."""
    if edit.proposal_id not in commits:
        commit = _commit_left_over(edit, writing.workspace, writing.order)
        commits |= {edit.proposal_id: commit} if commit else {}


def _write_edits(
    edits: Iterable[Edit],
    commits: Mapping[str, str],
    writing: Writing,
    evidence_of: Callable[[str], dict[str, Any]],
) -> Iterator[TranscriptError]:
    """Makes and records the edits; yields the errors of those whose evidence cannot be read."""
    for edit in edits:
        try:
            evidence = evidence_of(edit.proposal_id) if edit.line else {}
        except TranscriptError as error:
            yield error
            continue
        commit = commits.get(edit.proposal_id) or _make(edit, writing)
        payload = {"path": edit.path, "section": edit.section, "line": edit.line}
        if edit.replaces:
            payload["replaces"] = edit.replaces
        payload |= {"commit": commit, **evidence}
        writing.ledger.append(edit.kind, edit.proposal_id, payload, actor=edit.actor)


def _plan_edits(
    decisions: Sequence[Row],
    proposals: Mapping[str, Row],
    events: Sequence[Event],
    committed: Collection[str],
    lines: Mapping[str, Collection[str]],
) -> list[Edit]:
    """Returns the edits of promoted proposals without a record that is in the history, in order of
    their ids.

    `committed` are the proposals with a commit of ours; a line that a person had written, or one to
    be replaced that they had changed before, has none. `lines` are the present entries by file.
    """
    rows = [row for row in decisions if row["state"] == "promoted"]
    rows = [row for row in rows if row["proposal_id"] in proposals]
    rows.sort(key=lambda row: row["proposal_id"])
    added = [row["proposal_id"] for row in rows if row["entry"] is None]
    homes = projects.plan_homes(
        added, proposals, [event for event in events if event.kind == PROMOTED]
    )
    places = files_of_lines(lines)
    done = _done(events, committed)
    return [_edit(row, proposals, homes, places) for row in rows if row["proposal_id"] not in done]


def _done(events: Sequence[Event], committed: Collection[str]) -> set[str]:
    """Returns the proposals whose record is in the history, or needs no commit."""
    commit_of = {event.target: event.payload["commit"] for event in events}
    return {id for id, commit in commit_of.items() if commit is None or id in committed}


def files_of_lines(lines: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Returns the file of each entry; `lines` are the entries by file."""
    return {line: path for path, of_file in lines.items() for line in of_file}


def _edit(
    row: Row, proposals: Mapping[str, Row], homes: Mapping[str, str], places: Mapping[str, str]
) -> Edit:
    id = row["proposal_id"]
    replaced = row["entry"] or ""
    path = places.get(replaced, MEMORY_MD) if replaced else homes[id]
    lines = (_line_of(row, proposals), replaced)
    sessions = tuple(proposals[id]["session_ids"])
    return Edit(id, row["section"], *lines, row["reason"], row["actor"], sessions, path)


def standing_edits(ledger: Ledger) -> list[Event]:
    """Returns the records of edits that were not taken back, in order."""
    standing: list[Event] = []
    for event in ledger.events([PROMOTED, RETIRED, TAKEN_BACK]):
        if event.kind == TAKEN_BACK:
            standing = [edit for edit in standing if not _takes_back(event, edit)]
        else:
            standing.append(event)
    return standing


def _takes_back(event: Event, edit: Event) -> bool:
    """Returns whether the event took the edit back; earlier releases noted no line, and took all of
    the proposal back.
    """
    line = event.payload.get("replaces")
    return edit.target == event.target and line in (None, edit.payload["line"])


def take_back(proposal_id: str, writing: Writing) -> None:
    """Undoes the proposal's edit, if it was made: removes its line and restores the line that it
    replaced.

    A line that a person has changed since stays.
    """
    edits = [event for event in standing_edits(writing.ledger) if event.target == proposal_id]
    for event in reversed(edits):
        reverse = _reverse_of(event)
        edit = replace(reverse, reason="a person took it back", actor=writing.owner)
        _record_taken_back(edit, writing)


def _take_back_overruled(
    decisions: Sequence[Row],
    proposals: Mapping[str, Row],
    writing: Writing,
    files: Collection[str] | None,
) -> None:
    """Undoes edits that the decision which counts does not ask for, as machines that decided apart
    may have made them.

    Either the proposal is not promoted; or two persons approved it in different words, and the line
    of the first one stays.
    """
    events_by_proposal: dict[str, list[Event]] = defaultdict(list)
    for event in standing_edits(writing.ledger):
        if files is None or event.payload.get("path", MEMORY_MD) in files:
            events_by_proposal[event.target].append(event)
    for row in decisions:
        events = events_by_proposal.get(row["proposal_id"])
        if not events:
            continue
        edits = {event.payload["line"]: event for event in reversed(events)}
        is_promoted = row["state"] == "promoted"
        if is_promoted:
            wanted = _line_of(row, proposals)
            del edits[wanted if wanted in edits else events[0].payload["line"]]
        for event in edits.values():
            reverse = _reverse_of(event)
            edit = replace(reverse, reason=f"overruled: {row['reason']}", actor=row["actor"])
            edit = replace(edit, line="", is_taken_back=False) if is_promoted else edit
            _record_taken_back(edit, writing)


def _reverse_of(event: Event) -> Edit:
    """Returns the edit that undoes the one of this record."""
    edit = event.payload
    lines = (edit.get("replaces", ""), edit["line"])
    path = edit.get("path", MEMORY_MD)
    return Edit(event.target, edit["section"], *lines, "", "", (), path, is_taken_back=True)


def _record_taken_back(edit: Edit, writing: Writing) -> None:
    commit = _make(edit, writing)
    place = {"path": edit.path, "section": edit.section}
    payload = {**place, "replaces": edit.replaces, "commit": commit}
    writing.ledger.append(TAKEN_BACK, edit.proposal_id, payload, actor=edit.actor)


def _line_of(row: Row, proposals: Mapping[str, Row]) -> str:
    """Returns the line that a promoted decision asks for; empty where it removes one."""
    on = proposals[row["proposal_id"]]["event_on"]
    return written_line(on, row["text"]) if row["text"] else ""


def _commits_of(workspace: Workspace, subjects: re.Pattern[str]) -> dict[str, str]:
    """Returns the last commits of ours with such a subject, by proposal; none for what was taken
    back after it.
    """
    commits: dict[str, str] = {}
    undone: set[str] = set()
    # The newest of a file first.
    for commit in chain.from_iterable(
        map(workspace.history, projects.memory_files(workspace.root))
    ):
        back = _BACK.match(commit.message)
        subject = subjects.match(commit.message)
        if not commit.is_ours:
            continue
        if back:
            undone |= {back[1]} - commits.keys()
        elif subject and subject[1] not in undone:
            commits[subject[1]] = commit.id
    return commits


def _begin_files(workspace: Workspace, ledger: Ledger) -> None:
    """Creates the first MEMORY.md; a file of entries that vanished is restored as last
    committed.
    """
    written = {event.payload.get("path", MEMORY_MD) for event in ledger.events([PROMOTED, MOVED])}
    missing = (path for path in {MEMORY_MD, *written} if not (workspace.root / path).exists())
    for path in sorted(missing):
        if path == MEMORY_MD and workspace.at_head(path) is None:
            workspace.commit_content("Begin MEMORY.md", {path: NEW_FILE.encode()})
        if workspace.at_head(path) is not None:
            workspace.restore([path])


def _carry_out_moves(moves: Sequence[projects.Move], writing: Writing) -> None:
    """Moves each line into its project's file: it is added there before it is removed from
    MEMORY.md.

    A line that a person has changed is in neither file, and stays theirs. Repeating a move only
    writes its record.
    """
    lines = read_lines(writing.workspace)
    commits = _commits_of(writing.workspace, _MOVE) if moves else {}
    for move in moves:
        id = move.promotion.target
        edit = move.promotion.payload
        if edit["line"] in lines[MEMORY_MD] or edit["line"] in lines.get(move.path, ()):
            _, removal = (_make(half, writing) for half in _halves(move))
            payload = {"path": move.path, "section": edit["section"], "replaces": edit["line"]}
            payload["commit"] = removal or commits.get(id)
            writing.ledger.append(MOVED, id, payload, actor=move.promotion.actor)


def _commit_left_over_moves(
    moves: Sequence[projects.Move], workspace: Workspace, order: Sequence[str]
) -> None:
    """Commits what a killed run moved and did not commit, so that it is not taken for a person's
    edit.

    A line that is missing from MEMORY.md was not moved unless its project's file has it: it may
    have been replaced.
    """
    lines = read_lines(workspace)
    begun = [move for move in moves if move.promotion.payload["line"] in lines.get(move.path, ())]
    for half in chain.from_iterable(map(_halves, begun)):
        if bytes_of(workspace.root / half.path) not in (None, workspace.at_head(half.path)):
            _commit_left_over(half, workspace, order)


def _halves(move: projects.Move) -> Iterator[Edit]:
    """Yields the two edits of a move: the line in its project's file, and its removal from
    MEMORY.md.
    """
    edit = move.promotion.payload
    reason = "its project has a file of its own"
    about = (move.promotion.target, edit["section"], edit["line"], "", reason)
    there = Edit(*about, move.promotion.actor, (), move.path, moves_to=move.path)
    yield from (there, replace(there, line="", replaces=edit["line"], path=MEMORY_MD))


def new_file(path: str) -> bytes:
    """Returns the content of a file without entries."""
    if path == MEMORY_MD:
        return NEW_FILE.encode()
    name = path.rsplit("/", 1)[-1].removesuffix(".md")
    return f"# MEMORY of {name}\n\nWhat every session in {name} should know. {FILE_HINT}\n".encode()


def lost_lines(content: bytes, after: bytes) -> list[bytes]:
    """Returns the lines of the file that are gone afterwards, in order (an insertion loses
    none).
    """
    rest = after.splitlines()
    at = 0
    lost: list[bytes] = []
    for line in content.splitlines():
        if line in rest[at:]:
            at = rest.index(line, at) + 1
        else:
            lost.append(line)
    return lost


def _commit_left_over(edit: Edit, workspace: Workspace, order: Sequence[str]) -> str | None:
    """Commits an edit that a killed run made and did not commit, so that it is not taken for a
    person's.
    """
    content = bytes_of(workspace.root / edit.path) or b""
    changed = edit.change(workspace.at_head(edit.path) or b"", order)
    is_made = edit.line.encode() in content and edit.change(content, order) is None
    if not is_made or changed is None:
        return None
    return workspace.commit_content(_message(edit), {edit.path: changed})


def _make(edit: Edit, writing: Writing) -> str | None:
    """Makes the edit and commits it; returns None if there is nothing left to do."""
    workspace = writing.workspace
    path = workspace.root / edit.path
    for _ in range(ATTEMPTS):
        content = bytes_of(path)
        workspace.commit_content("Edited by hand", {edit.path: content}, author=writing.owner)
        changed = edit.change(content or b"", writing.order)
        if changed is None:
            return None
        if replace_if_same(path, content, changed):
            return workspace.commit_content(_message(edit), {edit.path: changed})
    raise ReviewError(
        f"{path} changed {ATTEMPTS} times while {edit.proposal_id} was being written. Save "
        "it, then run `memory review`."
    )


def _message(edit: Edit) -> str:
    replaced = f"Before: {edit.replaces}" if edit.replaces else ""
    lines = "\n".join(filter(None, (replaced, edit.line)))
    sessions = "\n".join(f"Session: {session}" for session in edit.session_ids)
    reason = f"Reason: {edit.reason}\nDecided-by: {edit.actor}"
    return f"{edit.proposal_id}: {_subject(edit)}\n\n{lines}\n\n{reason}\n{sessions}\n"


def _subject(edit: Edit) -> str:
    if edit.moves_to:
        return f"move to {edit.moves_to}"
    if edit.is_taken_back:
        return f"take back in {edit.section}"
    if not edit.replaces:
        return f"add to {edit.section}"
    return f"replace in {edit.section}" if edit.line else f"retire from {edit.section}"
