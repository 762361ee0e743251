"""Lists what an agent may open beside the results of a recall, each by the shortest id that is not
ambiguous.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from memory_assets.schema.protocols import Texts
from memory_assets.schema.requests import MOST_CANDIDATES
from memory_assets.services.search.memory_ids import SHORTEST_ID
from memory_assets.stages.recall.lookups import remembered
from memory_assets.stages.recall.results import Answer, ListedCandidate
from memory_assets.stages.recall.retrievers import Corpus
from memory_assets.text.short_ids import MESSAGE_PREFIX, is_message_id


def further_candidates(
    answer: Answer, corpus: Corpus, most: int = MOST_CANDIDATES
) -> tuple[ListedCandidate, ...]:
    """Returns the candidates that no result shows, with short ids."""
    halves = filter(None, (result.other_half for result in answer.results))
    shown = {result.memory_id for result in answer.results}
    shown.update(half.message_id for half in halves)
    further = [candidate for candidate in answer.candidates if candidate.id not in shown]
    return tuple(_with_short_id(item, corpus) for item in further[:most])


def _with_short_id(candidate: ListedCandidate, corpus: Corpus) -> ListedCandidate:
    texts = corpus.texts.open("messages")
    if texts and is_message_id(candidate.id):
        return replace(candidate, id=_beginning(candidate.id, message_ids(texts)))
    digits = candidate.id.replace("-", "")
    return replace(candidate, id=f"mem_{_beginning(digits, _memory_digits(corpus.memories))}")


def _beginning(digits: str, all_digits: Sequence[str]) -> str:
    """Returns the shortest beginning of the digits that no other ones have; all are sorted."""
    prefix = MESSAGE_PREFIX if is_message_id(digits) else ""
    place = bisect_left(all_digits, digits)
    neighbours = [*all_digits[max(place - 1, 0) : place], *all_digits[place + 1 : place + 2]]
    for length in range(len(prefix) + SHORTEST_ID, len(digits)):
        beginning = digits[:length]
        if not any(other.startswith(beginning) for other in neighbours):
            return beginning
    return digits


@remembered
def message_ids(texts: Texts) -> list[str]:
    """Returns the ids of the messages, sorted."""
    return sorted({id.partition("#")[0] for id in texts.ids})


@remembered
def _memory_digits(memories: pl.DataFrame) -> list[str]:
    return sorted(id.replace("-", "") for id in memories["id"])
