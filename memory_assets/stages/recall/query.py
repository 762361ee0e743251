"""Turns a typed question into a search query, within a deadline.

Takes a question and the last messages of its conversation. Without a model it removes greetings and
politeness, and adds the rare words of those messages to a vague question. A model, where one is
configured, rewrites the question; its answer is used only when it is one short line with the
question's exact names, except secrets, which are masked in what is sent. A model that hangs is left
in a daemon thread that nothing waits for; after three failures in a row no model is asked for five
minutes.
"""

import queue
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from memory_assets.schema.protocols import Model, ModelAnswer, ModelRequest
from memory_assets.stages.distill.model.material import fenced, read_prompt
from memory_assets.stages.recall.wording import CHARS_A_MESSAGE, Frequency, exact_names, in_context

DEADLINE_SECONDS = 2.0
"""Of the whole rewrite; the user is waiting for the answer."""

FAILURES_IN_A_ROW = 3
REST_SECONDS = 300.0
RECENT_MESSAGES = 5
LONGEST_QUERY = 300
ANSWER_TOKENS = 200
LONG_WORDS = 25
"""A question of more words has many that are no use in a search."""

How = Literal["as asked", "cleaned", "with context", "rewritten"]
_QUERY = re.compile(r"<query>\s*(.*?)\s*</query>", re.S)


@dataclass(frozen=True)
class Query:
    """What is searched for, how it was made from the question, and at what cost."""

    text: str
    context: str = ""
    """Words of the last messages that a vague question refers to."""
    how: How = "as asked"
    answer: ModelAnswer | None = None
    """The model's answer, where it came in time."""
    model_calls: int = 0
    note: str | None = None
    """Why a model's rewrite is not used."""


class Breaker:
    """A circuit breaker: stops calls for a while after failures in a row; shared by the threads of
    a process.
    """

    def __init__(
        self, failures: int = FAILURES_IN_A_ROW, rest_seconds: float = REST_SECONDS
    ) -> None:
        self._most, self._rest_seconds = failures, rest_seconds
        self._failures, self._rests_until = 0, 0.0
        self._lock = threading.Lock()

    def allows(self, now: float) -> bool:
        """Returns whether a call may be made; after the pause a single one is tried."""
        with self._lock:
            is_open = self._failures >= self._most
            if is_open and now >= self._rests_until:
                is_open, self._rests_until = False, now + self._rest_seconds
            return not is_open

    def note(self, now: float, *, is_failure: bool) -> None:
        """Records the outcome of a call."""
        with self._lock:
            self._failures = self._failures + 1 if is_failure else 0
            self._rests_until = now + self._rest_seconds


BREAKER = Breaker()
"""The breaker of this process."""


@dataclass(frozen=True)
class AnswerDependencies:
    """What an answer may use beside what is searched."""

    model: Model | None = None
    price: Callable[[ModelAnswer], float | None] = lambda _: None
    read_summaries: Callable[[], pl.DataFrame] | None = None
    frequency: Frequency | None = None
    breaker: Breaker = field(default_factory=lambda: BREAKER)
    deadline_seconds: float = DEADLINE_SECONDS
    prepare: Callable[[], object] = lambda: None
    """Loads what the first call of the model needs; the deadline begins after it."""
    reranks: bool = True
    """Whether the model may rerank results."""
    may_send: Callable[[str], bool] = lambda _: True
    """Whether what belongs to a project may be sent to the model."""


@dataclass(frozen=True)
class ModelReply:
    """What came of one call of a model."""

    answer: ModelAnswer | None
    problem: str | None
    """Why the answer cannot be used, after the name of the model; None where it can."""
    calls: int


def rewrite(
    question: str,
    recent: Sequence[str] = (),
    dependencies: AnswerDependencies = AnswerDependencies(),
) -> Query:
    """Returns what to search for; `recent` are the last messages of the conversation, oldest
    first.
    """
    recent, model = tuple(recent)[-RECENT_MESSAGES:], dependencies.model
    plain = " ".join(question.split())
    text, context = in_context(plain, recent, dependencies.frequency)
    typed = Query(
        text, context, "with context" if context else "as asked" if text == plain else "cleaned"
    )
    # A plain question is searched as it is.
    if model is None or not (recent or len(question.split()) > LONG_WORDS):
        return typed
    sent = as_sent(question)
    request = _request(question, recent)
    reply = ask_model(
        request,
        dependencies,
        lambda answer: problem_of(answer, sent),
        dependencies.deadline_seconds,
    )
    if reply.problem or reply.answer is None:
        note = f"The question was not rewritten: {model.name} {reply.problem}."
        return replace(typed, answer=reply.answer, model_calls=reply.calls, note=note)
    return Query(
        _written(reply.answer) or question, how="rewritten", answer=reply.answer, model_calls=1
    )


def ask_model(
    request: ModelRequest,
    dependencies: AnswerDependencies,
    check: Callable[[ModelAnswer], str | None],
    seconds: float,
) -> ModelReply:
    """Returns the answer of the model by the deadline, with what `check` says against it; not asked
    after many failures.
    """
    model, breaker = dependencies.model, dependencies.breaker
    if model is None or seconds <= 0:
        return ModelReply(None, "has no time left", 0)
    if not breaker.allows(time.monotonic()):
        return ModelReply(
            None, f"failed {FAILURES_IN_A_ROW} times in a row and is left alone for a while", 0
        )
    found = ask_in_time(model, request, seconds)
    problem = found if isinstance(found, str) else check(found)
    breaker.note(time.monotonic(), is_failure=problem is not None)
    return ModelReply(None if isinstance(found, str) else found, problem, 1)


def ask_in_time(model: Model, request: ModelRequest, deadline_seconds: float) -> ModelAnswer | str:
    """Returns the answer, or why there is none by the deadline; a call that hangs is abandoned."""
    answers: queue.SimpleQueue[ModelAnswer | str] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(model.ask(request))
        except Exception as error:  # any failure: the question is searched without the model
            answers.put(f"could not be asked ({type(error).__name__})")

    threading.Thread(target=ask, name="rewrite", daemon=True).start()
    try:
        return answers.get(timeout=deadline_seconds)
    except queue.Empty:
        return f"did not answer within {deadline_seconds:.2g} s"


def problem_of(answer: ModelAnswer, question: str) -> str | None:
    """Returns why the model's answer cannot be used as a query, or None."""
    text = _written(answer)
    if text is None or answer.stop_reason not in ("end_turn", "stop_sequence"):
        return "did not answer with a query"
    if (
        not text
        or "\n" in text
        or len(text) > LONGEST_QUERY
        or not text.isprintable()
        or ("<" in text and "<" not in question)
    ):
        return "answered with something else than one short line"
    lost = [name for name in exact_names(question) if name.lower() not in text.lower()]
    return f"lost {len(lost)} exact name{'s'[: len(lost) > 1]} of the question" if lost else None


def _request(question: str, recent: Sequence[str]) -> ModelRequest:
    # Masked before it is cut: the end of a message may hold a secret without the name that marks it
    # as one.
    messages = "\n\n".join(
        f"[{number}] {as_sent(message)[-CHARS_A_MESSAGE:]}"
        for number, message in enumerate(recent, 1)
    )
    before = [fenced("last messages, oldest first", messages)] if messages else []
    return ModelRequest(
        read_prompt("recall", "query"),
        "\n\n".join([*before, fenced("question", question)]),
        ANSWER_TOKENS,
    )


def as_sent(question: str) -> str:
    """Returns the text with secrets masked; the exact names of an answer are compared with this."""
    # Recall without a model does without it.
    from memory_assets.text.masking.redact import mask_text

    return mask_text(question)[0]


def _written(answer: ModelAnswer) -> str | None:
    found = _QUERY.search(answer.text)
    return found[1] if found else None
