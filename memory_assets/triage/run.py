"""One triage: reads what a person decided, lets the rules decide what they can, writes MEMORY.md, then REVIEW.md.

Every decision is a ledger event before anything else happens, so a killed triage goes on where it stopped: decisions are a
fold of the ledger, lines are written for promotions that have none, and REVIEW.md is rendered from what still waits.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import polars as pl

from memory_assets.archive import Archive
from memory_assets.files import replace_if_same
from memory_assets.ledger import Ledger
from memory_assets.protocols import Tables
from memory_assets.triage.auto import Other, decide
from memory_assets.triage.decisions import (
    APPROVED,
    CLOCK,
    DECIDED,
    EDITED,
    EXPIRED,
    REJECTED,
    RULES,
    fold_decisions,
    is_expired,
    overrulable,
)
from memory_assets.triage.evidence import gather_evidence
from memory_assets.triage.human import Reading, dressed_like, read_notes, read_review, render_review
from memory_assets.triage.memory_md import Entry, read_entries
from memory_assets.triage.promote import ATTEMPTS, MEMORY_MD, Workspace, begin_file, carry_out, commits_of, plan_promotions
from memory_assets.triage.standing import read_standing

REVIEW_MD = "REVIEW.md"
TRIAGE_VERSION = "triage/2"


@dataclass(frozen=True)
class Rules:
    """What a triage needs to know beside the tables."""

    now: datetime
    owner: str
    review_days: int
    sections: Sequence[str]
    """Sections of MEMORY.md in their order."""
    guarded: frozenset[str]
    """Sections that only the owner's own words may enter, case-folded."""


@dataclass
class Heard:
    """What a person's REVIEW.md said: how many proposals of each kind of event, and what was odd about the file."""

    counts: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def hear_person(workspace: Workspace, ledger: Ledger, tables: Tables, rules: Rules) -> Heard:
    """Turns what a person changed in REVIEW.md into ledger events, and commits the file as they left it.

    What they save while it is being read is read too: only what was read is committed, so the rest is a change once more.
    """
    heard, path = Heard(), workspace.root / REVIEW_MD
    for _ in range(ATTEMPTS):
        there = path.read_bytes() if path.is_file() else None
        decisions = _decisions(tables, ledger, rules)
        waiting = dict(decisions.filter(pl.col("state") == "pending").select("proposal_id", "text").iter_rows())
        reading = read_review(_text(workspace.at_head(REVIEW_MD)), _text(there), waiting, overrulable(decisions))
        heard.warnings = [*dict.fromkeys([*heard.warnings, *reading.warnings])]
        if reading.is_undecided:
            return heard
        _say(reading, heard, ledger, rules.owner)
        workspace.commit_content("Edited by hand", {REVIEW_MD: there}, author=rules.owner)
        if (path.read_bytes() if path.is_file() else None) == there:
            return heard
    return heard


def _say(reading: Reading, heard: Heard, ledger: Ledger, owner: str) -> None:
    said: list[tuple[str, str, dict[str, Any]]] = [
        *((APPROVED, id, {"text": text} if text else {}) for id, text in reading.approved.items()),
        *((REJECTED, id, {"reason": "struck from REVIEW.md"}) for id in reading.rejected),
        *((EDITED, id, {"text": text}) for id, text in reading.edited.items()),
    ]
    for kind, proposal_id, payload in said:
        ledger.append(kind, proposal_id, {**payload, "surface": REVIEW_MD}, actor=owner)
        heard.counts[kind] = heard.counts.get(kind, 0) + 1


def decide_all(workspace: Workspace, ledger: Ledger, tables: Tables, rules: Rules) -> pl.DataFrame:
    """Lets rules and time decide what they can, as ledger events, and returns the table `decisions`."""
    standing, decisions = read_standing(tables), _decisions(tables, ledger, rules).to_dicts()
    path = workspace.root / MEMORY_MD
    entries = read_entries(_text(path.read_bytes()) or "") if path.is_file() else []
    entries += _unwritten(decisions, standing, entries)
    waiting: dict[str, str] = {}
    others = [other for row in decisions if (other := _other(row)).is_by_person and other.state == "rejected"]
    for decision in (row for row in decisions if row["state"] in ("pending", EXPIRED)):
        proposal = {**standing[decision["proposal_id"]], "text": decision["text"]}
        reason = _decide_one(proposal, decision, entries, others, ledger, rules)
        if reason is not None:
            waiting[decision["proposal_id"]] = reason
            others.append(_other(decision))
    return fold_decisions(tables.read("proposals"), ledger.events(), review_days=rules.review_days, waiting=waiting)


def write_memory(
    decisions: pl.DataFrame, workspace: Workspace, ledger: Ledger, tables: Tables, archive: Archive, rules: Rules
) -> list[str]:
    """Writes and commits a line of MEMORY.md for each promoted proposal that has none, and returns their ids."""
    begin_file(workspace)
    standing = read_standing(tables)
    promotions = plan_promotions(decisions.to_dicts(), standing, ledger.events(), commits_of(workspace))
    return carry_out(
        promotions,
        workspace,
        ledger,
        owner=rules.owner,
        order=rules.sections,
        evidence_of=lambda proposal_id: gather_evidence(standing[proposal_id], tables, archive),
    )


def write_review(decisions: pl.DataFrame, workspace: Workspace, rules: Rules) -> bool:
    """Renders what waits into REVIEW.md and commits it; returns False where a person changed the file meanwhile.

    Their change is then read at the next triage, from the file as they left it. What is committed is what was written and
    not what lies on disk by then: a box ticked in between stays a change that somebody made.
    """
    path = workspace.root / REVIEW_MD
    there, last = path.read_bytes() if path.is_file() else None, workspace.at_head(REVIEW_MD)
    if there is not None and there != last:
        return False
    pending = decisions.filter(pl.col("state") == "pending").sort("section", "proposal_id")
    rows = [{**row, "why": row["reason"]} for row in pending.iter_rows(named=True)]
    before = _text(last) or ""
    text = dressed_like(render_review(rows, updated=f"{rules.now:%Y-%m-%dT%H:%M:%SZ}", notes=read_notes(before)), before)
    if there is not None and _without_dates(text) == _without_dates(before):
        return True
    if not replace_if_same(path, there, text.encode()):
        return False
    asked = f"Ask about {len(rows)} proposal{'' if len(rows) == 1 else 's'}"
    workspace.commit_content(asked, {REVIEW_MD: text.encode()})
    return True


def _decide_one(
    proposal: Mapping[str, Any],
    decision: Mapping[str, Any],
    entries: list[Entry],
    others: Sequence[Other],
    ledger: Ledger,
    rules: Rules,
) -> str | None:
    """Appends a decision where there is one, else returns why the proposal waits; an expired one can only be promoted."""
    ruling = decide(proposal, entries, guarded=rules.guarded, others=others)
    if ruling.state == "pending" and is_expired(decision, rules.now):
        payload = {"state": EXPIRED, "tier": 3, "reason": f"nobody decided within {rules.review_days} days"}
        ledger.append(DECIDED, proposal["proposal_id"], payload, actor=CLOCK)
        return None
    if ruling.state == "pending" or (decision["state"] == EXPIRED and ruling.state != "promoted"):
        return ruling.reason if decision["state"] == "pending" else None
    ledger.append(DECIDED, proposal["proposal_id"], {"state": ruling.state, "tier": 1, "reason": ruling.reason}, actor=RULES)
    if ruling.state == "promoted":
        # So that a second proposal of the same round that says the same is merged and not promoted beside it.
        entries.append(Entry(0, proposal["section"], proposal["event_on"], proposal["text"]))
    return None


def _unwritten(
    decisions: Sequence[Mapping[str, Any]], standing: Mapping[str, Mapping[str, Any]], entries: Collection[Entry]
) -> list[Entry]:
    """Returns the entries of promotions that are decided and, the run having been killed or the tick new, not yet written."""
    known = {entry.text for entry in entries}
    return [
        Entry(0, row["section"], standing[row["proposal_id"]]["event_on"], row["text"])
        for row in decisions
        if row["state"] == "promoted" and row["text"] not in known
    ]


def _other(decision: Mapping[str, Any]) -> Other:
    return Other(decision["proposal_id"], decision["text"], decision["state"], decision["tier"] == 3)


def _decisions(tables: Tables, ledger: Ledger, rules: Rules) -> pl.DataFrame:
    return fold_decisions(tables.read("proposals"), ledger.events(), review_days=rules.review_days)


def _without_dates(text: str) -> str:
    return "\n".join(
        line for line in text.splitlines() if not line.startswith(("_Last updated: ", "_Reviewed by Reflector on "))
    )


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")
