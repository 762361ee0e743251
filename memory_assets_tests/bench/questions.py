"""Finding the answers to everyday questions about labelled sessions, in the memory of all transcripts together.

Ours is the listing of `MemoryAgent` over memories and what was said; beside it stand keywords, vectors and
their fusions over whole messages of owners and assistants, as most would build it, each result shown by the 600 characters
that hold most words of the question. The scorer of the labels decides what answers; the profiles `lean` and `balanced` are told
by how many results they return and how many of them answer.
"""

import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from memory_assets.adapters.text_arrays import change_arrays, empty_arrays
from memory_assets.memory import MemoryAgent
from memory_assets.schema.protocols import Embedder
from memory_assets.services.search.corpus import open_corpus, open_embedder
from memory_assets.services.search.opened import open_exchanges
from memory_assets.stages.recall.results import Answer
from memory_assets.text.terms import query_terms
from memory_assets_tests.bench.recipes import Recipes
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import LABELS, SHARED
from memory_assets_tests.bench.whole_store import whole_store
from memory_assets_tests.factories import index_rows

SCORER = SHARED.parent / "tools" / "score_gold.py"
AHEAD = 0.10
"""How far ours must be ahead of the best of the others in hit@5."""

OURS = "ours"
CORPORA = ("memories", "messages")

SHOWN_CHARS = 600
LINES_OF_AGENTS = 28

Results = list[dict[str, Any]]


def questions(small: bool = False) -> list[Row]:
    """Returns hit@5 of each way to find, by how much ours is ahead, and what the default profile returns."""
    if not (LABELS.is_dir() and SCORER.is_file()):
        print(f"questions: no labelled sessions; {LABELS} does not exist on this machine")
        return []
    scorer, agent = load_scorer(), whole_store(small)
    gold = read_gold(small)
    asked = {id: (question, session) for id, question, session in scorer.questions(gold)}

    def scored(find: Callable[[str], Results]) -> dict[str, float]:
        answers = [
            {"id": id, "results": find(question["question"])} for id, (question, _) in asked.items()
        ]
        return scorer.score_answers(gold, answers)

    found = {name: scored(find) for name, find in _others(agent).items()}
    best = max(one["hit@5"] for one in found.values())
    found[OURS] = scored(
        lambda question: shown_of(agent.recall(question, corpus=CORPORA, probe=True))
    )
    rows = [Row(f"questions: {name}", one["hit@5"], _figures(one)) for name, one in found.items()]
    ahead = found[OURS]["hit@5"] - best
    rows.append(
        Row(
            "questions: ours ahead, hit@5",
            ahead,
            f"of the best of the others, {best:.3f}",
            floor=AHEAD,
        )
    )
    rows.append(_listed(scorer, agent, asked))
    return [*rows, *(_returned(scorer, agent, asked, profile) for profile in ("lean", "balanced"))]


def _returned(
    scorer: Any, agent: MemoryAgent, asked: Mapping[str, tuple[Any, Any]], profile: str
) -> Row:
    returned = right = answered = 0
    for question, session in asked.values():
        answer = agent.recall(question["question"], profile=profile, probe=True)
        hits = [scorer.answers_it(one, question, session) for one in shown_of(answer)]
        returned, right, answered = returned + len(hits), right + sum(hits), answered + any(hits)
    told = f"{returned / len(asked):.1f} results a question, {answered} of {len(asked)} questions answered"
    return Row(
        f"questions: {profile}, share of results that answer", right / max(returned, 1), told
    )


def _listed(scorer: Any, agent: MemoryAgent, asked: Mapping[str, tuple[Any, Any]]) -> Row:
    """Returns in how many answers for agents one of the first lines is the answer, once it is opened."""
    answered = 0
    for question, session in asked.values():
        answer = agent.recall(question["question"], profile="lean", candidates=True, probe=True)
        results = shown_of(answer)
        ids = [candidate.id for candidate in answer.candidates[: LINES_OF_AGENTS - len(results)]]
        for exchange in open_exchanges(ids, open_corpus(agent.store)[0]).exchanges:
            matches = [message for message in exchange.messages if message.is_match]
            lines = [message.line for message in matches][:2]
            text = exchange.fact or " ".join(message.text for message in matches)
            results.append(
                {"text": text[:SHOWN_CHARS], "session": exchange.session, "lines": lines}
            )
        answered += any(scorer.answers_it(result, question, session) for result in results)
    return Row(
        f"questions: candidates for agents, answer among the first {LINES_OF_AGENTS} lines",
        answered / len(asked),
        f"{answered} of {len(asked)} questions",
        floor=0.84,
    )


def shown_of(answer: Answer) -> Results:
    return [
        {
            "text": f"{one.text} {one.other_half or ''}"[:SHOWN_CHARS],
            "session": one.session,
            "lines": list(one.lines),
        }
        for one in answer.results
    ]


@dataclass(frozen=True)
class WholeMessages:
    """All messages of owners and assistants, each as one text, with other ways to find them."""

    rows: Sequence[Mapping[str, Any]]
    recipes: Recipes
    embedder: Embedder

    def find(self, name: str, question: str, count: int) -> list[Mapping[str, Any]]:
        """Returns the messages that the recipe of that name ranks first."""
        scores = self.recipes.scores(question, self.embedder.encode_query(question))[name]
        return [self.rows[int(place)] for place in np.argsort(-scores, kind="stable")[:count]]


@cache
def whole_messages(agent: MemoryAgent) -> WholeMessages:
    """Returns the messages of the agent's store, one vector for each."""
    store = agent.store
    said = store.tables.read("messages").filter(
        pl.col("author").is_in(["owner", "assistant"]) & (pl.col("kind") == "text")
    )
    embedder = open_embedder(store.settings.embedding_model)
    rows = said.select(
        pl.col("message_id").alias("id"),
        "text",
        pl.col("session_id").alias("group"),
        pl.col("line").alias("order"),
    ).with_columns(
        corpus=pl.lit("messages"),
        vector=pl.Series(embedder.encode(said["text"].to_list())).cast(pl.List(pl.Float32)),
    )
    texts = change_arrays(empty_arrays(), index_rows(rows), ())
    known = {row["message_id"]: row for row in said.iter_rows(named=True)}
    ordered = [known[id] for id in texts.ids]
    recipes = Recipes([row["text"] for row in ordered], texts, texts.vectors.astype(np.float32))
    return WholeMessages(ordered, recipes, embedder)


def _others(agent: MemoryAgent) -> dict[str, Callable[[str], Results]]:
    """Returns the others: every recipe over whole messages that needs nothing but the text of each."""
    messages = whole_messages(agent)

    def find(name: str) -> Callable[[str], Results]:
        return lambda question: [_shown(row, question) for row in messages.find(name, question, 10)]

    return {
        name: find(name)
        for name in ("SQLite FTS5", "vectors", "both, reciprocal ranks", "both, min-max")
    }


def _shown(row: Mapping[str, Any], question: str) -> dict[str, Any]:
    """Returns the message by the window of its text that holds most words of the question."""
    text, terms = row["text"], set(query_terms(question))
    starts = range(0, max(len(text) - SHOWN_CHARS // 2, 1), SHOWN_CHARS // 3)
    windows = [text[start : start + SHOWN_CHARS] for start in starts]
    best = max(windows, key=lambda window: len(terms & set(query_terms(window))))
    return {"text": best, "session": row["session_id"], "lines": [row["line"]]}


def _figures(scores: Mapping[str, float]) -> str:
    names = ("hit@1", "hit@5", "hit@10", "mrr", "returned_per_question")
    return (
        ", ".join(f"{name} {scores[name]:.3f}" for name in names)
        + f"; {int(scores['questions'])} questions"
    )


def read_gold(small: bool) -> list[dict[str, Any]]:
    """Returns the labels with the questions that are asked; those of a single session where `small`."""
    return [
        json.loads(path.read_text("utf-8"))
        for path in sorted(LABELS.glob("*.json"))[: 1 if small else None]
    ]


def load_scorer() -> Any:
    """Returns the module that scores answers to the labelled questions."""
    spec = importlib.util.spec_from_file_location("score_gold", SCORER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
