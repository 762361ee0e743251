"""Plans questions about short sessions: several sessions share one request, and its answer is split
by session.

Only the owner's corrections, rules and preferences are wanted. Shown are the owner's messages and,
shortened, what the assistant said last before each: 5 % of the tokens of their whole transcripts
(the bench row `coverage` measures it). Each session has its own fence, mark and number. Each part
of an answer is stored under the key of its own session alone, so it does not matter with which
others it was asked about, and a new session never asks about an old one again. A session that an
answer lacks is asked about once more, alone; after that the rules observe it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema.protocols import TOKEN_FIELDS, ModelAnswer, ModelRequest
from memory_assets.stages.distill.model import answers, material
from memory_assets.stages.distill.model.questions import (
    ASK_AGAIN,
    MAX_TOKENS,
    TOKENS_A_CALL,
    Images,
    ObserverQuestion,
    PlannedCall,
    parameters,
    plan_calls,
    plan_questions,
)
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.text.words import count_tokens, text_hash

SERIALISER_VERSION = "short/1"

ANSWER_TOKENS = 400
"""Most tokens of the answer about one session: six rules. Sessions share a request up to
`MAX_TOKENS` of answers, which are twenty, and up to `TOKENS_A_CALL` of material: the limits of
every other question of the observer (DUET)."""

USUAL_ANSWER_TOKENS = 100
"""For estimates: an element and one rule."""

ASSISTANT_CHARS = 2 * material.QUOTED_CHARS
"""Length to which the assistant's messages are shortened; a correction refers to their beginning or
their end.
"""

NOTHING = "<observations></observations>"
"""A part without a rule, in the observer's form."""

IS_MISSING = "The answer about several sessions has no complete part about this one."
IS_REJECTED = "The request about several sessions has no answer."

_SESSION = re.compile(
    r"<\s*session\b[^<>]*?(\d+)[^<>]*>(.*?)(?P<end><\s*/\s*session\s*>|(?=<\s*session\b)|\Z)",
    re.S | re.I,
)
_NOTHING = re.compile(r"(?i)\W*(?:none|nothing|n/a)?\W*")


@dataclass(frozen=True)
class ShortSessionQuestion(ObserverQuestion):
    """The question about a short session, or about a part of a very large one."""

    @property
    def wider(self) -> "ShortSessionQuestion":
        """The same question with more room for the answer."""
        return replace(self, key=replace(self.key, parameters=parameters(2 * ANSWER_TOKENS)))

    @property
    def is_second(self) -> bool:
        """Whether it is the second attempt, which goes alone."""
        return self.key.parameters == self.wider.key.parameters

    def body(self) -> str:
        """Returns the messages as they are shown."""
        messages = (*self.call.before, *self.call.messages)
        rows = [{**row, "image_count": 0, "text": _shown(row)} for row in messages]
        return "\n\n".join(material.message_lines(rows, self.zone))

    def request(
        self,
        earlier: Sequence[material.EarlierMemory] = (),
        images: Images = MappingProxyType({}),
        established: Sequence[material.ShownFact] = (),
    ) -> ModelRequest:
        """Returns the request about this session alone; neither images nor facts are shown."""
        return QuestionGroup((self,)).request()

    def estimated_tokens(self) -> int:
        """Returns about how many tokens the session takes, without the prompt."""
        return count_tokens(self.body())


@dataclass(frozen=True)
class QuestionGroup:
    """Questions that are sent as one request: one question, or those about several short
    sessions.
    """

    questions: tuple[ObserverQuestion, ...]

    @property
    def is_short(self) -> bool:
        """Whether it is about short sessions."""
        return isinstance(self.questions[0], ShortSessionQuestion)

    @property
    def key(self) -> answers.AnswerKey:
        """The key of the request."""
        first, *others = (question.key for question in self.questions)
        if not others:
            return first
        return replace(first, content=" ".join(key.name for key in (first, *others)))

    def request(self) -> ModelRequest:
        """Returns the request about short sessions."""
        first = self.questions[0]
        short = [q for q in self.questions if isinstance(q, ShortSessionQuestion)]
        parts = [
            material.fenced(f"session {number}", question.body(), question.window_id)
            for number, question in enumerate(short, 1)
        ]
        if first.complaint:
            parts.append(ASK_AGAIN.format(first.complaint))
        room = ANSWER_TOKENS * (len(short) + sum(question.is_second for question in short))
        return ModelRequest(first.system, "\n\n".join(parts), room)

    def estimated_tokens(self) -> int:
        """Returns about how many tokens are sent."""
        prompt = count_tokens(self.questions[0].system) if self.is_short else 0
        return prompt + sum(question.estimated_tokens() for question in self.questions)


def prompt() -> str:
    """Returns the prompt about short sessions."""
    return material.read_prompt("distill.model", "short_sessions")


def prompt_hash() -> str:
    """Returns the hash of the prompt, which is stored with its answers."""
    return text_hash(prompt())[:12]


def questions_about(
    window: Mapping[str, Any],
    messages: pl.DataFrame,
    model: str,
    zone: ZoneInfo,
    prompt_file: Path | None = None,
) -> list[ObserverQuestion]:
    """Returns the questions about a window of any session that is read; `messages` are those of the
    window, in order.
    """
    if window["status"] != "short":
        return plan_questions(window, messages, model, zone, prompt_file)
    rows = messages.to_dicts()
    shown = _shown_rows(rows)
    calls = plan_calls(rows, [shown]) if shown else []
    names = ("window_id", "session_id", "project", "person", "started_at")
    about = {name: window[name] for name in names}
    about |= {"call_count": len(calls), "zone": zone, "system": prompt()}

    def key(call: PlannedCall) -> answers.AnswerKey:
        content = (
            f"{answers.SHORT_PREFIX}{material.content_hash(call.messages, call.before)} {zone}"
        )
        how = parameters(ANSWER_TOKENS)
        return answers.AnswerKey(content, prompt_hash(), model, how, SERIALISER_VERSION)

    return [
        ShortSessionQuestion(**about, ordinal=n, call=call, key=key(call))
        for n, call in enumerate(calls)
    ]


def group_questions(questions: Iterable[ObserverQuestion]) -> list[QuestionGroup]:
    """Returns the requests: short sessions together, project by project; all else and every second
    attempt alone.
    """
    groups: list[QuestionGroup] = []
    shared: list[ObserverQuestion] = []
    for question in questions:
        if isinstance(question, ShortSessionQuestion) and not question.is_second:
            shared.append(question)
        else:
            groups.append(QuestionGroup((question,)))
    tokens = TOKENS_A_CALL
    packed: list[list[ObserverQuestion]] = []
    for question in sorted(shared, key=lambda question: (question.project, question.place)):
        size = question.estimated_tokens()
        tokens += size
        if tokens > TOKENS_A_CALL or len(packed[-1]) * ANSWER_TOKENS >= MAX_TOKENS:
            packed.append([])
            tokens = size
        packed[-1].append(question)
    return [*groups, *(QuestionGroup(tuple(together)) for together in packed)]


def split_answer(
    keys: Sequence[answers.AnswerKey], answer: ModelAnswer | None, at: datetime
) -> list[answers.StoredAnswer]:
    """Returns the part of each session of a group, in order; None is a request without an answer.

    The tokens and the time of the answer are divided equally. Of an answer that was cut, the
    complete parts are used.
    """
    if answer is None:
        return [
            answers.StoredAnswer(key, answers.no_answer(key.model), at, fault=IS_REJECTED)
            for key in keys
        ]
    elements = list(_SESSION.finditer(answer.text))
    if len(keys) == 1:
        text = _part(*(element[2] for element in elements)) if elements else answer.text
        return [answers.StoredAnswer(keys[0], replace(answer, text=text), at)]
    is_cut = answer.stop_reason in answers.CUT
    has_cut_part = is_cut and elements and not elements[-1]["end"]
    whole = elements[:-1] if has_cut_part else elements
    parts = {int(element[1]): _part(element[2]) for element in whole}
    stored = []
    shares = zip(keys, _shares(answer, len(keys)), strict=True)
    for number, (key, share) in enumerate(shares, 1):
        fault = "" if number in parts else IS_MISSING
        part = replace(share, text=parts.get(number, ""))
        stored.append(answers.StoredAnswer(key, part, at, fault=fault))
    return stored


def _part(*texts: str) -> str:
    text = "\n".join(texts).strip()
    return NOTHING if _NOTHING.fullmatch(text) else text


def _shares(answer: ModelAnswer, count: int) -> Iterator[ModelAnswer]:
    """Yields the answer's tokens and time in as many parts that add up to it."""
    whole = {name: getattr(answer, name) for name in TOKEN_FIELDS}
    share = replace(answer, stop_reason="end_turn", seconds=answer.seconds / count, raw={})
    for place in range(count):
        tokens = {n: of * (place + 1) // count - of * place // count for n, of in whole.items()}
        yield replace(share, **tokens)


def _shown_rows(rows: Sequence[Row]) -> list[int]:
    """Returns the numbers of the owner's messages, and of what the assistant said last before
    each.
    """
    authors = {
        n: row["author"]
        for n, row in enumerate(rows)
        if row["kind"] == "text" and row["author"] in ("owner", "assistant")
    }
    next_authors = [*authors.values(), ""][1:]
    pairs = zip(authors.items(), next_authors, strict=True)
    return [n for (n, author), following in pairs if "owner" in (author, following)]


def _shown(row: Row) -> str:
    return (
        row["text"]
        if row["author"] == "owner"
        else material.shortened(row["text"], ASSISTANT_CHARS)
    )
