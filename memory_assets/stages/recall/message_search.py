"""Finds messages, verbatim, by the words of a question in and around them.

Every passage is scored by its words, its meaning, the words and the meaning around it, the words of
its whole session, and the fit of the memories that were learnt there. Scores are scaled to 0-1 over
all passages and averaged; meaning weighs half as much again as words. The messages found first use
words that the question lacks, so passages are scored by their meaning once more, with the mean
direction of these messages added to that of the question. The best passages get a second look: each
word of the question is compared with each word of the passage, and of the passages beside it, by
its meaning in context, and rare words count more; the meaning of the whole message counts, too. A
message is as good as its best passage.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memory_assets.schema.protocols import Row, Texts
from memory_assets.stages.embed.project import PASSAGES_A_LINE
from memory_assets.stages.recall.layout import Layout, score_around, score_groups, score_levels
from memory_assets.stages.recall.passage_choice import (
    MOST_COMPARED,
    ChosenTexts,
    choose_rows,
    fit_of_words,
)
from memory_assets.stages.recall.speakers import author_of
from memory_assets.text.best_rows import best_rows
from memory_assets.text.vectors import product_table, products

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
    "around": 0.22, "words": 0.21, "words around": 0.21, "near": 0.16, "meant": 0.15,
    "message": 0.14, "group": 0.09,
}  # fmt: skip
"""Weights of the scores of the best messages, scaled among them: a regression on the rank of the
answer, on questions about labelled sessions and on dialogue. Each of the two alone gave weights
that lost on the other, so both count alike."""

FEEDBACK = 5
FEEDBACK_WEIGHT = 0.5
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

STEP_MALUS = 0.1
STEP_CHARS = 200
"""Subtracted from short remarks of an assistant on the way to its answer: about four times more
seldom the answer to a labelled question than their share of messages."""

WEIGHTS = {
    "row": 1.0, "around": 1.0, "group": 1.0, "vector": MEANING, "meant": MEANING, "near": 1.0,
}  # fmt: skip
"""Weights of the scores of all passages, in the order in which they are added up."""

RETRIEVER_OF = {
    "row": "keyword", "vector": "vector", "around": "context", "meant": "context",
    "group": "session", "near": "memory",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True)
class _Part:
    """The passages that are compared one by one, with their scores by words and by origin."""

    layout: Layout
    rows: np.ndarray
    """The row of each passage in the whole corpus."""
    scores: dict[str, np.ndarray]
    allowed: np.ndarray | None
    """Of each passage whether it may be returned; None where all may."""

    @property
    def texts(self) -> Texts | ChosenTexts:
        """The passages."""
        return self.layout.texts


@dataclass(frozen=True)
class _Levels:
    """The scores of the passages, each scaled to 0-1, their weighted mean and the sum of the
    weights.
    """

    scaled: dict[str, np.ndarray]
    mean: np.ndarray
    weight: float

    def retrievers_of(self, place: int) -> tuple[str, ...]:
        """Returns the retrievers in which the passage is among the best."""
        high = (name for name, values in self.scaled.items() if values[place] >= HIGH)
        return tuple(dict.fromkeys(RETRIEVER_OF[name] for name in high))


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
    part = _Part(layout, np.arange(len(texts)), {"near": learnt}, allowed)
    if len(texts) <= most:
        part.scores.update(score_levels(layout, query.terms))
    else:
        part = _most_promising(query, texts, part)
    levels = _levels_of(query, part)
    if not levels.scaled:
        return []
    best = _best(query, part, levels)
    return [
        MessageHit(texts.ids[int(row)], int(row), score, levels.retrievers_of(place))
        for place, row, score in zip(best, part.rows[[*best]], best.values(), strict=True)
        if math.isfinite(score)
    ]


def _most_promising(query: SearchQuery, texts: Texts, whole: _Part) -> _Part:
    """Returns the passages of a large corpus that are worth comparing."""
    reach = whole.layout.reach
    learnt = whole.scores["near"]
    words = texts.score(query.terms)
    groups = score_groups(whole.layout, query.terms)
    fits = fit_of_words(words, groups, texts.groups, reach)
    where_learnt = np.flatnonzero(learnt > 0)
    rows = choose_rows(texts, fits, where_learnt, query.vector, whole.allowed, reach)
    scores = {
        "row": words[rows],
        "around": score_around(whole.layout, query.terms, rows),
        "group": groups[texts.groups[rows]],
        "near": learnt[rows],
    }
    allowed = None if whole.allowed is None else whole.allowed[rows]
    return _Part(Layout(ChosenTexts(texts, rows), reach), rows, scores, allowed)


def _levels_of(query: SearchQuery, part: _Part) -> _Levels:
    """Returns the scores of the passages with those by meaning; none where all are 0."""
    scores = part.scores
    vector = query.vector
    if vector is not None and part.texts.vectors.shape[1] == len(vector):
        cosines = products(part.texts.vectors, None, vector)
        scores = scores | {"vector": cosines, "meant": part.layout.mean_around(cosines)}
    names = [name for name in WEIGHTS if name in scores and scores[name].any()]
    scaled = {name: scale(scores[name]) for name in names}
    weight = sum(WEIGHTS[name] for name in names)
    mean = np.zeros(len(part.rows), dtype=np.float32)
    for name, values in scaled.items():
        mean += WEIGHTS[name] / weight * values
    if part.allowed is not None:
        mean = np.where(part.allowed, mean, -np.inf)
    if vector is not None and "vector" in scaled:
        turned = _turned_scores(vector, part, mean, float(scores["vector"].min()))
        mean += WEIGHTS["vector"] / weight * (turned - scaled["vector"])
        scaled["vector"] = turned
    return _Levels(scaled, mean, weight)


def _rows_learnt(layout: Layout, origins: Sequence[Origin]) -> np.ndarray:
    """Returns for each row the best score of the memories that were learnt there, float32."""
    scores = np.zeros(len(layout.texts), dtype=np.float32)
    for origin in origins:
        first = max(origin.line - LINES_AROUND, 0) * PASSAGES_A_LINE
        end = (origin.line + LINES_AROUND + 1) * PASSAGES_A_LINE
        rows = layout.rows_within(origin.session, first, end - 1)
        scores[rows] = np.maximum(scores[rows], origin.score)
    return scores


def _turned_scores(vector: np.ndarray, part: _Part, mean: np.ndarray, low: float) -> np.ndarray:
    """Returns how near the best passages are to the turned direction, scaled to 0-1 from `low`; 0
    for all others.
    """
    best = best_rows(mean, TURNED)
    turned = _turned(vector, part, best, mean[best])
    cosines = products(part.texts.vectors, best, turned)
    scores = np.zeros(len(mean), dtype=np.float32)
    scores[best] = scale(cosines, low=float(min(cosines.min(), low)))
    return scores


def _turned(vector: np.ndarray, part: _Part, places: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Returns the direction between the question's and that of the messages found first, among
    these passages.
    """
    allowed = np.isfinite(mean)
    best = _best_of_messages(part, places[allowed], mean[allowed], FEEDBACK)
    if not best:
        return vector
    feedback = part.texts.vectors[best].astype(np.float32).mean(axis=0)
    return _unit(vector + FEEDBACK_WEIGHT * _unit(feedback))


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def _best(query: SearchQuery, part: _Part, levels: _Levels) -> dict[int, float]:
    """Returns the best passage of each of the best messages with its score, best first."""
    if query.words is not None and len(query.words):
        return _second_look(query, part, levels)
    places = best_rows(levels.mean, MOST_PASSAGES * CANDIDATES)
    best = _best_of_messages(part, places, levels.mean[places], CANDIDATES)
    return dict(zip(best, levels.mean[best].tolist(), strict=True))


def _second_look(query: SearchQuery, part: _Part, levels: _Levels) -> dict[int, float]:
    """Returns the same by the words in context and the meaning of whole messages, too."""
    places = best_rows(levels.mean, COMPARED)
    places = places[np.isfinite(levels.mean[places])]
    if not len(places):
        return {}
    compared = _Compared(query, part.layout, places)
    first = levels.weight * levels.mean[places] + MEANING * scale(compared.fits(places))
    first /= levels.weight + MEANING
    best = np.array(_best_of_messages(part, places, first, LOOKED_AT), dtype=np.int64)
    names = [name for name in levels.scaled if name in SECOND_LOOK]
    scores = {name: levels.scaled[name][best] for name in names}
    scores |= {"words": compared.fits(best), "words around": compared.fits_around(best)}
    if "vector" in levels.scaled and query.vector is not None:
        scores["message"] = _near_messages(query.vector, part, best)
    total = sum(SECOND_LOOK[name] for name in scores)
    parts = [SECOND_LOOK[name] / total * scale(scores[name]) for name in scores]
    mean = np.sum(parts, axis=0)
    order = np.argsort(-mean, kind="stable")[:CANDIDATES]
    return dict(zip(best[order].tolist(), mean[order].tolist(), strict=True))


class _Compared:
    """How similar the words of a question are to those of passages and of the passages beside
    them.
    """

    def __init__(self, query: SearchQuery, layout: Layout, rows: np.ndarray) -> None:
        assert query.words is not None
        self._layout = layout
        self._steps = range(-layout.reach, layout.reach + 1)
        around = [layout.beside(rows, step) for step in self._steps]
        self._rows = np.unique(np.concatenate(around))
        words = [layout.texts.words_of(int(row)) for row in self._rows]
        self._similar = match_words(query.words, words)
        weights = query.word_weights
        if weights is None:
            weights = np.ones(len(query.words))
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


def _near_messages(vector: np.ndarray, part: _Part, places: np.ndarray) -> np.ndarray:
    """Returns the cosine of the message of each passage, whose direction is that of the sum of its
    passages.
    """
    texts = part.texts
    numbers, messages = np.unique(texts.parents[places], return_inverse=True)
    rows = np.flatnonzero(np.isin(texts.parents, numbers))
    sums = np.zeros((len(numbers), texts.vectors.shape[1]), dtype=np.float32)
    np.add.at(sums, np.searchsorted(numbers, texts.parents[rows]), texts.vectors[rows])
    lengths = np.maximum(np.linalg.norm(sums, axis=1), 1e-9)
    return (sums @ vector / lengths)[messages]


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
    best = np.maximum.reduceat(product_table(asked, words), starts, axis=1)
    matched = np.repeat(best.min(axis=1, keepdims=True), len(texts), axis=1)
    matched[:, coded] = best
    return matched


def scale(values: np.ndarray, low: float | None = None) -> np.ndarray:
    """Returns the values scaled to 0-1, where 0 is the least or `low`; all 0 where they do not
    differ.
    """
    least = values.min() if low is None else low
    size = values.max() - least
    return (values - least) / size if size > 0 else np.zeros_like(values)


def _best_of_messages(part: _Part, places: np.ndarray, scores: np.ndarray, most: int) -> list[int]:
    """Returns the best of these passages of each of the best messages, best first."""
    parents = part.texts.parents
    best: dict[int, int] = {}
    for place in places[np.lexsort((places, -scores))].tolist():
        best.setdefault(int(parents[place]), place)
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
    text = passage["passage"]
    introduced = _SPEAKER.match(text)
    speaker = introduced[1] if introduced else passage["person"] or ""
    is_named = speaker.lower() in named  # seldom, and the author takes long to find out
    if is_named and (introduced is not None or author_of(passage) == "owner"):
        score += SPEAKER_BONUS
    if text.rstrip().endswith("?"):
        score -= QUESTION_MALUS
    if passage["role"] == "step" and len(text) < STEP_CHARS:
        score -= STEP_MALUS
    return score
