"""Tier 1: what rules can decide about a proposal, and why.

An amendment is carried out if the owner's own correction asks for it and its text is not sensitive,
and rejected if its line has been changed by hand; every other change of a line waits for a person.
For a new line:

Rejected: what is there already (an exact duplicate, replaced or forgotten since, the same as what a
person rejected), an instruction artefact, too vague, or a passing state (`refusal.py`); what the
observer was hardly sure of. Merged: an entry or an earlier pending proposal says the same, or an
amendment asks about the entry that it contradicts. Promoted to the file of its project: a line that
is sure (over 0.8), stands alone (`wording.py`), and was said in two sessions, or once as an order
that is unmistakably meant to last; rules and personal sections take only the owner's own words. A
category with earned trust needs neither. A model's review may decide the rest; everything else
waits for a person. So do, in any case, lines that would hold in all projects, sensitive lines
(`sensitive.py`) and those that only pasted text says (`pasted.py`).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.triage.batch import PROMOTE, REJECT, problem_of
from memory_assets.stages.triage.comparison import StatementComparison
from memory_assets.stages.triage.decisions import RULES
from memory_assets.stages.triage.memory_md import Entry, normal, render_entry
from memory_assets.stages.triage.pasted import PASTED
from memory_assets.stages.triage.projects import project_of
from memory_assets.stages.triage.refusal import why_refused
from memory_assets.stages.triage.sensitive import sensitive_reason
from memory_assets.stages.triage.wording import line_of, question_about

BY_OWNER = "corrected by the owner"
ADOPTED = "the owner adopted settings by which nothing says it"
"""The only reasons to replace or remove a line without asking."""

GIVEN_UP = {"superseded": "a newer fact has replaced it", "forgotten": "its memory was forgotten"}
"""States of a memory that must no longer be proposed, and why."""

_FOUND_BY = {
    "assistant": "an assistant found it",
    "tool": "a tool showed it",
    "file": "a file says it",
}
ONCE = "said in one session"
EVERYWHERE = "it would hold in all your projects"


@dataclass(frozen=True)
class TriageLimits:
    """The thresholds of the rules; other values are for what-if questions."""

    shortest: int = 12
    promoted_above: float = 0.8
    rejected_below: float = 0.3
    confirming_sessions: int = 2
    """The observer's confidence alone is not enough."""


@dataclass(frozen=True)
class Ruling:
    """What the rules decide: a state, or pending, and why."""

    state: str
    reason: str
    entry: str | None = None
    """The line that says the same."""
    text: str | None = None
    """Another wording."""
    tier: int = 1
    actor: str = RULES
    into: str = ""
    """The proposal that it is merged into."""


@dataclass(frozen=True)
class KnownLines:
    """What a proposal is compared with: lines, proposals, and the amendments that it led to."""

    entries: Sequence[Entry] = ()
    others: Sequence[Row] = ()
    """Earlier decisions about proposals of the same place: pending ones, and those that a person
    rejected.
    """
    frictions: Sequence[Row] = ()
    amendment: str = ""
    """The pending amendment that asks to replace the line that the proposal contradicts."""
    comparison: StatementComparison = field(default_factory=StatementComparison)


NOTHING_KNOWN = KnownLines()


def decide(
    proposal: Row,
    known: KnownLines = NOTHING_KNOWN,
    *,
    guarded: frozenset[str],
    owner: str = "",
    trusted: Mapping[str, str] = MappingProxyType({}),
    limits: TriageLimits = TriageLimits(),
) -> Ruling:
    """Returns the ruling on one proposal.

    `guarded` are the sections that take only the owner's own words; `trusted` the categories whose
    high-priority proposals need no approval, each with the reason. A pending proposal is merged
    into a recurring problem that says the same.
    """
    text = proposal["text"]
    if any(normal(entry.text) == normal(text) for entry in known.entries):
        return Ruling("rejected", "an exact duplicate of an entry")
    is_reworded = text != line_of(proposal.get("said", text))
    if (state := proposal.get("memory_state")) in GIVEN_UP and not (
        is_reworded and state == "superseded"
    ):
        return Ruling("rejected", GIVEN_UP[state])
    is_repeated = len(proposal["session_ids"]) >= limits.confirming_sessions
    if reason := why_refused(proposal, is_repeated=is_repeated, shortest=limits.shortest):
        return Ruling("rejected", reason)
    if proposal["confidence"] < limits.rejected_below:
        return Ruling("rejected", f"confidence below {limits.rejected_below}")
    if known.amendment:
        return Ruling(
            "merged",
            f"{known.amendment} asks to replace the line that it contradicts",
            into=known.amendment,
        )
    same = known.comparison.says_the_same
    ruling = _entry_like(text, known.entries, same) or _repeat_of(text, known.others, same)
    ruling = ruling or _promote_or_wait(proposal, known, guarded, owner, trusted, limits)
    return (
        _repeat_of(text, known.frictions, same) if ruling.state == "pending" else None
    ) or ruling


def decide_amendment(amendment: Row, lines: Collection[str]) -> Ruling:
    """Returns the ruling on a change of an entry; `lines` are the present entries as written."""
    if amendment["entry"] not in lines:
        return Ruling("rejected", "the line was changed or removed since")
    if amendment["reason"] not in (BY_OWNER, ADOPTED):
        return Ruling("pending", amendment["reason"])
    if reason := sensitive_reason(amendment["text"]):
        return Ruling("pending", f"{amendment['reason']}; {reason}")
    return Ruling("promoted", amendment["reason"])


def is_rejected_by_person(decision: Row) -> bool:
    """Returns whether a person rejected the proposal."""
    return decision["state"] == "rejected" and decision["tier"] == 3


def is_friction(decision: Row) -> bool:
    """Returns whether the decision is about a recurring problem, by its id."""
    return decision["proposal_id"].startswith("f-")


def decide_friction(
    friction: Row,
    lines: Collection[str],
    decisions: Sequence[Row],
    known: KnownLines = NOTHING_KNOWN,
) -> Ruling:
    """Returns the ruling on a recurring problem: a person decides, unless its line is gone or an
    entry says it already.
    """
    pending, entry = Ruling("pending", friction["title"]), friction["entry"]
    if entry is None:
        same = known.comparison.says_the_same
        return (
            _entry_like(friction["text"], known.entries, same)
            if friction["target"] == MEMORY_MD
            else None
        ) or pending
    if entry not in lines:
        return Ruling("rejected", "the line was changed or removed since")
    asking = (
        row
        for row in decisions
        if row["entry"] == entry and row["state"] == "pending" and not is_friction(row)
    )
    other = next(asking, None)
    return (
        Ruling("merged", f"{other['proposal_id']} asks about the same line") if other else pending
    )


def _entry_like(
    text: str, entries: Sequence[Entry], same: Callable[[str, str], bool]
) -> Ruling | None:
    for entry in entries:
        if same(text, entry.text):
            line = render_entry(entry.on, entry.text)
            return Ruling("merged", f"entry of {entry.on} in {entry.section} says the same", line)
    return None


def _repeat_of(text: str, others: Sequence[Row], same: Callable[[str, str], bool]) -> Ruling | None:
    for other in others:
        is_rejected = is_rejected_by_person(other)
        if (is_rejected or other["state"] == "pending") and same(text, other["text"]):
            id = other["proposal_id"]
            if is_rejected:
                return Ruling("rejected", f"says the same as {id}, which a person rejected")
            return Ruling("merged", f"{id}, which waits, says the same", into=id)
    return None


def follow_review(review: Row, proposal: Row, guarded: frozenset[str]) -> Ruling:
    """Returns the ruling of a model's review (a row of `model_reviews`) on a proposal that rules
    left to a person.
    """
    model = review["model"]
    if review["verdict"] == REJECT:
        return Ruling("rejected", f"{model}: {review['reason']}", tier=2, actor=model)
    if review["verdict"] != PROMOTE:
        return Ruling("pending", f"{model} asks: {review['reason']}")
    problem = needs_person(proposal, guarded) or needs_person(
        {**proposal, "text": review["text"]}, guarded
    )
    if problem := problem or problem_of(review["text"], proposal["text"]):
        return Ruling("pending", f"{model} would promote it, but {problem}")
    return Ruling(
        "promoted", f"{model} found it worth keeping", text=review["text"], tier=2, actor=model
    )


def needs_person(proposal: Row, guarded: frozenset[str]) -> str | None:
    """Returns why the proposal must not be promoted without a person, or None."""
    if proposal["section"].casefold() in guarded and proposal["author"] != "owner":
        return f"{proposal['section']} takes only the owner's own words"
    if reason := sensitive_reason(proposal["text"], proposal.get("own_hosts", ())):
        return reason
    if proposal.get("typed_session_ids") == []:
        return PASTED
    return None if project_of(proposal) else EVERYWHERE


def missing_for_promotion(
    proposal: Row, guarded: frozenset[str], limits: TriageLimits = TriageLimits()
) -> list[str]:
    """Returns why rules cannot promote the proposal."""
    missing = []
    if proposal.get("memory_state", "active") != "active":
        missing.append(f"its memory is {proposal['memory_state']} by now")
    if proposal["confidence"] <= limits.promoted_above:
        missing.append("not sure enough")
    if question := question_about(proposal["text"]):
        missing.append(f"{question} Reword it to approve it")
    typed = proposal.get("typed_session_ids", proposal["session_ids"])
    if len(proposal["session_ids"]) < limits.confirming_sessions and not proposal.get(
        "is_standing_order"
    ):
        missing.append(ONCE)
    elif 0 < len(typed) < limits.confirming_sessions and not proposal.get("is_standing_order"):
        missing.append("one of its sessions only pasted it")
    return [*missing, *filter(None, [needs_person(proposal, guarded)])]


def support_of(proposal: Row, owner: str) -> str:
    """Returns who said it, in how many sessions, when last, and how much speaks against it, in
    words.
    """
    who = _FOUND_BY.get(proposal["author"], "a source says it")
    if proposal["author"] == "owner":
        who = "you said it" if proposal["person"] == owner else f"{proposal['person']} said it"
    count, last = (
        len(proposal["session_ids"]),
        max(proposal["event_on"], proposal.get("last_on", proposal["event_on"])),
    )
    where = f"in {count} sessions, last on {last}" if count > 1 else f"in one session, on {last}"
    against = proposal.get("contradicted_count", 0)
    speaks = (
        f"; {against} source{'s contradict' if against > 1 else ' contradicts'} it"
        if against
        else ""
    )
    return f"{who} {where}{speaks}"


def _promote_or_wait(
    proposal: Row,
    known: KnownLines,
    guarded: frozenset[str],
    owner: str,
    trusted: Mapping[str, str],
    limits: TriageLimits,
) -> Ruling:
    missing, support = missing_for_promotion(proposal, guarded, limits), support_of(proposal, owner)
    is_trusted = proposal.get("priority") == "high" and proposal.get("category") in trusted
    is_open = proposal.get("memory_state", "active") == "active" and not needs_person(
        proposal, guarded
    )
    against = _spoken_against(proposal["text"], known)
    if missing and is_trusted and is_open and not against:
        return Ruling("promoted", trusted[proposal["category"]])
    if missing or against:
        return Ruling(
            "pending", "; ".join([support, *(one for one in missing if one != ONCE), *against])
        )
    return Ruling(
        "promoted",
        f"{support}{', as a standing order' if proposal.get('is_standing_order') else ''}",
    )


def _spoken_against(text: str, known: KnownLines) -> list[str]:
    return [
        f"“{entry.text}” says otherwise"
        for entry in known.entries
        if known.comparison.contradicts(text, entry.text)
    ][:1]
