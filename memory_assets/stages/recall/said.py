"""Finds what was said, word for word, in and around the messages that the words of a question point at.

Every passage is scored by its words, its meaning, the words and the meaning of what stands around it, the words of its whole
session, and by how well the memories fit that were learnt there. Scores are scaled to 0–1 over all passages and averaged;
meaning counts half as much again as words. Of the best, each word of the question is compared with each of the passage by what
it means there. A message is as good as its best passage.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from memory_assets.schema.protocols import Texts
from memory_assets.stages.embed.project import PASSAGES_A_LINE
from memory_assets.stages.recall.levels import Layout, score_levels

REACH = 2
"""Passages on either side that a passage is read together with: about one exchange."""

LINES_AROUND = 2
"""Records on either side of a memory's evidence that it speaks for."""

CANDIDATES = 60
"""Messages that are read and looked at one by one."""

COMPARED = 300
"""Passages whose words are compared one by one with those of the question."""

MEANING = 1.5
"""What a score of meaning counts beside one of words; on questions about labelled sessions from 1.5 to 2 much the same."""

HIGH = 0.5
"""Of an arm's best: from there on the arm speaks for a message."""

SPEAKER_BONUS = 0.15
"""Added where the question names who said it."""

SPEAKER = r"^(\w{2,30}): "
"""How chats tell who says what; else the human of a session speaks."""

QUESTION_MALUS = 0.05
"""A question tells less than a statement."""

STEP_MALUS = 0.1
STEP_CHARS = 200
"""What an assistant says on the way to its answer, in a line or two, is what labelled questions are about four times more
seldom than its share of messages."""

ARM_NAMES = {
    "row": "keyword",
    "vector": "vector",
    "around": "context",
    "meant": "context",
    "group": "session",
    "near": "memory",
}


@dataclass(frozen=True)
class Sought:
    """What is looked for: terms with their weights, and the question's vector where there is one."""

    text: str
    terms: Mapping[str, float]
    vector: np.ndarray | None = None
    words: np.ndarray | None = None
    """Codes of what its words mean in it, int8, shape (words, 48)."""


@dataclass(frozen=True)
class Said:
    """A message that was found: its best passage, the score, and the arms in which it is among the best."""

    passage_id: str
    row: int
    """In the texts."""
    score: float
    arms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Learnt:
    """Where a memory was learnt, and how well that memory fits the question."""

    session: str
    places: tuple[int, int]
    """First and last place in the session, as the text index orders it, of what its evidence stands among."""
    score: float


def find_said(
    sought: Sought, texts: Texts, layout: Layout, learnt: Sequence[Learnt], allowed: np.ndarray | None = None
) -> list[Said]:
    """Returns the best messages, best first, each by its best passage; `allowed` tells which rows may be returned."""
    if not len(texts):
        return []
    arms = _arms(sought, texts, layout, learnt)
    if not arms:
        return []
    scaled = {name: scale(values) for name, values in arms.items()}
    weights = {name: MEANING if name in ("vector", "meant") else 1.0 for name in scaled}
    total = sum(weights.values())
    fused = np.zeros(len(texts))
    for name, values in scaled.items():
        fused += weights[name] / total * values
    if allowed is not None:
        fused = np.where(allowed, fused, -np.inf)
    if sought.words is not None and len(sought.words):
        fused = _with_words(fused, total, sought.words, texts)
    return [
        Said(
            texts.ids[row],
            row,
            float(fused[row]),
            tuple(dict.fromkeys(ARM_NAMES[name] for name, values in scaled.items() if values[row] >= HIGH)),
        )
        for row in _best_rows(fused, texts.parents)
        if np.isfinite(fused[row])
    ]


def _with_words(fused: np.ndarray, weight: float, asked: np.ndarray, texts: Texts) -> np.ndarray:
    """Returns the scores of the best rows, which count `weight`, with how well their words fit those of the question."""
    count = min(COMPARED, len(fused))
    rows = np.sort(np.argpartition(-fused, count - 1)[:count])
    rows = rows[np.isfinite(fused[rows])]
    if not len(rows):
        return fused
    fits = scale(match_words(asked, [texts.words_of(int(row)) for row in rows]))
    scores = np.full(len(fused), -np.inf)
    scores[rows] = (weight * fused[rows] + MEANING * fits) / (weight + MEANING)
    return scores


def match_words(asked: np.ndarray, texts: Sequence[np.ndarray]) -> np.ndarray:
    """Returns for each text the mean, over the words that are asked, of the product of its most like word.

    A text without codes is as unlike as the least like of the others.
    """
    sizes = np.array([len(words) for words in texts])
    coded = np.flatnonzero(sizes)
    if not len(coded):
        return np.zeros(len(texts))
    said = np.concatenate([texts[int(place)] for place in coded]).astype(np.float32)
    likeness = asked.astype(np.float32) @ said.T
    starts = np.cumsum(sizes[coded]) - sizes[coded]
    best = np.maximum.reduceat(likeness, starts, axis=1).mean(axis=0)
    matched = np.full(len(texts), best.min())
    matched[coded] = best
    return matched


def lines_around(line: int) -> tuple[int, int]:
    """Returns the first and last place in a session of what stands within two records of the line."""
    return max(line - LINES_AROUND, 0) * PASSAGES_A_LINE, (line + LINES_AROUND + 1) * PASSAGES_A_LINE - 1


def scale(values: np.ndarray) -> np.ndarray:
    """Returns the values scaled to 0–1; all 0 where they do not differ."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def _arms(sought: Sought, texts: Texts, layout: Layout, learnt: Sequence[Learnt]) -> dict[str, np.ndarray]:
    levels = score_levels(layout, sought.terms)
    arms = {"row": levels.row, "around": levels.around, "group": levels.group}
    if sought.vector is not None and texts.vectors.shape[1] == len(sought.vector):
        near = texts.vectors.astype(np.float32, copy=False) @ sought.vector
        arms |= {"vector": near, "meant": layout.mean_around(near)}
    arms["near"] = _near_learnt(layout, learnt)
    return {name: values for name, values in arms.items() if values.any()}


def _near_learnt(layout: Layout, learnt: Sequence[Learnt]) -> np.ndarray:
    scores = np.zeros(len(layout.texts))
    for one in learnt:
        rows = layout.rows_within(one.session, *one.places)
        scores[rows] = np.maximum(scores[rows], one.score)
    return scores


def _best_rows(scores: np.ndarray, parents: np.ndarray) -> list[int]:
    """Returns the best row of each of the best parents, best first."""
    count = min(CANDIDATES * 8, len(scores))
    top = np.argpartition(-scores, count - 1)[:count]
    best: dict[int, int] = {}
    for row in top[np.lexsort((top, -scores[top]))]:
        best.setdefault(int(parents[row]), int(row))
        if len(best) == CANDIDATES:
            break
    return list(best.values())


def adjust(found: pl.DataFrame, question: str) -> pl.DataFrame:
    """Returns the found messages with what their speaker, form and role say about them added to `score`, best first.

    `found` has columns `score`, `passage`, `author`, `role` and `person`.
    """
    named = list({word.lower() for word in re.findall(r"\w+", question)})
    introduced = pl.col("passage").str.extract(SPEAKER).str.to_lowercase()
    person = pl.when(pl.col("author") == "owner").then(pl.col("person").str.to_lowercase())
    speaks = pl.coalesce(introduced, person).is_in(named).fill_null(False)
    asks = pl.col("passage").str.strip_chars_end().str.ends_with("?")
    passes = (pl.col("role") == "step") & (pl.col("passage").str.len_chars() < STEP_CHARS)
    change = SPEAKER_BONUS * speaks - QUESTION_MALUS * asks - STEP_MALUS * passes
    return found.with_columns(score=pl.col("score") + change).sort("score", descending=True, maintain_order=True)
