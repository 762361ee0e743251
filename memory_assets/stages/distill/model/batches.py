"""Hands questions in as batches and collects their answers, whatever is killed in between.

    answers/batches/<n>.json    what was handed in, written before it is sent; its batch id, as soon as there is one

Collecting waits for the batches on file, stores each answer and then removes the file. A process killed between
sending and noting the id leaves a file without one: the batch is found again among the provider's, by its questions.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_assets.errors import ModelError, ModelRequestError, StoreError
from memory_assets.schema.protocols import Batch, Model, ModelAnswer, ModelRequest
from memory_assets.stages.distill.model.answers import AnswerKey, KeptAnswer
from memory_assets.stages.distill.model.questions import Question
from memory_assets.text.files import make_folder, write_json

VERSION = 1
MOST_REQUESTS = 1_000
"""Questions in one batch; at 150 kB each they stay below the 256 MB that the Batches API takes."""

CLOCKS_DIFFER = timedelta(minutes=5)
POLL_SECONDS = 30.0


@dataclass(frozen=True)
class HandedIn:
    """One question of a batch."""

    key: AnswerKey
    shown_ids: tuple[str, ...]
    request: ModelRequest | None = None
    """What is sent; it is not kept on file."""

    @classmethod
    def of(cls, question: Question, request: ModelRequest, shown_ids: tuple[str, ...]) -> "HandedIn":
        """Returns the question with all that sending it takes."""
        return cls(question.key, shown_ids, request)


@dataclass(frozen=True)
class Slip:
    """One batch on file: its questions by name, and its id where it is known."""

    path: Path
    model: str
    at: datetime
    questions: dict[str, HandedIn]
    batch_id: str | None = None


@dataclass(frozen=True)
class BatchDesk:
    """Where batches are handed in and collected."""

    root: Path
    model: Model
    clock: Callable[[], datetime]
    wait: Callable[[float], None]
    poll_seconds: float = POLL_SECONDS

    def submit(self, questions: Sequence[HandedIn]) -> None:
        """Hands the questions in, in as many batches as it takes; each is on file before it is sent."""
        for start in range(0, len(questions), MOST_REQUESTS):
            named = {question.key.name: question for question in questions[start : start + MOST_REQUESTS]}
            slip = Slip(self._next_path(), self.model.name, self.clock(), named)
            _write(slip)
            batch = self.model.submit({name: question.request for name, question in named.items() if question.request})
            _write(replace(slip, batch_id=batch.id))

    def collect(self, keep: Callable[[KeptAnswer], None]) -> dict[str, ModelError]:
        """Waits for every batch on file and stores its answers; returns, by name, why a question has none."""
        problems: dict[str, ModelError] = {}
        for slip in self.slips():
            batch_id = slip.batch_id or self._find(slip)
            if batch_id is not None:
                problems |= self._collect(slip, batch_id, keep)
            slip.path.unlink(missing_ok=True)
        return problems

    def slips(self) -> list[Slip]:
        """Returns the batches of this model that are on file, the oldest first."""
        found = (_read(path) for path in sorted(self.root.glob("*.json")))
        return [slip for slip in found if slip.model == self.model.name]

    def _collect(self, slip: Slip, batch_id: str, keep: Callable[[KeptAnswer], None]) -> dict[str, ModelError]:
        problems: dict[str, ModelError] = {}
        try:
            self._wait_for(batch_id)
            results = self.model.results(batch_id)
        except ModelRequestError:
            return {}  # the provider has forgotten the batch: its questions are open again
        for name, result in results:
            if isinstance(result, ModelError):
                problems[name] = result
            elif name in slip.questions:
                question = slip.questions[name]
                keep(KeptAnswer(question.key, _from_batch(result), self.clock(), question.shown_ids))
        return problems

    def _find(self, slip: Slip) -> str | None:
        """Returns the batch that was sent without its id being noted, or nothing where it was never sent."""
        known = {other.batch_id for other in self.slips()}
        for batch in self.model.batches(slip.at - CLOCKS_DIFFER):
            if batch.id not in known and self._is(batch, slip):
                return batch.id
        return None

    def _is(self, batch: Batch, slip: Slip) -> bool:
        """Returns whether the batch has the slip's questions; their names are told only when it has ended."""
        if sum(batch.counts.values()) != len(slip.questions):
            return False
        self._wait_for(batch.id)
        return {name for name, _ in self.model.results(batch.id)} == set(slip.questions)

    def _wait_for(self, batch_id: str) -> None:
        while not self.model.batch(batch_id).is_ended:
            self.wait(self.poll_seconds)

    def _next_path(self) -> Path:
        numbers = (int(path.stem) for path in self.root.glob("*.json") if path.stem.isdigit())
        return self.root / f"{max(numbers, default=0) + 1:06d}.json"


def _from_batch(answer: ModelAnswer) -> ModelAnswer:
    return replace(answer, is_batch=True, seconds=0.0)


def _write(slip: Slip) -> None:
    make_folder(slip.path.parent)
    questions = {name: {"key": asdict(q.key), "shown_ids": q.shown_ids} for name, q in slip.questions.items()}
    row = {"v": VERSION, "model": slip.model, "at": slip.at.isoformat(), "batch_id": slip.batch_id, "questions": questions}
    write_json(slip.path, row)


def _read(path: Path) -> Slip:
    try:
        row = json.loads(path.read_bytes())
        questions = {
            name: HandedIn(AnswerKey(**question["key"]), tuple(question["shown_ids"]))
            for name, question in row["questions"].items()
        }
        return Slip(path, row["model"], datetime.fromisoformat(row["at"]).astimezone(UTC), questions, row["batch_id"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"Cannot read {path}, which says what was handed in as a batch: {error}. Delete it to hand the questions in again."
        ) from error
