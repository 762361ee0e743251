"""Sets verdicts beside what people made of them: the write gate's, those of triage's rules, and of a model's reviews.

Takes the tables and the ledger; gives the rows of the table `calibration`. Nothing is taken for a decision that nobody made:
what nobody was asked about is unseen, and has no precision. A line that rules or a model wrote into MEMORY.md was right where
people left it standing for as long as a review may take, and wrong where somebody struck it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.stages.triage import decisions as told
from memory_assets.stages.triage import promote
from memory_assets.stages.triage.auto import is_friction, says_the_same, what_lacks
from memory_assets.stages.triage.lasting import line_of
from memory_assets.stages.triage.memory_md import normal, read_entries
from memory_assets.store.ledger import Event

YES, NO = ("approved", "edited", "kept"), ("rejected",)
OUTCOMES = (*YES, *NO, "ignored", "waiting", "unseen")
"""What can become of a row for people; the last three say nothing of it."""

AGAINST = ("hold", "discard", "rejected", "merged", "reject")
"""Verdicts that are right where people say no."""

LEFT = "left to a person"
UNRECORDED = "unrecorded"
UNSEEN = "unseen"
KEY = ("judge", "verdict", "reason", "category", "version")

_COLUMNS = {**dict.fromkeys((*KEY, "outcome"), pl.String), "error": pl.Float64}
_VERSION = pl.concat_str("observer", "prompt_hash", separator=" ", ignore_nulls=True)

ENOUGH = 20
"""Decisions from which the error of confidence says more than chance."""

Z_90 = 1.645
"""Of a 90 % interval, the width that all figures of this project have."""

_DIFFERING = (
    (re.compile(r"\b[fp]-\d{8}-\d{3,}\b"), "another proposal"),
    (re.compile(r"\bentry of \S+ in .+ says the same"), "an entry says the same"),
    (re.compile(r"\bearned trust: .+"), "earned trust"),
    (re.compile(r"\bconfidence \S+ is not above [\d.]+"), "confidence is too low"),
)
"""What differs from one proposal to the next within a reason, and what stands for it."""


@dataclass(frozen=True)
class Said:
    """What rules and people said of proposals so far."""

    decisions: pl.DataFrame
    events: Sequence[Event]
    entries: pl.DataFrame
    """The table `entries`: MEMORY.md as it stands."""
    now: datetime
    review_days: int
    guarded: frozenset[str]
    """Sections that only the owner's own words may enter, case-folded."""
    triage_version: str


def calibrate(
    verdicts: pl.DataFrame, observations: pl.DataFrame, proposals: pl.DataFrame, reviews: pl.DataFrame, said: Said
) -> pl.DataFrame:
    """Returns the table `calibration`; of the proposals (with amendments and frictions) those that would add a line."""
    added = that_add_a_line(proposals)
    outcomes = find_outcomes(added, said)
    asked = by_observation(added, outcomes)
    behind = observations.filter(pl.col("id").is_in(list(asked)))
    judged = pl.concat(
        [
            _of_gate(verdicts, observations, asked),
            _frame(_of_rules(added, outcomes, said)),
            _frame(_of_model(added, outcomes, reviews)),
            _frame(_of_confidence(added, outcomes, dict(behind.select("id", _VERSION).iter_rows()))),
        ]
    )
    return sum_up(judged.group_by(*KEY).agg(_counts_of_rows()), KEY)


def that_add_a_line(proposals: pl.DataFrame) -> list[dict[str, Any]]:
    """Returns the proposals that are neither amendments nor frictions: those that verdicts are about."""
    return [row for row in proposals.iter_rows(named=True) if row["entry"] is None and not is_friction(row)]


def by_observation(added: Sequence[Mapping[str, Any]], outcomes: Mapping[str, str]) -> dict[str, str]:
    """Returns what became of each observation that a proposal rests on."""
    return {id: outcomes[row["proposal_id"]] for row in added for id in row["observation_ids"]}


def sum_up(calibration: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Returns the rows of `calibration` added up by these columns, the others empty, with their precision."""
    sums = [pl.col(name).sum() for name in ("count", *OUTCOMES)]
    decided = pl.sum_horizontal(*YES, *NO)
    error = (pl.col("brier") * decided).sum().alias("_error")
    plain = dict.fromkeys(KEY, "")
    rows = [_with_precision({**plain, **row}) for row in calibration.group_by(*by).agg(*sums, error).iter_rows(named=True)]
    return schemas.frame_of("calibration", rows).sort(*KEY)


def _with_precision(row: dict[str, Any]) -> dict[str, Any]:
    wanted, unwanted = (sum(row[name] for name in names) for names in (YES, NO))
    decided = wanted + unwanted
    right = unwanted if row["verdict"] in AGAINST else wanted
    low, high = interval_of(right, decided) if decided else (None, None)
    figures = {"precision": right / decided if decided else None, "low": low, "high": high}
    brier = row.pop("_error") / decided if decided and row["judge"] == "confidence" else None
    return {**row, **figures, "brier": brier}


def interval_of(right: int, total: int) -> tuple[float, float]:
    """Returns the 90 % interval of a share after Wilson, which stays honest where few were counted and all were right."""
    share, spread = right / total, Z_90**2 / total
    middle = (share + spread / 2) / (1 + spread)
    half = Z_90 * sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def find_outcomes(added: Sequence[Mapping[str, Any]], said: Said) -> dict[str, str]:
    """Returns what became of each proposal for people."""
    spoken: dict[str, list[Event]] = {}
    for event in said.events:
        spoken.setdefault(event.target, []).append(event)
    states = {row["proposal_id"]: row for row in said.decisions.iter_rows(named=True)}
    lines = _Lines(said)
    return {
        row["proposal_id"]: _by_person(row, spoken.get(row["proposal_id"], []))
        or _by_itself(states.get(row["proposal_id"]), lines)
        for row in added
    }


def _by_person(proposal: Mapping[str, Any], events: Sequence[Event]) -> str | None:
    """Returns what the first decision of a person says, or nothing where none decided."""
    wording = line_of(proposal["text"])
    for event in events:
        if event.kind == told.REJECTED:
            return "rejected"
        if event.kind == told.EDITED:
            wording = event.payload["text"]
        elif event.kind == told.APPROVED:
            final = event.payload.get("text") or wording
            return "approved" if normal(final) == normal(line_of(proposal["text"])) else "edited"
    return None


def _by_itself(decision: Mapping[str, Any] | None, lines: "_Lines") -> str:
    """Returns what the course of things says of a proposal that no person decided."""
    state = decision["state"] if decision else "pending"
    if decision and state == told.PROMOTED:
        return lines.outcome_of(decision["proposal_id"], decision["decided_at"])
    return {"pending": "waiting", told.EXPIRED: "ignored"}.get(state, UNSEEN)


class _Lines:
    """The lines that were ever written without asking, and whether they still stand."""

    def __init__(self, said: Said) -> None:
        self._written = {event.target: event for event in said.events if event.kind == promote.PROMOTED}
        ours = (promote.PROMOTED, promote.RETIRED)
        self._replaced = {event.payload.get("replaces") for event in said.events if event.kind in ours}
        self._standing = set(said.entries["proposal_id"])
        self._by_hand = said.entries.filter(pl.col("is_by_hand"))["text"].to_list()
        self._settled_before = said.now - timedelta(days=said.review_days)

    def outcome_of(self, proposal_id: str, decided_at: datetime) -> str:
        """Returns `kept`, `edited` or `rejected`; `waiting` while people had little time, `unseen` for what we replaced."""
        written = self._written.get(proposal_id)
        if written is None:
            return "waiting"
        if proposal_id in self._standing:
            return "kept" if decided_at <= self._settled_before else "waiting"
        line = written.payload["line"]
        if line in self._replaced:
            return UNSEEN
        (entry,) = read_entries(line)
        return "edited" if any(says_the_same(one, entry.text) for one in self._by_hand) else "rejected"


def _of_gate(verdicts: pl.DataFrame, observations: pl.DataFrame, asked: Mapping[str, str]) -> pl.DataFrame:
    """Returns a row for each candidate; people are asked about what rests on allowed ones alone."""
    known = observations.select("id", "category", "prompt_hash")
    became = pl.DataFrame(list(asked.items()), schema={"candidate_id": pl.String, "outcome": pl.String}, orient="row")
    found = verdicts.join(known, left_on="candidate_id", right_on="id", how="left").join(became, on="candidate_id", how="left")
    is_asked = (pl.col("verdict") == "allow") & pl.col("outcome").is_not_null()
    return found.select(
        judge=pl.lit("gate"),
        verdict="verdict",
        reason="reason",
        category=pl.col("category").fill_null(""),
        version=_VERSION,
        outcome=pl.when(is_asked).then("outcome").otherwise(pl.lit(UNSEEN)),
        error=pl.lit(None, dtype=pl.Float64),
    )


def _of_rules(added: Sequence[Mapping[str, Any]], outcomes: Mapping[str, str], said: Said) -> Iterator[dict[str, Any]]:
    """Yields what rules made of each proposal: what they decided, or why they left it to a person."""
    ruled = ruled_by_rules(said.events)
    for row in added:
        ruling = ruled.get(row["proposal_id"])
        reason = ruling["reason"] if ruling else "; ".join(what_lacks(row, said.guarded)) or "nobody ruled on it yet"
        version = ruling.get("version", UNRECORDED) if ruling else said.triage_version
        yield _row("rules", ruling["state"] if ruling else LEFT, row, outcomes, reason=_named(reason), version=version)


def ruled_by_rules(events: Sequence[Event]) -> dict[str, dict[str, Any]]:
    """Returns what rules decided, by proposal; what they left to others is not in it."""
    return {event.target: event.payload for event in events if event.kind == told.DECIDED and event.actor == told.RULES}


def _of_model(
    added: Sequence[Mapping[str, Any]], outcomes: Mapping[str, str], reviews: pl.DataFrame
) -> Iterator[dict[str, Any]]:
    """Yields what a model said of each proposal that it was shown; its reasons are free text, and left out."""
    by_id = {row["proposal_id"]: row for row in added}
    for review in reviews.iter_rows(named=True):
        if row := by_id.get(review["proposal_id"]):
            yield _row("model", review["verdict"], row, outcomes, version=f"{review['model']} {review['prompt_hash']}")


def _of_confidence(
    added: Sequence[Mapping[str, Any]], outcomes: Mapping[str, str], versions: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yields how sure each proposal was, by tenths, and how far that was from what people said."""
    for row in added:
        tenth = min(int(row["confidence"] * 10 + 1e-9), 9)  # 0.7 lies in the tenth that begins with it
        version = next((versions[id] for id in row["observation_ids"] if id in versions), UNRECORDED)
        outcome = outcomes[row["proposal_id"]]
        wanted = 1.0 if outcome in YES else 0.0 if outcome in NO else None
        error = None if wanted is None else (row["confidence"] - wanted) ** 2
        yield _row("confidence", f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}", row, outcomes, version=version, error=error)


def _row(
    judge: str,
    verdict: str,
    proposal: Mapping[str, Any],
    outcomes: Mapping[str, str],
    *,
    version: str,
    reason: str = "",
    error: float | None = None,
) -> dict[str, Any]:
    of_proposal = {"category": proposal["category"], "outcome": outcomes[proposal["proposal_id"]]}
    return {"judge": judge, "verdict": verdict, "reason": reason, "version": version, "error": error, **of_proposal}


def _frame(rows: Iterator[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=_COLUMNS)


def _counts_of_rows() -> list[pl.Expr]:
    counts = [(pl.col("outcome") == name).sum().cast(pl.Int64).alias(name) for name in OUTCOMES]
    return [pl.len().cast(pl.Int64).alias("count"), *counts, pl.col("error").mean().alias("brier")]


def _named(reason: str) -> str:
    for pattern, name in _DIFFERING:
        reason = pattern.sub(name, reason)
    return reason
