"""One triage: applies what a person decided, decides by rules what they can, writes MEMORY.md, then
REVIEW.md.

Every decision is a ledger event before anything else happens, so a killed triage continues where it
stopped: decisions are folded from the ledger, lines are written for promotions that have none, and
REVIEW.md is rendered from what is pending.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property
from typing import Any

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import MEMORY_MD
from memory_assets.schema.tables import version_of
from memory_assets.stages.friction.review import FrictionItem
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage import auto, human, page, promote
from memory_assets.stages.triage import decisions as states
from memory_assets.stages.triage.amendments import (
    PlannedAmendment,
    contradiction_key,
    number_amendments,
    plan_amendments,
    plan_retirements,
    read_amendments,
)
from memory_assets.stages.triage.auto import (
    GIVEN_UP,
    MOST_BY_TRUST,
    EarnedTrust,
    Ruling,
    is_friction,
)
from memory_assets.stages.triage.batch import unreviewed
from memory_assets.stages.triage.comparison import StatementComparison
from memory_assets.stages.triage.current import read_current, read_proposals
from memory_assets.stages.triage.deciding import (
    DecidingRound,
    as_decided,
    is_new_line,
    undecided_of,
)
from memory_assets.stages.triage.decisions import read_trust, trusted_in
from memory_assets.stages.triage.entries import EntryStatus, entry_rows, statuses_of
from memory_assets.stages.triage.evidence import gather_evidence
from memory_assets.stages.triage.file_sizes import read_sizes, too_long_files
from memory_assets.stages.triage.memory_md import read_entries
from memory_assets.stages.triage.patches import PATCHED, write_patch
from memory_assets.stages.triage.projects import home_of, memory_files
from memory_assets.stages.triage.review_time import ReviewTime, read_session_days
from memory_assets.stages.triage.typed import read_typed_proposals
from memory_assets.stages.verify.verifications import gone_names
from memory_assets.store.archive import Archive
from memory_assets.store.ledger import Ledger
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.text.files import bytes_of, replace_if_same
from memory_assets.text.masking.redact import mask_text
from memory_assets.text.words import counted

REVIEW_MD = "REVIEW.md"
BEING_EDITED = "REVIEW.md is being edited; what it says is read at the next triage."
TRIAGE_VERSION = version_of("decisions")
_DATED = re.compile(r"(?m)^_(?:Last updated: [^|\n]*|Reviewed by Reflector on .*)")
"""What of REVIEW.md changes each time."""

ROUNDS = 2
"""A proposal that another one was merged into has its sessions, too, and may be promoted in the
second round.
"""

LOOK_AGAIN_SECONDS = 5.0
"""A file that is unchanged after this time is not being saved at the moment."""


@dataclass(frozen=True)
class TriageRules:
    """What a triage needs besides the tables."""

    now: datetime
    owner: str
    review_days: int
    sections: Sequence[str]
    """Sections of MEMORY.md in their order."""
    guarded: frozenset[str]
    """Sections that take only the owner's own words, case-folded."""
    trust_after: int = 0
    """Points from which a category's high-priority proposals need no approval; 0: never."""
    zone: tzinfo = UTC
    """The owner's zone, for the dates of entries."""
    first_number: int = 1
    """The first number of a day's proposals."""

    @property
    def today(self) -> date:
        """The local day."""
        return self.now.astimezone(self.zone).date()


@dataclass
class AppliedDecisions:
    """What was applied from a surface: how many events of each kind, and the warnings."""

    counts: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ReviewFile:
    """REVIEW.md as it is on disk, what it decides, and which of its proposals ask to retire a
    line.
    """

    content: bytes | None
    reading: human.ReviewDecisions
    retiring: frozenset[str]


def read_settled_review(
    workspace: promote.Workspace, wait: Callable[[float], None] = time.sleep
) -> bytes | None:
    """Returns REVIEW.md as it is on disk; if a person changed it, waits long enough for an
    unfinished save to show.
    """
    there = bytes_of(workspace.root / REVIEW_MD)
    if there != workspace.at_head(REVIEW_MD):
        wait(LOOK_AGAIN_SECONDS)
    return there


@dataclass(frozen=True)
class Triage:
    """A triage of a store: where it reads and writes, and by which rules."""

    workspace: promote.Workspace
    ledger: Ledger
    tables: ParquetTables
    archive: Archive
    rules: TriageRules
    comparison: StatementComparison = field(default_factory=StatementComparison)

    def read_review_file(self) -> ReviewFile:
        """Returns what a person decided in REVIEW.md since it was last written or read."""
        there = bytes_of(self.workspace.root / REVIEW_MD)
        decisions = self.read_decisions()
        pending = decisions.filter(pl.col("state") == "pending").to_dicts()
        waiting = {row["proposal_id"]: human.shown_text(row) for row in pending}
        texts = (_text(self.workspace.at_head(REVIEW_MD)), _text(there))
        reading = human.read_review(*texts, waiting, states.overrulable(decisions))
        retiring = frozenset(row["proposal_id"] for row in pending if not row["text"])
        return ReviewFile(there, reading, retiring)

    def apply_review_edits(self, seen: bytes | None) -> AppliedDecisions:
        """Appends what a person changed in REVIEW.md to the ledger, and commits the file as they
        left it, secrets masked.

        `seen` is the file at an earlier look; a different one by now is being edited, and decides
        nothing yet. Only what was read is committed, so a later save counts as another change.
        """
        review = self.read_review_file()
        if review.content != seen:
            return AppliedDecisions(warnings=[BEING_EDITED])
        if review.reading.is_undecided:
            return AppliedDecisions(warnings=review.reading.warnings)
        owner = self.rules.owner
        masked = _masked(seen)
        if masked is not None and masked != seen:
            is_written = replace_if_same(self.workspace.root / REVIEW_MD, seen, masked)
            if not is_written:
                return AppliedDecisions(warnings=[BEING_EDITED])
        retiring = review.retiring
        applied = append_decisions(review.reading, self.ledger, owner, REVIEW_MD, retiring=retiring)
        self.workspace.commit_content("Edited by hand", {REVIEW_MD: masked}, author=owner)
        return applied

    def amend(self, edits: Sequence[PlannedAmendment] = ()) -> pl.DataFrame:
        """Numbers the changes that entries of MEMORY.md need and those that other people's `edits`
        ask for, and returns the table `amendments`.
        """
        dates = self.tables.read("proposals", columns=["proposal_id", "event_on"])
        merged = self._merged().join(dates, on="proposal_id")
        statuses = self.entry_statuses()
        undecided = self._undecided()
        memories = self.tables.read("memories")
        events = self.ledger.events()
        zone = self.rules.zone
        records = self.tables.read("records", columns=["status", "message_id"])
        rewound = set(records.filter(status="rewound")["message_id"])
        outdated = gone_names(self.tables.read("verifications"), "line")
        planned: list[PlannedAmendment] = []
        for file in read_sizes(self.workspace.root):
            entries = [status for status in statuses if status.path == file.path]
            proposals = [row for row in undecided if home_of(row) == file.path]
            contradicting = list(self._contradictions(entries, proposals))
            about = (memories, events, merged, zone, contradicting, rewound, outdated)
            planned += plan_amendments(entries, file, *about)
        self.number([*planned, *edits], states.RULES)
        return read_amendments(self.ledger.events([NUMBERED]))

    def retire(self, proposal_ids: Collection[str]) -> None:
        """Schedules the lines of these proposals for removal by the next triage, on the owner's
        behalf.
        """
        self.number(plan_retirements(self.entry_statuses(), proposal_ids), self.rules.owner)

    def number(self, planned: Sequence[PlannedAmendment], actor: str) -> None:
        """Appends the amendments that have no number yet to the ledger."""
        events = self.ledger.events()
        first = self.rules.first_number
        numbered = number_amendments(planned, events, self.rules.today, first=first)
        for number, payload in numbered:
            self.ledger.append(NUMBERED, number, payload, actor=actor)

    def entry_statuses(self) -> list[EntryStatus]:
        """Returns the status of each entry of MEMORY.md and of the projects' files."""
        events = self.ledger.events([promote.PROMOTED, NUMBERED])
        about = (events, self.tables.read("memories"), self._merged().to_dicts())
        statuses: list[EntryStatus] = []
        for path in memory_files(self.workspace.root):
            statuses += statuses_of(promote.read_memory(self.workspace, path), *about, path)
        return statuses

    def list_entries(self) -> pl.DataFrame:
        """Returns the table `entries`."""
        return entry_rows(self.entry_statuses())

    def earn_trust(self) -> pl.DataFrame:
        """Returns the table `trust`."""
        rows = read_proposals(self.tables).iter_rows(named=True)
        proposals = [row for row in rows if not is_friction(row)]
        events = self.ledger.events([states.APPROVED, states.REJECTED])
        return read_trust(proposals, events, self.rules.trust_after)

    def decide_all(self) -> pl.DataFrame:
        """Decides by rules and expiry what they can, as ledger events, and returns the table
        `decisions`.
        """
        waiting: dict[str, str] = {}
        for _ in range(ROUNDS):
            deciding = self._round()
            deciding.decide()
            waiting = deciding.waiting
            if not deciding.is_merged:
                break
        self._ask_person()
        return self.read_decisions(waiting)

    def _round(self) -> DecidingRound:
        proposals = self.current()
        decisions = self.read_decisions().to_dicts()
        paths = memory_files(self.workspace.root)
        reviews = self.tables.read("model_reviews").iter_rows(named=True)
        new_lines = list(filter(is_new_line, undecided_of(decisions)))
        return DecidingRound(
            decisions,
            proposals,
            entries={
                path: read_entries(promote.read_memory(self.workspace, path)) for path in paths
            },
            reviews={row["proposal_id"]: row for row in reviews},
            amendments=self._asked_amendments(decisions),
            typed=read_typed_proposals(new_lines, proposals, self.tables),
            guarded=self.rules.guarded,
            owner=self.rules.owner,
            trust=self._earned_trust(),
            comparison=self.comparison,
            append=self._append_ruling,
        )

    def _earned_trust(self) -> EarnedTrust:
        """Returns what trust may promote; what it promoted on this day counts."""
        decided = self.ledger.events([states.DECIDED])
        by_trust = (event for event in decided if event.payload.get("by_trust"))
        days = [event.at.astimezone(self.rules.zone).date() for event in by_trust]
        lines_left = MOST_BY_TRUST - days.count(self.rules.today)
        return EarnedTrust(trusted_in(self.earn_trust()), lines_left)

    def _ask_person(self) -> None:
        """Records which proposals a person is asked about from now on, and which of them later."""
        decisions = self.read_decisions().to_dicts()
        new, displaced = page.choose_asked(decisions, self.current())
        for id in displaced:
            self.ledger.append(states.POSTPONED, id, {}, actor=states.RULES)
        for id in [*new, *self._refused(decisions)[1]]:
            self.ledger.append(states.ASKED, id, {}, actor=states.RULES)

    def _refused(self, decisions: Sequence[Row]) -> tuple[list[str], list[str]]:
        """Returns the refused proposals on the page, and those of them that are new."""
        events = self.ledger.events(states.KINDS)
        return page.choose_refused(decisions, events, self.rules.now, self.rules.review_days)

    def write_memory(self, files: Collection[str] | None = None) -> list[str]:
        """Makes and commits each promoted edit of the files, or of all, that was not made yet;
        returns its proposals.
        """
        decisions = self.read_decisions().to_dicts()
        current = self.current()
        texts = {row["proposal_id"]: row["text"] for row in decisions}
        proposals = {id: {**current[id], "text": text} for id, text in texts.items()}
        target_of = {id: row.get("target", MEMORY_MD) for id, row in proposals.items()}
        lines = [row for row in decisions if target_of[row["proposal_id"]] == MEMORY_MD]

        def evidence_of(proposal_id: str) -> dict[str, Any]:
            return gather_evidence(proposals[proposal_id], self.tables, self.archive)

        return promote.carry_out(lines, proposals, self._writing, evidence_of, files)

    @property
    def _writing(self) -> promote.Writing:
        return promote.Writing(self.workspace, self.ledger, self.rules.owner, self.rules.sections)

    def take_back(self, proposal_id: str) -> None:
        """Reopens a proposal that a person decided, and takes its edit of a file of entries
        back.
        """
        promote.take_back(proposal_id, self._writing)
        self.ledger.append(states.REOPENED, proposal_id, {}, actor=self.rules.owner)

    def write_approved_patches(self) -> list[str]:
        """Writes a patch for each approved change of another file than MEMORY.md that has none, and
        returns their ids.
        """
        promoted = self.tables.read("decisions").filter(pl.col("state") == "promoted")
        approved = {row["proposal_id"]: row for row in promoted.iter_rows(named=True)}
        wanted = sorted(set(approved) - {event.target for event in self.ledger.events([PATCHED])})
        is_wanted = (pl.col("target") != MEMORY_MD) & pl.col("proposal_id").is_in(wanted)
        frictions = self.tables.read("friction").filter(is_wanted)
        for friction in frictions.iter_rows(named=True):
            decision = approved[friction["proposal_id"]]
            path = write_patch(friction, decision["text"], self.workspace)
            payload = {
                "section": friction["section"],
                "target": friction["target"],
                "patch": path,
                "line": decision["text"],
                **gather_evidence(friction, self.tables, self.archive),
            }
            actor = decision["actor"]
            self.ledger.append(PATCHED, friction["proposal_id"], payload, actor=actor)
        return frictions["proposal_id"].to_list()

    def write_review(
        self, shown: Mapping[str, FrictionItem] | None = None, contradicted: Sequence[Row] = ()
    ) -> bool:
        """Renders what is pending into REVIEW.md and commits it; returns False if a person changed
        the file meanwhile.

        Their change is then read at the next triage. What is committed is what was written and not
        what is on disk by then, so a box ticked in between remains a change. `shown` holds the
        review items of recurring problems.
        """
        path = self.workspace.root / REVIEW_MD
        there = bytes_of(path)
        last = self.workspace.at_head(REVIEW_MD)
        if there is not None and there != last:
            return False
        rows, pending_count = self._page(shown or {})
        last_text = _text(last) or ""
        review = human.render_review(
            rows,
            updated=f"{self.rules.now:%Y-%m-%dT%H:%M:%SZ}",
            notes=human.read_notes(last_text),
            count=pending_count,
            contradicted=contradicted,
            warnings=too_long_files(self.workspace.root),
        )
        text = human.match_format(review, last_text)
        if there is not None and _without_dates(text) == _without_dates(last_text):
            return True
        if not replace_if_same(path, there, text.encode()):
            return False
        asked = f"Ask about {counted(pending_count, 'proposal')}"
        self.workspace.commit_content(asked, {REVIEW_MD: text.encode()})
        return True

    def _page(self, shown: Mapping[str, FrictionItem]) -> tuple[list[dict[str, Any]], int]:
        """Returns the items of REVIEW.md, the most useful first, and the number of all pending
        proposals.
        """
        reasons = dict(self.tables.read("decisions", columns=["proposal_id", "reason"]).iter_rows())
        decisions = self.read_decisions(reasons).to_dicts()
        proposals = self.current()
        of_all = promote.read_lines(self.workspace)[MEMORY_MD]
        waiting = [row for row in decisions if row["state"] == "pending"]
        pending = [{**proposals[row["proposal_id"]], **row} for row in waiting]
        asked = (row for row in pending if row["expires_at"] is not None)
        items: list[dict[str, Any]] = []
        for row in sorted(asked, key=page.usefulness):
            place = page.ALL_PROJECTS if row["entry"] in of_all else page.place_name(row)
            items.append(_review_item(row, place, shown.get(row["proposal_id"])))
        decision_of = {row["proposal_id"]: row for row in decisions}
        for id in self._refused(decisions)[0]:
            why = decision_of[id]["reason"]
            items.append({**decision_of[id], "why": why, "heading": human.REFUSED, "details": ()})
        return items, len(pending)

    def _append_ruling(self, ruling: Ruling, decision: Row) -> str | None:
        """Appends a decision, or returns why the proposal is pending; an expired one can only be
        promoted.
        """
        id = decision["proposal_id"]
        if ruling.state == "pending" and states.is_expired(decision, self.rules.now):
            days = f"{self.rules.review_days} days on which its project had sessions"
            reason = f"no decision within {days}"
            payload = {"state": states.EXPIRED, "tier": 3, "reason": reason}
            self.ledger.append(states.DECIDED, id, payload, actor=states.CLOCK)
            return None
        is_over = decision["state"] == states.EXPIRED and ruling.state != "promoted"
        if ruling.state == "pending" or is_over:
            return ruling.reason if decision["state"] == "pending" else None
        self.ledger.append(states.DECIDED, id, _payload(ruling, decision), actor=ruling.actor)
        return None

    def read_decisions(self, waiting: Mapping[str, str] | None = None) -> pl.DataFrame:
        """Returns the state of each proposal by the present ledger; `waiting` holds why the rules
        left one to a person.
        """
        rules = self.rules
        time = ReviewTime(rules.review_days, rules.today, rules.zone, self._session_days)
        events = self.ledger.events()
        proposals = read_proposals(self.tables)
        return states.fold_decisions(proposals, events, time=time, waiting=waiting)

    @cached_property
    def _session_days(self) -> dict[str, list[date]]:
        """The days with sessions of each project; the table does not change during a triage."""
        return read_session_days(self.tables)

    def _merged(self) -> pl.DataFrame:
        """Returns the proposals that repeat an entry, with the entry."""
        return self.read_decisions().filter(pl.col("entry").is_not_null(), state="merged")

    def current(self) -> dict[str, dict[str, Any]]:
        """Returns proposals, amendments and recurring problems as they are now, by id."""
        return read_current(self.tables, states.merged_into(self.ledger.events([states.DECIDED])))

    def _undecided(self) -> list[dict[str, Any]]:
        """Returns the pending proposals of new lines whose memory still holds."""
        proposals = self.current()
        pending = self.read_decisions().filter(state="pending").iter_rows(named=True)
        new_lines = filter(is_new_line, pending)
        decided = [as_decided(proposals[row["proposal_id"]], row, {}) for row in new_lines]
        return [row for row in decided if row.get("memory_state") not in GIVEN_UP]

    def _contradictions(
        self, statuses: Sequence[EntryStatus], undecided: Sequence[Row]
    ) -> Iterator[tuple[EntryStatus, Row]]:
        """Yields the entries that a proposal contradicts, which is as new or newer, each with that
        proposal.
        """
        for proposal in undecided:
            for status in statuses:
                entry = status.entry
                is_newer = proposal["event_on"] >= entry.on
                if is_newer and self.comparison.contradicts(proposal["text"], entry.text):
                    support = auto.support_of(proposal, self.rules.owner)
                    yield status, {**proposal, "support": support}
                    break

    def _asked_amendments(self, decisions: Sequence[Row]) -> dict[str, str]:
        """Returns the pending amendments that proposals led to by contradicting an entry, by
        proposal.
        """
        pending = {row["proposal_id"] for row in decisions if row["state"] == "pending"}
        start = contradiction_key("")[:-1]
        amendments = {}
        for event in self.ledger.events([NUMBERED]):
            key = event.payload["key"] if event.target in pending else ""
            if key.startswith(start):
                amendments[key.removeprefix(start).split(":")[0]] = event.target
        return amendments


def append_decisions(
    reading: human.ReviewDecisions,
    ledger: Ledger,
    owner: str,
    surface: str,
    *,
    retiring: Collection[str] = (),
) -> AppliedDecisions:
    """Appends what was decided on a surface; the text of a line to retire (`retiring`) cannot be
    changed, only decided.
    """
    applied = AppliedDecisions(warnings=list(reading.warnings))
    decided: list[tuple[str, str, dict[str, Any]]] = []
    for id, text in reading.approved.items():
        decided.append((states.APPROVED, id, {"text": text} if text else {}))
    struck = {"reason": f"struck from {surface}"}
    decided += [(states.REJECTED, id, struck) for id in reading.rejected]
    decided += [(states.EDITED, id, {"text": text}) for id, text in reading.edited.items()]
    for kind, proposal_id, payload in decided:
        if proposal_id in retiring and "text" in payload:
            question = "which asks whether its line may go"
            warning = f"{surface} rewords {proposal_id}, {question}; it was not decided."
            applied.warnings.append(warning)
            continue
        ledger.append(kind, proposal_id, {**payload, "surface": surface}, actor=owner)
        applied.counts[kind] += 1
    return applied


def _review_item(row: Row, place: str, friction: FrictionItem | None) -> dict[str, Any]:
    """Returns a pending proposal as an item of REVIEW.md."""
    item = {**row, "why": row["reason"], "place": place}
    if row.get("doubt"):
        item |= {"heading": human.PERHAPS_RULES, "why": f"{place}; {row['reason']}"}
    if friction:
        item |= {name: getattr(friction, name) for name in ("heading", "why", "details")}
    return item


def _payload(ruling: Ruling, decision: Row) -> dict[str, Any]:
    """Returns what the ledger keeps of a ruling."""
    payload = {name: getattr(ruling, name) for name in ("state", "tier", "reason")}
    payload["version"] = TRIAGE_VERSION
    if ruling.state == states.PROMOTED and decision["text"]:
        # So that a later release words the line as it was decided.
        payload["text"] = decision["text"]
    for name in ("entry", "text", "into", "by_trust"):
        value = getattr(ruling, name)
        if value:
            payload[name] = value
    return payload


def waits_for_review(tables: ParquetTables, reviews: pl.DataFrame) -> list[dict[str, Any]]:
    """Returns the proposals that rules left to a person and that no model has reviewed; no
    recurring problems.
    """
    proposals = read_current(tables)
    pending = tables.read("decisions").filter(state="pending").sort("proposal_id")
    rows = filter(is_new_line, pending.iter_rows(named=True))
    waiting = [row for row in unreviewed(rows, reviews) if row["proposal_id"] in proposals]
    return [{**proposals[row["proposal_id"]], "text": row["text"]} for row in waiting]


def _without_dates(text: str) -> str:
    return _DATED.sub("", text.replace("\r\n", "\n"))


def _masked(content: bytes | None) -> bytes | None:
    """Returns the content of a file with every secret replaced by as many asterisks."""
    text = None if content is None else mask_text(content.decode("utf-8", "surrogateescape"))[0]
    return None if text is None else text.encode("utf-8", "surrogateescape")


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")
