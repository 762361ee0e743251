"""Finds the statements of messages and memories that answer a question.

Takes the sources of an answer, read whole. A statement is a whole sentence. It is judged by what it
shares with the question, in words and in meaning, together with what it is read with: the line that
introduces it, the two sentences before it, and the message that it answers. One that gives a
reason that is asked for is better; one of a message that is answered only asks.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from memory_assets.english.asking import only_asks
from memory_assets.english.causes import gives_reason
from memory_assets.english.errands import is_to_do
from memory_assets.stages.embed.project import concept_words
from memory_assets.stages.recall.query_coverage import QueryTerm
from memory_assets.stages.recall.results import MESSAGE
from memory_assets.stages.recall.sources import AnswerSource
from memory_assets.stages.recall.speakers import PASTED
from memory_assets.text.excerpts import CUT, whole_sentences
from memory_assets.text.sentences import Sentence, plain, split_message
from memory_assets.text.terms import text_terms
from memory_assets.text.words import likeness

CHARS_A_SENTENCE = 400
MOST_STATEMENTS = 3

BEFORE = 2
"""Sentences that a sentence is read with."""

CONTEXT = 0.3
MEANING = 1.0
REASON = 0.2
SCORE = 2.0
"""Weights of the terms that a statement has in its context, of its cosine, of a reason that was
asked for, and of recall's score; chosen on answers that were read."""

HIGHEST = 0.9
"""Score above which recall is no surer: that of a memory compares it with other memories alone."""

ASKS = 1.5
"""What a statement loses in a message that ends with a question and is answered."""

LEAST = 1.85
LIKELY = 0.15
UNSURE = 0.01
"""Worth from which a statement answers a question whose answer is as likely in memory as not, and
how much less suffices for each unit of the logarithm of better odds; no likelihood is surer than
that."""

BESIDE = 0.25
"""How much less than the best statement another one may be worth to stand beside it."""

SAME = 0.6
"""Likeness from which two sentences say the same."""

SHORT = 2
"""Words of a sentence that only opens the next one, such as "Yes."."""

UNFINISHED = f":,{CUT}"
NO_PROSE = "!<[("
"""First characters of a command that a person typed in a session, of markup and of asides."""

MASKED = "*" * 3
"""In a text with a masked secret, also where Markdown's marks are taken out."""


@dataclass(frozen=True)
class Wording:
    """A question as its statements are compared with it."""

    text: str
    terms: Sequence[QueryTerm]
    likelihood: float = 0.5
    """How likely the answer is in memory."""
    cosines: Callable[[Sequence[str]], np.ndarray] | None = None
    """Texts → their cosines with the question; None where only words are compared."""

    def best_statements(self, sources: Sequence[AnswerSource]) -> list[AnswerSource]:
        """Returns the statements that come nearest to an answer, as sources with their worth as
        score, at most three, the best first; of those that say the same the newest. What others
        wrote is one only where nobody else says anything.
        """
        statements = list(chain.from_iterable(map(_statements, sources)))
        typed = [each for each in statements if not each.said_by.startswith(PASTED)]
        quotes = sorted(self._judged(typed or statements), key=lambda quote: -quote.score)
        likely = (quote for quote in quotes if quote.score >= quotes[0].score - BESIDE)
        return _distinct(likely)[:MOST_STATEMENTS]

    def is_answered_by(self, quote: AnswerSource) -> bool:
        """Returns whether the statement is worth enough, by how likely the answer is in memory."""
        likelihood = min(max(self.likelihood, UNSURE), 1 - UNSURE)
        return quote.score + LIKELY * math.log(likelihood / (1 - likelihood)) >= LEAST

    def _judged(self, statements: Sequence[AnswerSource]) -> Iterator[AnswerSource]:
        """Yields the statements; the score says how well each answers the question."""
        asks_why = "why" in self.text.lower().split()
        texts = [statement.text for statement in statements]
        near = self.cosines(texts) if self.cosines else map(self._covered_by, texts)
        for statement, cosine in zip(statements, near, strict=True):
            covered = self._covered_by(f"{statement.text} {statement.context}")
            worth = CONTEXT * covered + MEANING * cosine + SCORE * min(statement.score, HIGHEST)
            if asks_why and gives_reason(statement.text):
                worth += REASON
            if statement.is_answered:
                worth -= ASKS
            yield replace(statement, score=float(worth))

    def _covered_by(self, text: str) -> float:
        """Returns the share of the terms, by weight, that the text has, also by another name of the
        same thing.
        """
        present = set(text_terms(text))
        covered = 0.0
        for term in self.terms:
            shares = (share for names, share in term.expansions if present.issuperset(names))
            covered += term.weight * max(shares, default=0.0)
        return covered / max(sum(term.weight for term in self.terms), 1e-9)


def _statements(source: AnswerSource) -> Iterator[AnswerSource]:
    """Yields what the source states: a short memory as it is, with the purposes of its tools."""
    if source.kind == MESSAGE or len(source.text) > CHARS_A_SENTENCE:
        yield from _said_in(source)
    else:
        yield replace(source, text=plain(source.text), context=concept_words(source.text))


def _said_in(source: AnswerSource) -> Iterator[AnswerSource]:
    """Yields the whole sentences outside of tables and code, short ones ("No.") together with the
    next, items behind the line that introduces them. A last question is what the others lead to.
    """
    sentences = split_message(source.whole or "\n".join(whole_sentences(source.text)))
    texts = [sentence.text for sentence in sentences]
    asks = source.is_answered and any(only_asks(text) or is_to_do(text) for text in texts[-1:])
    opening = ""
    for place, sentence in enumerate(sentences):
        text = f"{_lead_of(sentence)}{opening}{_behind_question(sentence.text)}"
        is_last = place + 1 == len(sentences)
        opening = f"{text} " if _only_opens(text) and not is_last else ""
        if sentence.place != "table" and not opening and _is_quotable(text):
            beside = (sentence.lead, *texts[max(place - BEFORE, 0) : place], source.context)
            yield replace(source, text=text, context=" ".join(beside), is_answered=asks)


def _lead_of(sentence: Sentence) -> str:
    return f"{sentence.lead}: " if sentence.lead and sentence.place == "bullet" else ""


def _behind_question(text: str) -> str:
    """Returns what a sentence says behind a question in it; a question as it is."""
    return text if text.endswith("?") else text.rpartition("? ")[2]


def _only_opens(text: str) -> bool:
    return len(text.split()) <= SHORT and text[-1:] not in UNFINISHED


def _is_quotable(text: str) -> bool:
    """Returns whether the text is a whole statement: no question, no to-do, no command that was
    typed, no markup, no masked secret, and no words that only introduce what follows.
    """
    is_whole = text[-1:] not in f"{UNFINISHED}?" and text[:1] not in NO_PROSE
    is_other = only_asks(text) or is_to_do(text) or MASKED in text
    return is_whole and not is_other and len(text) <= CHARS_A_SENTENCE


def _distinct(quotes: Iterable[AnswerSource]) -> list[AnswerSource]:
    """Returns the quotes in their order; of those that say the same only the newest, in the place
    of the first.
    """
    distinct: list[AnswerSource] = []
    for quote in quotes:
        alike = (other for other in distinct if likeness(quote.text, other.text) >= SAME)
        twin = next(alike, None)
        if twin is None:
            distinct.append(quote)
        elif quote.day > twin.day:
            distinct[distinct.index(twin)] = quote
    return distinct
