"""Builds the rows of `observer_answers` from the status of questions, and reads the answers of
windows back.

The text of an answer stays in its file; a row has its name.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date
from typing import Any

import polars as pl

from memory_assets.schema.protocols import TOKEN_FIELDS, ModelAnswer
from memory_assets.stages.distill.grounding.narratives import without_quoted
from memory_assets.stages.distill.model import material
from memory_assets.stages.distill.model.answers import AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.observer import Answered
from memory_assets.stages.distill.model.parser import parse_answer
from memory_assets.stages.distill.model.questions import QuestionStatus
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.store.ledger import USED, Planned
from memory_assets.store.settings import AGENT
from memory_assets.text.short_ids import short_id

OPEN_WORK = ("current_task", "suggested_response")
"""Columns with what was open at the end of the call's messages."""

_NOTHING = re.compile(r"(?i)^\W*(?:(?:primary|secondary)\W*)?(?:none|nothing|n/?a|-*)?\W*$")

Price = Callable[[ModelAnswer], float | None]
"""The cost of an answer in US dollars; None if the price of the model is unknown."""


def answer_row(status: QuestionStatus, day: date, price: Price) -> dict[str, Any]:
    """Returns the row of a question, with its answer or the reason why it has none."""
    question = status.question
    key = status.kept.key if status.kept else question.key
    if status.kept and key.model == AGENT:  # only the answer names the agent's client
        key = replace(key, model=status.kept.answer.model)
    of_question = ("window_id", "ordinal", "call_count", "session_id")
    of_key = ("model", "prompt_hash", "parameters", "serialiser")
    return {
        **{name: getattr(question, name) for name in of_question},
        "day": day,
        "row_from": question.call.first,
        "row_to": question.call.last,
        "state": "failed" if status.state == "open" else status.state,
        "problem": _problem(status),
        **{name: getattr(key, name) for name in of_key},
        **_attempt_columns(status.attempts, price),
        **_content_columns(status.kept, question.call.messages),
    }


def _attempt_columns(attempts: Sequence[StoredAnswer], price: Price) -> dict[str, Any]:
    """Returns the columns about all attempts: how many, their tokens, their cost."""
    answers = [attempt.answer for attempt in attempts]
    return {
        "stop_reason": answers[-1].stop_reason if answers else None,
        "attempts": len(answers),
        **{name: sum(getattr(answer, name) for answer in answers) for name in TOKEN_FIELDS},
        "cost_usd": total_price(map(price, answers)),
        "seconds": round(sum(answer.seconds for answer in answers), 3),
        "is_batch": any(answer.is_batch for answer in answers),
        "asked_at": attempts[-1].asked_at if attempts else None,
    }


def total_price(prices: Iterable[float | None]) -> float | None:
    """Returns the sum; None if one is unknown."""
    all_prices = list(prices)
    return None if None in all_prices else round(sum(filter(None, all_prices)), 6)


def _content_columns(stored: StoredAnswer | None, messages: Sequence[Row]) -> dict[str, Any]:
    """Returns the columns about the answer that is used."""
    if stored is None:
        nothing = dict.fromkeys(("answer", "answered_by", "parse_path", *OPEN_WORK))
        lists = {name: [] for name in ("shown_ids", "cited_ids", "replaced_ids")}
        return {**nothing, **lists, "fact_count": 0}
    text = stored.answer.text
    parsed = parse_answer(material.without_citations(text))
    return {
        "answer": stored.name,
        "answered_by": stored.answer.model,
        "shown_ids": list(stored.shown_ids),
        "cited_ids": list(material.find_citations(text, stored.shown_ids)),
        "replaced_ids": list(material.find_replaced(text)),
        "fact_count": len(parsed.facts),
        "parse_path": parsed.path,
        **{name: _open_work(getattr(parsed, name), messages) for name in OPEN_WORK},
    }


def _open_work(text: str | None, messages: Sequence[Row]) -> str | None:
    """Returns what is open in one line, without what quoted material asks for: agents read it at
    their next start.
    """
    lines = [line for line in (text or "").splitlines() if not _NOTHING.match(line)]
    joined = "; ".join(line.strip().rstrip(";") for line in lines)
    return (without_quoted(joined, messages) or None) if joined else None


def _problem(status: QuestionStatus) -> str | None:
    if status.state == "refused":
        return "The model refused."
    if status.state == "unusable":
        return f"{status.attempts[-1].fault} The model was asked twice."
    return (status.attempts[-1].fault or None) if status.attempts else None


def answers_by_window(rows: pl.DataFrame, answers: AnswerStore) -> dict[str, list[Answered]]:
    """Returns the answers about each window, in the order of its calls."""
    window_answers: dict[str, list[Answered]] = {}
    columns = ("window_id", "row_from", "row_to", "model", "prompt_hash", "answer")
    for window_id, first, last, model, prompt_hash, name in (
        rows.sort("window_id", "ordinal").select(columns).iter_rows()
    ):
        kept = answers.read_named(name) if name else None
        text, zone = (kept.answer.text, kept.key.zone) if kept else (None, UTC)
        window_answers.setdefault(window_id, []).append(
            Answered(first, last, model, prompt_hash, text, zone)
        )
    return window_answers


def open_work_of(rows: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """Returns the current task and the suggested next step at the end of each window that has an
    answer; empty if none.
    """
    answered = rows.drop_nulls("answer").sort("window_id", "ordinal")
    last = answered.unique("window_id", keep="last", maintain_order=True)
    return {
        window: (task or "", response or "")
        for window, task, response in last.select("window_id", *OPEN_WORK).iter_rows()
    }


def plan_uses(rows: pl.DataFrame, known_ids: Iterable[str]) -> list[Planned]:
    """Returns a use event for each answer that cites earlier memories (D8)."""
    full = {short_id(known): known for known in known_ids}
    used = []
    for answer, asked_at, cited in (
        rows.sort("window_id", "ordinal").select("answer", "asked_at", "cited_ids").iter_rows()
    ):
        if memory_ids := [full[short] for short in cited if short in full]:
            payload = {"memory_ids": memory_ids, "at": asked_at.isoformat()}
            used.append(Planned(f"used-{answer}", USED, answer, payload))
    return used
