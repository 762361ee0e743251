"""Plans the questions that a model is asked about a window, and determines the status of each from
the stored answers.

A window is split into calls of complete segments if they fit: nothing is left out, and the end of
the call before is shown again. A segment that is too long is split between its messages, and a
message that is too long between its lines. Sends nothing. A question is answered, cut, refused,
unusable or open depending on the answer store alone, so a second run pays for nothing that the
first one received.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.errors import SettingsError
from memory_assets.schema.protocols import Image, ModelRequest
from memory_assets.stages.distill.model import material
from memory_assets.stages.distill.model.answers import (
    CUT,
    REFUSED,
    AnswerKey,
    AnswerStore,
    StoredAnswer,
)
from memory_assets.stages.distill.model.material import (
    SERIALISER_VERSION,
    EarlierMemory,
    ShownFact,
    content_hash,
    identity_of,
    serialise,
)
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.rules.segments import find_segments
from memory_assets.stages.distill.taxonomy import read_named
from memory_assets.text.words import CHARS_A_TOKEN, count_tokens, text_hash

MAX_TOKENS = 8_000
"""Most tokens of an answer (DUET). A longer one is asked for once more, with this number; of one
that is still longer, the least important facts are held (`observer.trim`)."""

WIDER_TOKENS = 16_000
"""Most tokens of the second attempt, so that one that is a little too long is not cut."""

IS_TOO_LONG = (
    f"The answer is longer than {MAX_TOKENS:,} tokens. Use at most {MAX_TOKENS:,}, for the most "
    "important facts."
)

ASK_AGAIN = (
    "Your last answer to this could not be used. {} Answer in the form that the "
    "instructions describe and with nothing else; if"
    " nothing is worth keeping, with an empty <observations></observations>."
)
"""Follows the material of the second attempt."""

State = Literal["answered", "cut", "refused", "unusable", "open"]
Images = Mapping[str, Sequence[Image]]
"""Images by message id."""

TOKENS_A_CALL = 35_000
"""Longer windows are split (DUET)."""

OVERLAP_TOKENS = 700
"""Tokens of the call before that are shown again, to resolve words such as "it" and "yes"."""

STAMP_TOKENS = 8
"""Tokens of the time and the role of a message."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """The messages of one call, and those before it that are shown again."""

    first: int
    """Row number of its first message in the window."""
    last: int
    messages: tuple[Row, ...]
    """In order; of a message that was split, the part that belongs to this call."""
    before: tuple[Row, ...] = ()


@dataclass(frozen=True)
class ObserverQuestion:
    """One call about a window."""

    window_id: str
    session_id: str
    project: str
    person: str
    started_at: datetime
    """When its window began."""
    ordinal: int
    call_count: int
    call: PlannedCall
    zone: ZoneInfo
    system: str
    """The observer's prompt."""
    key: AnswerKey
    complaint: str = ""
    """Why the first answer could not be used."""

    @property
    def wider(self) -> "ObserverQuestion":
        """The same question with more room for the answer."""
        return replace(self, key=replace(self.key, parameters=parameters(WIDER_TOKENS)))

    @property
    def place(self) -> tuple[datetime, str, int]:
        """Its place among the questions about its session."""
        return self.started_at, self.window_id, self.ordinal

    def request(
        self,
        earlier: Sequence[EarlierMemory] = (),
        images: Images = MappingProxyType({}),
        established: Sequence[ShownFact] = (),
    ) -> ModelRequest:
        """Returns the request; the material says how many images are missing."""
        sent = [images.get(message["message_id"], ()) for message in self.call.messages]
        messages = list(map(_with_images, self.call.messages, sent))
        shown = {"before": self.call.before, "earlier": earlier, "established": established}
        material = serialise(messages, self.zone, **shown)
        material += f"\n\n{ASK_AGAIN.format(self.complaint)}" if self.complaint else ""
        room = WIDER_TOKENS if self.key.parameters == parameters(WIDER_TOKENS) else MAX_TOKENS
        return ModelRequest(self.system, material, room, tuple(chain.from_iterable(sent)))

    def estimated_tokens(self) -> int:
        """Returns about how many tokens are sent, without earlier memories and images."""
        return count_tokens(self.system) + count_tokens(
            serialise(self.call.messages, self.zone, before=self.call.before)
        )


@dataclass(frozen=True)
class QuestionStatus:
    """The state of a question, its answer if there is one, and all answers that were paid for."""

    question: ObserverQuestion
    state: State
    kept: StoredAnswer | None = None
    attempts: tuple[StoredAnswer, ...] = ()


def plan_questions(
    window: Mapping[str, Any],
    messages: pl.DataFrame,
    model: str,
    zone: ZoneInfo,
    prompt_file: Path | None = None,
) -> list[ObserverQuestion]:
    """Returns the questions about a window; `messages` are those of the window, in order."""
    system, hashed, rows = prompt(prompt_file), prompt_hash(prompt_file), messages.to_dicts()
    calls = plan_calls(rows, find_segments(rows))
    about = {
        name: window[name]
        for name in ("window_id", "session_id", "project", "person", "started_at")
    }

    def key(call: PlannedCall) -> AnswerKey:
        content = f"{content_hash(call.messages, call.before)} {zone}"
        return AnswerKey(content, hashed, model, parameters(MAX_TOKENS), SERIALISER_VERSION)

    return [
        ObserverQuestion(
            **about,
            ordinal=n,
            call_count=len(calls),
            call=call,
            zone=zone,
            system=system,
            key=key(call),
        )
        for n, call in enumerate(calls)
    ]


def status_of(
    question: ObserverQuestion, answers: AnswerStore, *, any_prompt: bool = False
) -> QuestionStatus:
    """Returns the status of the question; with `any_prompt`, answers to another prompt about the
    same messages count.
    """
    narrow, wide = (answers.read_any(key) for key in (question.key, question.wider.key))
    attempts = tuple(kept for kept in (narrow, wide) if kept)
    usable = [stored for stored in attempts if stored.is_usable]
    whole = next(
        (kept for kept in usable if not _is_too_long(kept)), usable[0] if usable and wide else None
    )
    if whole is None and any_prompt:
        whole = next((kept for kept in answers.about(question.key.content) if not kept.fault), None)
    if whole is not None:
        return QuestionStatus(question, "answered", whole, attempts or (whole,))
    if wide and wide.answer.stop_reason in CUT:
        return QuestionStatus(question, "cut", wide, attempts)
    if wide and wide.fault:
        return QuestionStatus(question, "unusable", None, attempts)
    is_refused = attempts and attempts[-1].answer.stop_reason in REFUSED
    return QuestionStatus(question, "refused" if is_refused else "open", None, attempts)


def next_attempt(status: QuestionStatus) -> ObserverQuestion:
    """Returns the question to send next: the second time with more room, and with what was wrong
    with the first answer.
    """
    if not status.attempts:
        return status.question
    return replace(status.question.wider, complaint=_complaint(status.attempts[-1]))


def _complaint(stored: StoredAnswer) -> str:
    """Returns what the model is told about its answer; nothing if the call failed."""
    if not stored.fault:
        return IS_TOO_LONG if _is_too_long(stored) else ""
    has_answered = stored.answer.text or stored.answer.output_tokens
    return stored.fault if has_answered else ""


def _is_too_long(kept: StoredAnswer) -> bool:
    """Returns whether the answer was cut, or is longer than asked for; a harness does not take a
    limit.
    """
    answer, tokens = kept.answer, count_tokens(kept.answer.text)
    return answer.stop_reason in CUT or min(answer.output_tokens or tokens, tokens) > MAX_TOKENS


def parameters(max_tokens: int) -> str:
    """Returns the parameters of a call, as in the key of its answer."""
    return f"max_tokens={max_tokens}"


def prompt(file: Path | None = None) -> str:
    """Returns the observer's prompt, or the content of the file; raises `SettingsError` if that is
    empty or unreadable.
    """
    if file is None:
        return material.read_prompt("distill.model", "observer")
    text = read_named(file, "observer's prompt", "MEMORY_OBSERVER_PROMPT")
    if not text.strip():
        raise SettingsError(
            f"The observer's prompt {file} is empty. Write one, or unset MEMORY_OBSERVER_PROMPT."
        )
    return text


def prompt_hash(file: Path | None = None) -> str:
    """Returns the hash of the prompt, which is stored with its answers."""
    return text_hash(prompt(file))[:12]


def _with_images(message: Row, images: Sequence[Image]) -> Row:
    """Returns the message with the number of images that are sent, and of those that are
    missing.
    """
    missing = message["image_count"] - len(images)
    text = message["text"] + (f" [{missing} picture(s) not shown]" if missing > 0 else "")
    return {**message, "image_count": len(images), "text": text}


_Piece = tuple[int, Row, int]
"""Row number, message or part of one, tokens."""


def plan_calls(
    messages: Sequence[Row], segments: Sequence[Sequence[int]], tokens: int = TOKENS_A_CALL
) -> list[PlannedCall]:
    """Returns the calls in order; together they show every message of the segments."""
    room = tokens - min(OVERLAP_TOKENS, tokens // 10)
    packed: list[list[_Piece]] = []
    for unit in _units(messages, segments, room):
        if packed and _size(packed[-1]) + _size(unit) <= room:
            packed[-1] += unit
        else:
            packed.append(list(unit))
    overlaps = [(), *(_tail(pieces, tokens - room) for pieces in packed[:-1])]
    return [
        PlannedCall(
            pieces[0][0], pieces[-1][0], tuple(message for _, message, _ in pieces), overlap
        )
        for pieces, overlap in zip(packed, overlaps, strict=True)
    ]


def _units(
    messages: Sequence[Row], segments: Sequence[Sequence[int]], room: int
) -> Iterator[list[_Piece]]:
    """Yields what should stay together: a segment, else a message, else a part of one."""
    for segment in segments:
        pieces = [piece for row in segment for piece in _pieces(row, messages[row], room)]
        yield from [pieces] if _size(pieces) <= room else ([piece] for piece in pieces)


def _pieces(row: int, message: Row, room: int) -> Iterator[_Piece]:
    """Yields the message, split at line ends if it is too long for one call."""
    tokens = _tokens(message)
    if tokens <= room:
        yield row, message, tokens
        return
    rest, most = message["text"], (room - STAMP_TOKENS) * CHARS_A_TOKEN
    while rest:
        end = len(rest) if len(rest) <= most else rest.rfind("\n", most // 2, most) + 1 or most
        part = {
            **message,
            "text": rest[:end],
            "image_count": message["image_count"] if end == len(rest) else 0,
        }
        yield row, part, _tokens(part)
        rest = rest[end:]


def _tail(pieces: Sequence[_Piece], room: int) -> tuple[Row, ...]:
    """Returns the last messages that fit, without images; if the last one is too long, its end."""
    kept: list[Row] = []
    for _, message, tokens in reversed(pieces):
        if tokens > room and kept:
            break
        text = (
            message["text"]
            if tokens <= room
            else message["text"][-(room - STAMP_TOKENS) * CHARS_A_TOKEN :]
        )
        kept.append({**message, "image_count": 0, "text": text})
        room -= tokens
    return tuple(reversed(kept))


def _size(pieces: Sequence[_Piece]) -> int:
    return sum(tokens for _, _, tokens in pieces)


def _tokens(message: Row) -> int:
    """Returns the size by which calls are planned: of its identifying text, so that the calls of
    old answers stay the same.
    """
    return count_tokens(identity_of(message)) + STAMP_TOKENS
