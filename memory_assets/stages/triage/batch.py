"""Tier 2: a model reviews what rules could not decide, twenty proposals per request, each request
twice.

Takes pending proposals and the entries of MEMORY.md and of the projects' files, returns verdicts.
The second request has the proposals in reverse order; a verdict counts if both answers give it, and
two that differ leave the proposal to a person. An answer is stored raw before it is parsed, and
verdicts are parsed from the stored answers, so a better parser never pays twice. A proposal is
asked about once. A batch sees what earlier ones promoted, and what the others ask about. A verdict
about something else, or no verdict, leaves the proposal to a person.
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
from memory_assets.stages.distill.model.material import fenced, read_prompt
from memory_assets.stages.embed.conflicts import find_conflict
from memory_assets.stages.recall.wording import exact_names
from memory_assets.stages.reflect.proposals import LONGEST_LINE
from memory_assets.stages.triage.memory_md import Entry, render_entry
from memory_assets.stages.triage.projects import home_of, project_of
from memory_assets.text.words import counted, squeezed, stems_of, text_hash

IN_A_BATCH = 20
MOST_OTHERS = 40
"""Proposals of other batches that a request names."""

ANSWER_TOKENS = 4_000
LEAST_GROUNDED = 0.5
"""Share of a wording's content words that its proposal must have."""

PROMOTE = "promote"
REJECT = "reject"
REVIEW = "review"
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
    answer, those of a batch one after the other.

    `entries` are those of MEMORY.md and of the projects' files, by path, and the lines that a model
    promoted and that are not written yet.
    """
    planned = []
    for start in range(0, len(waiting), IN_A_BATCH):
        batch = waiting[start : start + IN_A_BATCH]
        others = [*waiting[:start], *waiting[start + IN_A_BATCH :]]
        for number, ordered in enumerate((batch, batch[::-1]), 1):
            question = _question(request_of(ordered, entries, others), ordered, number, model)
            if answers.read(question.key) is None:
                planned.append(question)
    return planned


def _question(
    request: ModelRequest, batch: Sequence[Row], number: int, model: str
) -> ReviewQuestion:
    key = AnswerKey(
        text_hash(request.material),
        text_hash(request.system)[:12],
        model,
        f"max_tokens={ANSWER_TOKENS} answer={number}",
        version_of("model_reviews"),
    )
    shown = tuple(f"{row['proposal_id']} {text_hash(row['text'])}" for row in batch)
    return ReviewQuestion(key, request, shown)


def of_first_batch(questions: Sequence[ReviewQuestion]) -> list[ReviewQuestion]:
    """Returns the questions about the first batch: the following ones are planned again when its
    verdicts are known.
    """
    return [question for question in questions if set(question.shown) == set(questions[0].shown)]


def ask_in_batches(
    questions: Sequence[ReviewQuestion],
    model: Model,
    answers: AnswerStore,
    clock: Callable[[], datetime],
) -> None:
    """Asks each question and stores the answer."""
    for question in questions:
        answer = model.ask(question.request)
        fault = "" if _DECISION.search(answer.text) else "The answer decides about no proposal."
        answers.write(StoredAnswer(question.key, answer, clock(), question.shown, fault))


def request_of(
    batch: Sequence[Row], entries: Mapping[str, Sequence[Entry]], others: Sequence[Row] = ()
) -> ModelRequest:
    """Returns the request for a batch, with the entries of the files that its lines are for, and
    what else is proposed for them.
    """
    files = {MEMORY_MD, *(home_of(row) for row in batch)}
    lines = []
    for path in sorted(files.intersection(entries)):
        for entry in entries[path]:
            lines.append(f"{path}, {entry.section}: {render_entry(entry.on, entry.text)}")
    near = [row for row in others if home_of(row) in files][:MOST_OTHERS]
    shown_entries = fenced("entries", "\n".join(lines))
    shown_others = fenced("others", "\n".join(map(_shown, near))) if near else ""
    proposals = fenced("proposals", "\n".join(map(_shown, batch)))
    material = "\n\n".join(filter(None, (shown_entries, shown_others, proposals)))
    return ModelRequest(read_prompt("triage", "batch"), material, ANSWER_TOKENS)


def read_verdicts(answers: Iterable[StoredAnswer]) -> pl.DataFrame:
    """Returns the table `model_reviews`: the latest verdict on each proposal that was shown to a
    model twice.
    """
    verdicts: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for stored in sorted(answers, key=lambda stored: stored.asked_at):
        if stored.key.serialiser != version_of("model_reviews"):
            continue
        decisions = _DECISION.finditer(stored.answer.text) if stored.is_whole else ()
        decision_of = {decision["id"]: decision for decision in decisions}
        for shown in stored.shown_ids:
            proposal_id, digest = shown.split(" ")
            verdict = _verdict(proposal_id, digest, decision_of.get(proposal_id), stored)
            key = (proposal_id, digest, stored.key.model, stored.key.prompt_hash)
            verdicts[key].append(verdict)
    pairs = (answers for answers in verdicts.values() if len(answers) > 1)
    latest = {pair[-1]["proposal_id"]: agreed(pair[-2], pair[-1]) for pair in pairs}
    return schemas.frame_of("model_reviews", latest.values()).sort("proposal_id")


def agreed(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Returns the verdict of two answers: the one that both give, else that a person has to decide,
    and why.
    """
    if first["verdict"] == second["verdict"]:
        return first
    by_verdict = {answer["verdict"]: answer for answer in (first, second)}
    asking = by_verdict.get(REVIEW)
    if asking:
        return {**asking, "text": ""}
    keeping = by_verdict[PROMOTE]
    reason = (
        f"one of two answers keeps it as “{keeping['text']}”, the other does not: "
        f"{by_verdict[REJECT]['reason']}"
    )
    return {**keeping, "verdict": REVIEW, "text": "", "reason": reason}


def problem_of(wording: str, proposed: str) -> str | None:
    """Returns why a model's wording cannot replace the proposed text, or None."""
    if not wording or len(wording) > LONGEST_LINE:
        return f"its wording has {len(wording)} characters"
    names = (name for name in exact_names(wording) if len(name) > 1)
    invented = [name for name in names if name.lower() not in proposed.lower()]
    if invented:
        return f"its wording names {', '.join(invented)}, which the proposal does not"
    if find_conflict(wording, proposed):
        return "its wording contradicts the proposal"
    stems = stems_of(wording)
    is_grounded = len(stems & stems_of(proposed)) >= LEAST_GROUNDED * len(stems)
    return None if is_grounded else "its wording says something else than the proposal"


def _shown(row: Row) -> str:
    place = project_of(row) or "all projects"
    sessions = counted(len(row["session_ids"]), "session")
    confidence = f"{row['confidence']:.2f} sure"
    facts = f"{place}, {row['section']}; {confidence}; {row['author']}; {sessions}"
    return f"[{row['proposal_id']}; {facts}] {squeezed(row['text'])}"


def _verdict(
    proposal_id: str, digest: str, decision: re.Match[str] | None, stored: StoredAnswer
) -> dict[str, Any]:
    text = squeezed(decision["text"]) if decision else ""
    verdict = decision["verdict"].lower() if decision else REVIEW
    stopped = f"the model's answer ended early ({stored.answer.stop_reason})"
    missing = "the model said nothing about it" if stored.is_whole else stopped
    is_promoted = verdict == PROMOTE
    return {
        "proposal_id": proposal_id,
        "verdict": verdict,
        "text": text if is_promoted else "",
        "reason": "" if is_promoted else text or missing,
        "text_hash": digest,
        "model": stored.answer.model,
        "prompt_hash": stored.key.prompt_hash,
        "answer": stored.name,
        "asked_at": stored.asked_at,
    }


def promoted_entries(waiting: Mapping[str, Row], reviews: pl.DataFrame) -> dict[str, list[Entry]]:
    """Returns the lines that a model promoted of the waiting proposals, by the file that they are
    for.
    """
    entries: dict[str, list[Entry]] = defaultdict(list)
    for review in reviews.filter(verdict=PROMOTE).iter_rows(named=True):
        proposal = waiting.get(review["proposal_id"])
        if proposal and review["text_hash"] == text_hash(proposal["text"]):
            entry = Entry(0, proposal["section"], proposal["event_on"], review["text"])
            entries[home_of(proposal)].append(entry)
    return entries


def unreviewed(waiting: Iterable[Row], reviews: pl.DataFrame) -> Iterator[Row]:
    """Yields what was not shown to a model in these words."""
    hash_of = dict(reviews.select("proposal_id", "text_hash").iter_rows())
    for row in waiting:
        if hash_of.get(row["proposal_id"]) != text_hash(row["text"]):
            yield row
