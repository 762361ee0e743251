"""Plans the questions that a model is asked about a window, and determines the status of each from the stored answers.

Takes a window and its messages; returns one question per call. Sends nothing. A question is answered, cut, refused or open
depending on the answer store alone, so a second run pays for nothing that the first one received.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.errors import SettingsError
from memory_assets.schema.protocols import Image, ModelRequest
from memory_assets.stages.distill.model.answers import CUT, AnswerKey, AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.calls import PlannedCall, plan_calls
from memory_assets.stages.distill.model.earlier import EarlierMemory
from memory_assets.stages.distill.model.serialise import SERIALISER_VERSION, content_hash, fence_memories, serialise
from memory_assets.stages.distill.rules.boundaries import find_segments
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.taxonomy import read_named
from memory_assets.text.tokens import count_tokens

MAX_TOKENS = 8_000
"""Most tokens of an answer (DUET)."""

WIDER_TOKENS = 16_000
"""Most tokens of the second attempt after an answer was cut."""

State = Literal["answered", "cut", "refused", "open"]
Images = Mapping[str, Sequence[Image]]
"""Images by message id."""


@dataclass(frozen=True)
class ObserverQuestion:
    """One call about a window."""

    window_id: str
    session_id: str
    project: str
    person: str
    ordinal: int
    call_count: int
    call: PlannedCall
    zone: ZoneInfo
    system: str
    """The observer's prompt."""
    key: AnswerKey

    @property
    def wider(self) -> "ObserverQuestion":
        """The same question with more room for the answer."""
        return replace(self, key=replace(self.key, parameters=parameters(WIDER_TOKENS)))

    @property
    def has_images(self) -> bool:
        """Whether the messages have images."""
        return any(message["image_count"] for message in self.call.messages)

    def request(self, earlier: Sequence[EarlierMemory] = (), images: Images = MappingProxyType({})) -> ModelRequest:
        """Returns the request; the material says how many images are missing."""
        known = fence_memories((memory.id, memory.text) for memory in earlier)
        shown = [(message, images.get(message["message_id"], ())) for message in self.call.messages]
        messages = [_with_images(message, own) for message, own in shown]
        material = serialise(messages, self.zone, before=self.call.before)
        room = WIDER_TOKENS if self.key.parameters == parameters(WIDER_TOKENS) else MAX_TOKENS
        sent = tuple(image for _, own in shown for image in own)
        return ModelRequest(self.system, f"{known}\n\n{material}" if known else material, room, sent)

    def estimated_tokens(self) -> int:
        """Returns about how many tokens are sent, without earlier memories and images."""
        return count_tokens(self.system) + count_tokens(serialise(self.call.messages, self.zone, before=self.call.before))


@dataclass(frozen=True)
class QuestionStatus:
    """The state of a question, its answer if there is one, and all answers that were paid for."""

    question: ObserverQuestion
    state: State
    kept: StoredAnswer | None = None
    attempts: tuple[StoredAnswer, ...] = ()


def plan_questions(
    window: Mapping[str, Any], messages: pl.DataFrame, model: str, zone: ZoneInfo, prompt_file: Path | None = None
) -> list[ObserverQuestion]:
    """Returns the questions about a window; `messages` are those of the window, in order."""
    system, hashed, rows = prompt(prompt_file), prompt_hash(prompt_file), messages.to_dicts()
    calls = plan_calls(rows, find_segments(rows))
    about = {name: window[name] for name in ("window_id", "session_id", "project", "person")}

    def key(call: PlannedCall) -> AnswerKey:
        content = f"{content_hash(call.messages, call.before)} {zone}"
        return AnswerKey(content, hashed, model, parameters(MAX_TOKENS), SERIALISER_VERSION)

    return [
        ObserverQuestion(**about, ordinal=n, call_count=len(calls), call=call, zone=zone, system=system, key=key(call))
        for n, call in enumerate(calls)
    ]


def status_of(question: ObserverQuestion, answers: AnswerStore, *, any_prompt: bool = False) -> QuestionStatus:
    """Returns the status of the question; with `any_prompt`, answers to another prompt about the same messages count."""
    narrow, wide = (answers.read_any(key) for key in (question.key, question.wider.key))
    attempts = tuple(kept for kept in (narrow, wide) if kept)
    whole = next((kept for kept in attempts if kept.is_whole), None)
    if whole is None and any_prompt:
        whole = next(iter(answers.about(question.key.content)), None)
    if whole is not None:
        return QuestionStatus(question, "answered", whole, attempts or (whole,))
    if wide and wide.answer.stop_reason in CUT:
        return QuestionStatus(question, "cut", wide, attempts)
    is_refused = attempts and attempts[-1].answer.stop_reason not in CUT
    return QuestionStatus(question, "refused" if is_refused else "open", None, attempts)


def next_attempt(status: QuestionStatus) -> ObserverQuestion:
    """Returns the question to send next: with more room if the first answer was cut."""
    return status.question.wider if status.attempts else status.question


def parameters(max_tokens: int) -> str:
    """Returns the parameters of a call, as in the key of its answer."""
    return f"max_tokens={max_tokens}"


def prompt(file: Path | None = None) -> str:
    """Returns the observer's prompt, or the content of the file; raises `SettingsError` if that is empty or unreadable."""
    if file is None:
        return _packaged()
    text = read_named(file, "observer's prompt", "MEMORY_OBSERVER_PROMPT")
    if not text.strip():
        raise SettingsError(f"The observer's prompt {file} is empty. Write one, or unset MEMORY_OBSERVER_PROMPT.")
    return text


@cache
def _packaged() -> str:
    return files("memory_assets.stages.distill.model").joinpath("observer.md").read_text(encoding="utf-8")


def prompt_hash(file: Path | None = None) -> str:
    """Returns the hash of the prompt, which is stored with its answers."""
    return hashlib.sha256(prompt(file).encode()).hexdigest()[:12]


def _with_images(message: Row, images: Sequence[Image]) -> Row:
    """Returns the message with the number of images that are sent, and of those that are missing."""
    missing = message["image_count"] - len(images)
    text = message["text"] + (f" [{missing} picture(s) not shown]" if missing > 0 else "")
    return {**message, "image_count": len(images), "text": text}
