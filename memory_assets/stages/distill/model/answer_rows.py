"""Builds the rows of `observer_answers` from the status of questions, and reads the answers of
windows back.

The text of an answer stays in its file; a row has its name.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date
from typing import Any

import polars as pl

from memory_assets.errors import ModelError
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.stages.distill.grounding.narratives import without_quoted
from memory_assets.stages.distill.model.answers import AnswerStore
from memory_assets.stages.distill.model.material import (
    find_citations,
    find_replaced,
    without_citations,
)
from memory_assets.stages.distill.model.observer import Answered
from memory_assets.stages.distill.model.parser import parse_answer
from memory_assets.stages.distill.model.questions import QuestionStatus
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.store.ledger import USED, Planned
from memory_assets.text.short_ids import short_id

OPEN_WORK = ("current_task", "suggested_response")
"""Columns with what was open at the end of the call's messages."""

_NOTHING = re.compile(r"(?i)^\W*(?:(?:primary|secondary)\W*)?(?:none|nothing|n/?a|-*)?\W*$")

Price = Callable[[ModelAnswer], float | None]
"""The cost of an answer in US dollars; None if the price of the model is unknown."""


def answer_row(
    status: QuestionStatus, day: date, problem: ModelError | None, price: Price
) -> dict[str, Any]:
    """Returns the row of a question, with its answer or the reason why it has none."""
    question, kept, paid = (
        status.question,
        status.kept,
        [attempt.answer for attempt in status.attempts],
    )
    state = "failed" if status.state == "open" else status.state
    key, last = kept.key if kept else question.key, status.attempts[-1] if status.attempts else None
    parsed = parse_answer(without_citations(kept.answer.text)) if kept else None
    prices = [price(answer) for answer in paid]
    counted = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    return {
        **{
            name: getattr(question, name)
            for name in ("window_id", "ordinal", "call_count", "session_id")
        },
        "day": day,
        "row_from": question.call.first,
        "row_to": question.call.last,
        "state": state,
        "problem": _problem(status, problem),
        "answer": kept.name if kept else None,
        **{
            name: getattr(key, name)
            for name in ("model", "prompt_hash", "parameters", "serialiser")
        },
        "answered_by": kept.answer.model if kept else None,
        "stop_reason": last.answer.stop_reason if last else None,
        "attempts": len(paid),
        **{name: sum(getattr(answer, name) for answer in paid) for name in counted},
        "cost_usd": None if None in prices else round(sum(p for p in prices if p is not None), 6),
        "seconds": round(sum(answer.seconds for answer in paid), 3),
        "is_batch": any(answer.is_batch for answer in paid),
        "asked_at": last.asked_at if last else None,
        "shown_ids": list(kept.shown_ids) if kept else [],
        "cited_ids": list(find_citations(kept.answer.text, kept.shown_ids)) if kept else [],
        "replaced_ids": list(find_replaced(kept.answer.text)) if kept else [],
        "fact_count": len(parsed.facts) if parsed else 0,
        "parse_path": parsed.path if parsed else None,
        **{
            name: _open_work(getattr(parsed, name, None), question.call.messages)
            for name in OPEN_WORK
        },
    }


def _open_work(text: str | None, messages: Sequence[Row]) -> str | None:
    """Returns what is open in one line, without what quoted material asks for: agents read it at
    their next start.
    """
    lines = [line for line in (text or "").splitlines() if not _NOTHING.match(line)]
    return (
        without_quoted("; ".join(line.strip().rstrip(";") for line in lines), messages) or None
        if lines
        else None
    )


def _problem(status: QuestionStatus, problem: ModelError | None) -> str | None:
    if status.state == "refused":
        return "The model refused."
    if status.state == "unusable":
        return f"{status.attempts[-1].fault} The model was asked twice."
    return str(problem) if problem else None


def answers_by_window(rows: pl.DataFrame, answers: AnswerStore) -> dict[str, list[Answered]]:
    """Returns the answers about each window, in the order of its calls."""
    found: dict[str, list[Answered]] = {}
    columns = ("window_id", "row_from", "row_to", "model", "prompt_hash", "answer")
    for window_id, first, last, model, prompt_hash, name in (
        rows.sort("window_id", "ordinal").select(columns).iter_rows()
    ):
        kept = answers.read_named(name) if name else None
        text, zone = (kept.answer.text, kept.key.zone) if kept else (None, UTC)
        found.setdefault(window_id, []).append(
            Answered(first, last, model, prompt_hash, text, zone)
        )
    return found


def open_work_of(rows: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """Returns the current task and the suggested next step at the end of each window that has an
    answer; empty if none.
    """
    last = (
        rows.filter(pl.col("answer").is_not_null())
        .sort("window_id", "ordinal")
        .group_by("window_id", maintain_order=True)
        .last()
    )
    return {
        window: (task or "", response or "")
        for window, task, response in last.select("window_id", *OPEN_WORK).iter_rows()
    }


def plan_uses(rows: pl.DataFrame, known_ids: Iterable[str]) -> list[Planned]:
    """Returns a use event for each answer that cites earlier memories (D8)."""
    full = {short_id(known): known for known in known_ids}
    found = []
    for answer, asked_at, cited in (
        rows.sort("window_id", "ordinal").select("answer", "asked_at", "cited_ids").iter_rows()
    ):
        if memory_ids := [full[short] for short in cited if short in full]:
            payload = {"memory_ids": memory_ids, "at": asked_at.isoformat()}
            found.append(Planned(f"used-{answer}", USED, answer, payload))
    return found
