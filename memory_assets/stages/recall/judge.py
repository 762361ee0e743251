"""Measures the memories that the arms found against the question: how relevant each is, and which belong.

Takes candidates with their cosines, the words of the corpus, and the question as read; gives each a relevance and, to those
that stay out, the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from memory_assets.schema.protocols import Texts
from memory_assets.stages.recall.asked import Asked
from memory_assets.stages.recall.cut import Evidence, belongs, relevance
from memory_assets.stages.recall.needs import coverage, speaks_of
from memory_assets.stages.recall.scope import is_away, is_out

OUT_OF_TIME = 0.6
"""What a memory counts that was said outside the time that the question names: it may still be about that time."""

UNKNOWN_NAME_DOUBT = 0.25
"""A question about a name that was never said needs more of an answer."""


@dataclass(frozen=True)
class Judged:
    """A candidate with its relevance."""

    memory_id: str
    relevance: float
    cosine: float
    coverage: float
    reason: str = ""
    """Why it is left out; empty where it belongs."""


def judge(
    asked: Asked, found: pl.DataFrame, texts: Texts | None, cosines: Mapping[str, float], *, is_filtered: bool = False
) -> list[Judged]:
    """Returns the candidates, the most relevant first; `found` are their rows, `is_filtered` says that filters chose them."""
    if found.is_empty():
        return []
    marked = found.select("id", "event_at", out=is_out(asked.scope), away=is_away(asked.scope))
    ids, out, away = marked["id"].to_list(), marked["out"].to_numpy(), marked["away"].to_numpy()
    measured = _evidence(asked, ids, away, texts, cosines)
    relevant = np.where(out, 0.0, relevance(measured) * _in_time(asked, marked["event_at"]))
    filtered_to = int((~out).sum()) if is_filtered else None
    kept = belongs(measured, relevant, filtered_to=filtered_to, doubt=UNKNOWN_NAME_DOUBT if asked.unknown_names else 0.0)
    judged = [
        Judged(id, float(r), float(cosine), float(share), "" if stays else "another person's" if is_other else "not relevant")
        for id, r, cosine, share, stays, is_other in zip(
            ids, relevant, measured.cosine, measured.coverage, kept, out, strict=True
        )
    ]
    return sorted(judged, key=lambda one: (-one.relevance, one.memory_id))


def judge_said(asked: Asked, found: pl.DataFrame, texts: Texts, vector: np.ndarray | None) -> list[Judged]:
    """Returns the same of passages of messages; `found` has their ids, projects and times."""
    if found.is_empty():
        return []
    ids, home = found["id"].to_list(), asked.scope.projects
    rows = texts.rows_of(ids)
    cosines: dict[str, float] = {}
    if vector is not None and texts.vectors.shape[1] == len(vector):
        near = texts.vectors[rows].astype(np.float32) @ vector
        cosines = {texts.ids[int(row)]: float(cosine) for row, cosine in zip(rows, near, strict=True)}
    away = np.array([bool(home) and project not in home for project in found["project"]])
    measured = _evidence(asked, ids, away, texts, cosines)
    relevant = relevance(measured) * _in_time(asked, found["event_at"])
    kept = belongs(measured, relevant, doubt=UNKNOWN_NAME_DOUBT if asked.unknown_names else 0.0)
    return [
        Judged(id, float(r), float(cosine), float(share), "" if stays else "not relevant")
        for id, r, cosine, share, stays in zip(ids, relevant, measured.cosine, measured.coverage, kept, strict=True)
    ]


def _evidence(
    asked: Asked, ids: Sequence[str], away: np.ndarray, texts: Texts | None, cosines: Mapping[str, float]
) -> Evidence:
    least = min(cosines.values(), default=0.0)
    cosine = np.array([cosines.get(id, min(least, 0.0)) for id in ids])
    if texts is None or not asked.needs:
        return Evidence(cosine, np.zeros(len(ids)), away, is_person_named=False)
    rows = np.array([int(at[0]) if len(at := texts.rows_of([id])) else -1 for id in ids])
    exact = [need for need in asked.needs if need.is_exact]
    shares = np.append(coverage(asked.needs, texts), 0.0)[rows]  # what has no words is the last row
    names = np.append(speaks_of(exact, texts), False)[rows] if exact else None
    return Evidence(cosine, shares, away, names, asked.scope.is_person_named)


def _in_time(asked: Asked, event_at: pl.Series) -> np.ndarray:
    inside = np.ones(len(event_at), dtype=bool)
    if asked.since is not None:
        inside &= (event_at >= asked.since).to_numpy()
    if asked.until is not None:
        inside &= (event_at < asked.until).to_numpy()
    return np.where(inside, 1.0, OUT_OF_TIME)
