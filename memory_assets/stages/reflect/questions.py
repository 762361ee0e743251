"""Asks a model to condense a subject, and parses its stored answers.

Takes subjects, and makes one question for each that exceeds its room. No model is called here:
whether a question was answered follows from the answer store. If an answer exceeds the room or
cannot be read, or the call failed, the model is asked again, at most twice, with the reason. If the
last answer is too long as well, all facts are written as they are.

The model can only merge and shorten. A line of its answer is dropped unless it cites observations
of the question, and has no exact names but theirs. 🔴 facts of a day that it leaves out are added.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from memory_assets.schema.protocols import ModelAnswer, ModelRequest
from memory_assets.stages.distill.model.answer_rows import Price, total_price
from memory_assets.stages.distill.model.answers import (
    REFUSED,
    AnswerKey,
    AnswerStore,
    StoredAnswer,
)
from memory_assets.stages.distill.model.material import fenced, read_prompt
from memory_assets.stages.recall.wording import exact_names
from memory_assets.stages.reflect.bullets import Bullet, ids_of, in_order, merged
from memory_assets.stages.reflect.reflector import Condensed, weigh
from memory_assets.stages.reflect.subjects import Subject
from memory_assets.text.short_ids import short_id
from memory_assets.text.words import CHARS_A_TOKEN, text_hash

SERIALISER_VERSION = "reflect/1"
MAX_TOKENS = 8_000
LONGEST_LINE = 300
SHOWN_TOKENS = 6_000
"""Most tokens of narratives, of held facts and of MEMORY.md, each; all of them are whole."""

PRESSURES = (
    "{size} tokens, where there is room for {room}. Aim for 8/10 of its detail: merge more, and "
    "leave out what is merely nice to know.",
    "{size} tokens, where there is room for {room}. Aim for 6/10: only 🔴, and of 🟡 what somebody "
    "will certainly need.",
)
"""What is added to the question after so many answers that were too long."""

ATTEMPTS = len(PRESSURES) + 1

TOO_LONG = "Your last answer was too long:"

IS_UNREADABLE = "no line of the answer holds"
IS_NO_SMALLER = "no answer was smaller than the facts"

NO_ANSWER = pl.col("problem").is_not_null() & (pl.col("problem") != IS_NO_SMALLER)
"""Whether nothing came of the questions about a row of reflections or distillates."""

ASK_AGAIN = (
    "No line of your last answer could be used. Answer with lines of the form `- TEXT [mem_…]` and "
    "nothing else; TEXT has at most 300 characters and only names of the cited observations; "
    "every id is that of an observation."
)
"""What is added after an answer that cannot be read."""

_LINE = re.compile(
    r"^\s*(?:[-*•]\s+)?(?:[🔴🟡🟢✅]\s*)?(?P<text>.+?)\s*\[(?P<ids>mem_[0-9a-f]{12}(?:\s*[,;]\s*mem_[0-9a-f]{12})*)\]\W*$"
)

_ID = re.compile(r"mem_[0-9a-f]{12}")
_INNER = re.compile(r"\s*\[mem_[0-9a-f]{12}(?:\s*[,;]\s*mem_[0-9a-f]{12})*\]")
"""A citation within a line; it is moved to the line's end."""

_AROUND_NAMES = "`'\"()[]{}<>*_.,;:"
"""What may stand at the ends of a name and is no part of it."""


@dataclass(frozen=True)
class Question:
    """One question about a subject, at one level of pressure."""

    subject: Subject
    model: str
    memory_md: str = ""
    level: int = 0
    """The number of attempts before it."""
    complaint: str = ""
    """What was wrong with the last answer."""

    @property
    def key(self) -> AnswerKey:
        """The key of the answer; MEMORY.md is no part of it, so promotions keep answers valid."""
        content = text_hash(_material(self.subject))
        options = f"max_tokens={MAX_TOKENS} level={self.level}"
        return AnswerKey(content, prompt_hash(), self.model, options, SERIALISER_VERSION)

    def request(self) -> ModelRequest:
        """Returns the request to the model."""
        memory_md = (
            fenced("MEMORY.md", _whole(self.memory_md.splitlines()))
            if self.memory_md.strip()
            else ""
        )
        parts = (memory_md, _material(self.subject), self.complaint)
        prompt = read_prompt("reflect", "reflector")
        return ModelRequest(prompt, "\n\n".join(filter(None, parts)), MAX_TOKENS)

    def estimated_tokens(self) -> int:
        """Returns about how many tokens are sent."""
        return self.request().estimated_tokens()

    def fault_of(self, answer: ModelAnswer) -> str:
        """Returns why the answer cannot be used, whatever its length; empty if it can."""
        return "" if parse_answer_bullets(answer.text, self.subject) else IS_UNREADABLE


def needs_asking(subject: Subject) -> bool:
    """Returns whether the subject exceeds its room."""
    return subject.room is not None and weigh(subject.bullets) > subject.room


def open_question(question: Question, answers: AnswerStore) -> Question | None:
    """Returns the question at the level to ask next, or None if a stored answer ends the asking."""
    complaints = [""]
    for level in range(ATTEMPTS):
        question_at_level = replace(question, level=level, complaint=complaints[-1])
        stored = answers.read_any(question_at_level.key)
        if stored is None:
            return question_at_level
        bullets = parse_answer_bullets(stored.answer.text, question.subject)
        fits = stored.is_whole and bullets and weigh(bullets) <= (question.subject.room or 0)
        if fits or stored.answer.stop_reason in REFUSED:
            return None
        complaint = _complaint_about(stored, bullets, complaints)
        complaints.append(complaint.format(size=weigh(bullets), room=question.subject.room))
    return None


def _complaint_about(
    stored: StoredAnswer, bullets: Sequence[Bullet], complaints: Sequence[str]
) -> str:
    """Returns what the model is told about its answer, after these complaints about earlier ones;
    nothing if the call failed.
    """
    if not stored.answer.text:
        return ""
    if stored.is_whole and not bullets:
        return ASK_AGAIN
    is_second = any(complaint.startswith(TOO_LONG) for complaint in complaints)
    return f"{TOO_LONG} {PRESSURES[is_second]}"


def condensed_by_model(question: Question, answers: AnswerStore, price: Price) -> Condensed | None:
    """Returns the model's version of the subject, from the last answer that has one.

    None if the model was not asked. If no answer is smaller than the facts, or none can be read,
    the facts are returned as they are, with the reason. Without any answer there are no lines, but
    the reason and the cost.
    """
    stored = _attempts(question, answers)
    if not stored:
        return None
    subject = question.subject
    texts = [attempt.answer.text for attempt in stored if attempt.is_whole]
    versions = [parse_answer_bullets(text, subject) for text in reversed(texts)]
    condensed = Condensed(
        next(filter(None, versions), []),
        len(stored) - 1,
        stored[-1].answer.model,
        tuple(answer.name for answer in stored),
        question.key.prompt_hash,
        total_price(map(price, (attempt.answer for attempt in stored))),
    )
    if not any(texts):
        last = stored[-1]
        problem = last.fault or f"the answer ended early ({last.answer.stop_reason})"
        return replace(condensed, prompt_hash=None, problem=problem)
    if condensed.bullets and weigh(condensed.bullets) < subject.fact_tokens:
        return condensed
    problem = IS_NO_SMALLER if condensed.bullets else IS_UNREADABLE
    return replace(condensed, bullets=subject.bullets, problem=problem)


def _attempts(question: Question, answers: AnswerStore) -> list[StoredAnswer]:
    questions = (replace(question, level=level) for level in range(ATTEMPTS))
    return list(filter(None, (answers.read_any(at_level.key) for at_level in questions)))


def parse_answer_bullets(text: str, subject: Subject) -> list[Bullet]:
    """Returns the supported lines of an answer, in order of the page.

    Of a day, the 🔴 facts that the answer does not cite are added.
    """
    bullets = list(_parse(text, subject))
    if bullets and subject.span.keeps_high:
        cited = set(ids_of(bullets))
        important = (bullet for bullet in subject.bullets if bullet.priority == "high")
        bullets += [bullet for bullet in important if cited.isdisjoint(bullet.ids)]
    return in_order(bullets)


def _parse(text: str, subject: Subject) -> Iterator[Bullet]:
    """Yields the lines of an answer that cite observations of the subject, and only their names."""
    by_short_id = {short_id(id): bullet for bullet in subject.bullets for id in bullet.ids}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None or len(match["text"]) > LONGEST_LINE:
            continue
        bullet_text = _INNER.sub("", match["text"])
        inner_citations = "".join(_INNER.findall(match["text"]))
        cited = _ID.findall(f"{inner_citations} {match['ids']}")
        if not by_short_id.keys() >= set(cited):
            continue
        sources = list(dict.fromkeys(by_short_id[id] for id in cited))
        if _names_only(bullet_text, sources):
            ids = tuple(id for id in ids_of(sources) if short_id(id) in cited)
            yield replace(merged(sources), text=bullet_text, ids=ids)


def _names_only(text: str, sources: Sequence[Bullet]) -> bool:
    """Returns whether the sources have every exact name of the text."""
    source_text = " ".join(bullet.text for bullet in sources).lower()
    names = (name.strip(_AROUND_NAMES).lower() for name in exact_names(text))
    return all(name in source_text for name in names if len(name) > 1)


def _material(subject: Subject) -> str:
    """Returns the part of the question that describes the subject."""
    held_ids = {id for id, exclusion in subject.excluded.items() if exclusion.reason == "held"}
    held_texts = [row["text"] for row in subject.facts if row["id"] in held_ids]
    context = {
        "narratives": _whole(subject.narratives),
        "held observations": _whole(held_texts),
    }
    quoted = [fenced(title, body) for title, body in context.items() if body]
    lines = (bullet.line.removeprefix("- ") for bullet in subject.bullets)
    last = subject.span.last_day(subject.first)
    period = f"on {subject.first}" if last == subject.first else f"from {subject.first} to {last}"
    topic = f"the observations about {subject.project} of this {subject.span.name}, {period}"
    task = f"Condense {topic}, into at most {subject.room} tokens."
    return "\n\n".join([*quoted, fenced("observations", "\n".join(lines)), task])


def _whole(texts: Sequence[str]) -> str:
    """Returns the texts that fit into `SHOWN_TOKENS`, a line each, none of them cut."""
    room = SHOWN_TOKENS * CHARS_A_TOKEN
    fitting: list[str] = []
    for text in texts:
        if len(text) < room:
            fitting.append(text)
            room -= len(text) + 1
    return "\n".join(fitting)


def prompt_hash() -> str:
    """Returns the hash of the prompt, which is stored with the rows made from its answers."""
    return text_hash(read_prompt("reflect", "reflector"))[:12]
