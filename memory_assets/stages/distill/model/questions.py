"""Plans what a model is asked about a window, and tells from the stored answers how each question stands.

Takes a window and its messages; gives one question a call. Asks nobody: a question is answered, cut, refused or open
by what lies in the answer store alone, so that a second run pays for nothing that the first one got.
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
from memory_assets.stages.distill.model.answers import CUT, AnswerKey, AnswerStore, KeptAnswer
from memory_assets.stages.distill.model.calls import Call, plan_calls
from memory_assets.stages.distill.model.earlier import Remembered
from memory_assets.stages.distill.model.serialise import SERIALISER_VERSION, content_hash, fence_memories, serialise
from memory_assets.stages.distill.rules.boundaries import find_segments
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.text.tokens import count_tokens

MAX_TOKENS = 8_000
"""Observations of one call take at most this much (DUET)."""

WIDER_TOKENS = 16_000
"""An answer that was cut is asked for once more with this much room."""

State = Literal["answered", "cut", "refused", "open"]


Images = Mapping[str, Sequence[Image]]
"""Pictures by the id of the message that they belong to."""


@dataclass(frozen=True)
class Question:
    """One call about a window."""

    window_id: str
    session_id: str
    project: str
    person: str
    ordinal: int
    call_count: int
    call: Call
    zone: ZoneInfo
    system: str
    """The observer's prompt."""
    key: AnswerKey

    @property
    def wider(self) -> "Question":
        """The same question with more room for the answer."""
        return replace(self, key=replace(self.key, parameters=parameters(WIDER_TOKENS)))

    @property
    def has_images(self) -> bool:
        """Whether pictures belong to the messages."""
        return any(message["image_count"] for message in self.call.messages)

    def request(self, earlier: Sequence[Remembered] = (), images: Images = MappingProxyType({})) -> ModelRequest:
        """Returns what the model is sent; pictures that are missing are said to be."""
        known = fence_memories((memory.id, memory.text) for memory in earlier)
        messages = [_with_pictures(message, images.get(message["message_id"], ())) for message in self.call.messages]
        material = serialise(messages, self.zone, before=self.call.before)
        pictures = [image for message in messages for image in images.get(message["message_id"], ())]
        room = WIDER_TOKENS if self.key.parameters == parameters(WIDER_TOKENS) else MAX_TOKENS
        return ModelRequest(self.system, f"{known}\n\n{material}" if known else material, room, tuple(pictures))

    def estimated_tokens(self) -> int:
        """Returns about how many tokens are sent, earlier memories and pictures left out."""
        return count_tokens(self.system) + count_tokens(serialise(self.call.messages, self.zone, before=self.call.before))


@dataclass(frozen=True)
class Standing:
    """How a question stands: its answer where there is one, and all that was paid for it."""

    question: Question
    state: State
    kept: KeptAnswer | None = None
    attempts: tuple[KeptAnswer, ...] = ()


def plan_questions(
    window: Mapping[str, Any], messages: pl.DataFrame, model: str, zone: ZoneInfo, prompt_file: Path | None = None
) -> list[Question]:
    """Returns the questions about a window; `messages` are those of the window, in order."""
    system, hashed = prompt(prompt_file), prompt_hash(prompt_file)
    calls = plan_calls(messages.to_dicts(), find_segments(messages))
    return [
        Question(
            window["window_id"],
            window["session_id"],
            window["project"],
            window["person"],
            ordinal,
            len(calls),
            call,
            zone,
            system,
            AnswerKey(
                content=f"{content_hash(call.messages, call.before)} {zone}",
                prompt_hash=hashed,
                model=model,
                parameters=parameters(MAX_TOKENS),
                serialiser=SERIALISER_VERSION,
            ),
        )
        for ordinal, call in enumerate(calls)
    ]


def standing_of(question: Question, answers: AnswerStore, *, any_prompt: bool = False) -> Standing:
    """Returns how the question stands; with `any_prompt`, what was said of the same messages before is good enough."""
    narrow, wide = (_kept(answers, key) for key in (question.key, question.wider.key))
    attempts = tuple(kept for kept in (narrow, wide) if kept)
    whole = next((kept for kept in attempts if kept.is_whole), None)
    if whole is None and any_prompt:
        whole = next(iter(answers.about(question.key.content)), None)
    if whole is not None:
        return Standing(question, "answered", whole, attempts or (whole,))
    if wide and wide.answer.stop_reason in CUT:
        return Standing(question, "cut", wide, attempts)
    if attempts and attempts[-1].answer.stop_reason not in CUT:
        return Standing(question, "refused", None, attempts)
    return Standing(question, "open", None, attempts)


def next_attempt(standing: Standing) -> Question:
    """Returns the question as it is to be put to the model: wider where the first answer was cut."""
    return standing.question.wider if standing.attempts else standing.question


def parameters(max_tokens: int) -> str:
    """Returns the parameters of a call, as they stand in an answer's key."""
    return f"max_tokens={max_tokens}"


def prompt(file: Path | None = None) -> str:
    """Returns the observer's prompt, or the one in the file; raises `SettingsError` where that says nothing."""
    if file is None:
        return _packaged()
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"Cannot read the observer's prompt {file}: {error}. Mend MEMORY_OBSERVER_PROMPT.") from error
    if not text.strip():
        raise SettingsError(f"The observer's prompt {file} is empty. Write one, or unset MEMORY_OBSERVER_PROMPT.")
    return text


@cache
def _packaged() -> str:
    return files("memory_assets.stages.distill.model").joinpath("observer.md").read_text(encoding="utf-8")


def prompt_hash(file: Path | None = None) -> str:
    """Returns the hash of the prompt that travels with what it produced."""
    return hashlib.sha256(prompt(file).encode()).hexdigest()[:12]


def _with_pictures(message: Row, pictures: Sequence[Image]) -> Row:
    """Returns the message with as many pictures as there are to show."""
    missing = message["image_count"] - len(pictures)
    text = message["text"] + (f" [{missing} picture(s) not shown]" if missing > 0 else "")
    return {**message, "image_count": len(pictures), "text": text}


def _kept(answers: AnswerStore, key: AnswerKey) -> KeptAnswer | None:
    return answers.read(key) or answers.read_unfinished(key)
