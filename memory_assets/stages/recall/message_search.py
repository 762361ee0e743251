"""Finds messages, verbatim, by the words of a question in and around them.

Every passage is scored by its words, its meaning, the words and the meaning around it, the words of
its whole session, and the fit of the memories that were learnt there. Scores are scaled to 0-1 over
all passages and averaged; meaning weighs half as much again as words. The messages found first use
words that the question lacks, so passages are scored by their meaning once more, with the mean
direction of these messages added to that of the question. The best passages get a second look: each
word of the question is compared with each word of the passage, and of the passages beside it, by
its meaning in context, and rare words count more; the meaning of the whole message counts, too. A
message is as good as its best passage.

Short messages say little alone: "yes, do that" is about the message before it. So BM25 is computed
over the term counts of a row, of the rows around it, and of its group (a session); all from the
postings, when the question is asked.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from memory_assets.schema.protocols import Row, Texts
from memory_assets.stages.embed.project import PASSAGES_A_LINE
from memory_assets.stages.recall.passage_choice import (
    MOST_COMPARED,
    ChosenTexts,
    choose_rows,
    fit_of_words,
    widened,
)
from memory_assets.stages.recall.speakers import author_of
from memory_assets.text.best_rows import best_rows
from memory_assets.text.terms import bm25, bm25_norms
from memory_assets.text.vectors import products

REACH = 2
"""Passages on either side that a passage is read together with: about one exchange."""

MOST_TERMS = 1_000
"""Terms whose rows are counted once: a common term takes a millisecond in a corpus of a million
rows.
"""

LINES_AROUND = 2
"""Records on either side of a memory's evidence to which its fit counts."""

CANDIDATES = 60
"""Messages that are read and judged one by one."""

MOST_PASSAGES = 8
"""Passages of a message among the best that do not keep other messages from being candidates."""

TURNED = 4_000
"""Passages whose meaning is compared once more with the question's, turned towards the messages
found first.
"""

COMPARED = 300
"""Passages whose words are compared one by one with those of the question."""

LOOKED_AT = 100
"""Messages of these passages that are ranked again."""

MEANING = 1.5
"""Weight of a score of meaning beside one of words; on questions about labelled sessions from 1.5
to 2 much the same.
"""

SECOND_LOOK = {
    "around": 0.22,
    "words": 0.21,
    "words around": 0.21,
    "near": 0.16,
    "meant": 0.15,
    "message": 0.14,
    "group": 0.09,
}
"""Weights of the scores of the best messages, scaled among them: a regression on the rank of the
answer, on questions about labelled sessions and on dialogue. Each of the two alone gave weights
that lost on the other, so both count alike."""

FEEDBACK, FEEDBACK_WEIGHT = 5, 0.5
"""Messages found first whose mean direction is added to that of the question, and its weight; 3 to
10 messages and weights of 0.5 to 0.8 give much the same."""

HIGH = 0.5
"""Share of a retriever's best score from which the retriever is named in the result."""

SPEAKER_BONUS = 0.15
"""Added where the question names the speaker."""

_SPEAKER = re.compile(r"(\w{2,30}): ")
"""The speaker in a chat; elsewhere it is the person of the session."""

QUESTION_MALUS = 0.05
"""Subtracted from questions: statements answer better."""

STEP_MALUS, STEP_CHARS = 0.1, 200
"""Subtracted from short remarks of an assistant on the way to its answer: about four times more
seldom the answer to a labelled question than their share of messages."""

ORDER = ("row", "around", "group", "vector", "meant", "near")
"""The scores in the order in which they are added up."""

Passages = Texts | ChosenTexts

RETRIEVER_OF = {
    "row": "keyword", "vector": "vector", "around": "context", "meant": "context",
    "group": "session", "near": "memory",
}  # fmt: skip


@dataclass(frozen=True)
class SearchQuery:
    """What is searched for: terms with their weights, and the question's vector where there is
    one.
    """

    text: str
    terms: Mapping[str, float]
    vector: np.ndarray | None = None
    words: np.ndarray | None = None
    """Codes of the meanings of its words, int8, shape (words, 48)."""
    word_weights: np.ndarray | None = None
    """How much each of these counts, shape (words,); all alike by default."""


@dataclass(frozen=True)
class MessageHit:
    """A message that was found: its best passage, the score, and the retrievers in which it is
    among the best.
    """

    passage_id: str
    row: int
    """In the texts."""
    score: float
    retrievers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Origin:
    """Where a memory was learnt, and how well that memory fits the question."""

    session: str
    line: int
    score: float


class Layout:
    """The groups of a corpus, and which rows are around each row."""

    def __init__(self, texts: Passages, reach: int) -> None:
        self.texts, self.reach = texts, reach
        rows, groups = np.arange(len(texts)), texts.groups
        self.group_count = int(groups[-1]) + 1 if len(texts) else 0
        self.group_numbers = {name: number for number, name in enumerate(texts.group_ids)}
        self._starts = np.searchsorted(groups, np.arange(self.group_count + 1))
        self._low = np.maximum(rows - reach, self._starts[groups])
        self._high = np.minimum(rows + reach + 1, self._starts[groups + 1])
        self._counts: dict[str, int] = {}

    def around(self, values: np.ndarray) -> np.ndarray:
        """Returns for each row the sum of the values of the rows around it, its own included; shape
        (rows,).
        """
        sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
        return sums[self._high] - sums[self._low]

    def mean_around(self, values: np.ndarray) -> np.ndarray:
        """Returns for each row the mean of the values of the rows around it; shape (rows,)."""
        return self.around(values) / (self._high - self._low)

    def spread(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Returns the same as `around` of values that only these rows have, at the cost of these
        rows alone.
        """
        sums = np.zeros(len(self.texts))
        for step in range(-self.reach, self.reach + 1):
            beside = rows + step
            inside = (beside >= self._low[rows]) & (beside < self._high[rows])
            sums[beside[inside]] += values[inside]
        return sums

    def count_around(self, term: str) -> int:
        """Returns how many rows are around any that contains the term."""
        if (known := self._counts.get(term)) is not None:
            return known
        rows = self.texts.postings(term)[0]
        ends = self._high[rows]
        starts = np.maximum(self._low[rows], np.concatenate([[0], ends[:-1]]))
        if len(self._counts) >= MOST_TERMS:
            self._counts.clear()
        return self._counts.setdefault(term, int((ends - starts).sum()))

    def beside(self, rows: np.ndarray, step: int) -> np.ndarray:
        """Returns the row so many steps from each, or the row itself where its group ends
        before.
        """
        moved = rows + step
        return np.where((moved >= self._low[rows]) & (moved < self._high[rows]), moved, rows)

    def rows_within(self, group: str, first: int, last: int) -> slice:
        """Returns the rows of the group whose places are from `first` to `last`."""
        number = self.group_numbers.get(group)
        if number is None:
            return slice(0, 0)
        start, end = int(self._starts[number]), int(self._starts[number + 1])
        order = self.texts.order
        return slice(bisect_left(order, first, start, end), bisect_right(order, last, start, end))

    @cached_property
    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Number of terms around each row, and of each group."""
        return self.around(self.texts.lengths), np.bincount(
            self.texts.groups, self.texts.lengths, self.group_count
        )

    @cached_property
    def mean_lengths(self) -> tuple[float, float]:
        """Mean number of terms around a row, and of a group."""
        around, group = (max(float(one.mean()), 1e-9) if len(one) else 1.0 for one in self.lengths)
        return around, group


def find_messages(
    query: SearchQuery,
    texts: Texts,
    layout: Layout,
    origins: Sequence[Origin],
    allowed: np.ndarray | None = None,
    *,
    most: int = MOST_COMPARED,
) -> list[MessageHit]:
    """Returns the best messages, best first, each by its best passage; `allowed` says which rows
    may be returned.

    Of a corpus with more than `most` passages, the most promising are compared (`passage_choice`).
    """
    if not len(texts):
        return []
    learnt = _rows_learnt(layout, origins)
    if len(texts) <= most:
        return _best_messages(
            query, texts, layout, score_levels(layout, query.terms) | {"near": learnt}, allowed
        )
    row, group = texts.score(query.terms), score_groups(layout, query.terms)
    fits = fit_of_words(row, group, texts.groups, layout.reach)
    rows = choose_rows(texts, fits, np.flatnonzero(learnt > 0), query.vector, allowed, layout.reach)
    chosen = ChosenTexts(texts, rows)
    scores = {"row": row[rows], "around": score_around(layout, query.terms, rows)}
    scores |= {"group": group[texts.groups[rows]], "near": learnt[rows]}
    found = _best_messages(
        query,
        chosen,
        Layout(chosen, layout.reach),
        scores,
        None if allowed is None else allowed[rows],
    )
    return [replace(one, row=int(rows[one.row])) for one in found]


def _best_messages(
    query: SearchQuery,
    texts: Passages,
    layout: Layout,
    scores: dict[str, np.ndarray],
    allowed: np.ndarray | None,
) -> list[MessageHit]:
    if query.vector is not None and len(texts) and texts.vectors.shape[1] == len(query.vector):
        near = products(texts.vectors, None, query.vector)
        scores = scores | {"vector": near, "meant": layout.mean_around(near)}
    scores = {name: scores[name] for name in ORDER if name in scores and scores[name].any()}
    if not scores:
        return []
    scaled = {name: scale(values) for name, values in scores.items()}
    weights = {name: MEANING if name in ("vector", "meant") else 1.0 for name in scaled}
    total = sum(weights.values())
    fused = np.zeros(len(texts), dtype=np.float32)
    for name, values in scaled.items():
        fused += weights[name] / total * values
    if allowed is not None:
        fused = np.where(allowed, fused, -np.inf)
    if "vector" in scaled and query.vector is not None:
        turned = _turned_scores(query.vector, texts, fused, float(scores["vector"].min()))
        fused += weights["vector"] / total * (turned - scaled["vector"])
        scaled["vector"] = turned
    if query.words is not None and len(query.words):
        rows, found = _second_look(query, texts, layout, scaled, fused, total)
    else:
        best = best_rows(fused, MOST_PASSAGES * CANDIDATES)
        rows = _best_rows(best, fused[best], texts.parents, CANDIDATES)
        found = fused[rows]
    return [
        MessageHit(
            texts.ids[row],
            row,
            float(score),
            tuple(
                dict.fromkeys(
                    RETRIEVER_OF[name] for name, values in scaled.items() if values[row] >= HIGH
                )
            ),
        )
        for row, score in zip(rows, found, strict=True)
        if np.isfinite(score)
    ]


def _turned_scores(
    vector: np.ndarray, texts: Passages, fused: np.ndarray, low: float
) -> np.ndarray:
    """Returns how near the best passages are to the turned direction, scaled to 0-1 from `low`; 0
    for all others.
    """
    rows = best_rows(fused, TURNED)
    scores = np.zeros(len(texts), dtype=np.float32)
    near = products(texts.vectors, rows, _turned(vector, texts, rows, fused[rows]))
    scores[rows] = scale(near, low=float(min(near.min(), low)))
    return scores


def _turned(vector: np.ndarray, texts: Passages, rows: np.ndarray, fused: np.ndarray) -> np.ndarray:
    """Returns the direction between the question's and that of the messages found first, among
    these rows.
    """
    allowed = np.isfinite(fused)
    best = _best_rows(rows[allowed], fused[allowed], texts.parents, FEEDBACK)
    if not best:
        return vector
    return _unit(
        vector + FEEDBACK_WEIGHT * _unit(texts.vectors[best].astype(np.float32).mean(axis=0))
    )


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def _rows_learnt(layout: Layout, origins: Sequence[Origin]) -> np.ndarray:
    """Returns for each row the best score of the memories that were learnt there, float32."""
    scores = np.zeros(len(layout.texts), dtype=np.float32)
    for one in origins:
        first, last = max(one.line - LINES_AROUND, 0), one.line + LINES_AROUND + 1
        rows = layout.rows_within(one.session, first * PASSAGES_A_LINE, last * PASSAGES_A_LINE - 1)
        scores[rows] = np.maximum(scores[rows], one.score)
    return scores


def _second_look(
    query: SearchQuery,
    texts: Passages,
    layout: Layout,
    scaled: Mapping[str, np.ndarray],
    fused: np.ndarray,
    weight: float,
) -> tuple[list[int], np.ndarray]:
    """Returns the best row of each of the best messages with its score, best first; `weight` is
    that of the fused scores.
    """
    rows = best_rows(fused, COMPARED)
    rows = rows[np.isfinite(fused[rows])]
    if not len(rows):
        return [], np.zeros(0)
    compared = _Compared(query, texts, layout, rows)
    first = (weight * fused[rows] + MEANING * scale(compared.fits(rows))) / (weight + MEANING)
    best = np.array(_best_rows(rows, first, texts.parents, LOOKED_AT), dtype=np.int64)
    scores = {name: values[best] for name, values in scaled.items() if name in SECOND_LOOK}
    scores |= {"words": compared.fits(best), "words around": compared.fits_around(best)}
    if "vector" in scaled and query.vector is not None:
        scores["message"] = _near_messages(query.vector, texts, texts.parents[best])
    total = sum(SECOND_LOOK[name] for name in scores)
    found = np.sum(
        [SECOND_LOOK[name] / total * scale(values) for name, values in scores.items()], axis=0
    )
    order = np.argsort(-found, kind="stable")[:CANDIDATES]
    return best[order].tolist(), found[order]


class _Compared:
    """How similar the words of a question are to those of passages and of the passages beside
    them.
    """

    def __init__(
        self, query: SearchQuery, texts: Passages, layout: Layout, rows: np.ndarray
    ) -> None:
        assert query.words is not None
        self._layout, self._steps = layout, range(-layout.reach, layout.reach + 1)
        steps = [layout.beside(rows, step) for step in self._steps]
        self._rows = np.unique(np.concatenate(steps))
        self._similar = match_words(query.words, [texts.words_of(int(row)) for row in self._rows])
        weights = np.ones(len(query.words)) if query.word_weights is None else query.word_weights
        self._weights = weights / weights.sum()

    def fits(self, rows: np.ndarray) -> np.ndarray:
        """Returns the fit of each passage: the mean over the words of the question of their most
        similar word.
        """
        return self._weights @ self._of(rows)

    def fits_around(self, rows: np.ndarray) -> np.ndarray:
        """Returns the same for each passage with those beside it, taken as one."""
        around = [self._of(self._layout.beside(rows, step)) for step in self._steps]
        return self._weights @ np.maximum.reduce(around)

    def _of(self, rows: np.ndarray) -> np.ndarray:
        return self._similar[:, np.searchsorted(self._rows, rows)]


def _near_messages(vector: np.ndarray, texts: Passages, parents: np.ndarray) -> np.ndarray:
    """Returns the cosine of each of these messages, whose direction is that of the sum of its
    passages.
    """
    numbers, places = np.unique(parents, return_inverse=True)
    rows = np.flatnonzero(np.isin(texts.parents, numbers))
    sums = np.zeros((len(numbers), texts.vectors.shape[1]), dtype=np.float32)
    np.add.at(sums, np.searchsorted(numbers, texts.parents[rows]), texts.vectors[rows])
    return (sums @ vector / np.maximum(np.linalg.norm(sums, axis=1), 1e-9))[places]


def match_words(asked: np.ndarray, texts: Sequence[np.ndarray]) -> np.ndarray:
    """Returns, for each word of the question and each text, the product with the most similar word
    there.

    A text without codes gets the least value of the others; shape (words, texts).
    """
    sizes = np.array([len(words) for words in texts])
    coded = np.flatnonzero(sizes)
    if not len(coded):
        return np.zeros((len(asked), len(texts)))
    words = np.concatenate([texts[int(place)] for place in coded]).astype(np.float32)
    starts = np.cumsum(sizes[coded]) - sizes[coded]
    best = np.maximum.reduceat(asked.astype(np.float32) @ words.T, starts, axis=1)
    matched = np.repeat(best.min(axis=1, keepdims=True), len(texts), axis=1)
    matched[:, coded] = best
    return matched


def scale(values: np.ndarray, low: float | None = None) -> np.ndarray:
    """Returns the values scaled to 0-1, where 0 is the least or `low`; all 0 where they do not
    differ.
    """
    low, high = values.min() if low is None else low, values.max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def _best_rows(rows: np.ndarray, scores: np.ndarray, parents: np.ndarray, most: int) -> list[int]:
    """Returns the best row of each of the best parents, best first; `scores` are those of the
    rows.
    """
    best: dict[int, int] = {}
    for row in rows[np.lexsort((rows, -scores))].tolist():
        best.setdefault(int(parents[row]), row)
        if len(best) == most:
            break
    return list(best.values())


def words_named(question: str) -> frozenset[str]:
    """Returns the words of the question that may name a speaker, in small letters."""
    return frozenset(word.lower() for word in re.findall(r"\w+", question))


def adjusted(passage: Row, score: float, named: Collection[str]) -> float:
    """Returns the score of a passage, adjusted by its speaker, form and role; `named` are the words
    of the question.
    """
    text, introduced = passage["passage"], _SPEAKER.match(passage["passage"])
    speaker = introduced[1] if introduced else passage["person"] or ""
    speaks = speaker.lower() in named and (introduced is not None or author_of(passage) == "owner")
    asks = text.rstrip().endswith("?")
    passes = passage["role"] == "step" and len(text) < STEP_CHARS
    return score + SPEAKER_BONUS * speaks - QUESTION_MALUS * asks - STEP_MALUS * passes


def score_levels(layout: Layout, terms: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Returns the scores of all rows for the weighted terms, each of shape (rows,): `row`, `around`
    and `group`.
    """
    texts = layout.texts
    assert not isinstance(texts, ChosenTexts)  # words are scored among all rows
    group = score_groups(layout, terms)[texts.groups]
    return {"row": texts.score(terms), "around": score_around(layout, terms), "group": group}


def score_around(
    layout: Layout, terms: Mapping[str, float], rows: np.ndarray | None = None
) -> np.ndarray:
    """Returns the score around each row, or around each of these, ascending, for the weighted
    terms; shape (rows,).
    """
    if rows is None:
        return _score_around(layout, terms, layout)
    assert not isinstance(layout.texts, ChosenTexts)
    chosen = ChosenTexts(layout.texts, widened(rows, layout.reach, len(layout.texts)))
    return _score_around(Layout(chosen, layout.reach), terms, layout)[
        np.searchsorted(chosen.rows, rows)
    ]


def _score_around(part: Layout, terms: Mapping[str, float], whole: Layout) -> np.ndarray:
    """Returns the score around each row of the part, with the frequencies and mean lengths of the
    whole.
    """
    norms = bm25_norms(part.lengths[0], whole.mean_lengths[0])
    scores = np.zeros(len(part.texts))
    for term, weight in terms.items():
        found, counts = part.texts.postings(term)
        if not len(found):
            continue
        spread = part.spread(found, counts)
        near = np.flatnonzero(spread > 0)
        matching = len(near) if part is whole else whole.count_around(term)
        scores[near] += weight * bm25(spread[near], norms[near], len(whole.texts), matching)
    return scores


def score_groups(layout: Layout, terms: Mapping[str, float]) -> np.ndarray:
    """Returns the score of each group for the weighted terms, shape (groups,)."""
    norms = bm25_norms(layout.lengths[1], layout.mean_lengths[1])
    scores = np.zeros(layout.group_count)
    for term, weight in terms.items():
        rows, counts = layout.texts.postings(term)
        sums = np.bincount(layout.texts.groups[rows], counts, layout.group_count)
        held = np.flatnonzero(sums > 0)
        scores[held] += weight * bm25(sums[held], norms[held], layout.group_count)
    return scores
