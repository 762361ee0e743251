"""Tier 1: what rules can decide about a proposal, and why.

An amendment is carried out if the owner's own correction asks for it, and rejected if its line has been changed by hand; every
other change of a line waits for a person. For a new line:

Rejected: too short, an instruction artefact, short-lived (`lasting.py`), an exact duplicate, replaced or forgotten since, low
confidence, or the same as what a person rejected. Merged: an entry or an earlier pending proposal says the same. Promoted:
confident (over 0.8), specific (names a decision record, a path or a command), confirmed by a second session, and, for rules and
personal sections, in the owner's own words. A category with earned trust only needs the owner's own words. A model's review may
decide the rest; everything else waits for a person. So do, in any case, sensitive lines (`sensitive.py`) and those that only
pasted text says (`pasted.py`).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.embed.claims import read_claim, same_claim
from memory_assets.stages.triage.batch import PROMOTE, REJECT, problem_of
from memory_assets.stages.triage.decisions import RULES
from memory_assets.stages.triage.lasting import line_of, why_short_lived
from memory_assets.stages.triage.memory_md import Entry, normal, render_entry
from memory_assets.stages.triage.pasted import PASTED
from memory_assets.stages.triage.sensitive import sensitive_reason

BY_OWNER = "corrected by the owner"
ADOPTED = "the owner adopted settings by which nothing says it"
"""The only reasons to replace or remove a line without asking."""

GIVEN_UP = {"superseded": "a newer fact has replaced it", "forgotten": "its memory was forgotten"}
"""States of a memory that must not be proposed any more, and why."""

SIMILAR_WORDS = 0.8
_ARTEFACT = re.compile(
    r"(?i)^(?:add (?:this )?after|replace (?:this|the (?:line|text|following))|"
    r"insert (?:this|the following)|see (?:above|below))\b"
)
_SPECIFIC = re.compile(
    r"(?i)\bADR[- ]?\d+|(?:^|[\s`(\"'])(?:~|\.{0,2})/[\w.-]+|`[^`]+`|(?:^|\s)--[a-z][\w-]+|\b[\w-]+\.(?:py|ts|js|go|rs|toml|"
    r"ya?ml|json|md|sh|sql|cfg|ini)\b|\b(?:uv|pip|npm|pnpm|git|docker|cargo|pytest|kubectl|ssh|psql|redis-cli|apt)\s+[a-z-]+|"
    r"\bmake (?:[\w-]+ [A-Z_]+=|all|bench|build|check|clean|deploy|dev|docs|fmt|install|lint|release|run|setup|test)\b|"
    r"\bgo (?:build|fmt|generate|get|install|mod|run|test|vet)\b|\b(?:fly|brew) (?:deploy|install|launch|secrets|tap|update)\b"
)
"""What a person could look up or type. `make`, `go` and `fly` are English words, so only their commands count."""


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


def decide(
    proposal: Row,
    entries: Sequence[Entry],
    *,
    guarded: frozenset[str],
    others: Sequence[Row] = (),
    frictions: Sequence[Row] = (),
    trusted: Mapping[str, str] = MappingProxyType({}),
    limits: TriageLimits = TriageLimits(),
) -> Ruling:
    """Returns the ruling on one proposal.

    `guarded` are the sections that take only the owner's own words; `trusted` the categories whose high-priority proposals
    need no approval, each with the reason; `others` and `frictions` are earlier decisions. A pending proposal is merged into a
    recurring problem that says the same.
    """
    text = proposal["text"]
    if len(text.strip()) < limits.shortest:
        return Ruling("rejected", f"shorter than {limits.shortest} characters")
    if _ARTEFACT.match(text):
        return Ruling("rejected", "an instruction artefact, not a fact")
    if any(normal(entry.text) == normal(text) for entry in entries):
        return Ruling("rejected", "an exact duplicate of an entry")
    if proposal.get("memory_state") in GIVEN_UP:
        return Ruling("rejected", GIVEN_UP[proposal["memory_state"]])
    if reason := _short_lived(proposal, limits):
        return Ruling("rejected", reason)
    if proposal["confidence"] < limits.rejected_below:
        return Ruling("rejected", f"confidence below {limits.rejected_below}")
    ruling = _entry_like(text, entries) or _repeat_of(text, others) or _promote_or_wait(proposal, guarded, trusted, limits)
    return (_repeat_of(text, frictions) if ruling.state == "pending" else None) or ruling


def _short_lived(proposal: Row, limits: TriageLimits) -> str | None:
    """Returns why the proposal is short-lived; one that a person reworded is not checked."""
    said = proposal.get("said", proposal["text"])
    is_repeated = len(proposal["session_ids"]) >= limits.confirming_sessions
    return why_short_lived(said, is_repeated=is_repeated) if proposal["text"] == line_of(said) else None


def decide_amendment(amendment: Row, lines: Collection[str]) -> Ruling:
    """Returns the ruling on a change of an entry; `lines` are the present entries as written."""
    if amendment["entry"] not in lines:
        return Ruling("rejected", "the line was changed or removed since")
    if amendment["reason"] in (BY_OWNER, ADOPTED):
        return Ruling("promoted", amendment["reason"])
    return Ruling("pending", amendment["reason"])


def is_rejected_by_person(decision: Row) -> bool:
    """Returns whether a person rejected the proposal."""
    return decision["state"] == "rejected" and decision["tier"] == 3


def is_friction(decision: Row) -> bool:
    """Returns whether the decision is about a recurring problem, by its id."""
    return decision["proposal_id"].startswith("f-")


def decide_friction(friction: Row, lines: Collection[str], decisions: Sequence[Row], entries: Sequence[Entry] = ()) -> Ruling:
    """Returns the ruling on a recurring problem: a person decides, unless its line is gone or an entry says it already."""
    pending, entry = Ruling("pending", friction["title"]), friction["entry"]
    if entry is None:
        return (_entry_like(friction["text"], entries) if friction["target"] == MEMORY_MD else None) or pending
    if entry not in lines:
        return Ruling("rejected", "the line was changed or removed since")
    asking = (row for row in decisions if row["entry"] == entry and row["state"] == "pending" and not is_friction(row))
    other = next(asking, None)
    return Ruling("merged", f"{other['proposal_id']} asks about the same line") if other else pending


def says_the_same(newer: str, older: str) -> bool:
    """Returns whether the two make the same claim in nearly the same words."""
    words, others = read_claim(older).words, read_claim(newer).words
    overlap = len(words & others) / max(len(words | others), 1)
    return overlap >= SIMILAR_WORDS and same_claim(newer, older, 1.0) is not None


def _entry_like(text: str, entries: Sequence[Entry]) -> Ruling | None:
    for entry in entries:
        if says_the_same(text, entry.text):
            line = render_entry(entry.on, entry.text)
            return Ruling("merged", f"entry of {entry.on} in {entry.section} says the same", line)
    return None


def _repeat_of(text: str, others: Sequence[Row]) -> Ruling | None:
    for other in others:
        is_rejected = is_rejected_by_person(other)
        if (is_rejected or other["state"] == "pending") and says_the_same(text, other["text"]):
            if is_rejected:
                return Ruling("rejected", f"says the same as {other['proposal_id']}, which a person rejected")
            return Ruling("merged", f"{other['proposal_id']}, which waits, says the same")
    return None


def follow_review(review: Row, proposal: Row, guarded: frozenset[str]) -> Ruling:
    """Returns the ruling of a model's review (a row of `model_reviews`) on a proposal that rules left to a person."""
    model = review["model"]
    if review["verdict"] == REJECT:
        return Ruling("rejected", f"{model}: {review['reason']}", tier=2, actor=model)
    if review["verdict"] != PROMOTE:
        return Ruling("pending", f"{model} asks: {review['reason']}")
    problem = needs_person(proposal, guarded) or needs_person({**proposal, "text": review["text"]}, guarded)
    if problem := problem or problem_of(review["text"], proposal["text"]):
        return Ruling("pending", f"{model} would promote it, but {problem}")
    return Ruling("promoted", f"{model} found it worth keeping", text=review["text"], tier=2, actor=model)


def needs_person(proposal: Row, guarded: frozenset[str]) -> str | None:
    """Returns why the proposal must not be promoted without a person, or None."""
    if proposal["section"].casefold() in guarded and proposal["author"] != "owner":
        return f"{proposal['section']} takes only the owner's own words"
    return sensitive_reason(proposal["text"]) or (PASTED if proposal.get("typed_session_ids") == [] else None)


def missing_for_promotion(proposal: Row, guarded: frozenset[str], limits: TriageLimits = TriageLimits()) -> list[str]:
    """Returns why rules cannot promote the proposal."""
    missing = []
    if proposal.get("memory_state", "active") != "active":
        missing.append(f"its memory is {proposal['memory_state']} by now")
    if proposal["confidence"] <= limits.promoted_above:
        missing.append(f"confidence {proposal['confidence']:.2f} is not above {limits.promoted_above}")
    if not _SPECIFIC.search(proposal["text"]):
        missing.append("names no decision record, path or command")
    if len(proposal["session_ids"]) < limits.confirming_sessions:
        missing.append("no second session confirms it")
    elif 0 < len(proposal.get("typed_session_ids", proposal["session_ids"])) < limits.confirming_sessions:
        missing.append("no second session confirms it outside pasted text")
    return [*missing, *filter(None, [needs_person(proposal, guarded)])]


def _promote_or_wait(proposal: Row, guarded: frozenset[str], trusted: Mapping[str, str], limits: TriageLimits) -> Ruling:
    missing = missing_for_promotion(proposal, guarded, limits)
    is_trusted = proposal.get("priority") == "high" and proposal.get("category") in trusted
    is_open = proposal.get("memory_state", "active") == "active" and not needs_person(proposal, guarded)
    if missing and is_trusted and is_open:
        return Ruling("promoted", trusted[proposal["category"]])
    if missing:
        return Ruling("pending", "; ".join(missing))
    return Ruling("promoted", "believed, specific and confirmed by a second session")
