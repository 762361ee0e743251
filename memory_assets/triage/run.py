"""One triage: reads what a person decided, lets the rules decide what they can, writes MEMORY.md, then REVIEW.md.

Every decision is a ledger event before anything else happens, so a killed triage goes on where it stopped: decisions are a
fold of the ledger, lines are written for promotions that have none, and REVIEW.md is rendered from what still waits.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import polars as pl

from memory_assets.archive import Archive
from memory_assets.files import replace_if_same, write_atomically
from memory_assets.ledger import Ledger
from memory_assets.protocols import Tables
from memory_assets.triage.auto import decide
from memory_assets.triage.decisions import APPROVED, DECIDED, EDITED, REJECTED, RULES, fold_decisions, is_expired
from memory_assets.triage.evidence import gather_evidence
from memory_assets.triage.human import Reading, hand_written, read_review, render_review
from memory_assets.triage.memory_md import NEW_FILE, Entry, read_entries
from memory_assets.triage.promote import ATTEMPTS, MEMORY_MD, Workspace, carry_out, plan_promotions

REVIEW_MD = "REVIEW.md"
TRIAGE_VERSION = "triage/1"


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

    What they save while it is being read is read too: the commit is compared with what was read.
    """
    heard, base, path = Heard(), workspace.at_head(REVIEW_MD), workspace.root / REVIEW_MD
    for _ in range(ATTEMPTS):
        there = path.read_bytes() if path.is_file() else None
        reading = read_review(_text(base), _text(there))
        heard.warnings = list(reading.warnings)
        _say(reading, heard, ledger, tables, rules)
        if reading.is_undecided:
            return heard
        workspace.commit_by_hand([REVIEW_MD], rules.owner)
        if workspace.at_head(REVIEW_MD) == there:
            return heard
        base = there
    return heard


def _say(reading: Reading, heard: Heard, ledger: Ledger, tables: Tables, rules: Rules) -> None:
    waiting = set(_decisions(tables, ledger, rules).filter(pl.col("state") == "pending")["proposal_id"])
    said = [
        *((APPROVED, id, {"text": text}) for id, text in reading.approved.items()),
        *((REJECTED, id, {"reason": "struck from REVIEW.md"}) for id in reading.rejected),
        *((EDITED, id, {"text": text}) for id, text in reading.edited.items()),
    ]
    for kind, proposal_id, payload in said:
        if proposal_id in waiting:
            ledger.append(kind, proposal_id, {**payload, "surface": REVIEW_MD}, actor=rules.owner)
            heard.counts[kind] = heard.counts.get(kind, 0) + 1


def decide_all(workspace: Workspace, ledger: Ledger, tables: Tables, rules: Rules) -> pl.DataFrame:
    """Lets rules and time decide what they can, as ledger events, and returns the table `decisions`."""
    proposals = {row["proposal_id"]: row for row in tables.read("proposals").iter_rows(named=True)}
    known = _memories_behind(proposals.values(), tables)
    path = workspace.root / MEMORY_MD
    entries = read_entries(_text(path.read_bytes()) or "") if path.is_file() else []
    waiting: dict[str, str] = {}
    for decision in _decisions(tables, ledger, rules).filter(pl.col("state") == "pending").iter_rows(named=True):
        proposal = {**_as_known_now(proposals[decision["proposal_id"]], known), "text": decision["text"]}
        reason = _decide_one(proposal, decision, entries, ledger, rules)
        if reason is not None:
            waiting[decision["proposal_id"]] = reason
    return fold_decisions(tables.read("proposals"), ledger.events(), review_days=rules.review_days, waiting=waiting)


def write_memory(
    decisions: pl.DataFrame, workspace: Workspace, ledger: Ledger, tables: Tables, archive: Archive, rules: Rules
) -> list[str]:
    """Writes and commits a line of MEMORY.md for each promoted proposal that has none, and returns their ids."""
    path = workspace.root / MEMORY_MD
    if not path.exists() and workspace.at_head(MEMORY_MD) is None:
        write_atomically(path, NEW_FILE.encode())
        workspace.commit("Begin MEMORY.md", [MEMORY_MD])
    proposals = {row["proposal_id"]: row for row in tables.read("proposals").iter_rows(named=True)}
    known = _memories_behind(proposals.values(), tables)
    proposals = {proposal_id: _as_known_now(row, known) for proposal_id, row in proposals.items()}
    promotions = plan_promotions(decisions.to_dicts(), proposals, ledger.events())
    return carry_out(
        promotions,
        workspace,
        ledger,
        owner=rules.owner,
        order=rules.sections,
        evidence_of=lambda proposal_id: gather_evidence(proposals[proposal_id], tables, archive),
    )


def write_review(decisions: pl.DataFrame, workspace: Workspace, rules: Rules) -> bool:
    """Renders what waits into REVIEW.md and commits it; returns False where a person changed the file meanwhile.

    Their change is then read at the next triage, from the file as they left it.
    """
    path = workspace.root / REVIEW_MD
    there = path.read_bytes() if path.is_file() else None
    last = workspace.at_head(REVIEW_MD)
    if there is not None and there != last:
        return False
    pending = decisions.filter(pl.col("state") == "pending").sort("section", "proposal_id")
    rows = [{**row, "why": row["reason"]} for row in pending.iter_rows(named=True)]
    text = render_review(rows, updated=f"{rules.now:%Y-%m-%dT%H:%M:%SZ}", notes=hand_written(_text(last) or ""))
    if last is not None and _without_date(text) == _without_date(_text(last) or ""):
        return True
    if not replace_if_same(path, there, text.encode()):
        return False
    workspace.commit(f"Ask about {len(rows)} proposal{'' if len(rows) == 1 else 's'}", [REVIEW_MD])
    return True


def _decide_one(
    proposal: Mapping[str, Any], decision: Mapping[str, Any], entries: list[Entry], ledger: Ledger, rules: Rules
) -> str | None:
    """Appends a decision where there is one, else returns why the proposal waits."""
    if is_expired(decision, rules.now):
        payload = {"state": "expired", "tier": 3, "reason": f"nobody decided within {rules.review_days} days"}
        ledger.append(DECIDED, proposal["proposal_id"], payload, actor="clock")
        return None
    ruling = decide(proposal, entries, guarded=rules.guarded)
    if ruling.state == "pending":
        return ruling.reason
    ledger.append(DECIDED, proposal["proposal_id"], {"state": ruling.state, "tier": 1, "reason": ruling.reason}, actor=RULES)
    if ruling.state == "promoted":
        # So that a second proposal of the same round that says the same is merged and not promoted beside it.
        entries.append(Entry(0, proposal["section"], proposal["event_on"], proposal["text"]))
    return None


def _memories_behind(proposals: Iterable[Mapping[str, Any]], tables: Tables) -> dict[str, Mapping[str, Any]]:
    """Returns the present memory of each proposal, by the id it was proposed under."""
    wanted = [proposal["memory_id"] for proposal in proposals]
    columns = ["observation_ids", "session_ids", "confidence", "author", "state"]
    found = tables.read("memories", columns=columns).with_columns(member=pl.col("observation_ids")).explode("member")
    return {row["member"]: row for row in found.filter(pl.col("member").is_in(wanted)).iter_rows(named=True)}


def _as_known_now(proposal: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the proposal with what has confirmed, or replaced, its memory since it was proposed."""
    memory = known.get(proposal["memory_id"])
    if memory is None:
        return {**proposal, "state": "active"}
    return {**proposal, **memory}


def _decisions(tables: Tables, ledger: Ledger, rules: Rules) -> pl.DataFrame:
    return fold_decisions(tables.read("proposals"), ledger.events(), review_days=rules.review_days)


def _without_date(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith("_Last updated: "))


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")
