"""Tier 1: what rules can decide about a proposal, and why.

An amendment is carried out if the owner's own correction asks for it and its text is not sensitive,
and rejected if its line has been changed by hand; every other change of a line waits for a person.
For a new line:

Rejected: what is there already (an exact duplicate, replaced or forgotten since, the same as what a
person rejected), an instruction artefact, too vague, or a passing state (`refusal.py`); what the
observer was hardly sure of. Merged: an entry or an earlier pending proposal says the same, or an
amendment asks about the entry that it contradicts. Promoted to the file of its project: a line that
is sure (over 0.8), stands alone (`wording.py`), and was said in two sessions, or once as an order
that is unmistakably meant to last; rules and personal sections take only the owner's own words.
Earned trust in a category promotes a few lines a day that two sessions said and that are less sure.
A model's review may decide the rest; everything else waits for a person. So do, in any case, lines
that would hold in all projects, sensitive lines (`sensitive.py`), those that only pasted text says
(`typed.py`), and those that name what is gone (`stages/verify`).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.triage.batch import PROMOTE, REJECT, problem_of
from memory_assets.stages.triage.comparison import StatementComparison
from memory_assets.stages.triage.decisions import RULES
from memory_assets.stages.triage.memory_md import Entry, normal, render_entry
from memory_assets.stages.triage.projects import project_of
from memory_assets.stages.triage.refusal import why_refused
from memory_assets.stages.triage.sensitive import sensitive_reason
from memory_assets.stages.triage.typed import PASTED
from memory_assets.stages.triage.wording import line_of, question_about
from memory_assets.text.words import counted

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
PUBLISHED = "published lines"
"""Stands for the session in what other people wrote between the published lines of a project."""

BY_OTHERS = "somebody else wrote it: only a person can approve this"
MOST_BY_TRUST = 5
"""Lines that earned trust promotes on one day: so many can be read the next morning."""

TRUST_IS_USED_UP = f"earned trust promotes at most {MOST_BY_TRUST} lines a day"
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
    by_trust: bool = False
    """Whether earned trust promoted it."""


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


@dataclass(frozen=True)
class EarnedTrust:
    """What earned trust may still promote."""

    reasons: Mapping[str, str] = field(default_factory=dict)
    """The trusted categories, each with how it earned the trust."""
    lines_left: int = MOST_BY_TRUST
    """Lines that trust may still promote on this day."""

    def reason_for(self, proposal: Row) -> str | None:
        """Returns why a proposal needs no approval, or None; only one of high priority that two
        sessions said is trusted.
        """
        is_high = proposal.get("priority") == "high"
        if not is_high or len(_typed_sessions(proposal)) < TriageLimits.confirming_sessions:
            return None
        return self.reasons.get(proposal.get("category", ""))


def decide(
    proposal: Row,
    context: KnownLines = KnownLines(),
    *,
    guarded: frozenset[str],
    owner: str = "",
    trust: EarnedTrust = EarnedTrust(),
    limits: TriageLimits = TriageLimits(),
) -> Ruling:
    """Returns the ruling on one proposal.

    `guarded` are the sections that take only the owner's own words. A pending proposal is merged
    into a recurring problem that says the same.
    """
    ruling = _settle(proposal, context, limits)
    if ruling:
        return ruling
    text = proposal["text"]
    missing = missing_for_promotion(proposal, guarded, limits)
    support = support_of(proposal, owner)
    against = _spoken_against(text, context)
    if not missing and not against:
        as_order = ", as a standing order" if proposal.get("is_standing_order") else ""
        return Ruling("promoted", f"{support}{as_order}")
    trusted = None if against else _trusted(proposal, guarded, trust)
    if trusted and trust.lines_left > 0:
        return Ruling("promoted", f"{trusted}; {support}", by_trust=True)
    used_up = [TRUST_IS_USED_UP] if trusted else []
    reasons = [support, *(reason for reason in missing if reason != ONCE), *used_up, *against]
    waiting = Ruling("pending", "; ".join(reasons))
    return _repeat_of(text, context.frictions, context.comparison.says_the_same) or waiting


def _settle(proposal: Row, context: KnownLines, limits: TriageLimits) -> Ruling | None:
    """Returns the rejection of what is known, given up, refused by its words or hardly sure, or the
    merging into what says the same.
    """
    text = proposal["text"]
    if any(normal(entry.text) == normal(text) for entry in context.entries):
        return Ruling("rejected", "an exact duplicate of an entry")
    given_up = _why_given_up(proposal)
    if given_up:
        return Ruling("rejected", given_up)
    is_repeated = len(proposal["session_ids"]) >= limits.confirming_sessions
    refused = why_refused(proposal, is_repeated=is_repeated, shortest=limits.shortest)
    if refused:
        return Ruling("rejected", refused)
    if proposal["confidence"] < limits.rejected_below:
        return Ruling("rejected", f"confidence below {limits.rejected_below}")
    return _merge(proposal, context)


def _why_given_up(proposal: Row) -> str | None:
    state = proposal.get("memory_state")
    is_reworded = proposal["text"] != line_of(proposal.get("said", proposal["text"]))
    if state == "superseded" and is_reworded:
        return None
    return GIVEN_UP.get(state) if state else None


def _merge(proposal: Row, context: KnownLines) -> Ruling | None:
    """Returns the merging into an amendment, an entry or another proposal that says the same."""
    if context.amendment:
        reason = f"{context.amendment} asks to replace the line that it contradicts"
        return Ruling("merged", reason, into=context.amendment)
    text = proposal["text"]
    same = context.comparison.says_the_same
    return _entry_like(text, context.entries, same) or _repeat_of(text, context.others, same)


def decide_amendment(amendment: Row, lines: Collection[str]) -> Ruling:
    """Returns the ruling on a change of an entry; `lines` are the present entries as written."""
    if amendment["entry"] not in lines:
        return Ruling("rejected", "the line was changed or removed since")
    if amendment["reason"] not in (BY_OWNER, ADOPTED):
        return Ruling("pending", amendment["reason"])
    sensitive = sensitive_reason(amendment["text"])
    if sensitive:
        return Ruling("pending", f"{amendment['reason']}; {sensitive}")
    return Ruling("promoted", amendment["reason"])


def is_rejected_by_person(decision: Row) -> bool:
    """Returns whether a person rejected the proposal."""
    return decision["state"] == "rejected" and decision["tier"] == 3


def is_friction(decision: Row) -> bool:
    """Returns whether the decision is about a recurring problem, by its id."""
    return decision["proposal_id"].startswith("f-")


def decide_friction(friction: Row, context: KnownLines = KnownLines()) -> Ruling:
    """Returns the ruling on a recurring problem: a person decides, unless an entry says it
    already.
    """
    pending = Ruling("pending", friction["title"])
    if friction["target"] != MEMORY_MD:
        return pending
    same = context.comparison.says_the_same
    return _entry_like(friction["text"], context.entries, same) or pending


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
    problem = needs_person(proposal, guarded)
    if problem:
        return Ruling("pending", f"{model} would promote it, but {problem}")
    text = review["text"]
    reason = f"{model} found it worth keeping"
    problem = needs_person({**proposal, "text": text}, guarded)
    problem = problem or problem_of(text, proposal["text"])
    if problem:
        text = proposal["text"]
        question = question_about(text)
        if question:
            return Ruling("pending", f"{model} would promote it, but {problem}, and {question}")
        reason += f", in the words of the proposal: {problem}"
    return Ruling("promoted", reason, text=text, tier=2, actor=model)


def needs_person(proposal: Row, guarded: frozenset[str]) -> str | None:
    """Returns why the proposal must not be promoted without a person, or None."""
    if proposal.get("names_gone"):
        return proposal["names_gone"]
    if PUBLISHED in proposal["session_ids"]:
        return BY_OTHERS
    if proposal["section"].casefold() in guarded and proposal["author"] != "owner":
        return f"{proposal['section']} takes only the owner's own words"
    sensitive = sensitive_reason(proposal["text"], proposal.get("own_hosts", ()))
    if sensitive:
        return sensitive
    if proposal.get("doubt"):
        return proposal["doubt"]
    if proposal.get("typed_session_ids") == []:
        return PASTED
    return None if project_of(proposal) else EVERYWHERE


def only_person(pending: Row, guarded: frozenset[str]) -> str:
    """Returns why no agent may decide the pending proposal, not even for the owner; empty if one
    may.
    """
    if pending["entry"] or is_friction(pending):
        return "it changes what the owner has"
    pasted = PASTED if PASTED in pending["reason"] else ""
    return needs_person(pending, guarded) or pasted


def missing_for_promotion(
    proposal: Row, guarded: frozenset[str], limits: TriageLimits = TriageLimits()
) -> list[str]:
    """Returns why rules cannot promote the proposal."""
    missing: list[str] = []
    if proposal.get("memory_state", "active") != "active":
        missing.append(f"its memory is {proposal['memory_state']} by now")
    if proposal["confidence"] <= limits.promoted_above:
        missing.append("not sure enough")
    question = question_about(proposal["text"])
    if question:
        missing.append(f"{question} Reword it to approve it")
    if not proposal.get("is_standing_order"):
        missing += _missing_sessions(proposal, limits.confirming_sessions)
    needed = needs_person(proposal, guarded)
    return [*missing, needed] if needed else missing


def _typed_sessions(proposal: Row) -> Sequence[str]:
    return proposal.get("typed_session_ids", proposal["session_ids"])


def _missing_sessions(proposal: Row, wanted: int) -> list[str]:
    typed = _typed_sessions(proposal)
    if len(proposal["session_ids"]) < wanted:
        return [ONCE]
    return ["one of its sessions only pasted it"] if 0 < len(typed) < wanted else []


def support_of(proposal: Row, owner: str) -> str:
    """Returns who said it, in how many sessions, when last, and how much speaks against it, in
    words.
    """
    if PUBLISHED in proposal["session_ids"]:
        return proposal["reason"]
    who = _FOUND_BY.get(proposal["author"], "a source says it")
    if proposal["author"] == "owner":
        who = "you said it" if proposal["person"] == owner else f"{proposal['person']} said it"
    count = len(proposal["session_ids"])
    last = max(proposal["event_on"], proposal.get("last_on", proposal["event_on"]))
    where = f"in {count} sessions, last on {last}" if count > 1 else f"in one session, on {last}"
    against = proposal.get("contradicted_count", 0)
    if not against:
        return f"{who} {where}"
    verb = "contradict" if against > 1 else "contradicts"
    return f"{who} {where}; {counted(against, 'source')} {verb} it"


def _trusted(proposal: Row, guarded: frozenset[str], trust: EarnedTrust) -> str | None:
    """Returns why the proposal needs no approval; what must wait for a person is never trusted."""
    is_active = proposal.get("memory_state", "active") == "active"
    reason = trust.reason_for(proposal) if is_active else None
    return reason if reason and not needs_person(proposal, guarded) else None


def _spoken_against(text: str, context: KnownLines) -> list[str]:
    contradicts = context.comparison.contradicts
    against = (entry.text for entry in context.entries if contradicts(text, entry.text))
    return [f"“{words}” says otherwise" for words in islice(against, 1)]
