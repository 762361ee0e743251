"""Finds the few memories that help with a question.

The question is parsed and embedded once; memories, and messages beside them, are its candidates
(`candidates`). These are judged together: how likely is the answer among them, and which of them
belong? Those that belong are ranked, replaced ones behind what replaced them, and the first of them
are shown within the profile's limits.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import polars as pl

from memory_assets.english.aliases import expand, words_in
from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.candidates import (
    SearchedQuestion,
    find_memories,
    find_message_candidates,
    read_exchanges,
)
from memory_assets.stages.recall.lookups import rows_of
from memory_assets.stages.recall.parsed_question import (
    KnownNames,
    ParsedQuestion,
    known_names,
    parse_question,
    states_as_of,
)
from memory_assets.stages.recall.profiles import choose_profile
from memory_assets.stages.recall.ranking import (
    Found,
    distinct,
    left_out,
    linked,
    one_an_exchange,
    rank,
)
from memory_assets.stages.recall.relevance import FLOOR, KEPT, KNOWN, YIELDS, answerability
from memory_assets.stages.recall.replaced import present_first
from memory_assets.stages.recall.results import (
    MESSAGE,
    Answer,
    Asker,
    Cost,
    Recalled,
    in_order,
    render_line,
)
from memory_assets.stages.recall.retrievers import Corpus, Retrievers
from memory_assets.stages.recall.wording import one_line
from memory_assets.text.terms import query_terms
from memory_assets.text.words import count_tokens

LONGEST_QUESTION = 2_000

MEMORIES_SUFFICE = 0.5
"""Likelihood of an answer among the memories from which the profile `lean` does not search
messages, too.
"""

READ = 2
"""Times the results of a profile that are read, as several may be of one exchange."""

Rerank = Callable[[Sequence[Recalled]], list[Recalled]]


@dataclass(frozen=True)
class Judged:
    """The candidates for a question, and how likely the answer is among them."""

    likelihood: float
    candidates: Sequence[Found]
    belonging: Sequence[Found]
    """Those that may be shown."""


def search(
    question: str,
    corpus: Corpus,
    asker: Asker,
    *,
    profile: str = "balanced",
    limit: int | None = None,
    corpora: Sequence[str] = (),
    filters: Filters = Filters(),
    context: str = "",
    rerank: Rerank = list,
) -> Answer:
    """Returns what helps with the question, at most ten, best first.

    `context` are words of the conversation that the question refers to. `corpora` names what is
    searched and returns everything found there; by default the profile decides, what is not
    relevant is left out, and `rerank` puts the rest into order.
    """
    began = perf_counter()
    text = one_line(question)[:LONGEST_QUESTION]
    chosen = choose_profile(profile, text, limit, is_listing="messages" in corpora)
    if not text:
        notes = ("The question is empty.",)
        return Answer(text, chosen.name, (), 0, notes=notes, is_known=False)
    retrievers = Retrievers(replace(corpus, memories=states_as_of(corpus.memories, filters)))
    words = one_line(context)[:LONGEST_QUESTION]
    whole = f"{text} {words}".strip()
    parsed = _parse(text, words, retrievers, asker, filters)
    terms = _terms_of(text, whole, retrievers.corpus)
    query = retrievers.query(whole if corpora else parsed.text, terms)
    asked = SearchedQuestion(
        text, whole, parsed, query, asker, filters, chosen, corpora, retrievers
    )
    answer = _answer(asked, rerank)
    return replace(answer, cost=replace(answer.cost, seconds=round(perf_counter() - began, 4)))


def _parse(
    text: str, context: str, retrievers: Retrievers, asker: Asker, filters: Filters
) -> ParsedQuestion:
    corpus = retrievers.corpus
    texts = retrievers.texts("memories") or retrievers.texts("messages")
    names = KnownNames(*known_names(corpus.memories), corpus.aliases)
    return parse_question(text, asker, filters, texts, names, context)


def _terms_of(text: str, whole: str, corpus: Corpus) -> dict[str, float]:
    """Returns the terms of the question, and of other names of what it names, with their
    weights.
    """
    terms = dict.fromkeys(query_terms(whole), 1.0)
    for word, weight in expand(words_in(text), corpus.aliases):
        for term in query_terms(word):
            terms.setdefault(term, weight)
    return terms


def _answer(question: SearchedQuestion, rerank: Rerank) -> Answer:
    judged = _judge(question, _find_candidates(question))
    belonging = {candidate.id: candidate for candidate in judged.belonging}
    ranked = sorted(belonging.values(), key=rank)
    results = [candidate.result(question.asker.now) for candidate in ranked]
    replacements = _replacements(results, question.memories)
    ordered = distinct(in_order(results, replacements))
    if not question.corpora:
        ordered = in_order(rerank(ordered), replacements)
    shown = _shown(question, belonging, ordered)
    sources = question.sources
    are_messages = bool(shown) and all(result.kind == MESSAGE for result in shown)
    return Answer(
        question.text,
        question.profile.name,
        tuple(shown),
        len(judged.candidates),
        asked=question.query.text,
        left_out=tuple(left_out(judged.candidates, results, shown)),
        degraded=sources.working,
        notes=tuple(dict.fromkeys(sources.notes)),
        cost=Cost(embeddings=sources.embeddings, index_queries=sources.queries),
        is_known=judged.likelihood >= KNOWN and bool(shown),
        likelihood=round(judged.likelihood, 4),
        tier=3 if are_messages else 2,
    )


def _find_candidates(question: SearchedQuestion) -> list[Found]:
    candidates: list[Found] = []
    if not question.corpora or {"memories", "segments"}.intersection(question.corpora):
        candidates += find_memories(question)
    if _needs_messages(question, candidates):
        candidates += find_message_candidates(question)
    return candidates


def _needs_messages(question: SearchedQuestion, memories: Sequence[Found]) -> bool:
    """Returns whether messages are searched, too: in `lean` only where hardly any memory is the
    answer.
    """
    if question.corpora:
        return "messages" in question.corpora
    if question.profile.messages != "in need":
        return question.profile.messages == "beside"
    is_any = any(not memory.reason for memory in memories)
    return not is_any or _likelihood(question, memories) < MEMORIES_SUFFICE


def _judge(question: SearchedQuestion, candidates: list[Found]) -> Judged:
    likelihood = _likelihood(question, candidates)
    if question.corpora:
        return Judged(likelihood, candidates, candidates)
    together = list(linked(_at_home(question, candidates)))
    belonging = [candidate for candidate in together if not candidate.reason]
    return Judged(likelihood, together, belonging if likelihood >= KNOWN else ())


def _likelihood(question: SearchedQuestion, candidates: Sequence[Found]) -> float:
    """Returns how likely the answer is among what was searched."""
    if question.filters.are_narrow:
        # The filters say what the question need not.
        return float(any(not candidate.reason for candidate in candidates))
    opened = [question.sources.texts(name) for name in ("memories", "messages")]
    texts = [part for part in opened if part is not None]
    parsed = question.parsed.covered_by(texts)
    best = _best_relevance(candidates)
    size = sum(map(len, texts))
    names_unknown = bool(parsed.unknown_names)
    return answerability(best, parsed.uncovered_share, size, names_unknown=names_unknown)


def _at_home(question: SearchedQuestion, candidates: Sequence[Found]) -> list[Found]:
    """Returns the candidates; messages of other projects than relevant ones, and messages far
    behind a memory, are left out.
    """
    home = question.parsed.scope.projects
    belonging = [candidate for candidate in candidates if not candidate.reason]
    here = _best_relevance(match for match in belonging if match.row["project"] in home)
    memories = _best_relevance(match for match in belonging if not match.is_message)
    least = 0.0 if question.profile.is_wide else KEPT * memories
    return [_yielding(candidate, home, here, least) for candidate in candidates]


def _yielding(candidate: Found, home: Collection[str], here: float, least: float) -> Found:
    """Returns the candidate with a reason if it is a message that yields to the best of `home`, of
    relevance `here`, or that is not as relevant as the `least`.
    """
    is_elsewhere = bool(home) and candidate.row["project"] not in home
    is_less = here >= FLOOR and candidate.relevance * YIELDS < here
    yields = candidate.relevance < least or (is_elsewhere and is_less)
    if not (candidate.is_message and yields):
        return candidate
    return replace(candidate, reason=candidate.reason or "not relevant")


def _best_relevance(candidates: Iterable[Found]) -> float:
    return max((candidate.relevance for candidate in candidates), default=0.0)


def _replacements(results: Sequence[Recalled], memories: pl.DataFrame) -> dict[str, str]:
    """Returns the id of the memory that replaced each replaced one."""
    replaced = [result.memory_id for result in results if "superseded" in result.tags]
    if not replaced:
        return {}
    rows = rows_of(memories, replaced).drop_nulls("superseded_by")
    return dict(rows.select("id", "superseded_by").iter_rows())


def _shown(
    question: SearchedQuestion,
    candidates: Mapping[str, Found],
    ordered: Sequence[Recalled],
) -> list[Recalled]:
    """Returns the first results as they are handed out: each message once and within the profile's
    tokens, or as listed.
    """
    profile = question.profile
    first = ordered[: profile.limit if question.corpora else READ * profile.limit]
    results = read_exchanges(
        question, [candidates[candidate.memory_id] for candidate in first], first
    )
    if question.corpora:
        return results
    shown: list[Recalled] = []
    remaining = profile.most_tokens
    is_beside = profile.messages == "beside"
    for result in present_first([*one_an_exchange(results)], keeps_replaced=is_beside):
        remaining -= count_tokens(render_line(result) + "\n")
        if len(shown) == profile.limit or (shown and remaining < 0):
            break
        shown.append(result)
    return shown
