"""Tier 1: what rules can decide about a proposal, and why.

An amendment is carried out where the owner's own correction asks for it, and is over where its line has changed by hand; every
other change of a line waits for a person. Of what would be a new line:

Rejected: too short, an instruction artefact, something that passes (`lasting.py`), an exact duplicate, replaced or forgotten
since, hardly believed, or the same as what a person rejected. Merged: an entry or an earlier proposal that waits says the same.
Promoted: believed (over 0.8), specific (names a decision record, a path or a command), confirmed by a second session, and, for
rules and what is the owner's, said in the owner's own words. What a category's earned trust covers needs none of this but the
owner's own words. Of the rest a model's review may decide; everything else waits for a person. Sensitive lines (`sensitive.py`)
and those that only pasted text says (`pasted.py`) wait for a person in any case.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.embed.claims import read_claim, same_claim
from memory_assets.stages.triage.batch import PROMOTE, REJECT, problem_of
from memory_assets.stages.triage.decisions import RULES
from memory_assets.stages.triage.lasting import line_of, why_passing
from memory_assets.stages.triage.memory_md import Entry, normal, render_entry
from memory_assets.stages.triage.pasted import PASTED
from memory_assets.stages.triage.sensitive import sensitive_reason

SHORTEST = 12
PROMOTED_ABOVE = 0.8
REJECTED_BELOW = 0.3
CONFIRMING_SESSIONS = 2
"""The rules observer's own confidence is not enough: two sessions must have said it."""

BY_OWNER = "corrected by the owner"
ADOPTED = "the owner adopted settings by which nothing says it"
"""The only reasons for which a line is replaced, or goes, without asking."""

GIVEN_UP = {"superseded": "a newer fact has replaced it", "forgotten": "its memory was forgotten"}
"""States of a memory that is not to be proposed any more, and why."""

SIMILAR_WORDS = 0.8
_ARTEFACT = re.compile(
    r"^(?:add (?:this )?after|replace (?:this|the (?:line|text|following))|"
    r"insert (?:this|the following)|see (?:above|below))\b",
    re.IGNORECASE,
)
_SPECIFIC = re.compile(
    r"\bADR[- ]?\d+|(?:^|[\s`(\"'])(?:~|\.{0,2})/[\w.-]+|`[^`]+`|(?:^|\s)--[a-z][\w-]+|"
    r"\b[\w-]+\.(?:py|ts|js|go|rs|toml|ya?ml|json|md|sh|sql|cfg|ini)\b|"
    r"\b(?:uv|pip|npm|pnpm|git|docker|cargo|pytest|kubectl|ssh|psql|redis-cli|apt)\s+[a-z-]+|"
    r"\bmake (?:[\w-]+ [A-Z_]+=|all|bench|build|check|clean|deploy|dev|docs|fmt|install|lint|release|run|setup|test)\b|"
    r"\bgo (?:build|fmt|generate|get|install|mod|run|test|vet)\b|\b(?:fly|brew) (?:deploy|install|launch|secrets|tap|update)\b",
    re.IGNORECASE,
)
"""What a person could look up or type. `make`, `go` and `fly` are words of their own, so only their commands count."""


@dataclass(frozen=True)
class Limits:
    """The numbers that rules decide by; others than these are for asking what they would change."""

    shortest: int = SHORTEST
    promoted_above: float = PROMOTED_ABOVE
    rejected_below: float = REJECTED_BELOW
    confirming_sessions: int = CONFIRMING_SESSIONS


@dataclass(frozen=True)
class Ruling:
    """What the rules say: a state, or pending, and why."""

    state: str
    reason: str
    entry: str | None = None
    """The line that says the same."""
    text: str | None = None
    """Another wording."""
    tier: int = 1
    actor: str = RULES


@dataclass(frozen=True)
class Other:
    """An earlier proposal, and where it stands."""

    proposal_id: str
    text: str
    state: str
    is_by_person: bool = False


def decide(
    proposal: Mapping[str, Any],
    entries: Sequence[Entry],
    *,
    guarded: frozenset[str],
    others: Sequence[Other] = (),
    frictions: Sequence[Other] = (),
    trusted: Mapping[str, str] = MappingProxyType({}),
    limits: Limits = Limits(),
) -> Ruling:
    """Returns the ruling on one proposal.

    `guarded` are the sections that only the owner's own words may enter; `trusted` the categories whose high-priority
    proposals need no tick, each with what earned it that. What has to wait is asked about as the friction that says the
    same, which tells what it costs.
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
    if passing := _passing(proposal, limits):
        return Ruling("rejected", passing)
    if proposal["confidence"] < limits.rejected_below:
        return Ruling("rejected", f"confidence below {limits.rejected_below}")
    ruling = _entry_like(text, entries) or _repeat_of(text, others) or _promote_or_wait(proposal, guarded, trusted, limits)
    return (_repeat_of(text, frictions) if ruling.state == "pending" else None) or ruling


def _passing(proposal: Mapping[str, Any], limits: Limits) -> str | None:
    """Returns why it is nothing for months; what a person has worded anew is not asked."""
    said = proposal.get("said", proposal["text"])
    is_repeated = len(proposal["session_ids"]) >= limits.confirming_sessions
    return why_passing(said, is_repeated=is_repeated) if proposal["text"] == line_of(said) else None


def decide_amendment(amendment: Mapping[str, Any], lines: Collection[str]) -> Ruling:
    """Returns the ruling on a change of an entry; `lines` are the entries of the file as they are written."""
    if amendment["entry"] not in lines:
        return Ruling("rejected", "the line was changed or removed since")
    if amendment["reason"] in (BY_OWNER, ADOPTED):
        return Ruling("promoted", amendment["reason"])
    return Ruling("pending", amendment["reason"])


def is_friction(decision: Mapping[str, Any]) -> bool:
    """Returns whether the decision is about what goes wrong again and again, by its id."""
    return decision["proposal_id"].startswith("f-")


def decide_friction(
    friction: Mapping[str, Any],
    lines: Collection[str],
    decisions: Sequence[Mapping[str, Any]],
    entries: Sequence[Entry] = (),
) -> Ruling:
    """Returns the ruling on a friction: a person decides, unless its line is gone or an entry says it already."""
    if friction["entry"] is None:
        said = _entry_like(friction["text"], entries) if friction["target"] == MEMORY_MD else None
        return said or Ruling("pending", friction["title"])
    if friction["entry"] not in lines:
        return Ruling("rejected", "the line was changed or removed since")
    asking = (
        row for row in decisions if row["entry"] == friction["entry"] and row["state"] == "pending" and not is_friction(row)
    )
    other = next(asking, None)
    return (
        Ruling("merged", f"{other['proposal_id']} asks about the same line") if other else Ruling("pending", friction["title"])
    )


def says_the_same(newer: str, older: str) -> bool:
    """Returns whether the two make the same claim in nearly the same words."""
    words, others = read_claim(older).words, read_claim(newer).words
    overlap = len(words & others) / max(len(words | others), 1)
    return overlap >= SIMILAR_WORDS and same_claim(newer, older, 1.0) is not None


def _entry_like(text: str, entries: Sequence[Entry]) -> Ruling | None:
    similar = next((entry for entry in entries if says_the_same(text, entry.text)), None)
    if similar is None:
        return None
    line = render_entry(similar.on, similar.text)
    return Ruling("merged", f"entry of {similar.on} in {similar.section} says the same", line)


def _repeat_of(text: str, others: Sequence[Other]) -> Ruling | None:
    for other in others:
        is_rejected = other.state == "rejected" and other.is_by_person
        if (is_rejected or other.state == "pending") and says_the_same(text, other.text):
            if is_rejected:
                return Ruling("rejected", f"says the same as {other.proposal_id}, which a person rejected")
            return Ruling("merged", f"{other.proposal_id}, which waits, says the same")
    return None


def follow_review(review: Mapping[str, Any], proposal: Mapping[str, Any], guarded: frozenset[str]) -> Ruling:
    """Returns what a model's review (a row of `model_reviews`) makes of a proposal that rules left to a person."""
    said = {"tier": 2, "actor": review["model"]}
    if review["verdict"] == REJECT:
        return Ruling("rejected", f"{review['model']}: {review['reason']}", **said)
    if review["verdict"] != PROMOTE:
        return Ruling("pending", f"{review['model']} asks: {review['reason']}")
    reworded = {**proposal, "text": review["text"]}
    if problem := (
        is_barred(proposal, guarded) or is_barred(reworded, guarded) or problem_of(review["text"], proposal["text"])
    ):
        return Ruling("pending", f"{review['model']} would promote it, but {problem}")
    return Ruling("promoted", f"{review['model']} found it worth keeping", text=review["text"], **said)


def is_barred(proposal: Mapping[str, Any], guarded: frozenset[str]) -> str | None:
    """Returns why the proposal may not be promoted without a person, or nothing."""
    if proposal["section"].casefold() in guarded and proposal["author"] != "owner":
        return f"{proposal['section']} takes only the owner's own words"
    return sensitive_reason(proposal["text"]) or (PASTED if proposal.get("typed_session_ids") == [] else None)


def _typed_sessions(proposal: Mapping[str, Any]) -> Sequence[str]:
    """Returns the sessions that say it outside pasted text; all of them where nobody looked."""
    return proposal.get("typed_session_ids", proposal["session_ids"])


def what_lacks(proposal: Mapping[str, Any], guarded: frozenset[str], limits: Limits = Limits()) -> list[str]:
    """Returns why rules cannot promote the proposal by themselves."""
    missing = []
    if proposal.get("memory_state", "active") != "active":
        missing.append(f"its memory is {proposal['memory_state']} by now")
    if proposal["confidence"] <= limits.promoted_above:
        missing.append(f"confidence {proposal['confidence']:.2f} is not above {limits.promoted_above}")
    if not _SPECIFIC.search(proposal["text"]):
        missing.append("names no decision record, path or command")
    if len(proposal["session_ids"]) < limits.confirming_sessions:
        missing.append("no second session confirms it")
    elif 0 < len(_typed_sessions(proposal)) < limits.confirming_sessions:
        missing.append("no second session confirms it outside pasted text")
    barred = is_barred(proposal, guarded)
    return [*missing, barred] if barred else missing


def _promote_or_wait(
    proposal: Mapping[str, Any], guarded: frozenset[str], trusted: Mapping[str, str], limits: Limits
) -> Ruling:
    missing = what_lacks(proposal, guarded, limits)
    is_trusted = proposal.get("priority") == "high" and proposal.get("category") in trusted
    is_open = proposal.get("memory_state", "active") == "active" and not is_barred(proposal, guarded)
    if missing and is_trusted and is_open:
        return Ruling("promoted", trusted[proposal["category"]])
    if missing:
        return Ruling("pending", "; ".join(missing))
    return Ruling("promoted", "believed, specific and confirmed by a second session")
