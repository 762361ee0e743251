"""Tier 1: what rules can decide about a proposal, and why.

Rejected: too short, an instruction artefact, an exact duplicate, replaced since, hardly believed. Merged: an entry that says
the same is there. Promoted: believed (over 0.8), specific (names a decision record, a path or a command), confirmed by a second session,
and, for rules and what is the owner's, said in the owner's own words. Everything else waits for a person.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_assets.embed.claims import read_claim, same_claim
from memory_assets.triage.memory_md import Entry, normal

SHORTEST = 12
PROMOTED_ABOVE = 0.8
REJECTED_BELOW = 0.3
CONFIRMING_SESSIONS = 2
"""The rules observer's own confidence is not enough: two sessions must have said it."""

SIMILAR_WORDS = 0.8
_ARTEFACT = re.compile(
    r"^(?:add (?:this )?after|replace (?:this|the (?:line|text|following))|insert (?:this|the following)|see (?:above|below))\b",
    re.I,
)
_SPECIFIC = re.compile(
    r"\bADR[- ]?\d+|(?:^|[\s`(\"'])(?:~|\.{0,2})/[\w.-]+|`[^`]+`|(?:^|\s)--?[a-z][\w-]+|"
    r"\b[\w-]+\.(?:py|ts|js|go|rs|toml|ya?ml|json|md|sh|sql|cfg|ini)\b|"
    r"\b(?:uv|pip|npm|git|make|docker|go|cargo|pytest|kubectl|fly|ssh|psql|redis-cli|brew|apt)\s+[a-z-]+",
    re.I,
)


@dataclass(frozen=True)
class Ruling:
    """What the rules say: a state, or pending, and why."""

    state: str
    reason: str


def decide(proposal: Mapping[str, Any], entries: Sequence[Entry], *, guarded: frozenset[str]) -> Ruling:
    """Returns the ruling on one proposal; `guarded` are the sections that only the owner's own words may enter."""
    text = proposal["text"]
    if len(text.strip()) < SHORTEST:
        return Ruling("rejected", f"shorter than {SHORTEST} characters")
    if _ARTEFACT.match(text):
        return Ruling("rejected", "an instruction artefact, not a fact")
    if any(normal(entry.text) == normal(text) for entry in entries):
        return Ruling("rejected", "an exact duplicate of an entry")
    if proposal.get("state") == "superseded":
        return Ruling("rejected", "a newer fact has replaced it")
    if proposal["confidence"] < REJECTED_BELOW:
        return Ruling("rejected", f"confidence below {REJECTED_BELOW}")
    if similar := next((entry for entry in entries if _says_the_same(entry.text, text)), None):
        return Ruling("merged", f"entry of {similar.on} in {similar.section} says the same")
    return _promote_or_wait(proposal, guarded)


def _promote_or_wait(proposal: Mapping[str, Any], guarded: frozenset[str]) -> Ruling:
    missing = []
    if proposal["confidence"] <= PROMOTED_ABOVE:
        missing.append(f"confidence {proposal['confidence']:.2f} is not above {PROMOTED_ABOVE}")
    if not _SPECIFIC.search(proposal["text"]):
        missing.append("names no decision record, path or command")
    if len(proposal["session_ids"]) < CONFIRMING_SESSIONS:
        missing.append("no second session confirms it")
    if proposal["section"].casefold() in guarded and proposal["author"] != "owner":
        missing.append(f"{proposal['section']} takes only the owner's own words")
    if missing:
        return Ruling("pending", "; ".join(missing))
    return Ruling("promoted", "believed, specific and confirmed by a second session")


def _says_the_same(entry: str, text: str) -> bool:
    words, others = read_claim(entry).words, read_claim(text).words
    overlap = len(words & others) / max(len(words | others), 1)
    return overlap >= SIMILAR_WORDS and same_claim(text, entry, 1.0) is not None
