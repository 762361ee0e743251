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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from memory_assets.errors import ReviewError, TranscriptError
from memory_assets.schema.protocols import Row
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.triage.memory_md import (
    FILE_HINT,
    NEW_FILE,
    change,
    read_entries,
    render_entry,
)
from memory_assets.stages.triage.projects import Move, memory_files, plan_homes, plan_moves
from memory_assets.store.ledger import Event, Ledger
from memory_assets.text.files import bytes_of, replace_if_same

PROMOTED, RETIRED, MOVED, TAKEN_BACK = (
    "entry.promoted",
    "entry.retired",
    "entry.moved",
    "entry.taken_back",
)
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
    """Returns MEMORY.md, or a project's file, as it is on disk; empty if it does not exist."""
    return (bytes_of(workspace.root / path) or b"").decode("utf-8", "replace")


def read_lines(workspace: Workspace) -> dict[str, frozenset[str]]:
    """Returns the entries of each file as they are written."""
    return {
        path: frozenset(
            render_entry(entry.on, entry.text)
            for entry in read_entries(read_memory(workspace, path))
        )
        for path in memory_files(workspace.root)
    }


def carry_out(
    decisions: Sequence[Row],
    proposals: Mapping[str, Row],
    workspace: Workspace,
    ledger: Ledger,
    *,
    owner: str,
    order: Sequence[str],
    evidence_of: Callable[[str], dict[str, Any]],
    files: Collection[str] | None = None,
) -> list[str]:
    """Makes, commits and records each promoted edit that has not been made, moves lines, and
    returns the ids of the edits.

    `files` limits it to these files of entries: to edits of them, and to lines that move into them.
    Edits that a decision made elsewhere overrules are taken back first. If the evidence of one
    cannot be read, its error is raised after all others are done.
    """
    _begin_files(workspace, ledger)
    _take_back_overruled(decisions, proposals, workspace, ledger, owner, order, files)
    promotions, moved = (
        ledger.events([PROMOTED]),
        {event.target for event in ledger.events([MOVED])},
    )
    _commit_left_over_moves(plan_moves(proposals, promotions, moved), workspace, order)
    commits = _commits_of(workspace, _SUBJECT)
    planned = _plan_edits(
        decisions, proposals, standing_edits(ledger), commits, read_lines(workspace)
    )
    edits = [edit for edit in planned if files is None or edit.path in files]
    for edit in edits:
        if edit.proposal_id not in commits and (
            commit := _commit_left_over(edit, workspace, order)
        ):
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
        payload = {
            "path": edit.path,
            "section": edit.section,
            "line": edit.line,
            **replaced,
            "commit": commit,
            **evidence,
        }
        ledger.append(edit.kind, edit.proposal_id, payload, actor=edit.actor)
    if unreadable:
        raise unreadable[0]
    moves = [
        one
        for one in plan_moves(proposals, ledger.events([PROMOTED]), moved)
        if files is None or one.path in files
    ]
    _carry_out_moves(moves, workspace, ledger, owner, order)
    return [edit.proposal_id for edit in edits]


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
    recorded = {event.target: event.payload["commit"] for event in events}
    done = {id for id, commit in recorded.items() if commit is None or id in committed}
    promoted = sorted(
        (row for row in decisions if row["state"] == "promoted"), key=lambda row: row["proposal_id"]
    )
    known = [row for row in promoted if row["proposal_id"] in proposals]
    added = [row["proposal_id"] for row in known if row["entry"] is None]
    homes = plan_homes(added, proposals, [event for event in events if event.kind == PROMOTED])
    places = {line: path for path, own in lines.items() for line in own}
    return [
        Edit(
            path=places.get(row["entry"], MEMORY_MD) if row["entry"] else homes[row["proposal_id"]],
            proposal_id=row["proposal_id"],
            section=row["section"],
            line=_line_of(row, proposals),
            replaces=row["entry"] or "",
            reason=row["reason"],
            actor=row["actor"],
            session_ids=tuple(proposals[row["proposal_id"]]["session_ids"]),
        )
        for row in known
        if row["proposal_id"] not in done
    ]


def standing_edits(ledger: Ledger) -> list[Event]:
    """Returns the records of edits that were not taken back, in order."""
    standing: list[Event] = []
    for event in ledger.events([PROMOTED, RETIRED, TAKEN_BACK]):
        if event.kind == TAKEN_BACK:
            # Earlier releases noted none, and took all lines of the proposal back.
            line = event.payload.get("replaces")
            standing = [
                one
                for one in standing
                if one.target != event.target or line not in (None, one.payload["line"])
            ]
        else:
            standing.append(event)
    return standing


def take_back(
    proposal_id: str, workspace: Workspace, ledger: Ledger, owner: str, order: Sequence[str]
) -> None:
    """Undoes the proposal's edit, if it was made: removes its line and restores the line that it
    replaced.

    A line that a person has changed since stays.
    """
    made = [event for event in standing_edits(ledger) if event.target == proposal_id]
    for event in reversed(made):
        edit = replace(_reverse_of(event), reason="a person took it back", actor=owner)
        _record_taken_back(edit, workspace, ledger, owner, order)


def _take_back_overruled(
    decisions: Sequence[Row],
    proposals: Mapping[str, Row],
    workspace: Workspace,
    ledger: Ledger,
    owner: str,
    order: Sequence[str],
    files: Collection[str] | None,
) -> None:
    """Undoes edits that the decision which counts does not ask for, as machines that decided apart
    may have made them.

    Either the proposal is not promoted; or two persons approved it in different words, and the line
    of the first one stays.
    """
    made: dict[str, list[Event]] = defaultdict(list)
    for event in standing_edits(ledger):
        if files is None or event.payload.get("path", MEMORY_MD) in files:
            made[event.target].append(event)
    for row in (row for row in decisions if row["proposal_id"] in made):
        edits = {event.payload["line"]: event for event in reversed(made[row["proposal_id"]])}
        is_promoted, how = (
            row["state"] == "promoted",
            {"reason": f"overruled: {row['reason']}", "actor": row["actor"]},
        )
        if is_promoted:
            first, wanted = made[row["proposal_id"]][0].payload["line"], _line_of(row, proposals)
            del edits[wanted if wanted in edits else first]
        for event in edits.values():
            back = _reverse_of(event)
            edit = replace(back, line="", is_taken_back=False) if is_promoted else back
            _record_taken_back(replace(edit, **how), workspace, ledger, owner, order)


def _reverse_of(event: Event) -> Edit:
    """Returns the edit that undoes the one of this record."""
    done = event.payload
    path, before = done.get("path", MEMORY_MD), done.get("replaces", "")
    return Edit(
        event.target, done["section"], before, done["line"], "", "", (), path, is_taken_back=True
    )


def _record_taken_back(
    edit: Edit, workspace: Workspace, ledger: Ledger, owner: str, order: Sequence[str]
) -> None:
    commit = _make(edit, workspace, owner, order)
    payload = {
        "path": edit.path,
        "section": edit.section,
        "replaces": edit.replaces,
        "commit": commit,
    }
    ledger.append(TAKEN_BACK, edit.proposal_id, payload, actor=edit.actor)


def _line_of(row: Row, proposals: Mapping[str, Row]) -> str:
    """Returns the line that a promoted decision asks for; empty where it removes one."""
    return (
        render_entry(proposals[row["proposal_id"]]["event_on"], row["text"]) if row["text"] else ""
    )


def _commits_of(workspace: Workspace, subjects: re.Pattern[str]) -> dict[str, str]:
    """Returns the last commits of ours with such a subject, by proposal; none for what was taken
    back after it.
    """
    history = [
        commit for path in memory_files(workspace.root) for commit in workspace.history(path)
    ]
    found: dict[str, str] = {}
    undone: set[str] = set()
    for commit in (commit for commit in history if commit.is_ours):  # the newest of a file first
        if back := _BACK.match(commit.message):
            undone |= {back[1]} - found.keys()
        elif (subject := subjects.match(commit.message)) and subject[1] not in undone:
            found[subject[1]] = commit.id
    return found


def _begin_files(workspace: Workspace, ledger: Ledger) -> None:
    """Creates the first MEMORY.md; a file of entries that vanished is restored as last
    committed.
    """
    written = {event.payload.get("path", MEMORY_MD) for event in ledger.events([PROMOTED, MOVED])}
    for path in sorted(
        path for path in {MEMORY_MD, *written} if not (workspace.root / path).exists()
    ):
        if path == MEMORY_MD and workspace.at_head(path) is None:
            workspace.commit_content("Begin MEMORY.md", {path: NEW_FILE.encode()})
        if workspace.at_head(path) is not None:
            workspace.restore([path])


def _carry_out_moves(
    moves: Sequence[Move], workspace: Workspace, ledger: Ledger, owner: str, order: Sequence[str]
) -> None:
    """Moves each line into its project's file: it is added there before it is removed from
    MEMORY.md.

    A line that a person has changed is in neither file, and stays theirs. Repeating a move only
    writes its record.
    """
    lines, known = read_lines(workspace), _commits_of(workspace, _MOVE) if moves else {}
    for one in moves:
        said, id = one.promotion.payload, one.promotion.target
        if said["line"] in lines[MEMORY_MD] or said["line"] in lines.get(one.path, ()):
            _, gone = (_make(half, workspace, owner, order) for half in _halves(one))
            payload = {
                "path": one.path,
                "section": said["section"],
                "replaces": said["line"],
                "commit": gone or known.get(id),
            }
            ledger.append(MOVED, id, payload, actor=one.promotion.actor)


def _commit_left_over_moves(
    moves: Sequence[Move], workspace: Workspace, order: Sequence[str]
) -> None:
    """Commits what a killed run moved and did not commit, so that it is not taken for a person's
    edit.

    A line that is missing from MEMORY.md was not moved unless its project's file has it: it may
    have been replaced.
    """
    lines = read_lines(workspace)
    begun = [one for one in moves if one.promotion.payload["line"] in lines.get(one.path, ())]
    paths = {MEMORY_MD, *(one.path for one in begun)}
    dirty = {
        path
        for path in paths
        if bytes_of(workspace.root / path) not in (None, workspace.at_head(path))
    }
    for half in (half for one in begun for half in _halves(one) if half.path in dirty):
        _commit_left_over(half, workspace, order)


def _halves(one: Move) -> Iterator[Edit]:
    """Yields the two edits of a move: the line in its project's file, and its removal from
    MEMORY.md.
    """
    said, actor = one.promotion.payload, one.promotion.actor
    how = {
        "reason": "its project has a file of its own",
        "actor": actor,
        "session_ids": (),
        "moves_to": one.path,
    }
    there = Edit(one.promotion.target, said["section"], said["line"], "", path=one.path, **how)
    yield from (there, replace(there, line="", replaces=said["line"], path=MEMORY_MD))


def new_file(path: str) -> bytes:
    """Returns the content of a file without entries."""
    if path == MEMORY_MD:
        return NEW_FILE.encode()
    name = path.rsplit("/", 1)[-1].removesuffix(".md")
    return f"# MEMORY of {name}\n\nWhat every session in {name} should know. {FILE_HINT}\n".encode()


def lost_lines(before: bytes, after: bytes) -> list[bytes]:
    """Returns the lines of the file that are gone afterwards, in order (an insertion loses
    none).
    """
    rest, at, lost = after.splitlines(), 0, list[bytes]()
    for line in before.splitlines():
        if line in rest[at:]:
            at = rest.index(line, at) + 1
        else:
            lost.append(line)
    return lost


def _commit_left_over(edit: Edit, workspace: Workspace, order: Sequence[str]) -> str | None:
    """Commits an edit that a killed run made and did not commit, so that it is not taken for a
    person's.
    """
    there, last = bytes_of(workspace.root / edit.path) or b"", workspace.at_head(edit.path) or b""
    changed = edit.change(last, order)
    is_made = edit.line.encode() in there and edit.change(there, order) is None
    return (
        workspace.commit_content(_message(edit), {edit.path: changed})
        if is_made and changed is not None
        else None
    )


def _make(edit: Edit, workspace: Workspace, owner: str, order: Sequence[str]) -> str | None:
    """Makes the edit and commits it; returns None if there is nothing left to do."""
    path = workspace.root / edit.path
    for _ in range(ATTEMPTS):
        content = bytes_of(path)
        workspace.commit_content("Edited by hand", {edit.path: content}, author=owner)
        changed = edit.change(content or b"", order)
        if changed is None:
            return None
        if replace_if_same(path, content, changed):
            return workspace.commit_content(_message(edit), {edit.path: changed})
    raise ReviewError(
        f"{path} changed {ATTEMPTS} times while {edit.proposal_id} was being written. Save "
        "it, then run `memory review`."
    )


def _message(edit: Edit) -> str:
    what = "add to" if not edit.replaces else "replace in" if edit.line else "retire from"
    what = "take back in" if edit.is_taken_back else what
    subject = f"move to {edit.moves_to}" if edit.moves_to else f"{what} {edit.section}"
    lines = "\n".join(
        f"{mark}{line}" for mark, line in (("Before: ", edit.replaces), ("", edit.line)) if line
    )
    sessions = "\n".join(f"Session: {session}" for session in edit.session_ids)
    reason = f"Reason: {edit.reason}\nDecided-by: {edit.actor}"
    return f"{edit.proposal_id}: {subject}\n\n{lines}\n\n{reason}\n{sessions}\n"
