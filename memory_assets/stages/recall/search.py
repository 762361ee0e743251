"""Finds the few memories that help with a question.

Words and vectors find candidates among the memories; their scores are fused, decay with age and
prefer the present project and person. What is neither near in meaning nor shares the question's
words is left out, so that a question about nothing known gets no answer. A question that a replaced
memory answers is answered by the one that replaced it. Messages are searched beside the memories,
in the profile `lean` only where the memories hardly have the answer; both are ranked together
(`ranking`). Without vectors the words answer alone, without words the vectors, and the answer says
so.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
import polars as pl

from memory_assets.english.aliases import expand, words_in
from memory_assets.errors import IndexFailedError, ModelError
from memory_assets.schema.protocols import Embedder, Read, Row, TextReader, Texts, VectorIndex
from memory_assets.schema.requests import MOST_DEEP, Filters
from memory_assets.stages.embed.merge import find_conflicts_of
from memory_assets.stages.recall.exchange import show_exchanges
from memory_assets.stages.recall.layout import Layout
from memory_assets.stages.recall.lookups import fulfilling, places_of, remembered, rows_of
from memory_assets.stages.recall.memory_search import FACTORS, Candidates, MemoryHits, weights_of
from memory_assets.stages.recall.message_search import (
    Origin,
    SearchQuery,
    adjusted,
    find_messages,
    words_named,
)
from memory_assets.stages.recall.parsed_question import (
    KnownNames,
    ParsedQuestion,
    hidden_lines,
    is_away,
    is_out,
    known_names,
    parse_question,
    states_as_of,
)
from memory_assets.stages.recall.profiles import Profile, choose_profile
from memory_assets.stages.recall.ranking import (
    Found,
    distinct,
    left_out,
    linked,
    one_an_exchange,
    rank,
)
from memory_assets.stages.recall.relevance import (
    FLOOR,
    KEPT,
    KNOWN,
    YIELDS,
    answerability,
    judge_memories,
    judge_messages,
)
from memory_assets.stages.recall.replaced import present_first
from memory_assets.stages.recall.results import (
    MESSAGE,
    Answer,
    Asker,
    Cost,
    Recalled,
    condition,
    in_order,
    render_line,
)
from memory_assets.stages.recall.wording import one_line
from memory_assets.text.terms import idf, query_terms, text_terms
from memory_assets.text.words import count_tokens

LONGEST_QUESTION = 2_000

MESSAGE_FACTOR = 0.8
"""Weight of a message beside a distilled memory of the same fit."""

MEMORIES_SUFFICE = 0.5
"""Likelihood of an answer among the memories from which the profile `lean` does not search
messages, too.
"""

WIDE_FLOOR = 0.2
"""Least relevance of a message in a wide profile."""

READ = 2
"""Times the results of a profile that are read, as several may be of one exchange."""

LISTED = (
    "No memory matches the words of the question. These pass the filters, the newest and surest "
    "first."
)

MISSING = "The {} index is missing. `memory data rebuild --indexes` builds it from the tables."


@dataclass(frozen=True)
class Corpus:
    """What is searched."""

    memories: pl.DataFrame
    texts: TextReader
    vectors: VectorIndex | None = None
    embedder: Embedder | None = None
    read_passages: Callable[[Sequence[str]], pl.DataFrame] | None = None
    """Ids → rows with passage, whole (the message's text), char_from, char_to, author, role and the
    columns of a result.
    """
    select_passages: Callable[[Filters], Sequence[str]] | None = None
    """Filters → ids of the passages that pass."""
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The owner's names of things, beside the well-known ones."""
    factors: Sequence[str] = tuple(FACTORS)
    """The factors of the fused scores."""
    unmerged: Collection[str] = ()
    """Ids of notes that no merge has compared with other memories yet."""


def search(
    question: str,
    corpus: Corpus,
    asker: Asker,
    *,
    profile: str = "balanced",
    limit: int | None = None,
    corpora: str | Sequence[str] | None = None,
    filters: Filters = Filters(),
    context: str = "",
    rerank: Callable[[Sequence[Recalled]], list[Recalled]] = list,
) -> Answer:
    """Returns what helps with the question, at most ten, best first.

    `context` are words of the conversation that the question refers to. `corpora` names what is
    searched and returns everything found there; by default the profile decides, what is not
    relevant is left out, and `rerank` puts the rest into order.
    """
    began = perf_counter()
    question, context = one_line(question)[:LONGEST_QUESTION], one_line(context)[:LONGEST_QUESTION]
    wanted = (corpora,) if isinstance(corpora, str) else tuple(corpora or ())
    chosen = choose_profile(profile, question, limit, is_listing="messages" in wanted)
    if not question:
        notes = ("The question is empty.",)
        return Answer(question, chosen.name, (), 0, notes=notes, is_known=False)
    corpus = replace(corpus, memories=states_as_of(corpus.memories, filters))
    found = _Search(question, context, corpus, asker, filters, chosen, wanted, rerank).run()
    return replace(found, cost=replace(found.cost, seconds=round(perf_counter() - began, 4)))


@dataclass
class _Search:
    """The search for one question; collects its cost and what goes wrong."""

    question: str
    context: str
    corpus: Corpus
    asker: Asker
    filters: Filters
    profile: Profile
    corpora: Sequence[str]
    """What is searched; empty where the profile decides."""
    rerank: Callable[[Sequence[Recalled]], list[Recalled]] = list
    notes: list[str] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    """Retrievers that failed."""
    candidates: dict[str, Candidates] = field(default_factory=dict)
    """By the text whose meaning is searched for; the words are the same for all."""
    opened: dict[str, Texts | None] = field(default_factory=dict)
    """The texts that were opened, None where that failed."""
    embeddings: int = 0
    message_queries: int = 0

    def run(self) -> Answer:
        """Returns the answer."""
        self.parsed, whole = self._parse(), f"{self.question} {self.context}".strip()
        query = self._query(whole if self.corpora else self.parsed.text, whole)
        found: list[Found] = []
        if not self.corpora or {"memories", "segments"} & set(self.corpora):
            found += self._memories(query)
        if "messages" in self.corpora or (not self.corpora and self._needs_messages(found)):
            of_whole = query if query.text == whole else self._query(whole, whole)
            found += self._messages(of_whole, query.vector)
        likelihood = self._likelihood(found)
        is_known = likelihood >= KNOWN
        belonging = found
        if not self.corpora:
            found = list(linked(list(self._at_home(found))))
            belonging = [one for one in found if is_known and not one.reason]
        by_id = {one.id: one for one in belonging}
        now = self.asker.now
        ordered = [one.result(now) for one in sorted(by_id.values(), key=rank)]
        ranked = distinct(in_order(ordered, self._replacements(ordered)))
        if not self.corpora:
            ranked = in_order(self.rerank(ranked), self._replacements(ranked))
        shown = self._shown([(by_id[one.memory_id], one) for one in ranked], query)
        working = {"keyword", "vector"} - self.lost
        return Answer(
            self.question,
            self.profile.name,
            tuple(shown),
            len(found),
            asked=query.text,
            left_out=tuple(left_out(found, ordered, shown)),
            degraded=next(iter(working), "nothing") if self.lost else None,
            notes=tuple(dict.fromkeys(self.notes)),
            cost=Cost(embeddings=self.embeddings, index_queries=self._index_queries()),
            is_known=is_known and bool(shown),
            likelihood=round(likelihood, 4),
            tier=3 if shown and all(one.kind == MESSAGE for one in shown) else 2,
        )

    def _needs_messages(self, memories: Sequence[Found]) -> bool:
        """Returns whether messages are searched, too: in `lean` only where hardly any memory is the
        answer.
        """
        if self.profile.messages != "in need":
            return self.profile.messages == "beside"
        is_any = any(not one.reason for one in memories)
        return not is_any or self._likelihood(memories) < MEMORIES_SUFFICE

    def _shown(
        self, ranked: Sequence[tuple[Found, Recalled]], query: SearchQuery
    ) -> list[Recalled]:
        """Returns the first results as they are handed out: each message once and within the
        profile's tokens, or as listed.
        """
        most = self.profile.limit
        if self.corpora:
            return list(self._excerpted(ranked[:most], query))
        shown, left = list[Recalled](), self.profile.most_tokens
        results = list(one_an_exchange(self._excerpted(ranked[: READ * most], query)))
        is_beside = self.profile.messages == "beside"
        for result in present_first(results, keeps_replaced=is_beside):
            left -= count_tokens(render_line(result) + "\n")
            if len(shown) == most or (shown and left < 0):
                break
            shown.append(result)
        return shown

    def _excerpted(
        self, ranked: Sequence[tuple[Found, Recalled]], query: SearchQuery
    ) -> Iterator[Recalled]:
        """Yields the results, messages cut to what matches, with the other half of their
        exchange.
        """
        texts = self._texts("messages")
        messages = [(one.place, one.row, result) for one, result in ranked if one.is_message]
        shown: dict[str, Recalled] = {}
        if texts is not None and messages:
            how = (self._passages, query.terms, query.vector, self._allowed(texts))
            shown = show_exchanges(messages, texts, *how)
        for _, result in ranked:
            yield shown.get(result.memory_id, result)

    def _passages(self, ids: Sequence[str]) -> pl.DataFrame:
        """Returns these passages without those that must not be returned, such as those of replaced
        memories.
        """
        assert self.corpus.read_passages is not None
        rows = self.corpus.read_passages(ids)
        if self.corpora:
            return rows
        sessions = rows["session_id"]
        hidden = hidden_lines(self.corpus.memories, sessions, self.parsed.scope, self.filters)
        if not hidden:
            return rows
        lines = zip(sessions, rows["line"], strict=True)
        return rows[[place for place, line in enumerate(lines) if line not in hidden]]

    def _replacements(self, results: Sequence[Recalled]) -> dict[str, str]:
        """Returns the id of the memory that replaced each replaced one."""
        replaced = [one.memory_id for one in results if "superseded" in one.tags]
        if not replaced:
            return {}
        rows = rows_of(self.corpus.memories, replaced).drop_nulls("superseded_by")
        return dict(rows.select("id", "superseded_by").iter_rows())

    def _parse(self) -> ParsedQuestion:
        texts = self._texts("memories")
        if texts is None or not len(texts):
            texts = self._texts("messages")
        names = KnownNames(*known_names(self.corpus.memories), self.corpus.aliases)
        return parse_question(self.question, self.asker, self.filters, texts, names, self.context)

    def _likelihood(self, found: Sequence[Found]) -> float:
        """Returns how likely the answer is among what was searched."""
        if self.filters.are_narrow:
            # The filters say what the question need not.
            return float(any(not one.reason for one in found))
        texts = [one for name in ("memories", "messages") if (one := self._texts(name)) is not None]
        parsed = self.parsed.covered_by(texts)
        best = max((one.relevance for one in found), default=0.0)
        size = sum(map(len, texts))
        names_unknown = bool(parsed.unknown_names)
        return answerability(best, parsed.uncovered_share, size, names_unknown=names_unknown)

    def _query(self, text: str, whole: str) -> SearchQuery:
        terms = dict.fromkeys(query_terms(whole), 1.0)
        for word, weight in expand(words_in(self.question), self.corpus.aliases):
            for term in query_terms(word):
                terms.setdefault(term, weight)
        read = self._embed(text)
        if read is None:
            return SearchQuery(text, terms)
        return SearchQuery(text, terms, read.vector, read.words, self._word_weights(read.spellings))

    def _word_weights(self, spellings: Sequence[str]) -> np.ndarray | None:
        """Returns the weight of each word of the question: more if it is rare in messages; its
        pieces share the weight.
        """
        texts = self._texts("messages")
        if not spellings or texts is None or not len(texts):
            return None
        pieces = Counter(spellings)
        weights = {}
        for word, count in pieces.items():
            frequencies = (len(texts.postings(term)[0]) for term in text_terms(word))
            weights[word] = idf(len(texts), max(frequencies, default=0)) / count
        return np.array([weights[word] for word in spellings])

    def _embed(self, text: str) -> Read | None:
        if self.corpus.vectors is None or self.corpus.embedder is None:
            self.lost.add("vector")
            return None
        if self.corpus.vectors.generation() is None and not self.corpus.memories.is_empty():
            return self._lose("vector", IndexFailedError(MISSING.format("vector")))
        try:
            self.embeddings += 1
            return self.corpus.embedder.read_query(text)
        except ModelError as error:
            return self._lose("vector", error)

    def _lose(self, retriever: str, error: Exception) -> None:
        self.lost.add(retriever)
        self.notes.append(str(error))

    def _texts(self, corpus: str) -> Texts | None:
        if corpus not in self.opened:
            self.opened[corpus] = self._open_texts(corpus)
        return self.opened[corpus]

    def _open_texts(self, corpus: str) -> Texts | None:
        try:
            if self.corpus.texts.generation() is None and not self.corpus.memories.is_empty():
                raise IndexFailedError(MISSING.format("text"))
            return self.corpus.texts.open(corpus)
        except IndexFailedError as error:
            return self._lose("keyword", error)

    def _hits(self, query: SearchQuery, condition: pl.Expr) -> MemoryHits:
        where = (self.corpus.memories, self._texts("memories"))
        new = Candidates(query, *where, self.corpus.vectors)
        candidates = self.candidates.setdefault(query.text, new)
        try:
            return candidates.fulfilling(condition)
        except IndexFailedError as error:
            self._lose("vector", error)
            self.candidates[query.text] = Candidates(query, *where, None)
            return self.candidates[query.text].fulfilling(condition)

    def _index_queries(self) -> int:
        return self.message_queries + sum(
            candidates.queries for candidates in self.candidates.values()
        )

    def _memories(self, query: SearchQuery) -> Iterator[Found]:
        filters = self.filters
        if self.corpora and "memories" not in self.corpora:
            if filters.kind and "narrative" not in filters.kind:
                return
            filters = filters.model_copy(
                update={"kind": ("narrative",), "include": (*filters.include, "held")}
            )
        passes = condition(filters, self.corpus.memories.columns)
        hits = self._hits(query, passes)
        rows = {row["id"]: row for row in hits.rows.iter_rows(named=True)}
        found = list(self._with_successors(list(self._judged(query, hits, rows)), query, passes))
        if filters.are_a_selection and all(one.reason for one in found):
            found = list(self._listed(passes))
        yield from self._with_conflicts(found)

    def _with_successors(
        self, found: Sequence[Found], query: SearchQuery, passes: pl.Expr
    ) -> Iterator[Found]:
        """Yields the candidates; what replaced a memory that would belong is as good an answer as
        that would be.
        """
        filters = self.filters.model_copy(update={"include": (*self.filters.include, "superseded")})
        hits = self._hits(query, condition(filters, self.corpus.memories.columns))
        newest = self._newest(hits.rows["id"], passes)
        if all(id == newer for id, newer in newest.items()):
            yield from found
            return
        successors = rows_of(self.corpus.memories, newest.values())
        current = {row["id"]: row for row in successors.iter_rows(named=True)}
        compared = replace(hits, rows=hits.rows.filter(pl.col("id").is_in(list(newest))))
        best = {one.id: one for one in found}
        rows = {id: current[newer] for id, newer in newest.items()}
        for one in self._judged(query, compared, rows):
            id = one.row["id"]
            known = best.get(id)
            is_better = known is None or known.reason or known.score < one.score
            if one.id != id and not one.reason and is_better:
                best[id] = replace(one, id=id)
        yield from best.values()

    def _newest(self, ids: Iterable[str], passes: pl.Expr) -> dict[str, str]:
        """Returns for each memory itself or what replaced it: the first in that line that passes,
        if one does.
        """
        memories = self.corpus.memories
        fulfils, places = fulfilling(memories, passes), places_of(memories)
        successors = _successors(memories)
        found: dict[str, str] = {}
        for id in ids:
            newest: str | None = id
            while newest is not None and not (newest in places and fulfils[places[newest]]):
                newest = successors.get(newest)
            if newest is not None:
                found[id] = newest
        return found

    def _with_conflicts(self, found: Sequence[Found]) -> Iterator[Found]:
        """Yields the candidates; a note that conflicts with another one of those that belong is
        marked, and the other, too.
        """
        belonging = [one.id for one in found if self.corpora or not one.reason]
        new = {id for id in belonging if id in self.corpus.unmerged}
        against = (
            find_conflicts_of(new, rows_of(self.corpus.memories, belonging).to_dicts())
            if new
            else {}
        )
        for one in found:
            conflicts = [*one.row.get("conflicts_with", ()), *against.get(one.id, ())]
            row = {**one.row, "conflicts_with": conflicts}
            yield replace(one, row=row) if one.id in against else one

    def _listed(self, passes: pl.Expr) -> Iterator[Found]:
        """Yields all memories that pass explicit filters, the newest and surest first."""
        scope = self.parsed.scope
        rows = self.corpus.memories.filter(passes, ~is_out(scope), ~is_away(scope))
        order = (pl.col("event_at").dt.date(), "confidence", "id")
        rows = rows.sort(*order, descending=[True, True, False]).head(MOST_DEEP)
        if rows.height:
            self.notes.append(LISTED)
        for place, row in enumerate(rows.iter_rows(named=True)):
            yield Found(row["id"], row, 1.0 - place / (MOST_DEEP + 1), 1.0, "", ("filters",))

    def _at_home(self, found: Sequence[Found]) -> Iterator[Found]:
        """Yields the candidates without messages of other projects than relevant ones and messages
        far behind a memory.
        """
        home = self.parsed.scope.projects
        belonging = [one for one in found if not one.reason]
        at_home = (one.relevance for one in belonging if one.row["project"] in home)
        memories = (one.relevance for one in belonging if not one.is_message)
        best = max(at_home, default=0.0)
        known = max(memories, default=0.0)
        for one in found:
            is_elsewhere = bool(home) and one.row["project"] not in home
            yields = is_elsewhere and best >= FLOOR and one.relevance * YIELDS < best
            yields |= not self.profile.is_wide and one.relevance < KEPT * known
            reason = one.reason or "not relevant"
            yield replace(one, reason=reason) if one.is_message and yields else one

    def _judged(
        self, query: SearchQuery, hits: MemoryHits, rows: Mapping[str, Row]
    ) -> Iterator[Found]:
        texts, filters = self._texts("memories"), self.filters
        how = (self.parsed, hits.rows, texts, hits.vector)
        for one in judge_memories(*how, is_filtered=filters.are_narrow):
            row = rows[one.id]
            weights = weights_of(row, self.asker, self.question, self.corpus.factors)
            score = hits.fused[one.id] * math.prod(weights.values())
            judged = (one.id, row, score, one.relevance, one.reason)
            yield Found(*judged, hits.retrievers_of(one.id), weights)

    def _messages(self, query: SearchQuery, vector: np.ndarray | None) -> Iterator[Found]:
        texts = self._texts("messages")
        if (
            self.filters.are_for_memories
            or texts is None
            or not len(texts)
            or self.corpus.read_passages is None
        ):
            return
        self.message_queries += 1
        found = find_messages(
            query, texts, _layout(texts), self._origins(query), self._allowed(texts)
        )
        hits = {one.passage_id: one for one in found}
        if not hits:
            return
        rows, named = self._passages(list(hits)), words_named(self.question)
        judged = judge_messages(self.parsed.covered_by([texts]), rows, texts, vector)
        for row, one in zip(rows.iter_rows(named=True), judged, strict=True):
            hit = hits[one.id]
            is_near_enough = self.profile.is_wide and one.relevance >= WIDE_FLOOR
            score = adjusted(row, hit.score, named) * MESSAGE_FACTOR
            reason = "" if is_near_enough else one.reason
            judged = (row["message_id"], row, score, one.relevance, reason)
            yield Found(*judged, hit.retrievers, place=hit.row)

    def _origins(self, query: SearchQuery) -> list[Origin]:
        """Returns where the memories that fit were learnt; a held one points at its messages as
        well as any other.
        """
        hits = self._hits(query, pl.col("state") != "forgotten")
        rows = zip(
            *(hits.rows[name].to_list() for name in ("id", "session_id", "lines")), strict=True
        )
        fits = hits.fused
        return [Origin(session, line, fits[id]) for id, session, lines in rows for line in lines]

    def _allowed(self, texts: Texts) -> np.ndarray | None:
        """Returns of each row whether it may be returned, or None where all may: never the asking
        session's own words.
        """
        allowed = np.ones(len(texts), dtype=bool)
        if self.filters.are_set and self.corpus.select_passages is not None:
            allowed[:] = False
            allowed[texts.rows_of(self.corpus.select_passages(self.filters))] = True
        own = _layout(texts).group_numbers.get(self.asker.session or "")
        if own is not None:
            allowed &= texts.groups != own
        return None if allowed.all() else allowed


@remembered
def _successors(memories: pl.DataFrame) -> dict[str, str]:
    """Returns by its id what replaced each replaced memory."""
    return dict(memories.select("id", "superseded_by").drop_nulls().iter_rows())


@remembered
def _layout(texts: Texts) -> Layout:
    return Layout(texts)
