"""Adds memories that share a name with the best ones.

What is asked may be one step further: one memory says which file an error comes from, another one,
without a word of the question, what is wrong with that file. So a file, symbol, error, ticket or
service that the best memories name and the question does not brings in the other memories that name
it, if these are few: a name that many memories have links nothing.
"""

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import islice

import numpy as np

from memory_assets.stages.distill.items import entities_of
from memory_assets.stages.recall.candidates import Asked
from memory_assets.stages.recall.lookups import fulfilling, places_of
from memory_assets.stages.recall.parsed_question import is_away, is_out
from memory_assets.stages.recall.ranking import Found
from memory_assets.stages.recall.results import condition
from memory_assets.text.terms import query_terms

SOURCES = 2
"""Best results whose names are followed."""

MOST_LINKED = 2
MOST_NAMED = 6
"""Memories that a name may have to link them."""

LINK = "link"
"""The retriever of a linked memory."""


def with_linked(question: Asked, ranked: Sequence[Found]) -> list[Found]:
    """Returns the ranked candidates, each of the best with the memories behind it that its names
    link to, unless these are among the first anyway.
    """
    first = {match.id for match in ranked[: question.profile.limit]}
    linked: dict[str, list[Found]] = {}
    for source in ranked[:SOURCES]:
        room = MOST_LINKED - sum(map(len, linked.values()))
        linked[source.id] = [*islice(_linked_to(source, question, first), room)]
        first |= {match.id for match in linked[source.id]}
    others = {match.id for matches in linked.values() for match in matches}
    remaining = [match for match in ranked if match.id not in others]
    return [match for source in remaining for match in (source, *linked.get(source.id, ()))]


def _linked_to(source: Found, question: Asked, shown: set[str]) -> Iterator[Found]:
    texts = question.sources.texts("memories")
    if source.is_message or texts is None:
        return
    memories = question.memories
    scope = question.parsed.scope
    passes = condition(question.filters, memories.columns) & ~is_out(scope) & ~is_away(scope)
    places = places_of(memories)
    allowed = fulfilling(memories, passes)
    for name in entities_of(source.row["text"]):
        rows = _rows_of_name(name, question)
        ids = (texts.ids[int(row)] for row in rows)
        for place in (places[id] for id in ids if id in places and id not in shown):
            if allowed[place]:
                row = memories.row(place, named=True)
                yield Found(row["id"], row, source.score, source.relevance, "", (LINK,), link=name)


def _rows_of_name(name: str, question: Asked) -> Sequence[int]:
    """Returns the texts with the whole name; none where the question has it, or many have it."""
    texts = question.sources.texts("memories")
    terms = {*query_terms(name)}
    if texts is None or not terms or terms <= {*question.query.terms}:
        return ()
    postings = (texts.postings(term)[0] for term in terms)
    rows = reduce(partial(np.intersect1d, assume_unique=True), postings)
    return rows.tolist() if len(rows) <= MOST_NAMED else ()
