"""Carries decisions out: lines of MEMORY.md, its commits, and the evidence that explains each line for ever.

What lies on disk is committed as written by hand before anything is changed; one line of exactly what is there is added,
replaced or removed, written beside, and swapped in only if the file is still the one that was read, else everything begins
anew. Evidence is gathered first, then come the file, the commit and the ledger, in this order: killed between any two of them,
the next run finds a line (and commits it as ours), or our commit (and records it), or neither (and begins). A line that a
person removed after its commit stays removed; one that the history never saw (the workspace was lost) is written again.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from memory_assets.errors import ReviewError, TranscriptError
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.triage.memory_md import NEW_FILE, change, render_entry
from memory_assets.stages.triage.projects import Move, memory_files
from memory_assets.store.ledger import Event, Ledger
from memory_assets.text.files import bytes_of, replace_if_same

PROMOTED, RETIRED, MOVED = "entry.promoted", "entry.retired", "entry.moved"
ATTEMPTS = 5
_MOVE = re.compile(r"^(p-\d{8}-\d{3,}): move to ")
_SUBJECT = re.compile(r"^([a-z]-\d{8}-\d{3,}): (?:add to|replace in|retire from) ")


class Version(Protocol):
    """What promotion needs to know of a commit."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def message(self) -> str: ...  # noqa: D102
    @property
    def is_ours(self) -> bool: ...  # noqa: D102


class Workspace(Protocol):
    """What promotion needs of the repository."""

    root: Path

    def commit_content(  # noqa: D102
        self, message: str, contents: Mapping[str, bytes | None], *, author: str | None = None
    ) -> str | None: ...
    def commit_by_hand(self, paths: Sequence[str], owner: str) -> str | None: ...  # noqa: D102
    def at_head(self, path: str) -> bytes | None: ...  # noqa: D102
    def restore(self, paths: Sequence[str]) -> None: ...  # noqa: D102
    def history(self, path: str, limit: int = ...) -> Sequence[Version]: ...  # noqa: D102


@dataclass(frozen=True)
class Edit:
    """One line to be added, replaced or removed."""

    proposal_id: str
    section: str
    line: str
    """What is to stand there; empty where a line is only removed."""
    replaces: str
    """The line that goes; empty where one is only added."""
    reason: str
    actor: str
    session_ids: tuple[str, ...]
    path: str = MEMORY_MD
    """The file, below the workspace."""
    moves_to: str = ""
    """The file that the line moves to, where this is one half of a move."""

    @property
    def kind(self) -> str:
        """The event that records it."""
        return PROMOTED if self.line else RETIRED

    def change(self, content: bytes, order: Sequence[str]) -> bytes | None:
        """Returns the file as it is to be; None where nothing is left to do."""
        return change(content or new_file(self.path), self.section, self.line, self.replaces, order)


def plan_edits(
    decisions: Sequence[Mapping[str, Any]],
    proposals: Mapping[str, Mapping[str, Any]],
    events: Sequence[Event],
    committed: Collection[str],
    homes: Mapping[str, str],
    places: Mapping[str, str],
) -> list[Edit]:
    """Returns the edits of promoted proposals without a record that is in the history, in order of their ids.

    `committed` are the proposals whose edit a commit of ours brought; a line that a person had written, or one to be replaced
    that they had changed before, has no such commit. `homes` are the files of new lines, by proposal; `places` those of the
    lines that stand, by line.
    """
    recorded = {event.target: event.payload["commit"] for event in events if event.kind in (PROMOTED, RETIRED)}
    done = {id for id, commit in recorded.items() if commit is None or id in committed}
    return [
        _edit(row, proposals[row["proposal_id"]], homes, places)
        for row in sorted(decisions, key=lambda row: row["proposal_id"])
        if row["state"] == "promoted" and row["proposal_id"] not in done and row["proposal_id"] in proposals
    ]


def _edit(
    decision: Mapping[str, Any], proposal: Mapping[str, Any], homes: Mapping[str, str], places: Mapping[str, str]
) -> Edit:
    entry = decision["entry"]
    return Edit(
        path=places.get(entry, MEMORY_MD) if entry else homes[decision["proposal_id"]],
        proposal_id=decision["proposal_id"],
        section=decision["section"],
        line=render_entry(proposal["event_on"], decision["text"]) if decision["text"] else "",
        replaces=entry or "",
        reason=decision["reason"],
        actor=decision["actor"],
        session_ids=tuple(proposal["session_ids"]),
    )


def commits_of(workspace: Workspace, subjects: re.Pattern[str] = _SUBJECT) -> dict[str, str]:
    """Returns the last commits of ours that brought an edit, by proposal."""
    history = [commit for path in memory_files(workspace.root) for commit in workspace.history(path)]
    found = ((subjects.match(commit.message), commit) for commit in history if commit.is_ours)
    return {subject[1]: commit.id for subject, commit in found if subject}


def begin_file(workspace: Workspace) -> None:
    """Makes MEMORY.md where there never was one; one that vanished comes back as last committed."""
    if (workspace.root / MEMORY_MD).exists():
        return
    if workspace.at_head(MEMORY_MD) is None:
        workspace.commit_content("Begin MEMORY.md", {MEMORY_MD: NEW_FILE.encode()})
    workspace.restore([MEMORY_MD])


def carry_out(
    edits: Sequence[Edit],
    workspace: Workspace,
    ledger: Ledger,
    *,
    owner: str,
    order: Sequence[str],
    evidence_of: Callable[[str], dict[str, Any]],
) -> list[str]:
    """Makes each edit, commits it, records it with its evidence, and returns the ids of the proposals carried out.

    One whose evidence cannot be read keeps no other one waiting; its error is raised when the others are done.
    """
    begin_file(workspace)
    commits = commits_of(workspace) if edits else {}
    for edit in edits:
        if edit.proposal_id not in commits and (commit := _commit_left_over(edit, workspace, order)):
            commits[edit.proposal_id] = commit
    workspace.commit_by_hand(memory_files(workspace.root), owner)
    unreadable: list[TranscriptError] = []
    for edit in edits:
        try:
            evidence = evidence_of(edit.proposal_id) if edit.line else {}
        except TranscriptError as error:
            unreadable.append(error)
            continue
        commit = commits.get(edit.proposal_id) or _make(edit, workspace, owner, order)
        replaced = {"replaces": edit.replaces} if edit.replaces else {}
        payload = {"path": edit.path, "section": edit.section, "line": edit.line, **replaced, "commit": commit, **evidence}
        ledger.append(edit.kind, edit.proposal_id, payload, actor=edit.actor)
    if unreadable:
        raise unreadable[0]
    return [edit.proposal_id for edit in edits]


def move(
    moves: Sequence[Move],
    standing: Mapping[str, Collection[str]],
    workspace: Workspace,
    ledger: Ledger,
    *,
    owner: str,
    order: Sequence[str],
) -> None:
    """Moves each line into its project's file, where it is written before it goes; `standing` are the lines by file.

    One that a person has touched stands nowhere as it was, and stays theirs. Done again, nothing is left to do but the record.
    """
    known = commits_of(workspace, _MOVE) if moves else {}
    for one in moves:
        said, id = one.promotion.payload, one.promotion.target
        if said["line"] in standing[MEMORY_MD] or said["line"] in standing.get(one.path, ()):
            _, gone = (_make(half, workspace, owner, order) for half in _halves(one))
            payload = {"path": one.path, "section": said["section"], "replaces": said["line"], "commit": gone or known.get(id)}
            ledger.append(MOVED, id, payload, actor=one.promotion.actor)


def commit_left_over_moves(moves: Sequence[Move], workspace: Workspace, order: Sequence[str]) -> None:
    """Commits what a killed run moved and did not commit, so that it does not pass for a person's."""
    paths = {MEMORY_MD, *(one.path for one in moves)}
    dirty = {path for path in paths if bytes_of(workspace.root / path) not in (None, workspace.at_head(path))}
    for half in (half for one in moves for half in _halves(one) if half.path in dirty):
        _commit_left_over(half, workspace, order)


def _halves(one: Move) -> tuple[Edit, Edit]:
    """Returns what a move is made of: the line in its project's file, and its end in MEMORY.md."""
    said = one.promotion.payload
    how = {"reason": "its project has a file of its own", "actor": one.promotion.actor, "moves_to": one.path}
    there = Edit(one.promotion.target, said["section"], said["line"], "", session_ids=(), path=one.path, **how)
    return there, replace(there, line="", replaces=said["line"], path=MEMORY_MD)


def new_file(path: str) -> bytes:
    """Returns a file without entries."""
    if path == MEMORY_MD:
        return NEW_FILE.encode()
    name = path.rsplit("/", 1)[-1].removesuffix(".md")
    return f"# MEMORY of {name}\n\nWhat every session in {name} should know. Edit freely: what you write stays.\n".encode()


def lost_lines(before: bytes, after: bytes) -> list[bytes]:
    """Returns the lines of the file that are not there afterwards, in order (an insertion loses none)."""
    rest, at, lost = after.splitlines(), 0, list[bytes]()
    for line in before.splitlines():
        if line in rest[at:]:
            at = rest.index(line, at) + 1
        else:
            lost.append(line)
    return lost


def _commit_left_over(edit: Edit, workspace: Workspace, order: Sequence[str]) -> str | None:
    """Commits an edit that a killed run made and did not commit, so that it does not pass for a person's."""
    there, last = bytes_of(workspace.root / edit.path) or b"", workspace.at_head(edit.path) or b""
    changed = edit.change(last, order)
    is_made = edit.line.encode() in there and edit.change(there, order) is None
    return workspace.commit_content(_message(edit), {edit.path: changed}) if is_made and changed is not None else None


def _make(edit: Edit, workspace: Workspace, owner: str, order: Sequence[str]) -> str | None:
    """Edits what is there and commits that; returns None where a person had left nothing to do."""
    path = workspace.root / edit.path
    for _ in range(ATTEMPTS):
        content = bytes_of(workspace.root / edit.path)
        workspace.commit_content("Edited by hand", {edit.path: content}, author=owner)
        changed = edit.change(content or b"", order)
        if changed is None:
            return None
        if replace_if_same(path, content, changed):
            return workspace.commit_content(_message(edit), {edit.path: changed})
    raise ReviewError(
        f"{path} changed {ATTEMPTS} times while {edit.proposal_id} was being written. Save it, then run `memory review`."
    )


def _message(edit: Edit) -> str:
    what = "add to" if not edit.replaces else "replace in" if edit.line else "retire from"
    subject = f"move to {edit.moves_to}" if edit.moves_to else f"{what} {edit.section}"
    lines = "\n".join(f"{mark}{line}" for mark, line in (("Before: ", edit.replaces), ("", edit.line)) if line)
    sessions = "\n".join(f"Session: {session}" for session in edit.session_ids)
    reason = f"Reason: {edit.reason}\nDecided-by: {edit.actor}"
    return f"{edit.proposal_id}: {subject}\n\n{lines}\n\n{reason}\n{sessions}\n"
