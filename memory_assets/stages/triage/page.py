"""Chooses what a person is asked: the most useful pending proposals, at most ten at a time, with
places for perhaps rules among them, and a sample of refusals.

The time of a proposal begins when it is first shown, and begins again if a more useful one took its
place meanwhile. When one leaves the page, the next takes its place. The page also shows a few
proposals that rules rejected by their words: a tick overrules the rejection, striking the line
confirms it, and calibration counts both.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from memory_assets.english.standing import is_of_all, is_standing_order
from memory_assets.schema.protocols import Row
from memory_assets.stages.embed.merge import NORMS
from memory_assets.stages.reflect.bullets import ORDER
from memory_assets.stages.reflect.durable import own_words
from memory_assets.stages.triage import wording
from memory_assets.stages.triage.decisions import ASKED, RULES, person_decided
from memory_assets.stages.triage.projects import project_of
from memory_assets.stages.triage.refusal import PASSES, VAGUE
from memory_assets.store.ledger import Event
from memory_assets.text.words import text_hash

MOST_ASKED = 10
PERHAPS_ASKED = 3
"""Places among them that perhaps rules have; these would otherwise come last."""

MOST_REFUSED = 3
"""Refusals on the page at a time."""

ALL_PROJECTS = "all projects"


def usefulness(proposal: Row) -> tuple[Any, ...]:
    """Returns the rank of a proposal, the most useful first.

    Proposals without a doubt come first, then perhaps rules about all of a kind. Among each
    count, in this order: standing alone and naming its subject, changing a line, priority,
    number of sessions, the owner's words, being a general rule, and the date.
    """
    text = proposal["text"]
    is_doubtful = bool(proposal.get("doubt"))
    is_change = bool(proposal["entry"])
    is_norm = proposal["category"] in NORMS or is_standing_order(text)
    is_general = is_norm and wording.holds_in_general(text, own_words(text))
    return (
        is_doubtful,
        is_doubtful and not is_of_all(text),
        not is_change and wording.question_about(text) is not None,
        not is_change and wording.is_about_unnamed(text),
        not is_change,
        ORDER[proposal["priority"]],
        -len(proposal["session_ids"]),
        proposal["author"] != "owner",
        not is_general,
        -proposal["event_on"].toordinal(),
        proposal["proposal_id"],
    )


def choose_asked(
    decisions: Sequence[Row], proposals: Mapping[str, Row]
) -> tuple[list[str], list[str]]:
    """Returns the pending proposals that come onto the page now, and those on it that more useful
    ones displace.
    """
    rows = (row for row in decisions if row["state"] == "pending")
    pending = [{**proposals[row["proposal_id"]], **row} for row in rows]
    pending.sort(key=usefulness)
    sure = [row for row in pending if not row.get("doubt")]
    perhaps = pending[len(sure) :]
    ranked = [*perhaps[:PERHAPS_ASKED], *sure, *perhaps[PERHAPS_ASKED:]]
    new = [row["proposal_id"] for row in ranked[:MOST_ASKED] if row["expires_at"] is None]
    return new, [row["proposal_id"] for row in ranked[MOST_ASKED:] if row["expires_at"] is not None]


def choose_refused(
    decisions: Sequence[Row], events: Sequence[Event], now: datetime, days: int
) -> tuple[list[str], list[str]]:
    """Returns the refused proposals on the page, and those of them that are new there; events are
    those of proposals.
    """
    asked = {event.target: event.at for event in events if event.kind == ASKED}
    seen = person_decided(events)
    open_until = now - timedelta(days=days)
    ids = (row["proposal_id"] for row in filter(_is_refused, decisions))
    refused = [id for id in ids if id not in seen]
    shown = [id for id in refused if id in asked and asked[id] > open_until]
    # In no order that says anything about them.
    fresh = sorted((id for id in refused if id not in asked), key=text_hash)
    new = fresh[: max(MOST_REFUSED - len(shown), 0)]
    return sorted([*shown, *new]), new


def place_name(proposal: Row) -> str:
    """Returns the heading of the proposals that hold in the same place."""
    return project_of(proposal) or ALL_PROJECTS


def _is_refused(decision: Row) -> bool:
    """Returns whether rules refused the proposal by its words."""
    return (
        decision["state"] == "rejected"
        and decision["actor"] == RULES
        and decision["reason"].startswith((VAGUE, PASSES))
    )
