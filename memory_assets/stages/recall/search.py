"""Finds the few memories that help with a question.

The question is parsed and embedded once; memories, and messages beside them, are its candidates
(`candidates`). These are judged together: how likely is the answer among them, and which of them
belong? Those that belong are ranked, replaced ones behind what replaced them, and the first of them
are shown within the profile's limits.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from time import perf_counter

from memory_assets.english.aliases import expand, words_in
from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.answerability import KNOWN, answerability, signals_among
from memory_assets.stages.recall.candidates import (
    Asked,
    find_later_statements,
    find_memories,
    find_message_candidates,
    read_exchanges,
)
from memory_assets.stages.recall.folding import fold_messages
from memory_assets.stages.recall.linked_memories import with_linked
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
    NOT_RELEVANT,
    Found,
    at_home,
    distinct,
    left_out,
    linked,
    one_an_exchange,
    rank,
)
from memory_assets.stages.recall.replaced import present_first
from memory_assets.stages.recall.results import (
    MESSAGE,
    Answer,
    Asker,
    Cost,
    ListedCandidate,
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

MOST_LISTED = 50
"""Candidates that are listed, those that are also results included."""

LEAST_NEAR = 0.2
"""Relevance of what is offered where nothing is known; another person's memories have none."""

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
    page: int = 1,
    lists_candidates: bool = False,
    corpora: Sequence[str] = (),
    filters: Filters = Filters(),
    context: str = "",
    rerank: Rerank = list,
) -> Answer:
    """Returns what helps with the question, at most ten, best first; on the second page, what
    follows these.

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
    memories = states_as_of(corpus.memories, filters)
    sources = Retrievers(replace(corpus, memories=memories))
    words = one_line(context)[:LONGEST_QUESTION]
    whole = f"{text} {words}".strip()
    parsed = _parse(text, words, sources, asker, filters)
    terms = _terms_of(text, whole, corpus)
    query = sources.query(whole if corpora else parsed.text, terms)
    how = (filters, chosen, corpora, sources, page, lists_candidates)
    asked = Asked(text, whole, parsed, query, asker, *how)
    answer = _answer(asked, rerank)
    cost = replace(answer.cost, seconds=round(perf_counter() - began, 4))
    return replace(answer, cost=cost)


def _parse(
    text: str, context: str, sources: Retrievers, asker: Asker, filters: Filters
) -> ParsedQuestion:
    names = KnownNames(*known_names(sources.corpus.memories), sources.corpus.aliases)
    texts = sources.texts("memories") or sources.texts("messages")
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


def _answer(question: Asked, rerank: Rerank) -> Answer:
    judged = _judge(question, _find_candidates(question))
    ranked = sorted(judged.belonging, key=rank)
    if question.profile.messages == "beside" and not question.corpora:
        ranked = with_linked(question, ranked)
    belonging = {candidate.id: candidate for candidate in ranked}
    results = [candidate.result(question.asker.now) for candidate in ranked]
    replacements = _replacements(question, results)
    ordered = distinct(in_order(results, replacements))
    if not question.corpora:
        ordered = in_order(rerank(ordered), replacements)
    pages = _pages(question, belonging, ordered)
    handed_out = list(chain.from_iterable(pages))
    shown = pages[-1]
    sources = question.sources
    are_messages = bool(shown) and all(result.kind == MESSAGE for result in shown)
    return Answer(
        question.text,
        question.profile.name,
        tuple(shown),
        len(judged.candidates),
        asked=question.query.text,
        left_out=tuple(left_out(judged.candidates, results, handed_out)),
        degraded=sources.working,
        notes=tuple(dict.fromkeys(sources.notes)),
        cost=Cost(embeddings=sources.embeddings, index_queries=sources.queries),
        is_known=judged.likelihood >= KNOWN and bool(handed_out),
        nearest=None if handed_out else _nearest(question, judged),
        likelihood=round(judged.likelihood, 4),
        tier=3 if are_messages else 2,
        page=question.page,
        candidates=tuple(_listed(question, judged)),
    )


def _find_candidates(question: Asked) -> list[Found]:
    candidates: list[Found] = []
    if not question.corpora or {"memories", "segments"}.intersection(question.corpora):
        candidates += find_memories(question)
    if _needs_messages(question, candidates):
        candidates += find_message_candidates(question)
    return candidates


def _needs_messages(question: Asked, memories: Sequence[Found]) -> bool:
    """Returns whether messages are searched, too."""
    if question.corpora:
        return "messages" in question.corpora
    return question.lists_candidates or _shows_messages(question, memories)


def _shows_messages(question: Asked, memories: Sequence[Found]) -> bool:
    """Returns whether messages may be results: in `lean` only where hardly any memory is the
    answer.
    """
    if question.profile.messages != "in need":
        return question.profile.messages == "beside"
    is_any = any(not memory.reason for memory in memories)
    return not is_any or _likelihood(question, memories) < MEMORIES_SUFFICE


def _judge(question: Asked, candidates: list[Found]) -> Judged:
    if question.corpora:
        return Judged(_likelihood(question, candidates), candidates, candidates)
    home = question.parsed.scope.projects
    together = list(linked(at_home(candidates, home, is_wide=question.profile.is_wide)))
    likelihood = _likelihood(question, together)
    memories = [match for match in together if not match.is_message]
    shown = together if _shows_messages(question, memories) else memories
    belonging = [match for match in shown if not match.reason]
    return Judged(likelihood, together, belonging if likelihood >= KNOWN else ())


def _likelihood(question: Asked, candidates: Sequence[Found]) -> float:
    """Returns how likely the answer is among what was searched."""
    if question.filters.are_narrow:
        # The filters say what the question need not.
        return float(any(not candidate.reason for candidate in candidates))
    opened = [question.sources.texts(name) for name in ("memories", "messages")]
    texts = [part for part in opened if part is not None]
    parsed = question.parsed.covered_by(texts)
    return answerability(signals_among(parsed, candidates), sum(map(len, texts)))


def _nearest(question: Asked, judged: Judged) -> Recalled | None:
    """Returns what is nearest to a question that nothing answers, if anything is near."""
    near = [match for match in judged.candidates if match.relevance >= LEAST_NEAR]
    best = max(near, key=attrgetter("relevance"), default=None)
    return best.result(question.asker.now) if best else None


def _listed(question: Asked, judged: Judged) -> list[ListedCandidate]:
    """Returns the best candidates, whether they belong or not, if they are to be listed."""
    if not question.lists_candidates:
        return []
    open_ones = [match for match in judged.candidates if match.reason in ("", NOT_RELEVANT)]
    best = sorted(open_ones, key=rank)[:MOST_LISTED]
    return [match.candidate(question.query.terms) for match in best]


def _replacements(question: Asked, results: Sequence[Recalled]) -> dict[str, str]:
    """Returns the id of the memory that replaced each replaced one."""
    replaced = [result.memory_id for result in results if "superseded" in result.tags]
    if not replaced:
        return {}
    rows = rows_of(question.memories, replaced).drop_nulls("superseded_by")
    return dict(rows.select("id", "superseded_by").iter_rows())


def _pages(
    question: Asked, candidates: Mapping[str, Found], ordered: Sequence[Recalled]
) -> list[list[Recalled]]:
    """Returns the results of each page up to the one that is asked for, as they are handed out."""
    pages: list[list[Recalled]] = []
    size = question.profile.limit
    for number in range(question.page):
        if question.corpora:
            page = _read(question, candidates, ordered[number * size : (number + 1) * size])
        else:
            page = _next_page(question, candidates, ordered, list(chain.from_iterable(pages)))
        pages.append(page)
    return pages


def _read(
    question: Asked, candidates: Mapping[str, Found], results: Sequence[Recalled]
) -> list[Recalled]:
    matches = [candidates[result.memory_id] for result in results]
    return read_exchanges(question, matches, results)


def _next_page(
    question: Asked,
    candidates: Mapping[str, Found],
    ordered: Sequence[Recalled],
    shown: Sequence[Recalled],
) -> list[Recalled]:
    """Returns the first results behind those that are shown: each message once, none that a memory
    says, and within the profile's tokens.
    """
    profile = question.profile
    shown_ids = {result.memory_id for result in shown}
    waiting = [result for result in ordered if result.memory_id not in shown_ids]
    results = _read(question, candidates, waiting[: READ * profile.limit])
    folded = fold_messages([*one_an_exchange([*shown, *results])])
    page: list[Recalled] = []
    remaining = profile.most_tokens
    later = find_later_statements(question, folded)
    keeps_replaced = profile.messages == "beside"
    likeness = question.sources.likeness
    for result in present_first(folded, later, keeps_replaced=keeps_replaced, likeness=likeness):
        if result.memory_id in shown_ids:
            continue
        remaining -= count_tokens(render_line(result) + "\n")
        if len(page) == profile.limit or (page and remaining < 0):
            break
        page.append(result)
    return page
