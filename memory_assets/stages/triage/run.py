"""One triage: reads what a person decided, lets the rules decide what they can, writes MEMORY.md, then REVIEW.md.

Every decision is a ledger event before anything else happens, so a killed triage goes on where it stopped: decisions are a
fold of the ledger, lines are written for promotions that have none, and REVIEW.md is rendered from what still waits.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from typing import Any

import polars as pl

from memory_assets.schema.protocols import Tables
from memory_assets.schema.records import MEMORY_MD
from memory_assets.schema.tables import version_of
from memory_assets.stages.distill.rows import text_hash
from memory_assets.stages.friction.review import Shown
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage.amendments import number_amendments, plan_amendments, plan_retirements, read_amendments
from memory_assets.stages.triage.auto import (
    Other,
    Ruling,
    decide,
    decide_amendment,
    decide_friction,
    follow_review,
    is_friction,
)
from memory_assets.stages.triage.batch import unreviewed
from memory_assets.stages.triage.decisions import (
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
from memory_assets.stages.triage.entries import Standing, entry_rows, stand_entries
from memory_assets.stages.triage.evidence import gather_evidence
from memory_assets.stages.triage.human import Reading, dressed_like, read_notes, read_review, render_review, shown_text
from memory_assets.stages.triage.memory_md import Entry, read_entries, render_entry
from memory_assets.stages.triage.pasted import pasted_observations
from memory_assets.stages.triage.patches import PATCHED, write_patch
from memory_assets.stages.triage.projects import memory_files, path_of, plan_homes, plan_moves, project_of
from memory_assets.stages.triage.promote import (
    MOVED,
    PROMOTED,
    RETIRED,
    Workspace,
    begin_file,
    carry_out,
    commit_left_over_moves,
    commits_of,
    move,
    plan_edits,
)
from memory_assets.stages.triage.standing import read_proposals, read_standing
from memory_assets.stages.triage.trust import read_trust, trusted_in
from memory_assets.store.archive import Archive
from memory_assets.store.ledger import Ledger
from memory_assets.text.files import bytes_of, replace_if_same

REVIEW_MD = "REVIEW.md"
TRIAGE_VERSION = version_of("decisions")
LOOK_AGAIN_SECONDS = 5.0
"""A file that is the same in two looks so far apart is not being saved just now."""


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
    trust_after: int = 0
    """Points from which a category's high-priority proposals need no tick; 0: never."""
    zone: tzinfo = UTC
    """The owner's zone, for the dates of entries."""

    @property
    def today(self) -> date:
        """The local day."""
        return self.now.astimezone(self.zone).date()


@dataclass
class Heard:
    """What a person said on a surface: how many proposals of each kind of event, and what was odd about it."""

    counts: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Surface:
    """REVIEW.md as it lies there, what it decides, and which of its proposals ask whether a line may go."""

    content: bytes | None
    reading: Reading
    going: frozenset[str]


def look(workspace: Workspace, wait: Callable[[float], None] = time.sleep) -> bytes | None:
    """Returns REVIEW.md as it lies there, and where a person changed it, takes the time for a second look to differ."""
    there = bytes_of(workspace.root / REVIEW_MD)
    if there != workspace.at_head(REVIEW_MD):
        wait(LOOK_AGAIN_SECONDS)
    return there


def read_surface(workspace: Workspace, ledger: Ledger, tables: Tables, rules: Rules) -> Surface:
    """Returns what a person decided in REVIEW.md since we last wrote it or read it."""
    there = bytes_of(workspace.root / REVIEW_MD)
    decisions = read_decisions(tables, ledger, rules)
    pending = decisions.filter(pl.col("state") == "pending").to_dicts()
    waiting = {row["proposal_id"]: shown_text(row) for row in pending}
    reading = read_review(_text(workspace.at_head(REVIEW_MD)), _text(there), waiting, overrulable(decisions))
    return Surface(there, reading, frozenset(row["proposal_id"] for row in pending if not row["text"]))


def hear_person(workspace: Workspace, ledger: Ledger, tables: Tables, rules: Rules, seen: bytes | None) -> Heard:
    """Turns what a person changed in REVIEW.md into ledger events, and commits the file as they left it.

    `seen` is the file as it lay there at an earlier look; another one by now is being edited, and decides nothing yet. Only
    what was read is committed, so that whatever is saved meanwhile is a change once more.
    """
    surface = read_surface(workspace, ledger, tables, rules)
    heard = Heard(warnings=list(surface.reading.warnings))
    if surface.content != seen:
        return Heard(warnings=["REVIEW.md is being edited; what it says is read at the next triage."])
    if not surface.reading.is_undecided:
        say(surface.reading, heard, ledger, rules.owner, REVIEW_MD, going=surface.going)
        workspace.commit_content("Edited by hand", {REVIEW_MD: surface.content}, author=rules.owner)
    return heard


def say(reading: Reading, heard: Heard, ledger: Ledger, owner: str, surface: str, *, going: Collection[str] = ()) -> None:
    """Appends what was decided on a surface; a line that is to go (`going`) cannot be reworded: that decides nothing."""
    said: list[tuple[str, str, dict[str, Any]]] = [
        *((APPROVED, id, {"text": text} if text else {}) for id, text in reading.approved.items()),
        *((REJECTED, id, {"reason": f"struck from {surface}"}) for id in reading.rejected),
        *((EDITED, id, {"text": text}) for id, text in reading.edited.items()),
    ]
    for kind, proposal_id, payload in said:
        if proposal_id in going and "text" in payload:
            heard.warnings.append(f"{surface} rewords {proposal_id}, which asks whether its line may go; it was not decided.")
            continue
        ledger.append(kind, proposal_id, {**payload, "surface": surface}, actor=owner)
        heard.counts[kind] = heard.counts.get(kind, 0) + 1


def amend(workspace: Workspace, ledger: Ledger, tables: Tables, rules: Rules) -> pl.DataFrame:
    """Gives numbers to the changes that entries of MEMORY.md ask for by now, and returns the table `amendments`."""
    dated = _merged(tables, ledger, rules).join(tables.read("proposals", columns=["proposal_id", "event_on"]), on="proposal_id")
    standings = stand(workspace, ledger, tables, rules)
    events, memories = ledger.events(), tables.read("memories")
    sizes = {path: len(read_memory(workspace, path).encode()) for path in memory_files(workspace.root)}
    planned = [
        one
        for path, size in sizes.items()
        for one in plan_amendments([s for s in standings if s.path == path], size, memories, events, dated, rules.zone)
    ]
    for number, payload in number_amendments(planned, events, rules.today):
        ledger.append(NUMBERED, number, payload, actor=RULES)
    return read_amendments(ledger.events([NUMBERED]))


def retire(proposal_ids: Collection[str], workspace: Workspace, ledger: Ledger, tables: Tables, rules: Rules) -> None:
    """Has the lines of these proposals go with the next triage, by the owner's word."""
    planned = plan_retirements(stand(workspace, ledger, tables, rules), proposal_ids)
    for number, payload in number_amendments(planned, ledger.events(), rules.today):
        ledger.append(NUMBERED, number, payload, actor=rules.owner)


def stand(workspace: Workspace, ledger: Ledger, tables: Tables, rules: Rules) -> list[Standing]:
    """Returns how each entry of MEMORY.md and of the projects' files stands now."""
    merged = _merged(tables, ledger, rules).to_dicts()
    events, memories = ledger.events([PROMOTED]), tables.read("memories")
    return [
        one
        for path in memory_files(workspace.root)
        for one in stand_entries(read_memory(workspace, path), events, memories, merged, path)
    ]


def list_entries(workspace: Workspace, ledger: Ledger, tables: Tables, rules: Rules) -> pl.DataFrame:
    """Returns the table `entries`."""
    return entry_rows(stand(workspace, ledger, tables, rules))


def earn_trust(ledger: Ledger, tables: Tables, rules: Rules) -> pl.DataFrame:
    """Returns the table `trust`."""
    proposed = [row for row in read_proposals(tables).iter_rows(named=True) if not is_friction(row)]
    return read_trust(proposed, ledger.events([APPROVED, REJECTED]), rules.trust_after)


def waits_for_review(tables: Tables, reviews: pl.DataFrame) -> list[dict[str, Any]]:
    """Returns the proposals that rules left to a person and that no model has seen, with what they rest on; no frictions."""
    standing = read_standing(tables)
    pending = tables.read("decisions").filter(pl.col("state") == "pending").sort("proposal_id")
    rows = unreviewed((row for row in pending.iter_rows(named=True) if not is_friction(row)), reviews)
    return [{**standing[row["proposal_id"]], "text": row["text"]} for row in rows if row["proposal_id"] in standing]


def read_memory(workspace: Workspace, path: str = MEMORY_MD) -> str:
    """Returns MEMORY.md, or a project's file, as it lies on disk; empty where there is none."""
    return _text(bytes_of(workspace.root / path)) or ""


def decide_all(workspace: Workspace, ledger: Ledger, tables: Tables, rules: Rules) -> pl.DataFrame:
    """Lets rules and time decide what they can, as ledger events, and returns the table `decisions`."""
    standing, decisions = read_standing(tables), read_decisions(tables, ledger, rules).to_dicts()
    written = {path: read_entries(read_memory(workspace, path)) for path in memory_files(workspace.root)}
    lines = frozenset().union(*(_lines(workspace, path) for path in written))
    unwritten = _unwritten(decisions, standing, lines)
    waiting: dict[str, str] = {}
    reviews = {row["proposal_id"]: row for row in tables.read("model_reviews").iter_rows(named=True)}
    trusted = trusted_in(earn_trust(ledger, tables, rules))
    others = [other for row in decisions if (other := _other(row)).is_by_person and other.state == "rejected"]
    frictions = [_other(row) for row in decisions if is_friction(row) and row["state"] == "pending"]
    typed = _typed(decisions, standing, tables)
    # What is said again and again comes last: where rules promote a proposal that says it, nobody has to be asked.
    for decision in sorted((row for row in decisions if row["state"] in ("pending", EXPIRED)), key=is_friction):
        proposal = standing[decision["proposal_id"]]
        proposal = {**proposal, "text": decision["text"], "said": proposal["text"], **typed.get(decision["proposal_id"], {})}
        is_amendment = decision["entry"] is not None
        project = project_of(proposal)
        own = written.get(path_of(project), []) if project else []
        entries = [*written[MEMORY_MD], *own, *(entry for other, entry in unwritten if other in ("", project))]
        if is_friction(decision):
            ruling = decide_friction(proposal, lines, decisions, entries)
        elif is_amendment:
            ruling = decide_amendment(proposal, lines)
        else:
            ruling = decide(proposal, entries, guarded=rules.guarded, others=others, frictions=frictions, trusted=trusted)
        review = reviews.get(decision["proposal_id"])
        if ruling.state == "pending" and review and review["text_hash"] == text_hash(decision["text"]):
            ruling = follow_review(review, proposal, rules.guarded)
        reason = _settle(ruling, decision["proposal_id"], decision, ledger, rules)
        if ruling.state == "promoted" and not is_amendment:
            # So that a second proposal of the same round that says the same is merged and not promoted beside it.
            entry = Entry(0, proposal["section"], proposal["event_on"], ruling.text or proposal["text"])
            unwritten.append((project, entry))
        if reason is not None:
            waiting[decision["proposal_id"]] = reason
            others.append(_other(decision))
    return fold_decisions(read_proposals(tables), ledger.events(), review_days=rules.review_days, waiting=waiting)


def write_memory(
    decisions: pl.DataFrame,
    workspace: Workspace,
    ledger: Ledger,
    tables: Tables,
    archive: Archive,
    rules: Rules,
    *,
    files: Collection[str] | None = None,
) -> list[str]:
    """Makes and commits each promoted edit of the files, or of all, that was not made yet; returns the ids of its proposals."""
    begin_file(workspace)
    standing, events = read_standing(tables), ledger.events([PROMOTED, RETIRED])
    rows = [row for row in decisions.to_dicts() if standing[row["proposal_id"]].get("target", MEMORY_MD) == MEMORY_MD]
    promotions = [event for event in events if event.kind == PROMOTED]
    added = sorted(row["proposal_id"] for row in rows if row["state"] == "promoted" and row["entry"] is None)
    homes = plan_homes([id for id in added if id in standing], standing, promotions)
    places = {line: path for path in memory_files(workspace.root) for line in _lines(workspace, path)}
    moved = {event.target for event in ledger.events([MOVED])}
    commit_left_over_moves(plan_moves(standing, promotions, moved), workspace, rules.sections)
    edits = [
        edit
        for edit in plan_edits(rows, standing, events, commits_of(workspace), homes, places)
        if files is None or edit.path in files
    ]
    done = carry_out(
        edits,
        workspace,
        ledger,
        owner=rules.owner,
        order=rules.sections,
        evidence_of=lambda proposal_id: gather_evidence(standing[proposal_id], tables, archive),
    )
    moves = [one for one in plan_moves(standing, ledger.events([PROMOTED]), moved) if files is None or one.path in files]
    lines = {path: _lines(workspace, path) for path in memory_files(workspace.root)}
    move(moves, lines, workspace, ledger, owner=rules.owner, order=rules.sections)
    return done


def write_approved_patches(
    decisions: pl.DataFrame, workspace: Workspace, ledger: Ledger, tables: Tables, archive: Archive
) -> list[str]:
    """Writes a patch for each approved change of another file than MEMORY.md that has none, and returns their ids."""
    approved = {row["proposal_id"]: row for row in decisions.filter(pl.col("state") == "promoted").iter_rows(named=True)}
    written = {event.target for event in ledger.events([PATCHED])}
    waiting = tables.read("friction").filter((pl.col("target") != MEMORY_MD) & pl.col("proposal_id").is_in(list(approved)))
    frictions = [row for row in waiting.iter_rows(named=True) if row["proposal_id"] not in written]
    for friction in frictions:
        decision = approved[friction["proposal_id"]]
        path = write_patch(friction, decision["text"], workspace)
        payload = {"section": friction["section"], "target": friction["target"], "patch": path, "line": decision["text"]}
        evidence = gather_evidence(friction, tables, archive)
        ledger.append(PATCHED, friction["proposal_id"], {**payload, **evidence}, actor=decision["actor"])
    return [friction["proposal_id"] for friction in frictions]


def write_review(decisions: pl.DataFrame, workspace: Workspace, rules: Rules, shown: Mapping[str, Shown] | None = None) -> bool:
    """Renders what waits into REVIEW.md and commits it; returns False where a person changed the file meanwhile.

    Their change is then read at the next triage, from the file as they left it. What is committed is what was written and
    not what lies on disk by then: a box ticked in between stays a change that somebody made. `shown` tells what stands around
    a friction.
    """
    path = workspace.root / REVIEW_MD
    there, last = bytes_of(path), workspace.at_head(REVIEW_MD)
    if there is not None and there != last:
        return False
    pending = decisions.filter(pl.col("state") == "pending").sort("section", "proposal_id")
    around = {id: {"heading": one.heading, "why": one.why, "details": one.details} for id, one in (shown or {}).items()}
    rows = [{**row, "why": row["reason"], **around.get(row["proposal_id"], {})} for row in pending.iter_rows(named=True)]
    before = _text(last) or ""
    text = dressed_like(render_review(rows, updated=f"{rules.now:%Y-%m-%dT%H:%M:%SZ}", notes=read_notes(before)), before)
    if there is not None and _without_dates(text) == _without_dates(before):
        return True
    if not replace_if_same(path, there, text.encode()):
        return False
    asked = f"Ask about {len(rows)} proposal{'' if len(rows) == 1 else 's'}"
    workspace.commit_content(asked, {REVIEW_MD: text.encode()})
    return True


def session_days(tables: Tables) -> dict[str, date]:
    """Returns the latest local day of each session."""
    days = tables.read("sessions", columns=["session_id", "day"])
    return dict(days.group_by("session_id").agg(pl.col("day").max()).iter_rows())


def _typed(
    decisions: Sequence[Mapping[str, Any]], standing: Mapping[str, Mapping[str, Any]], tables: Tables
) -> dict[str, dict[str, list[str]]]:
    """Returns, by proposal that waits to be added, the sessions that say it outside pasted text (`typed_session_ids`)."""
    waiting = {
        row["proposal_id"]: standing[row["proposal_id"]]["observation_ids"]
        for row in decisions
        if row["state"] in ("pending", EXPIRED) and row["entry"] is None and not is_friction(row)
    }
    behind = {id for ids in waiting.values() for id in ids}
    pasted = pasted_observations(behind, tables)
    rows = tables.scan("observations").filter(pl.col("id").is_in(list(behind))).select("id", "session_id").collect()
    session_of = dict(rows.iter_rows())
    return {
        proposal_id: {
            "typed_session_ids": list(dict.fromkeys(session_of[id] for id in ids if id in session_of and id not in pasted))
        }
        for proposal_id, ids in waiting.items()
        if pasted.intersection(ids)
    }


def _settle(ruling: Ruling, proposal_id: str, decision: Mapping[str, Any], ledger: Ledger, rules: Rules) -> str | None:
    """Appends a decision where there is one, else returns why the proposal waits; an expired one can only be promoted."""
    if ruling.state == "pending" and is_expired(decision, rules.now):
        payload = {"state": EXPIRED, "tier": 3, "reason": f"nobody decided within {rules.review_days} days"}
        ledger.append(DECIDED, proposal_id, payload, actor=CLOCK)
        return None
    if ruling.state == "pending" or (decision["state"] == EXPIRED and ruling.state != "promoted"):
        return ruling.reason if decision["state"] == "pending" else None
    said = {name: value for name, value in (("entry", ruling.entry), ("text", ruling.text)) if value}
    payload = {"state": ruling.state, "tier": ruling.tier, "reason": ruling.reason, "version": TRIAGE_VERSION, **said}
    ledger.append(DECIDED, proposal_id, payload, actor=ruling.actor)
    return None


def _lines(workspace: Workspace, path: str) -> frozenset[str]:
    """Returns the entries of the file as they are written."""
    return frozenset(render_entry(entry.on, entry.text) for entry in read_entries(read_memory(workspace, path)))


def _unwritten(
    decisions: Sequence[Mapping[str, Any]], standing: Mapping[str, Mapping[str, Any]], lines: Collection[str]
) -> list[tuple[str, Entry]]:
    """Returns the entries of promotions that no file holds, with their projects: not written yet, or removed by a person."""
    promoted = [row for row in decisions if row["state"] == "promoted" and row["entry"] is None]
    found = [
        (project_of(proposal), Entry(0, row["section"], proposal["event_on"], row["text"]))
        for row in promoted
        if (proposal := standing.get(row["proposal_id"]))
    ]
    return [(project, entry) for project, entry in found if render_entry(entry.on, entry.text) not in lines]


def _other(decision: Mapping[str, Any]) -> Other:
    return Other(decision["proposal_id"], decision["text"], decision["state"], decision["tier"] == 3)


def read_decisions(tables: Tables, ledger: Ledger, rules: Rules) -> pl.DataFrame:
    """Returns how each proposal stands by what the ledger says now."""
    return fold_decisions(read_proposals(tables), ledger.events(), review_days=rules.review_days)


def _merged(tables: Tables, ledger: Ledger, rules: Rules) -> pl.DataFrame:
    """Returns the proposals that say what an entry says already, and which."""
    return read_decisions(tables, ledger, rules).filter((pl.col("state") == "merged") & pl.col("entry").is_not_null())


def _without_dates(text: str) -> str:
    return "\n".join(
        line for line in text.splitlines() if not line.startswith(("_Last updated: ", "_Reviewed by Reflector on "))
    )


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")
