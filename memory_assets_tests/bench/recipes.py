"""Retrieval as others do it, for measuring ours beside it: one corpus of texts, the same vectors, one score for each text.

FTS5 with Porter stemming and no stop words in the query; vectors alone; both fused by reciprocal ranks (k 60) and by scores
(min-max, half and half); and the strongest recipe that was found on dialogue: BM25 with a full stop list .45, vectors .3, BM25
of the whole session .25, plus 0.3 of the neighbouring turns.
"""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memory_assets.schema.protocols import Texts
from memory_assets.stages.recall.layout import Layout, score_levels
from memory_assets.stages.recall.message_search import scale
from memory_assets.text.terms import STOP_WORDS, query_terms

RRF_K = 60


@dataclass(frozen=True)
class Recipes:
    """Texts in the order of their index, with their vectors."""

    written: Sequence[str]
    texts: Texts
    vectors: np.ndarray

    def scores(self, question: str, vector: np.ndarray) -> dict[str, np.ndarray]:
        """Returns the scores of all texts by the name of the recipe."""
        words, near = self._fts5(question), self.vectors @ vector
        levels = score_levels(self._layout, dict.fromkeys(query_terms(question), 1.0))
        strong = 0.45 * scale(levels["row"]) + 0.3 * scale(near) + 0.25 * scale(levels["group"])
        return {
            "SQLite FTS5": words,
            "vectors": near,
            "both, reciprocal ranks": 1 / (RRF_K + 1 + _ranks(words))
            + 1 / (RRF_K + 1 + _ranks(near)),
            "both, min-max": 0.5 * scale(words) + 0.5 * scale(near),
            "strongest known": strong
            + 0.3 * (0.6 * self._beside(strong, 1) + 0.4 * self._beside(strong, -1)),
        }

    @cached_property
    def _layout(self) -> Layout:
        return Layout(self.texts, 1)

    @cached_property
    def _database(self) -> sqlite3.Connection:
        database = sqlite3.connect(":memory:")
        database.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter unicode61 remove_diacritics 2')"
        )
        database.executemany(
            "INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(self.written)
        )
        return database

    def _fts5(self, question: str) -> np.ndarray:
        words = re.findall(r"[^\W_]+", question.lower())
        kept = [word for word in words if word not in STOP_WORDS] or words
        scores = np.zeros(len(self.written))
        if kept:
            match = " OR ".join(f'"{word}"' for word in dict.fromkeys(kept))
            for row, score in self._database.execute(
                "SELECT rowid, -bm25(texts) FROM texts WHERE texts MATCH ?", (match,)
            ):
                scores[row] = score
        return scores

    def _beside(self, scores: np.ndarray, step: int) -> np.ndarray:
        """Returns the score of the text before (1) or after (-1) each, within its session."""
        groups, moved = self.texts.groups, np.roll(scores, step)
        same = np.roll(groups, step) == groups
        same[0 if step == 1 else -1] = False
        return np.where(same, moved, 0.0)


def _ranks(scores: np.ndarray) -> np.ndarray:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    return ranks
