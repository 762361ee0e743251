"""Submits questions as batches and collects their answers; safe against a kill at any moment.

    answers/batches/<n>.json    the questions of a batch, written before it is submitted, and its batch id once there is one

Collecting waits for the batches on file, stores each answer and then removes the file. A process that is killed between
submitting and writing the id leaves a file without one: the batch is found among the provider's by its questions.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_assets.errors import ModelError, ModelRequestError, StoreError
from memory_assets.schema.protocols import Batch, Model, ModelRequest
from memory_assets.stages.distill.model.answers import AnswerKey, StoredAnswer
from memory_assets.text.files import make_folder, write_json

VERSION = 1
MOST_REQUESTS = 1_000
"""Questions in one batch; at 150 kB each they stay below the 256 MB limit of the Batches API."""

CLOCKS_DIFFER = timedelta(minutes=5)
POLL_SECONDS = 30.0


@dataclass(frozen=True)
class BatchedQuestion:
    """One question of a batch."""

    key: AnswerKey
    shown_ids: tuple[str, ...]
    request: ModelRequest | None = None
    """Not written to the file."""


@dataclass(frozen=True)
class BatchFile:
    """One batch on file: its questions by name, and its id if it is known."""

    path: Path
    model: str
    at: datetime
    questions: dict[str, BatchedQuestion]
    batch_id: str | None = None


@dataclass(frozen=True)
class BatchQueue:
    """The batches of a model that are on file."""

    root: Path
    model: Model
    clock: Callable[[], datetime]
    wait: Callable[[float], None]
    poll_seconds: float = POLL_SECONDS

    def submit(self, questions: Sequence[BatchedQuestion]) -> None:
        """Submits the questions in one or more batches; each is on file before it is submitted."""
        for start in range(0, len(questions), MOST_REQUESTS):
            named = {question.key.name: question for question in questions[start : start + MOST_REQUESTS]}
            numbers = (int(path.stem) for path in self.root.glob("*.json") if path.stem.isdigit())
            path = self.root / f"{max(numbers, default=0) + 1:06d}.json"
            file = BatchFile(path, self.model.name, self.clock(), named)
            _write(file)
            batch = self.model.submit({name: question.request for name, question in named.items() if question.request})
            _write(replace(file, batch_id=batch.id))

    def collect(self, keep: Callable[[StoredAnswer], None]) -> dict[str, ModelError]:
        """Waits for every batch on file and stores its answers; returns the errors of questions without one, by name."""
        problems: dict[str, ModelError] = {}
        for file in self.files():
            batch_id = file.batch_id or self._find(file)
            if batch_id is not None:
                problems |= self._collect(file, batch_id, keep)
            file.path.unlink(missing_ok=True)
        return problems

    def files(self) -> list[BatchFile]:
        """Returns the batches of this model that are on file, the oldest first."""
        found = map(_read, sorted(self.root.glob("*.json")))
        return [file for file in found if file.model == self.model.name]

    def _collect(self, file: BatchFile, batch_id: str, keep: Callable[[StoredAnswer], None]) -> dict[str, ModelError]:
        problems: dict[str, ModelError] = {}
        try:
            self._wait_for(batch_id)
            results = self.model.results(batch_id)
        except ModelRequestError:
            return {}  # the provider no longer has the batch: its questions are open again
        for name, result in results:
            if isinstance(result, ModelError):
                problems[name] = result
            elif question := file.questions.get(name):
                answer = replace(result, is_batch=True, seconds=0.0)
                keep(StoredAnswer(question.key, answer, self.clock(), question.shown_ids))
        return problems

    def _find(self, file: BatchFile) -> str | None:
        """Returns the batch that was submitted without its id being written, or None if it was not submitted."""
        known = {other.batch_id for other in self.files()}
        batches = self.model.batches(file.at - CLOCKS_DIFFER)
        return next((batch.id for batch in batches if batch.id not in known and self._is(batch, file)), None)

    def _is(self, batch: Batch, file: BatchFile) -> bool:
        """Returns whether the batch has the file's questions; their names are available only after it has ended."""
        if sum(batch.counts.values()) != len(file.questions):
            return False
        self._wait_for(batch.id)
        return {name for name, _ in self.model.results(batch.id)} == set(file.questions)

    def _wait_for(self, batch_id: str) -> None:
        while not self.model.batch(batch_id).is_ended:
            self.wait(self.poll_seconds)


def _write(file: BatchFile) -> None:
    make_folder(file.path.parent)
    questions = {name: {"key": asdict(q.key), "shown_ids": q.shown_ids} for name, q in file.questions.items()}
    row = {"v": VERSION, "model": file.model, "at": file.at.isoformat(), "batch_id": file.batch_id, "questions": questions}
    write_json(file.path, row)


def _read(path: Path) -> BatchFile:
    try:
        row = json.loads(path.read_bytes())
        rows = row["questions"].items()
        questions = {name: BatchedQuestion(AnswerKey(**one["key"]), tuple(one["shown_ids"])) for name, one in rows}
        return BatchFile(path, row["model"], datetime.fromisoformat(row["at"]).astimezone(UTC), questions, row["batch_id"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"Cannot read the batch file {path}: {error}. Delete it to submit its questions again.") from error
