"""Compares verdicts of the write gate, of triage's rules and of a model with people's decisions.

Takes the tables and the ledger, gives the rows of the table `calibration`. Only decisions count: a
row that nobody was asked about is unseen, and says nothing about precision. A line that rules or a
model wrote into MEMORY.md was right if people kept it for the days that a review may take, and
wrong if somebody removed it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Row
from memory_assets.stages.triage import decisions as decided
from memory_assets.stages.triage import promote
from memory_assets.stages.triage.auto import is_friction, missing_for_promotion
from memory_assets.stages.triage.comparison import says_the_same
from memory_assets.stages.triage.memory_md import normal, read_entries
from memory_assets.stages.triage.run import TRIAGE_VERSION, TriageRules
from memory_assets.stages.triage.wording import line_of
from memory_assets.store.ledger import Event

YES = ("approved", "edited", "kept")
NO = ("rejected",)
OUTCOMES = (*YES, *NO, "ignored", "waiting", "unseen")
"""What became of a row with people; the last three mean that no person decided it."""

AGAINST = ("hold", "discard", "rejected", "merged", "reject")
"""Verdicts that are right where people reject."""

LEFT = "left to a person"
UNRECORDED = "unrecorded"
UNSEEN = "unseen"
KEY = ("judge", "verdict", "reason", "category", "version")

_COLUMNS = {**dict.fromkeys((*KEY, "outcome"), pl.String), "error": pl.Float64}
_VERSION = pl.concat_str("observer", "prompt_hash", separator=" ", ignore_nulls=True)

ENOUGH = 20
"""Decisions from which the error of confidence is reported: fewer say little."""

Z_90 = 1.645
"""Standard deviations on each side of a 90 % interval."""

_DETAILS = (
    (re.compile(r"\b[fp]-\d{8}-\d{3,}\b"), "another proposal"),
    (re.compile(r"\bentry of \S+ in .+ says the same"), "an entry says the same"),
    (re.compile(r"\bearned trust: .+"), "earned trust"),
    (re.compile(r"^.+? it in one session, on [\d-]+"), "said in one session"),
    (re.compile(r"^.+? it in \d+ sessions, last on [\d-]+"), "said in several sessions"),
    (re.compile(r"\bwhat (?:does “[^”]*” stand for|is it about)\?"), "a question to the owner:"),
    (re.compile(r"“[^”]*” says otherwise"), "an entry says otherwise"),
)
"""The parts of a reason that differ between proposals, and their replacements."""


@dataclass(frozen=True)
class ReviewHistory:
    """The decisions of rules and people about proposals so far."""

    decisions: pl.DataFrame
    events: Sequence[Event]
    entries: pl.DataFrame
    """The table `entries`: the lines of MEMORY.md."""
    rules: TriageRules


def calibrate(
    verdicts: pl.DataFrame,
    observations: pl.DataFrame,
    proposals: pl.DataFrame,
    reviews: pl.DataFrame,
    history: ReviewHistory,
) -> pl.DataFrame:
    """Returns the table `calibration`. Of proposals, those that would add a line are counted."""
    added = line_proposals(proposals)
    outcomes = find_outcomes(added, history)
    fact_outcomes = outcomes_by_observation(added, outcomes)
    evidence = observations.filter(pl.col("id").is_in(fact_outcomes.keys()))
    versions = dict(evidence.select("id", _VERSION).iter_rows())
    rows = _of_proposals(added, outcomes, versions, reviews, history)
    of_proposals = pl.DataFrame(list(rows), schema=_COLUMNS)
    judged = pl.concat([_of_gate(verdicts, observations, fact_outcomes), of_proposals])
    counts = {name: (pl.col("outcome") == name).sum().cast(pl.Int64) for name in OUTCOMES}
    counts["count"] = pl.len().cast(pl.Int64)
    return sum_up(judged.group_by(*KEY).agg(**counts, brier=pl.col("error").mean()), KEY)


def line_proposals(proposals: pl.DataFrame) -> list[dict[str, Any]]:
    """Returns the proposals that are neither amendments nor frictions."""
    rows = proposals.iter_rows(named=True)
    return [row for row in rows if row["entry"] is None and not is_friction(row)]


def outcomes_by_observation(added: Sequence[Row], outcomes: Mapping[str, str]) -> dict[str, str]:
    """Returns the outcome of each observation that a proposal rests on."""
    return {id: outcomes[row["proposal_id"]] for row in added for id in row["observation_ids"]}


def sum_up(calibration: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Returns the sums of the rows of `calibration` by these columns, with precision and error.

    The other columns of the key are empty.
    """
    sums = [pl.col(name).sum() for name in ("count", *OUTCOMES)]
    decision_count = pl.sum_horizontal(*YES, *NO)
    error = (pl.col("brier") * decision_count).sum().alias("_error")
    empty_key = dict.fromkeys(KEY, "")
    groups = calibration.group_by(*by).agg(*sums, error)
    rows = [_with_precision(empty_key | row) for row in groups.iter_rows(named=True)]
    return schemas.frame_of("calibration", rows).sort(*KEY)


def _with_precision(row: dict[str, Any]) -> dict[str, Any]:
    wanted_count = sum(row[name] for name in YES)
    unwanted_count = sum(row[name] for name in NO)
    error = row.pop("_error")
    total = wanted_count + unwanted_count
    right = unwanted_count if row["verdict"] in AGAINST else wanted_count
    if not total:
        return {**row, "precision": None, "low": None, "high": None, "brier": None}
    low, high = interval_of(right, total)
    brier = error / total if row["judge"] == "confidence" else None
    return {**row, "precision": right / total, "low": low, "high": high, "brier": brier}


def interval_of(right: int, total: int) -> tuple[float, float]:
    """Returns the 90 % Wilson interval of `right` in `total`.

    It is sound for small counts, too, and for shares near 0 or 1.
    """
    share = right / total
    spread = Z_90**2 / total
    middle = (share + spread / 2) / (1 + spread)
    half = Z_90 * sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def find_outcomes(added: Sequence[Row], history: ReviewHistory) -> dict[str, str]:
    """Returns the outcome of each proposal, by its id."""
    events: dict[str, list[Event]] = defaultdict(list)
    for event in history.events:
        events[event.target].append(event)
    decisions = {row["proposal_id"]: row for row in history.decisions.iter_rows(named=True)}
    lines = _Lines(history)
    outcomes = {}
    for row in added:
        id = row["proposal_id"]
        by_person = _outcome_by_person(row, events[id])
        outcomes[id] = by_person or _outcome_without_person(decisions.get(id), lines)
    return outcomes


def _outcome_by_person(proposal: Row, events: Sequence[Event]) -> str | None:
    """Returns the outcome of a person's first decision; None if no person decided."""
    proposed = wording = line_of(proposal["text"])
    for event in events:
        if event.kind == decided.REJECTED:
            return "rejected"
        if event.kind == decided.EDITED:
            wording = event.payload["text"]
        elif event.kind == decided.APPROVED:
            final = event.payload.get("text") or wording
            return "approved" if normal(final) == normal(proposed) else "edited"
    return None


def _outcome_without_person(decision: Row | None, lines: "_Lines") -> str:
    """Returns the outcome of a proposal that no person decided."""
    state = decision["state"] if decision else "pending"
    if decision and state == decided.PROMOTED:
        return lines.outcome_of(decision["proposal_id"], decision["decided_at"])
    return {"pending": "waiting", decided.EXPIRED: "ignored"}.get(state, UNSEEN)


class _Lines:
    """The lines that were written without asking, and whether MEMORY.md still has them."""

    def __init__(self, history: ReviewHistory) -> None:
        promoted = [event for event in history.events if event.kind == promote.PROMOTED]
        retired = [event for event in history.events if event.kind == promote.RETIRED]
        self._written = {event.target: event.payload["line"] for event in promoted}
        self._replaced = {event.payload.get("replaces") for event in (*promoted, *retired)}
        self._present = set(history.entries["proposal_id"])
        self._by_hand = history.entries.filter(pl.col("is_by_hand"))["text"].to_list()
        self._reviewed_before = history.rules.now - timedelta(days=history.rules.review_days)

    def outcome_of(self, proposal_id: str, decided_at: datetime) -> str:
        """Returns `kept`, `edited` or `rejected` for a promoted proposal.

        `waiting` while its review may still come, `unseen` where this program replaced the line.
        """
        line = self._written.get(proposal_id)
        if line is None:
            return "waiting"
        if proposal_id in self._present:
            return "kept" if decided_at <= self._reviewed_before else "waiting"
        if line in self._replaced:
            return UNSEEN
        (entry,) = read_entries(line)
        is_reworded = any(says_the_same(text, entry.text) for text in self._by_hand)
        return "edited" if is_reworded else "rejected"


def _of_gate(
    verdicts: pl.DataFrame, observations: pl.DataFrame, fact_outcomes: Mapping[str, str]
) -> pl.DataFrame:
    """Returns a row for each candidate. People are only asked about allowed ones."""
    facts = observations.select("category", "prompt_hash", candidate_id="id")
    schema = {"candidate_id": pl.String, "outcome": pl.String}
    outcomes = pl.DataFrame(list(fact_outcomes.items()), schema=schema, orient="row")
    candidates = verdicts.join(facts, on="candidate_id", how="left")
    candidates = candidates.join(outcomes, on="candidate_id", how="left")
    is_asked = (pl.col("verdict") == "allow") & pl.col("outcome").is_not_null()
    return candidates.select(
        judge=pl.lit("gate"),
        verdict="verdict",
        reason="reason",
        category=pl.col("category").fill_null(""),
        version=_VERSION,
        outcome=pl.when(is_asked).then("outcome").otherwise(pl.lit(UNSEEN)),
        error=pl.lit(None, dtype=pl.Float64),
    )


def _of_proposals(
    added: Sequence[Row],
    outcomes: Mapping[str, str],
    versions: Mapping[str, str],
    reviews: pl.DataFrame,
    history: ReviewHistory,
) -> Iterator[dict[str, Any]]:
    """Yields a row for each verdict of rules or a model on a proposal, and for its confidence.

    Rules give a reason also where they leave the proposal to a person. The reasons of models are
    free text and are left out. Confidence is grouped by tenths; its error is the square of its
    distance from 1 (people wanted the line) or 0.
    """
    rulings = verdicts_of_rules(history.events)
    for row in added:
        id = row["proposal_id"]
        outcome = outcomes[id]
        common = {"reason": "", "category": row["category"], "outcome": outcome, "error": None}
        yield common | _of_rules(row, rulings.get(id), history.rules)
        for review in reviews.filter(proposal_id=id).iter_rows(named=True):
            version = f"{review['model']} {review['prompt_hash']}"
            yield common | {"judge": "model", "verdict": review["verdict"], "version": version}
        # 1e-9 outweighs the rounding of floats: 0.7 belongs to the tenth from 0.7, not from 0.6.
        tenth = min(int(row["confidence"] * 10 + 1e-9), 9)
        verdict = f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}"
        of_evidence = (versions[id] for id in row["observation_ids"] if id in versions)
        confidence = common | {"judge": "confidence", "verdict": verdict}
        confidence["version"] = next(of_evidence, UNRECORDED)
        if outcome in (*YES, *NO):
            confidence["error"] = (row["confidence"] - (outcome in YES)) ** 2
        yield confidence


def _of_rules(row: Row, ruling: Row | None, rules: TriageRules) -> dict[str, str]:
    if ruling:
        verdict = ruling["state"]
        reason = ruling["reason"]
        version = ruling.get("version", UNRECORDED)
    else:
        verdict = LEFT
        missing = missing_for_promotion(row, rules.guarded)
        reason = "; ".join(missing) or "nobody ruled on it yet"
        version = TRIAGE_VERSION
    reason = _without_details(reason)
    return {"judge": "rules", "verdict": verdict, "reason": reason, "version": version}


def verdicts_of_rules(events: Sequence[Event]) -> dict[str, dict[str, Any]]:
    """Returns the payloads of the rules' decisions, by proposal."""
    return {
        event.target: event.payload
        for event in events
        if event.kind == decided.DECIDED and event.actor == decided.RULES
    }


def _without_details(reason: str) -> str:
    """Returns the reason without the parts that differ between proposals."""
    for pattern, name in _DETAILS:
        reason = pattern.sub(name, reason)
    return reason
