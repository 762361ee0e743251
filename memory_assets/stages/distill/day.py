"""Distils the windows of one day: segments first, then observations with their verdicts.

Frames in, frames out; pure: what a model said arrives as stored answers. Windows that are not observed have no segments.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.stages.distill.allowance import plan_allowances
from memory_assets.stages.distill.grounding import without_orders
from memory_assets.stages.distill.model.observer import Answered, observe_window
from memory_assets.stages.distill.rows import candidate_id, observation_row, segment_row, verdict_row
from memory_assets.stages.distill.rules.candidates import Candidate, Observed
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.rules.narratives import EMPTY, narrative_candidate
from memory_assets.stages.distill.standards import USUAL, Standards
from memory_assets.stages.distill.taxonomy import categorise
from memory_assets.stages.distill.write_gate import Judged, judge

Answers = Mapping[str, Sequence[Answered]]
"""What a model said, by window; windows without any are observed by the rules."""


def build_segments(windows: pl.DataFrame, messages: pl.DataFrame, *, answers: Answers = MappingProxyType({})) -> pl.DataFrame:
    """Returns the segments of the day's windows; every message of an observed window is in exactly one."""
    found: list[dict[str, Any]] = []
    for window, own in _observed_windows(windows, messages):
        observed = observe_window(own, answered=answers.get(window["window_id"], ()), wants="segments")
        rows = own.to_dicts()
        for number, group in enumerate(observed.segments):
            narrative = _safe([rows[row] for row in group], observed.narratives[number])
            found.append(segment_row(window, [rows[row] for row in group], number, narrative, observed.observer))
    return schemas.frame_of("segments", found)


def build_observations(
    windows: pl.DataFrame,
    messages: pl.DataFrame,
    segments: pl.DataFrame,
    *,
    answers: Answers = MappingProxyType({}),
    allowances: Mapping[str, int] | None = None,
    standards: Standards = USUAL,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Returns the observations of the day's windows, and what the gate said of every candidate.

    `allowances` says how many facts of each window may be allowed: `plan_allowances` over all windows of the store.
    Without it the windows given are taken for all there are.
    """
    allowances = plan_allowances(windows, standards.limits.most_allowed) if allowances is None else allowances
    observations: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for found in find_in_windows(windows, messages, segments, answers=answers):
        of_window = (found.window, found.segments, found.observed)
        for entry in judge_found(found, allowances[found.window["window_id"]], standards):
            verdicts.append(verdict_row(entry, *of_window))
            if entry.verdict != "discard":
                observations.append(observation_row(entry, *of_window, standards.taxonomy.version))
    return schemas.frame_of("observations", observations), schemas.frame_of("verdicts", verdicts)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a window, before the gate says anything of it."""

    window: Mapping[str, Any]
    segments: list[dict[str, Any]]
    observed: Observed
    narratives: list[Candidate]


def find_in_windows(
    windows: pl.DataFrame, messages: pl.DataFrame, segments: pl.DataFrame, *, answers: Answers = MappingProxyType({})
) -> Iterator[Found]:
    """Yields what was found in each of the day's windows."""
    for window, own in _observed_windows(windows, messages):
        rows = segments.filter(pl.col("window_id") == window["window_id"]).sort("ordinal").to_dicts()
        observed = observe_window(own, answered=answers.get(window["window_id"], ()), segments=rows, wants="facts")
        yield Found(window, rows, observed, _narratives(rows, own.to_dicts()))


def judge_found(found: Found, most_allowed: int, standards: Standards = USUAL) -> list[Judged]:
    """Returns what the gate says of everything in a window, of each id once."""
    judged = [
        *judge_candidates(found.observed.candidates, most_allowed, standards),
        *judge_candidates(found.narratives, standards=standards),
    ]
    return _each_once(judged, found.segments)


def _observed_windows(windows: pl.DataFrame, messages: pl.DataFrame) -> Iterator[tuple[dict[str, Any], pl.DataFrame]]:
    """Yields each observed window with its messages in order, by window id."""
    by_window = {window_id: group for (window_id,), group in messages.group_by("window_id", maintain_order=True)}
    for window in windows.filter(pl.col("status") == "observed").sort("window_id").iter_rows(named=True):
        if (own := by_window.get(window["window_id"])) is not None:
            yield window, own.sort("ordinal")


def judge_candidates(candidates: Sequence[Candidate], most_allowed: int = 0, standards: Standards = USUAL) -> list[Judged]:
    """Returns the candidates with their categories and what the write gate says of them."""
    filed = (categorise(_subject(c), c.kind, c.author, c.hint_category, taxonomy=standards.taxonomy) for c in candidates)
    entries = [(c, *category) for c, category in zip(candidates, filed, strict=True)]
    return judge(entries, most_allowed=most_allowed, rules=standards.rules)


def _subject(candidate: Candidate) -> str:
    """Returns the words that tell the category: the owner's own where the fact explains them further."""
    return candidate.quote if candidate.author == "owner" and candidate.hint is None else candidate.text


def _safe(own: list[Row], narrative: str) -> str:
    """Returns the narrative without orders that are not the owner's: it must not instruct whoever reads the log."""
    kept = without_orders(narrative, own)
    return EMPTY if not kept or judge_candidates([narrative_candidate(own, kept, 0)])[0].verdict == "discard" else kept


def _narratives(segments: list[dict[str, Any]], rows: list[Row]) -> list[Candidate]:
    """Returns the narratives of a window's segments as candidates, each with its evidence."""
    by_id = {row["message_id"]: row for row in rows}
    return [
        narrative_candidate([by_id[message_id] for message_id in segment["message_ids"]], segment["narrative"], number)
        for number, segment in enumerate(segments)
        if segment["narrative"] != EMPTY
    ]


def _each_once(judged: list[Judged], segments: list[dict[str, Any]]) -> list[Judged]:
    """Returns the first of those that would have the same id."""
    first: dict[str, Judged] = {}
    for entry in judged:
        first.setdefault(candidate_id(entry.candidate, segments), entry)
    return list(first.values())
