"""Tier 2: a model reviews what rules could not decide, twenty proposals per request, each request
twice.

Takes pending proposals and the entries of MEMORY.md and of the projects' files, returns verdicts.
The second request has the proposals in reverse order; a verdict counts if both answers give it, and
two that differ leave the proposal to a person. An answer is stored raw before it is parsed, and
verdicts are parsed from the stored answers, so a better parser never pays twice. A proposal is
asked about once. A wording that its proposal does not support, a verdict about something else, or
no verdict leaves the proposal to a person.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.schema.protocols import Model, ModelRequest, Row
from memory_assets.schema.records import MEMORY_MD
from memory_assets.schema.tables import version_of
from memory_assets.stages.distill.model.answers import AnswerKey, AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.asking import ask_once
from memory_assets.stages.distill.model.material import fenced, read_prompt
from memory_assets.stages.embed.conflicts import find_conflict
from memory_assets.stages.recall.wording import exact_names
from memory_assets.stages.reflect.proposals import LONGEST_LINE
from memory_assets.stages.triage.memory_md import Entry, render_entry
from memory_assets.stages.triage.projects import home_of, project_of
from memory_assets.text.words import squeezed, stems_of, text_hash

IN_A_BATCH = 20
ANSWER_TOKENS = 4_000
LEAST_GROUNDED = 0.5
"""Share of a wording's content words that its proposal must have."""

PROMOTE, REJECT, REVIEW = "promote", "reject", "review"
_DECISION = re.compile(
    r"""(?si)<decision\s+id=["'](?P<id>p-\d{8}-\d{3,})["']\s+verdict=["'](?P<verdict>promote|reject|review)["']\s*>"""
    r"(?P<text>.*?)</decision>"
)


@dataclass(frozen=True)
class ReviewQuestion:
    """One request about at most twenty proposals, by id and hash of their texts."""

    key: AnswerKey
    request: ModelRequest
    shown: tuple[str, ...]


def plan_reviews(
    waiting: Sequence[Row], entries: Mapping[str, Sequence[Entry]], model: str, answers: AnswerStore
) -> list[ReviewQuestion]:
    """Returns the requests about the proposals (rows with their sessions) that have no stored
    answer.

    `entries` are those of MEMORY.md and of the projects' files, by path.
    """
    planned = []
    for at in range(0, len(waiting), IN_A_BATCH):
        batch = waiting[at : at + IN_A_BATCH]
        for number, ordered in enumerate((batch, batch[::-1]), 1):
            request = request_of(ordered, entries)
            settings = f"max_tokens={ANSWER_TOKENS} answer={number}"
            prompt_hash = text_hash(request.system)[:12]
            key = AnswerKey(
                text_hash(request.material),
                prompt_hash,
                model,
                settings,
                version_of("model_reviews"),
            )
            if answers.read(key) is None:
                shown = tuple(f"{row['proposal_id']} {text_hash(row['text'])}" for row in ordered)
                planned.append(ReviewQuestion(key, request, shown))
    return planned


def ask_in_batches(
    questions: Sequence[ReviewQuestion],
    model: Model,
    answers: AnswerStore,
    clock: Callable[[], datetime],
) -> None:
    """Asks each question and stores the answer, or why there is none."""
    for question in questions:
        attempt = ask_once(model, question.request)
        fault = attempt.fault
        if not fault and not _DECISION.search(attempt.answer.text):
            fault = "The answer has no decision in the agreed form."
        answers.write(StoredAnswer(question.key, attempt.answer, clock(), question.shown, fault))
        attempt.end()


def request_of(batch: Sequence[Row], entries: Mapping[str, Sequence[Entry]]) -> ModelRequest:
    """Returns the request for a batch, with the entries of the files that its lines are for."""
    files = {MEMORY_MD, *(home_of(row) for row in batch)}
    held = "\n".join(
        f"{path}, {entry.section}: {render_entry(entry.on, entry.text)}"
        for path, own in entries.items()
        if path in files
        for entry in own
    )
    proposed = "\n".join(_shown(row) for row in batch)
    return ModelRequest(
        read_prompt("triage", "batch"),
        f"{fenced('entries', held)}\n\n{fenced('proposals', proposed)}",
        ANSWER_TOKENS,
    )


def read_verdicts(answers: Iterable[StoredAnswer]) -> pl.DataFrame:
    """Returns the table `model_reviews`: the latest verdict on each proposal that was shown to a
    model twice.
    """
    found: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for kept in sorted(answers, key=lambda kept: kept.asked_at):
        if kept.key.serialiser != version_of("model_reviews"):
            continue
        said = (
            {one["id"]: one for one in _DECISION.finditer(kept.answer.text)}
            if kept.is_whole
            else {}
        )
        for shown in kept.shown_ids:
            proposal_id, digest = shown.split(" ")
            verdict = _verdict(proposal_id, digest, said.get(proposal_id), kept)
            found[proposal_id, digest, kept.key.model, kept.key.prompt_hash].append(verdict)
    latest = {
        pair[-1]["proposal_id"]: agreed(pair[-2], pair[-1])
        for pair in found.values()
        if len(pair) > 1
    }
    return schemas.frame_of("model_reviews", latest.values()).sort("proposal_id")


def agreed(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Returns the verdict of two answers: the one that both give, else that a person has to decide,
    and why.
    """
    if first["verdict"] == second["verdict"]:
        return first
    asking = next((one for one in (first, second) if one["verdict"] == REVIEW), None)
    (kept,) = (
        (one for one in (first, second) if one["verdict"] == PROMOTE)
        if asking is None
        else (asking,)
    )
    (against,) = (one for one in (first, second) if one is not kept)
    differ = (
        f"one of two answers keeps it as “{kept['text']}”, the other does not: {against['reason']}"
    )
    return {
        **kept,
        "verdict": REVIEW,
        "text": "",
        "reason": differ if asking is None else asking["reason"],
    }


def problem_of(wording: str, proposed: str) -> str | None:
    """Returns why a model's wording cannot replace the proposed text, or None."""
    if not wording or len(wording) > LONGEST_LINE:
        return f"its wording has {len(wording)} characters"
    known = proposed.lower()
    invented = [
        name for name in exact_names(wording) if len(name) > 1 and name.lower() not in known
    ]
    if invented:
        return f"its wording names {', '.join(invented)}, which the proposal does not"
    if find_conflict(wording, proposed):
        return "its wording contradicts the proposal"
    stems = stems_of(wording)
    is_grounded = len(stems & stems_of(proposed)) >= LEAST_GROUNDED * len(stems)
    return None if is_grounded else "its wording says something else than the proposal"


def _shown(row: Row) -> str:
    sessions = len(row["session_ids"])
    place = project_of(row) or "all projects"
    facts = (
        f"{place}, {row['section']}; {row['confidence']:.2f} sure; {row['author']}; {sessions} "
        f"session{'s'[: sessions > 1]}"
    )
    return f"[{row['proposal_id']}; {facts}] {squeezed(row['text'])}"


def _verdict(
    proposal_id: str, digest: str, said: re.Match[str] | None, kept: StoredAnswer
) -> dict[str, Any]:
    text = squeezed(said["text"]) if said else ""
    verdict = said["verdict"].lower() if said else REVIEW
    missing = "the model said nothing about it"
    if not kept.is_whole:
        missing = f"the model's answer ended early ({kept.answer.stop_reason})"
    elif not kept.answer.text:
        missing = kept.fault
    return {
        "proposal_id": proposal_id,
        "verdict": verdict,
        "text": text if verdict == PROMOTE else "",
        "reason": "" if verdict == PROMOTE else text or missing,
        "text_hash": digest,
        "model": kept.answer.model,
        "prompt_hash": kept.key.prompt_hash,
        "answer": kept.name,
        "asked_at": kept.asked_at,
    }


def unreviewed(waiting: Iterable[Row], reviews: pl.DataFrame) -> Iterator[Row]:
    """Yields what waits, adds a line, and was not shown to a model in these words."""
    known = dict(reviews.select("proposal_id", "text_hash").iter_rows())
    for row in waiting:
        if row["entry"] is None and known.get(row["proposal_id"]) != text_hash(row["text"]):
            yield row
