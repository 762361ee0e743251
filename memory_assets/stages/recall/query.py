"""Turns what somebody typed into what is worth searching for, never later than its deadline.

Takes a question and the last messages of its conversation. Without a model it takes out greetings and politeness, and gives
a vague question the rare words of those messages. A model, where one is named, writes the question anew; what it says is
believed only when it is one short line that keeps the question's exact names, but for secrets, which are masked in what it is
sent. A model that hangs is left behind in a thread
that nobody waits for, not even the end of the process; after three failures in a row no model is asked for five minutes.
"""

import hashlib
import queue
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal

from memory_assets.schema.protocols import Model, ModelAnswer, ModelRequest
from memory_assets.stages.distill.model.serialise import fenced
from memory_assets.stages.recall.wording import CHARS_A_MESSAGE, Frequency, exact_names, in_context

DEADLINE_SECONDS = 2.0
"""Of the whole rewrite; somebody is waiting for the answer."""

FAILURES_IN_A_ROW = 3
REST_SECONDS = 300.0
RECENT_MESSAGES = 5
LONGEST_QUERY = 300
ANSWER_TOKENS = 200
LONG_WORDS = 25
"""A question of more words says much that nobody searches for."""

How = Literal["as asked", "cleaned", "with context", "rewritten"]
_QUERY = re.compile(r"<query>\s*(.*?)\s*</query>", re.S)


@dataclass(frozen=True)
class Query:
    """What is searched for, how it came from what was asked, and what that took."""

    text: str
    context: str = ""
    """Words of the last messages that a vague question leans on."""
    how: How = "as asked"
    answer: ModelAnswer | None = None
    """What the model said, where it was asked and came in time."""
    model_calls: int = 0
    note: str | None = None
    """Why a model's rewrite is not used."""

    @property
    def whole(self) -> str:
        """The text with the words that it leans on."""
        return f"{self.text} {self.context}".strip()


class Breaker:
    """Stops asking after failures in a row, for a while; shared by the threads of a process."""

    def __init__(self, failures: int = FAILURES_IN_A_ROW, rest_seconds: float = REST_SECONDS) -> None:
        self._most, self._rest_seconds = failures, rest_seconds
        self._failures, self._rests_until = 0, 0.0
        self._lock = threading.Lock()

    def allows(self, now: float) -> bool:
        """Returns whether a call may be made; after the rest a single one is tried."""
        with self._lock:
            if self._failures < self._most:
                return True
            if now < self._rests_until:
                return False
            self._rests_until = now + self._rest_seconds
            return True

    def note(self, now: float, *, is_failure: bool) -> None:
        """Takes in how a call went."""
        with self._lock:
            self._failures = self._failures + 1 if is_failure else 0
            self._rests_until = now + self._rest_seconds


BREAKER = Breaker()
"""Of this process."""


def rewrite(
    question: str,
    recent: Sequence[str] = (),
    *,
    model: Model | None = None,
    frequency: Frequency | None = None,
    deadline_seconds: float = DEADLINE_SECONDS,
    breaker: Breaker = BREAKER,
) -> Query:
    """Returns what to search for; `recent` are the last messages of the conversation, oldest first."""
    recent = tuple(recent)[-RECENT_MESSAGES:]
    typed = _as_typed(question, recent, frequency)
    if model is None or not is_worth_asking(question, recent):
        return typed
    if not breaker.allows(time.monotonic()):
        return _unused(typed, f"{model.name} failed {FAILURES_IN_A_ROW} times in a row and is left alone for a while", calls=0)
    found = ask_in_time(model, _request(question, recent), deadline_seconds)
    problem = found if isinstance(found, str) else problem_of(found, _as_sent(question))
    breaker.note(time.monotonic(), is_failure=problem is not None)
    answer = None if isinstance(found, str) else found
    if problem or answer is None:
        return _unused(typed, f"{model.name} {problem}", answer=answer)
    return Query(_written(answer) or question, how="rewritten", answer=answer, model_calls=1)


def _as_typed(question: str, recent: Sequence[str], frequency: Frequency | None) -> Query:
    """Returns what is searched for without a model."""
    plain = " ".join(question.split())
    text, context = in_context(plain, recent, frequency)
    return Query(text, context, "with context" if context else "as asked" if text == plain else "cleaned")


def is_worth_asking(question: str, recent: Sequence[str]) -> bool:
    """Returns whether a model could make the question clearer: a plain one of its own is searched as it is."""
    return bool(recent) or len(question.split()) > LONG_WORDS


def ask_in_time(model: Model, request: ModelRequest, deadline_seconds: float) -> ModelAnswer | str:
    """Returns the answer, or in words why there is none by the deadline; whatever hangs is left behind."""
    told: queue.SimpleQueue[ModelAnswer | str] = queue.SimpleQueue()

    def ask() -> None:
        try:
            told.put(model.ask(request))
        except Exception as error:  # whatever it was, the question is searched without the model
            told.put(f"could not be asked ({type(error).__name__})")

    threading.Thread(target=ask, name="rewrite", daemon=True).start()
    try:
        return told.get(timeout=deadline_seconds)
    except queue.Empty:
        return f"did not answer within {deadline_seconds:g} s"


def problem_of(answer: ModelAnswer, question: str) -> str | None:
    """Returns in words why the model's answer is no query that can be searched, or nothing."""
    text = _written(answer)
    if text is None or answer.stop_reason not in ("end_turn", "stop_sequence"):
        return "did not answer with a query"
    if not text or "\n" in text or len(text) > LONGEST_QUERY or not text.isprintable() or ("<" in text and "<" not in question):
        return "answered with something else than one short line"
    lost = [name for name in exact_names(question) if name.lower() not in text.lower()]
    return f"lost {len(lost)} exact name{'s'[: len(lost) > 1]} of the question" if lost else None


@cache
def prompt() -> str:
    """Returns the prompt."""
    return files("memory_assets.stages.recall").joinpath("query.md").read_text(encoding="utf-8")


def prompt_hash() -> str:
    """Returns the hash of the prompt."""
    return hashlib.sha256(prompt().encode()).hexdigest()[:12]


def _request(question: str, recent: Sequence[str]) -> ModelRequest:
    # Masked before it is cut: the end of a message may hold a value and not the name that tells of it.
    messages = "\n\n".join(f"[{number}] {_as_sent(message)[-CHARS_A_MESSAGE:]}" for number, message in enumerate(recent, 1))
    before = [fenced("last messages, oldest first", messages)] if messages else []
    return ModelRequest(prompt(), "\n\n".join([*before, fenced("question", question)]), ANSWER_TOKENS)


def _as_sent(question: str) -> str:
    """Returns what was typed as a model sees it, secrets masked; an answer cannot repeat these."""
    from memory_assets.stages.capture.masking.redact import mask_text  # recall without a model does without it

    return mask_text(question)[0]


def _written(answer: ModelAnswer) -> str | None:
    found = _QUERY.search(answer.text)
    return found[1] if found else None


def _unused(query: Query, problem: str, *, answer: ModelAnswer | None = None, calls: int = 1) -> Query:
    return replace(query, answer=answer, model_calls=calls, note=f"The question was not rewritten: {problem}.")
