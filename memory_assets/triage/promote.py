"""Carries decisions out: lines of MEMORY.md, its commits, and the evidence that explains each line for ever.

What lies on disk is committed as written by hand before anything is changed; a line is inserted into exactly what is there,
written beside, and swapped in only if the file is still the one that was read, else everything begins anew. Killed between
any two writes, the next run finds either the line (and records it) or no line (and writes it).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from memory_assets.errors import ReviewError
from memory_assets.files import replace_if_same
from memory_assets.ledger import Event, Ledger
from memory_assets.triage.memory_md import insert, normal, read_entries, render_entry

MEMORY_MD = "MEMORY.md"
PROMOTED = "entry.promoted"
ATTEMPTS = 5


class Workspace(Protocol):
    """What promotion needs of the repository."""

    root: Path

    def commit(self, message: str, paths: Sequence[str], *, author: str | None = None) -> str | None: ...  # noqa: D102
    def commit_by_hand(self, paths: Sequence[str], owner: str) -> str | None: ...  # noqa: D102
    def at_head(self, path: str) -> bytes | None: ...  # noqa: D102


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
    decisions: Sequence[Mapping[str, Any]], proposals: Mapping[str, Mapping[str, Any]], events: Sequence[Event]
) -> list[Promotion]:
    """Returns the promoted proposals that no entry was recorded for, in order of their ids."""
    done = {event.target for event in events if event.kind == PROMOTED}
    return [
        Promotion(
            proposal_id=row["proposal_id"],
            section=row["section"],
            line=render_entry(_event_on(proposals[row["proposal_id"]]), row["text"]),
            reason=row["reason"],
            actor=row["actor"],
            session_ids=tuple(proposals[row["proposal_id"]]["session_ids"]),
        )
        for row in sorted(decisions, key=lambda row: row["proposal_id"])
        if row["state"] == "promoted" and row["proposal_id"] not in done and row["proposal_id"] in proposals
    ]


def carry_out(
    promotions: Sequence[Promotion],
    workspace: Workspace,
    ledger: Ledger,
    *,
    owner: str,
    order: Sequence[str],
    evidence_of: Callable[[str], dict[str, Any]],
) -> list[str]:
    """Writes each line, commits it, records it with its evidence, and returns the ids of the proposals promoted."""
    path = workspace.root / MEMORY_MD
    workspace.commit_by_hand([MEMORY_MD], owner)
    for promotion in promotions:
        _insert_line(path, promotion, workspace, owner, order)
        commit = workspace.commit(_message(promotion), [MEMORY_MD])
        ledger.append(
            PROMOTED,
            promotion.proposal_id,
            {"section": promotion.section, "line": promotion.line, "commit": commit, **evidence_of(promotion.proposal_id)},
            actor=promotion.actor,
        )
    return [promotion.proposal_id for promotion in promotions]


def lost_lines(before: bytes, after: bytes) -> list[bytes]:
    """Returns the lines of the file that are not there afterwards, in order (an insertion loses none)."""
    rest = iter(after.splitlines())
    return [line for line in before.splitlines() if not any(line == other for other in rest)]


def _insert_line(path: Path, promotion: Promotion, workspace: Workspace, owner: str, order: Sequence[str]) -> None:
    for _ in range(ATTEMPTS):
        content = path.read_bytes() if path.is_file() else None
        if _is_there(content or b"", promotion.line):
            return
        if replace_if_same(path, content, insert(content or b"", promotion.section, promotion.line, order)):
            return
        workspace.commit_by_hand([MEMORY_MD], owner)
    raise ReviewError(
        f"{path} changed {ATTEMPTS} times while {promotion.proposal_id} was being written. Save it, then run `memory review`."
    )


def _is_there(content: bytes, line: str) -> bool:
    wanted = read_entries(line)[0]
    return any(
        e.on == wanted.on and normal(e.text) == normal(wanted.text) for e in read_entries(content.decode("utf-8", "replace"))
    )


def _message(promotion: Promotion) -> str:
    subject = f"{promotion.proposal_id}: add to {promotion.section}"
    sessions = "\n".join(f"Session: {session}" for session in promotion.session_ids)
    return f"{subject}\n\n{promotion.line}\n\nReason: {promotion.reason}\nDecided-by: {promotion.actor}\n{sessions}\n"


def _event_on(proposal: Mapping[str, Any]) -> date:
    return proposal["event_on"]
