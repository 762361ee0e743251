"""Carries decisions out: lines of MEMORY.md, its commits, and the evidence that explains each line for ever.

What lies on disk is committed as written by hand before anything is changed; a line is inserted into exactly what is there,
written beside, and swapped in only if the file is still the one that was read, else everything begins anew. Evidence is
gathered first, then come the file, the commit and the ledger, in this order: killed between any two of them, the next run
finds a line (and commits it as ours), or our commit (and records it), or neither (and begins). A line that a person removed
after its commit stays removed; one that the history never saw (the workspace was lost) is written again.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from memory_assets.errors import ReviewError, TranscriptError
from memory_assets.files import replace_if_same
from memory_assets.ledger import Event, Ledger
from memory_assets.triage.memory_md import NEW_FILE, insert, normal, read_entries, render_entry

MEMORY_MD = "MEMORY.md"
PROMOTED = "entry.promoted"
ATTEMPTS = 5
_SUBJECT = re.compile(r"^(p-\d{8}-\d{3,}): add to ")


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
class Promotion:
    """One line to be written."""

    proposal_id: str
    section: str
    line: str
    reason: str
    actor: str
    session_ids: tuple[str, ...]


def plan_promotions(
    decisions: Sequence[Mapping[str, Any]],
    proposals: Mapping[str, Mapping[str, Any]],
    events: Sequence[Event],
    committed: Collection[str],
) -> list[Promotion]:
    """Returns the promoted proposals without a recorded entry that is in the history, in order of their ids.

    `committed` are the proposals whose line a commit of ours brought; a line that a person had written has no such commit.
    """
    recorded = {event.target: event.payload["commit"] for event in events if event.kind == PROMOTED}
    done = {id for id, commit in recorded.items() if commit is None or id in committed}
    return [
        Promotion(
            proposal_id=row["proposal_id"],
            section=row["section"],
            line=render_entry(proposals[row["proposal_id"]]["event_on"], row["text"]),
            reason=row["reason"],
            actor=row["actor"],
            session_ids=tuple(proposals[row["proposal_id"]]["session_ids"]),
        )
        for row in sorted(decisions, key=lambda row: row["proposal_id"])
        if row["state"] == "promoted" and row["proposal_id"] not in done and row["proposal_id"] in proposals
    ]


def commits_of(workspace: Workspace) -> dict[str, str]:
    """Returns the commits of ours that brought a promotion's line, by proposal."""
    found = ((_SUBJECT.match(commit.message), commit) for commit in workspace.history(MEMORY_MD) if commit.is_ours)
    return {subject[1]: commit.id for subject, commit in found if subject}


def begin_file(workspace: Workspace) -> None:
    """Makes MEMORY.md where there never was one; one that vanished comes back as last committed."""
    if (workspace.root / MEMORY_MD).exists():
        return
    if workspace.at_head(MEMORY_MD) is None:
        workspace.commit_content("Begin MEMORY.md", {MEMORY_MD: NEW_FILE.encode()})
    workspace.restore([MEMORY_MD])


def carry_out(
    promotions: Sequence[Promotion],
    workspace: Workspace,
    ledger: Ledger,
    *,
    owner: str,
    order: Sequence[str],
    evidence_of: Callable[[str], dict[str, Any]],
) -> list[str]:
    """Writes each line, commits it, records it with its evidence, and returns the ids of the proposals promoted.

    One whose evidence cannot be read keeps no other one waiting; its error is raised when the others are done.
    """
    begin_file(workspace)
    commits = commits_of(workspace) if promotions else {}
    for promotion in promotions:
        if promotion.proposal_id not in commits and (commit := _commit_left_over(promotion, workspace, order)):
            commits[promotion.proposal_id] = commit
    workspace.commit_by_hand([MEMORY_MD], owner)
    unreadable: list[TranscriptError] = []
    for promotion in promotions:
        try:
            evidence = evidence_of(promotion.proposal_id)
        except TranscriptError as error:
            unreadable.append(error)
            continue
        commit = commits.get(promotion.proposal_id) or _write_line(promotion, workspace, owner, order)
        payload = {"section": promotion.section, "line": promotion.line, "commit": commit, **evidence}
        ledger.append(PROMOTED, promotion.proposal_id, payload, actor=promotion.actor)
    if unreadable:
        raise unreadable[0]
    return [promotion.proposal_id for promotion in promotions]


def lost_lines(before: bytes, after: bytes) -> list[bytes]:
    """Returns the lines of the file that are not there afterwards, in order (an insertion loses none)."""
    rest = iter(after.splitlines())
    return [line for line in before.splitlines() if not any(line == other for other in rest)]


def _commit_left_over(promotion: Promotion, workspace: Workspace, order: Sequence[str]) -> str | None:
    """Commits a line that a killed run wrote and did not commit, so that it does not pass for a person's."""
    there, last = (workspace.root / MEMORY_MD).read_bytes(), workspace.at_head(MEMORY_MD) or b""
    if promotion.line.encode() not in there or _is_there(last, promotion.line):
        return None
    return workspace.commit_content(_message(promotion), {MEMORY_MD: insert(last, promotion.section, promotion.line, order)})


def _write_line(promotion: Promotion, workspace: Workspace, owner: str, order: Sequence[str]) -> str | None:
    """Inserts the line into what is there and commits that; returns None where a person had written it already."""
    path = workspace.root / MEMORY_MD
    for _ in range(ATTEMPTS):
        content = path.read_bytes() if path.is_file() else None
        workspace.commit_content("Edited by hand", {MEMORY_MD: content}, author=owner)
        if _is_there(content or b"", promotion.line):
            return None
        changed = insert(content or b"", promotion.section, promotion.line, order)
        if replace_if_same(path, content, changed):
            return workspace.commit_content(_message(promotion), {MEMORY_MD: changed})
    raise ReviewError(
        f"{path} changed {ATTEMPTS} times while {promotion.proposal_id} was being written. Save it, then run `memory review`."
    )


def _is_there(content: bytes, line: str) -> bool:
    wanted = normal(read_entries(line)[0].text)
    return any(normal(entry.text) == wanted for entry in read_entries(content.decode("utf-8", "replace")))


def _message(promotion: Promotion) -> str:
    sessions = "\n".join(f"Session: {session}" for session in promotion.session_ids)
    reason = f"Reason: {promotion.reason}\nDecided-by: {promotion.actor}"
    return f"{promotion.proposal_id}: add to {promotion.section}\n\n{promotion.line}\n\n{reason}\n{sessions}\n"
