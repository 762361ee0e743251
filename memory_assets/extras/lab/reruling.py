"""Applies other limits to past rows and reports which verdicts would change, beside what people
decided about them.

Takes the candidates of windows, or proposals, with named limits (`gate.least_useful=0.75`); gives
flips. Nothing is written and no model is asked. The share of each session is planned again, so one
row may flip because of another. A proposal is judged alone: a merged or repeated one keeps its
state. Rows whose past verdict the present rules do not reproduce are left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Literal

import polars as pl

from memory_assets.errors import QuestionError
from memory_assets.schema.protocols import Row
from memory_assets.stages.distill.day import WindowFindings, judge_windows
from memory_assets.stages.distill.rows import candidate_id
from memory_assets.stages.distill.standards import (
    DEFAULT_STANDARDS,
    GateLimits,
    Standards,
    plan_allowances,
)
from memory_assets.stages.triage.auto import TriageLimits, decide
from memory_assets.stages.triage.wording import line_of


@dataclass(frozen=True)
class Limits:
    """The limits of both judges."""

    gate: GateLimits = field(default_factory=GateLimits)
    triage: TriageLimits = field(default_factory=TriageLimits)


NAMES = (
    *(f"gate.{field.name}" for field in fields(GateLimits)),
    *(f"triage.{field.name}" for field in fields(TriageLimits)),
)
"""The limits that can be named, with the judge before the dot."""


@dataclass(frozen=True)
class Flip:
    """A past row that gets another verdict with other limits."""

    judge: Literal["gate", "triage"]
    id: str
    """The candidate, or the proposal."""
    text: str
    category: str
    was: str
    why_was: str
    becomes: str
    why_becomes: str
    outcome: str
    """What people decided, as in the table `calibration`."""


def parse_limits(named: Sequence[str], present: Limits = Limits()) -> Limits:
    """Returns the present limits but those named as NAME=VALUE; raises `QuestionError` with the
    names that there are.
    """
    limits = present
    for option in named:
        name, _, value = option.partition("=")
        if name not in NAMES:
            raise QuestionError(
                f"There is no limit '{name}'; name one as NAME=VALUE: {', '.join(NAMES)}."
            )
        judge, _, limit = name.partition(".")
        of_judge = getattr(limits, judge)
        number = _number(name, value, type(getattr(of_judge, limit)))
        limits = replace(limits, **{judge: replace(of_judge, **{limit: number})})
    return limits


def _number(name: str, value: str, kind: type) -> int | float:
    try:
        number = kind(value)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise QuestionError(f"'{value}' is no value of {name}; give {what}.") from None
    if not 0 <= number < float("inf"):
        raise QuestionError(f"{name} cannot be {value}; give a number from 0.")
    return number


def flips_of_gate(
    findings: Sequence[WindowFindings],
    windows: pl.DataFrame,
    limits: GateLimits,
    stored: Mapping[str, str],
    outcomes: Mapping[str, str],
    present: Standards = DEFAULT_STANDARDS,
) -> Iterator[Flip]:
    """Yields the candidates that flip; `stored` are the verdicts by candidate, `outcomes` those of
    proposals by observation.

    `windows` are all of the store: the share of each depends on those before it. `present` are the
    standards of today.
    """
    present_results, other_results = (
        judge_windows(findings, plan_allowances(windows, judge.limits.most_allowed), judge)
        for judge in (present, replace(present, limits=limits))
    )
    for (window, past), (_, now) in zip(present_results, other_results, strict=True):
        for was, becomes in zip(past, now, strict=True):
            id = candidate_id(was.candidate, window.segments)
            if was.verdict != becomes.verdict and stored.get(id) == was.verdict:
                outcome = outcomes.get(id, "unseen") if was.verdict == "allow" else "unseen"
                change = (was.verdict, was.reason, becomes.verdict, becomes.reason, outcome)
                yield Flip("gate", id, was.candidate.text, was.category, *change)


def flips_of_triage(
    proposals: Iterable[Row],
    limits: TriageLimits,
    guarded: frozenset[str],
    ruled: Mapping[str, str],
    outcomes: Mapping[str, str],
) -> Iterator[Flip]:
    """Yields the proposals (with all later confirmations) that flip; `ruled` are their verdicts by
    rules, by id.

    Without a verdict a proposal is `pending`: left to a model or a person.
    """
    for row in proposals:
        plain = {**row, "text": line_of(row["text"]), "said": row["text"], "memory_state": "active"}
        was = decide(plain, guarded=guarded)
        becomes = decide(plain, guarded=guarded, limits=limits)
        id = row["proposal_id"]
        if was.state != becomes.state and ruled.get(id, "pending") == was.state:
            change = (was.state, was.reason, becomes.state, becomes.reason, outcomes[id])
            yield Flip("triage", id, plain["text"], row["category"], *change)
