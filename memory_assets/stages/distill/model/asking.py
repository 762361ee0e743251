"""Sends open questions to a model, in parallel or as batches, and stores every answer before it is
parsed.

Afterwards each question is answered, cut, refused or unusable in the answer store. An answer that
cannot be used (`usable`) is asked for once more, and so is a question whose call failed: a failed
call is stored as an answer without text, with the reason. Nothing is sent a third time unless a
person asks for it. Short sessions share requests (`short_sessions`). A wrong key or model name
stops everything at once, an overload after the requests in progress; answers that came by then are
stored, so the next run sends only the rest.

    answers/batches/<n>.json    the questions of a batch, written before it is submitted, and its
    batch id once there is one

Collecting waits for the batches on file, stores each answer and then removes the file. A process
that is killed between submitting and writing the id leaves a file without one: the batch is found
among the provider's by its questions.
"""

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from memory_assets import errors
from memory_assets.schema.progress import track
from memory_assets.schema.protocols import Batch, Model, ModelAnswer, ModelRequest
from memory_assets.stages.distill.model import material
from memory_assets.stages.distill.model.answers import (
    AnswerKey,
    AnswerStore,
    StoredAnswer,
    no_answer,
)
from memory_assets.stages.distill.model.questions import (
    Images,
    ObserverQuestion,
    QuestionStatus,
    next_attempt,
    status_of,
)
from memory_assets.stages.distill.model.short_sessions import (
    QuestionGroup,
    group_questions,
    split_answer,
)
from memory_assets.stages.distill.model.usable import fault_of
from memory_assets.text.files import make_folder, write_json

STOPS = (errors.ModelSetupError, errors.ModelBusyError)
"""Errors after which no more questions are asked."""

ATTEMPTS = 2
"""A question whose answer was cut, failed or cannot be used is sent a second time."""


@dataclass(frozen=True)
class Attempt:
    """What came of one call: an answer, or one without text and the reason why the call failed."""

    answer: ModelAnswer
    fault: str = ""
    silence: errors.ModelSilentError | None = None

    @classmethod
    def of(cls, result: ModelAnswer | errors.ModelError, model: str) -> "Attempt":
        """Returns the attempt with this answer of the model, or this error."""
        if isinstance(result, ModelAnswer):
            return cls(result)
        silence = result if isinstance(result, errors.ModelSilentError) else None
        return cls(no_answer(model), str(result), silence)

    def end(self) -> None:
        """Raises the error of a silent model, once the attempt is stored."""
        if self.silence:
            raise self.silence


VERSION = 1
MOST_REQUESTS = 1_000
"""Questions in one batch; at 150 kB each they stay below the 256 MB limit of the Batches API."""

CLOCKS_DIFFER = timedelta(minutes=5)
POLL_SECONDS = 30.0


@dataclass(frozen=True)
class BatchedQuestion:
    """One request of a batch."""

    key: AnswerKey
    shown_ids: tuple[str, ...]
    request: ModelRequest | None = None
    """Not written to the file."""
    short: tuple[AnswerKey, ...] = ()
    """The questions about short sessions that share it."""

    def answers(self, result: ModelAnswer | errors.ModelError, at: datetime) -> list[StoredAnswer]:
        """Returns the answer of each question, or why it has none."""
        answer = None
        if isinstance(result, ModelAnswer):
            answer = replace(result, is_batch=True, seconds=0.0)
        if self.short:
            return split_answer(self.short, answer, at)
        attempt = Attempt.of(answer or result, self.key.model)
        return [StoredAnswer(self.key, attempt.answer, at, self.shown_ids, attempt.fault)]


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
            batch = questions[start : start + MOST_REQUESTS]
            named = {question.key.name: question for question in batch}
            numbers = (int(path.stem) for path in self.root.glob("*.json") if path.stem.isdigit())
            path = self.root / f"{max(numbers, default=0) + 1:06d}.json"
            file = BatchFile(path, self.model.name, self.clock(), named)
            _write(file)
            requests = {name: question.request for name, question in named.items()}
            sent = {name: request for name, request in requests.items() if request}
            _write(replace(file, batch_id=self.model.submit(sent).id))

    def collect(self, keep: Callable[[StoredAnswer], None]) -> None:
        """Waits for every batch on file and stores its answers, and then raises the first error
        that would meet every other question, too.
        """
        stops: list[errors.ModelError] = []
        for file in self.files():
            batch_id = file.batch_id or self._find(file)
            if batch_id is not None:
                stops += self._collect(file, batch_id, keep)
            file.path.unlink(missing_ok=True)
        if stops:
            raise stops[0]

    def files(self) -> list[BatchFile]:
        """Returns the batches of this model that are on file, the oldest first."""
        found = map(_read, sorted(self.root.glob("*.json")))
        return [file for file in found if file.model == self.model.name]

    def _collect(
        self, file: BatchFile, batch_id: str, keep: Callable[[StoredAnswer], None]
    ) -> list[errors.ModelError]:
        stops: list[errors.ModelError] = []
        try:
            self._wait_for(batch_id)
            results = self.model.results(batch_id)
        except errors.ModelRequestError:
            return []  # the provider no longer has the batch: its questions are open again
        for name, result in results:
            question = file.questions.get(name)
            if isinstance(result, STOPS):
                stops.append(result)
            elif question:
                for stored in question.answers(result, self.clock()):
                    keep(stored)
        return stops

    def _find(self, file: BatchFile) -> str | None:
        """Returns the batch that was submitted without its id being written, or None if it was not
        submitted.
        """
        known = {other.batch_id for other in self.files()}
        batches = self.model.batches(file.at - CLOCKS_DIFFER)
        unknown = (batch for batch in batches if batch.id not in known)
        return next((batch.id for batch in unknown if self._is(batch, file)), None)

    def _is(self, batch: Batch, file: BatchFile) -> bool:
        """Returns whether the batch has the file's questions; their names are available only after
        it has ended.
        """
        if sum(batch.counts.values()) != len(file.questions):
            return False
        self._wait_for(batch.id)
        return {name for name, _ in self.model.results(batch.id)} == set(file.questions)

    def _wait_for(self, batch_id: str) -> None:
        while not self.model.batch(batch_id).is_ended:
            self.wait(self.poll_seconds)


@dataclass(frozen=True)
class ModelAsker:
    """A model with what is needed to ask it."""

    model: Model
    answers: AnswerStore
    clock: Callable[[], datetime]
    at_once: int = 4
    earlier: Callable[[ObserverQuestion], Sequence[material.EarlierMemory]] = field(
        default=lambda _: ()
    )
    images: Callable[[ObserverQuestion], Images] = field(default=lambda _: {})
    established: Callable[[ObserverQuestion], Sequence[material.ShownFact]] = field(
        default=lambda _: ()
    )
    stored: Callable[[], object] = field(default=lambda: None)
    """Called between answers, as soon as one is stored; holds no lock of the store."""

    def ask_all(self, statuses: Iterable[QuestionStatus]) -> None:
        """Asks the open questions, those of different sessions in parallel and those of one session
        in order.
        """
        for together in in_rounds(self._still_open(statuses)):
            waiting = together
            for _ in range(ATTEMPTS):
                if waiting:
                    groups = group_questions(map(next_attempt, waiting))
                    calls = [partial(self.ask, group) for group in groups]
                    ask_each(calls, self.at_once, self.model.name, self.stored)
                waiting = self._still_open(waiting)

    def ask_in_batches(self, statuses: Iterable[QuestionStatus], queue: BatchQueue) -> None:
        """Asks the open questions in batches, after collecting earlier ones; a batch has one
        question of each session.
        """
        waiting = list(statuses)
        by_name = {status.question.key.name: status.question for status in waiting}
        wider = [question.wider for question in by_name.values()]
        keep = partial(self._keep, by_name | {question.key.name: question for question in wider})
        queue.collect(keep)
        for together in in_rounds(self._still_open(waiting)):
            for _ in range(ATTEMPTS):
                together = self._still_open(together)
                if together:
                    groups = group_questions(map(next_attempt, together))
                    queue.submit([self._batched(group) for group in groups])
                    queue.collect(keep)

    def _still_open(self, statuses: Iterable[QuestionStatus]) -> list[QuestionStatus]:
        questions = (status.question for status in statuses if status.state == "open")
        present = (status_of(question, self.answers) for question in questions)
        return [status for status in present if status.state == "open"]

    def ask(self, group: QuestionGroup) -> None:
        """Asks a group of questions and stores the answer of each."""
        if not group.is_short:
            self._ask_one(group.questions[0])
            return
        by_name = {question.key.name: question for question in group.questions}
        keys = [question.key for question in group.questions]
        attempt = ask_once(self.model, group.request())
        answer = None if attempt.fault else attempt.answer
        for stored in split_answer(keys, answer, self.clock()):
            self._keep(by_name, stored)
        attempt.end()

    def _ask_one(self, question: ObserverQuestion) -> None:
        """Asks one question and stores the answer; without images if the model does not accept
        them.
        """
        shown_ids, request = self.prepare(QuestionGroup((question,)))
        plain = partial(self._without_images, question) if request.images else None
        attempt = ask_once(self.model, request, plain)
        stored = StoredAnswer(question.key, attempt.answer, self.clock(), shown_ids, attempt.fault)
        self._keep({question.key.name: question}, stored)
        attempt.end()

    def _without_images(self, question: ObserverQuestion) -> ModelRequest:
        return question.request(self.earlier(question), established=self.established(question))

    def _keep(self, questions: Mapping[str, ObserverQuestion], stored: StoredAnswer) -> None:
        """Stores the answer, with its fault if it cannot be used."""
        question = questions.get(stored.key.name)
        if question is not None and stored.is_whole and not stored.fault:
            text = material.without_citations(stored.answer.text)
            stored = replace(stored, fault=fault_of(text, question.call.messages))
        self.answers.write(stored)

    def _batched(self, group: QuestionGroup) -> BatchedQuestion:
        keys = tuple(question.key for question in group.questions) if group.is_short else ()
        return BatchedQuestion(group.key, *self.prepare(group), keys)

    def prepare(self, group: QuestionGroup) -> tuple[tuple[str, ...], ModelRequest]:
        """Returns the ids of the earlier memories that are shown, and the request."""
        if group.is_short:
            return (), group.request()
        question = group.questions[0]
        earlier = self.earlier(question)
        about = (earlier, self.images(question), self.established(question))
        return tuple(memory.id for memory in earlier), question.request(*about)


def in_rounds(statuses: Iterable[QuestionStatus]) -> list[list[QuestionStatus]]:
    """Returns the questions in rounds with one question of each session, in the order of the
    session's parts.
    """
    by_round: dict[int, list[QuestionStatus]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for status in sorted(statuses, key=lambda status: status.question.place):
        session = status.question.session_id
        by_round[counts[session]].append(status)
        counts[session] += 1
    return [by_round[number] for number in sorted(by_round)]


def ask_once(
    model: Model, request: ModelRequest, plain: Callable[[], ModelRequest] | None = None
) -> Attempt:
    """Returns what came of the call; what `plain` returns is sent if the model rejects the request.

    Raises an error after which no more questions are asked, unless it is that of a silent model:
    its attempt counts. After the others nothing was read, and nothing is paid.
    """
    try:
        return Attempt.of(model.ask(request), model.name)
    except errors.ModelSilentError as error:
        return Attempt.of(error, model.name)
    except STOPS:
        raise
    except errors.ModelError as error:
        if plain and isinstance(error, errors.ModelRequestError):
            return ask_once(model, plain())
        return Attempt.of(error, model.name)


def ask_each(
    calls: Sequence[Callable[[], None]],
    at_once: int,
    model: str,
    stored: Callable[[], object] = lambda: None,
) -> None:
    """Calls the functions that ask one question each, in parallel.

    Calls `stored` in this thread after each of them. A wrong key or an overload stops the remaining
    questions and is raised.
    """
    is_over = threading.Event()

    def ask_one(ask: Callable[[], None]) -> None:
        if not is_over.is_set():
            try:
                ask()
            except STOPS:
                is_over.set()
                raise

    # Requests in progress are paid for: their answers are stored.
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        running = [pool.submit(ask_one, ask) for ask in calls]
        for done in track(as_completed(running), f"Asking {model}", total=len(running)):
            error = done.exception()
            if error is not None:
                is_over.set()
                raise error
            stored()


def _write(file: BatchFile) -> None:
    make_folder(file.path.parent)
    questions = {}
    for name, question in file.questions.items():
        short = [asdict(key) for key in question.short]
        key = asdict(question.key)
        questions[name] = {"key": key, "shown_ids": question.shown_ids, "short": short}
    row = {"v": VERSION, "model": file.model, "at": file.at.isoformat()}
    write_json(file.path, {**row, "batch_id": file.batch_id, "questions": questions})


def _read(path: Path) -> BatchFile:
    try:
        row = json.loads(path.read_bytes())
        questions = {}
        for name, question in row["questions"].items():
            short = tuple(AnswerKey(**key) for key in question.get("short", ()))
            about = (AnswerKey(**question["key"]), tuple(question["shown_ids"]))
            questions[name] = BatchedQuestion(*about, short=short)
        at = datetime.fromisoformat(row["at"]).astimezone(UTC)
        return BatchFile(path, row["model"], at, questions, row["batch_id"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise errors.StoreError(
            f"Cannot read the batch file {path}: {error}. Delete it to submit its questions again."
        ) from error
