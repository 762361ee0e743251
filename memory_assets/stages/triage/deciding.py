"""Decides undecided proposals one after another; each sees what was promoted before it.

Takes what the tables and files hold at the beginning of a round. Recurring problems come last: if
rules promote a proposal that says the same, nobody has to be asked.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.triage import auto
from memory_assets.stages.triage.auto import EarnedTrust, KnownLines, Ruling, is_friction
from memory_assets.stages.triage.comparison import StatementComparison
from memory_assets.stages.triage.decisions import EXPIRED
from memory_assets.stages.triage.memory_md import Entry, render_entry, written_line
from memory_assets.stages.triage.projects import path_of, place_of, project_of
from memory_assets.text.words import text_hash

AppendRuling = Callable[[Ruling, Row], str | None]
"""Records a ruling; returns why the proposal is still pending, or None if it is decided."""


@dataclass
class DecidingRound:
    """A round, with what it starts from; `waiting` says why proposals are left to a person."""

    decisions: Sequence[Row]
    proposals: Mapping[str, Row]
    entries: Mapping[str, Sequence[Entry]]
    """The entries of each file."""
    reviews: Mapping[str, Row]
    """A model's reviews, by proposal."""
    amendments: Mapping[str, str]
    """The pending amendment that a proposal led to."""
    typed: Mapping[str, Row]
    """What the owner typed, by proposal."""
    guarded: frozenset[str]
    owner: str
    trust: EarnedTrust
    comparison: StatementComparison
    append: AppendRuling
    waiting: dict[str, str] = field(default_factory=dict)
    is_merged: bool = False
    """Whether a proposal was merged into another, which may now have enough sessions."""

    def __post_init__(self) -> None:
        entries = chain.from_iterable(self.entries.values())
        self._lines = frozenset(render_entry(entry.on, entry.text) for entry in entries)
        self._unwritten = _unwritten_entries(self.decisions, self.proposals, self._lines)
        self._others: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in filter(auto.is_rejected_by_person, self.decisions):
            self._others[place_of(self.proposals[row["proposal_id"]])].append(row)
        pending = (row for row in self.decisions if row["state"] == "pending")
        self._frictions = list(filter(is_friction, pending))

    def decide(self) -> None:
        """Decides what can be decided."""
        undecided = undecided_of(self.decisions)
        for decision in sorted(undecided, key=is_friction):
            id = decision["proposal_id"]
            proposal = as_decided(self.proposals[id], decision, self.typed)
            ruling = self._ruling(proposal, decision)
            self._remember(ruling, proposal, decision)
            reason = self.append(ruling, decision)
            if reason is not None:
                self.waiting[id] = reason
                self._others[place_of(proposal)].append(decision)

    def _ruling(self, proposal: Row, decision: Row) -> Ruling:
        id = decision["proposal_id"]
        context = self._known_lines(proposal, self.amendments.get(id, ""))
        if is_friction(decision):
            ruling = auto.decide_friction(proposal, context)
        elif decision["entry"] is not None:
            ruling = auto.decide_amendment(proposal, self._lines)
        else:
            ruling = auto.decide(
                proposal, context, guarded=self.guarded, owner=self.owner, trust=self.trust
            )
        review = self.reviews.get(id)
        if ruling.state == "pending" and review:
            # A review of other words says nothing about these.
            is_reviewed = review["text_hash"] == text_hash(decision["text"])
            return auto.follow_review(review, proposal, self.guarded) if is_reviewed else ruling
        return ruling

    def _known_lines(self, proposal: Row, amendment: str) -> KnownLines:
        project = project_of(proposal)
        entries = list(self.entries[MEMORY_MD])
        if project:
            entries += self.entries.get(path_of(project), [])
        entries += [entry for other, entry in self._unwritten if other in ("", project)]
        others = self._others[place_of(proposal)]
        return KnownLines(entries, others, self._frictions, amendment, self.comparison)

    def _remember(self, ruling: Ruling, proposal: Row, decision: Row) -> None:
        """Records what rulings on later proposals depend on."""
        self.is_merged |= bool(ruling.into)
        if ruling.by_trust:
            self.trust = replace(self.trust, lines_left=self.trust.lines_left - 1)
        if ruling.state == "promoted" and decision["entry"] is None:
            text = ruling.text or proposal["text"]
            entry = Entry(0, proposal["section"], proposal["event_on"], text)
            self._unwritten.append((project_of(proposal), entry))


def undecided_of(decisions: Iterable[Row]) -> list[Row]:
    """Returns the decisions about what is pending, and what expired: it can still be promoted."""
    return [row for row in decisions if row["state"] in ("pending", EXPIRED)]


def as_decided(proposal: Row, decision: Row, typed: Mapping[str, Row]) -> dict[str, Any]:
    """Returns a proposal in the words of its decision, with its own words and what was typed of
    it.
    """
    texts = {"text": decision["text"], "said": proposal["text"]}
    return {**proposal, **texts, **typed.get(decision["proposal_id"], {})}


def is_new_line(decision: Row) -> bool:
    """Returns whether the decision is about a proposal of a new line."""
    return decision["entry"] is None and not is_friction(decision)


def _unwritten_entries(
    decisions: Sequence[Row], proposals: Mapping[str, Row], lines: Collection[str]
) -> list[tuple[str, Entry]]:
    """Returns the entries of promotions that no file holds, with their projects: not written yet,
    or removed by a person.
    """
    unwritten = []
    for row in decisions:
        proposal = proposals.get(row["proposal_id"])
        if row["state"] == "promoted" and row["entry"] is None and proposal:
            entry = Entry(0, row["section"], proposal["event_on"], row["text"])
            if written_line(entry.on, entry.text) not in lines:
                unwritten.append((project_of(proposal), entry))
    return unwritten
