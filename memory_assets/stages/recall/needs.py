"""Splits a prompt that carries several needs into parts, and merges what each part found into one
answer.

A prompt of sixty words asks for three things, and no single memory is about all of them: searched
as a whole, it is near to nothing. So a long question is cut into its sentences, long sentences into
clauses, and parts without enough words join the part beside them. Each part is searched alone; the
answer takes the best result of each part in turn, the most likely part first, within the limit and
the tokens of the profile. No model is used.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, pairwise, zip_longest

from memory_assets.stages.recall.profiles import Profile
from memory_assets.stages.recall.query_coverage import talk_terms
from memory_assets.stages.recall.ranking import distinct, one_an_exchange
from memory_assets.stages.recall.results import MESSAGE, Answer, Cost, LeftOut, fit, in_order
from memory_assets.stages.recall.search import LONGEST_QUESTION
from memory_assets.stages.recall.tiers import MEMORIES, MESSAGES
from memory_assets.text.sentences import split_message
from memory_assets.text.terms import query_terms

LONG_QUESTION_WORDS = 30
"""A question of fewer words is searched as a whole."""

LONG_SENTENCE_WORDS = 25
"""A sentence of more words is cut into clauses."""

LEAST_TERMS = 4
"""A part with fewer terms of content joins the one beside it: "take your time with it" is no need.
"""

MOST_NEEDS = 6
"""Parts that are searched: each costs an embedding and a search."""

BETWEEN = " | "
"""Between the parts in what the answer says was searched for."""

_CLAUSE = re.compile(
    r"(?<=[;:.?!])\s+|\s+[-–—]\s+|,\s+(?:(?:and|but|so|or|then|because|since|as|while|though"
    r"|although|which|if|when)\s+)?"
    r"|\s+(?:and|but|because|so that)\s+(?=(?:i|we|you|he|she|they|it|then|also|please|tell"
    r"|check|make|add|write|use)\b)",
    re.I,
)


def split_needs(question: str) -> tuple[str, ...]:
    """Returns the parts of a long question in order; none where it is short or has only one."""
    question = question[:LONGEST_QUESTION]
    if len(question.split()) < LONG_QUESTION_WORDS:
        return ()
    parts = _joined(
        clause for sentence in split_message(question) for clause in _clauses(sentence.text)
    )
    while len(parts) > MOST_NEEDS:
        at = min(
            range(len(parts) - 1),
            key=lambda place: _term_count(parts[place]) + _term_count(parts[place + 1]),
        )
        parts[at : at + 2] = [f"{parts[at]} {parts[at + 1]}"]
    return tuple(parts) if len(parts) > 1 else ()


def merge_answers(
    whole: Answer, parts: Sequence[Answer], profile: Profile, *, is_listing: bool = False
) -> Answer:
    """Merges the answer to a question with those to its parts: their results in turn, those of the
    most likely part first.

    In a listing of named corpora an exchange may be several results, and tokens have no limit.
    """
    answers = [*sorted(parts, key=lambda part: -part.likelihood), whole]
    rows = zip_longest(*(answer.results for answer in answers))
    in_turn = [result for row in rows for result in row if result is not None]
    if profile.messages == "in need":
        in_turn.sort(key=lambda result: result.kind == MESSAGE)
    results = in_order(distinct(in_turn))
    if is_listing:
        results = results[: profile.limit]
    else:
        results = fit(one_an_exchange(results), profile.most_tokens, profile.limit)
    omissions = [LeftOut(result.memory_id, "over the cap", result.score) for result in in_turn]
    for answer in answers:
        omissions += answer.left_out
    first_omissions = {omission.memory_id: omission for omission in reversed(omissions)}
    for result in results:
        first_omissions.pop(result.memory_id, None)
    notes = chain.from_iterable(answer.notes for answer in (whole, *parts))
    is_of_messages = bool(results) and all(result.kind == MESSAGE for result in results)
    return replace(
        whole,
        results=tuple(results),
        considered=sum(answer.considered for answer in answers),
        asked=BETWEEN.join(part.asked for part in parts),
        left_out=tuple(first_omissions.values()),
        notes=tuple(dict.fromkeys(notes)),
        uses=(*whole.uses, "needs"),
        cost=sum((answer.cost for answer in answers), Cost()),
        nearest=None if results else whole.nearest,
        is_known=bool(results) and any(answer.is_known for answer in answers),
        likelihood=max(answer.likelihood for answer in answers),
        tier=MESSAGES if is_of_messages else MEMORIES,
    )


def _clauses(sentence: str) -> list[str]:
    if len(sentence.split()) <= LONG_SENTENCE_WORDS:
        return [sentence]
    starts = [0, *(found.start() for found in _CLAUSE.finditer(sentence)), len(sentence)]
    return _joined(sentence[start:end].strip(" ,") for start, end in pairwise(starts))


def _joined(pieces: Iterable[str]) -> list[str]:
    """Returns the pieces, those with few terms joined to the one before them, or else behind
    them.
    """
    found = list[str]()
    for piece in pieces:
        if found and min(_term_count(piece), _term_count(found[-1])) < LEAST_TERMS:
            found[-1] = f"{found[-1]} {piece}"
        else:
            found.append(piece)
    return found


def _term_count(text: str) -> int:
    return sum(term not in talk_terms() for term in query_terms(text))
