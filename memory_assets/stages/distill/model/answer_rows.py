"""Makes the rows of `observer_answers` from how the questions stand, and hands their answers to the observer.

Takes standings and the stored answers; gives rows, and later, from rows, what a model said of each window. The text of
an answer stays in its file: a row says which one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import polars as pl

from memory_assets.errors import ModelError
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.stages.distill.model.answers import AnswerStore, KeptAnswer, name_of
from memory_assets.stages.distill.model.earlier import read_citations, without_citations
from memory_assets.stages.distill.model.observer import Answered
from memory_assets.stages.distill.model.parser import parse_answer
from memory_assets.stages.distill.model.questions import Standing
from memory_assets.stages.distill.rows import short_id
from memory_assets.store.ledger import USED, Planned

Price = Callable[[ModelAnswer], float | None]
"""What an answer cost in US dollars; nothing where the model's price is unknown."""


def answer_row(standing: Standing, day: date, problem: ModelError | None, price: Price) -> dict[str, Any]:
    """Returns the row of a question that was asked, or that nobody could answer."""
    question, kept = standing.question, standing.kept
    state = "failed" if standing.state == "open" else standing.state
    key = kept.key if kept else question.key
    last = standing.attempts[-1] if standing.attempts else None
    return {
        "window_id": question.window_id,
        "ordinal": question.ordinal,
        "call_count": question.call_count,
        "session_id": question.session_id,
        "day": day,
        "row_from": question.call.first,
        "row_to": question.call.last,
        "state": state,
        "problem": "The model refused." if state == "refused" else str(problem) if problem else None,
        "answer": name_of(kept) if kept else None,
        "model": key.model,
        "answered_by": kept.answer.model if kept else None,
        "prompt_hash": key.prompt_hash,
        "parameters": key.parameters,
        "serialiser": key.serialiser,
        "stop_reason": last.answer.stop_reason if last else None,
        **_paid(standing.attempts, price),
        "seconds": round(sum(attempt.answer.seconds for attempt in standing.attempts), 3),
        "is_batch": any(attempt.answer.is_batch for attempt in standing.attempts),
        "asked_at": last.asked_at if last else None,
        **_read(kept),
    }


def answers_by_window(rows: pl.DataFrame, answers: AnswerStore) -> dict[str, list[Answered]]:
    """Returns what was said of each window, in the order of its calls."""
    found: dict[str, list[Answered]] = {}
    columns = ("window_id", "row_from", "row_to", "model", "prompt_hash", "answer")
    for window_id, first, last, model, prompt_hash, name in rows.sort("window_id", "ordinal").select(columns).iter_rows():
        text = answers.read_named(name).answer.text if name else None
        found.setdefault(window_id, []).append(Answered(first, last, model, prompt_hash, text))
    return found


def plan_uses(rows: pl.DataFrame, known_ids: Iterable[str]) -> list[Planned]:
    """Returns an event for each answer that cites earlier memories: they informed it, when it came (D8)."""
    full = {short_id(known): known for known in known_ids}
    found = []
    for answer, asked_at, cited in rows.sort("window_id", "ordinal").select("answer", "asked_at", "cited_ids").iter_rows():
        if memory_ids := [full[short] for short in cited if short in full]:
            payload = {"memory_ids": memory_ids, "at": asked_at.isoformat()}
            found.append(Planned(f"used-{answer}", USED, answer, payload))
    return found


def _paid(attempts: Sequence[KeptAnswer], price: Price) -> dict[str, Any]:
    """Returns the sums over all attempts; no price where that of one is unknown."""
    said = [attempt.answer for attempt in attempts]
    prices = [price(answer) for answer in said]
    return {
        "attempts": len(said),
        "input_tokens": sum(answer.input_tokens for answer in said),
        "cache_read_tokens": sum(answer.cache_read_tokens for answer in said),
        "cache_write_tokens": sum(answer.cache_write_tokens for answer in said),
        "output_tokens": sum(answer.output_tokens for answer in said),
        "cost_usd": None if None in prices else round(sum(p for p in prices if p is not None), 6),
    }


def _read(kept: KeptAnswer | None) -> Mapping[str, Any]:
    """Returns what the answer says of itself."""
    if kept is None:
        nothing = {"parse_path": None, "fact_count": 0, "current_task": None, "suggested_response": None}
        return {"shown_ids": [], "cited_ids": [], **nothing}
    parsed = parse_answer(without_citations(kept.answer.text))
    return {
        "shown_ids": list(kept.shown_ids),
        "cited_ids": list(read_citations(kept.answer.text, kept.shown_ids)),
        "parse_path": parsed.path,
        "fact_count": len(parsed.facts),
        "current_task": parsed.current_task,
        "suggested_response": parsed.suggested_response,
    }
