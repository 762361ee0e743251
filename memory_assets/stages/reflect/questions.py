"""Asks a model to condense a matter, and tells from its stored answers what it wrote.

Takes matters; gives one question for each that does not fit as it is. Asks nobody: how a question stands follows from the
answer store alone. An answer that is not smaller than there is room for is asked for again, twice, with growing pressure;
after that everything notable is kept. A model can merge and shorten, and nothing else: every line rests on observations that
it was shown and names nothing exact that these do not name, and 🔴 facts of a day that it leaves out are told all the same.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from memory_assets.schema.protocols import ModelAnswer, ModelRequest
from memory_assets.stages.distill.model.answers import REFUSED, AnswerKey, AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.serialise import fenced
from memory_assets.stages.distill.rows import short_id
from memory_assets.stages.recall.wording import exact_names
from memory_assets.stages.reflect.bullets import MARKS, ORDER, Bullet, in_order
from memory_assets.stages.reflect.matter import Matter
from memory_assets.stages.reflect.reflector import Told, weigh
from memory_assets.text.tokens import CHARS_A_TOKEN, count_tokens

SERIALISER_VERSION = "reflect/1"
MAX_TOKENS = 8_000
LONGEST_LINE = 300
SHOWN_TOKENS = 6_000
"""Of narratives, of held facts and of MEMORY.md each; the facts to tell are shown whole."""

PRESSURES = (
    "",
    "Your last answer was too long. Aim for 8/10 of its detail: merge more, and leave out what is merely nice to know.",
    "It is still too long. Aim for 6/10: only 🔴, and of 🟡 what somebody will certainly need.",
)
"""What is said at each level (A21)."""

_LINE = re.compile(
    r"^\s*(?:[-*•]\s+)?(?:[🔴🟡🟢✅]\s*)?(?P<text>.+?)\s*\[(?P<ids>mem_[0-9a-f]{12}(?:\s*[,;]\s*mem_[0-9a-f]{12})*)\]\W*$"
)

Price = Callable[[ModelAnswer], float | None]


@dataclass(frozen=True)
class Question:
    """One call about a matter, at one level of pressure."""

    matter: Matter
    model: str
    memory_md: str = ""
    level: int = 0

    @property
    def key(self) -> AnswerKey:
        """What the answer is made from; MEMORY.md is no part of it, so that a promotion makes no answer worthless."""
        return AnswerKey(
            content=hashlib.sha256(_material(self.matter).encode()).hexdigest(),
            prompt_hash=prompt_hash(),
            model=self.model,
            parameters=f"max_tokens={MAX_TOKENS} level={self.level}",
            serialiser=SERIALISER_VERSION,
        )

    def request(self) -> ModelRequest:
        """Returns what the model is sent."""
        known = fenced("MEMORY.md", _cut(self.memory_md)) if self.memory_md.strip() else ""
        parts = [known, _material(self.matter), PRESSURES[self.level]]
        return ModelRequest(prompt(), "\n\n".join(part for part in parts if part), MAX_TOKENS)

    def estimated_tokens(self) -> int:
        """Returns about how many tokens are sent."""
        request = self.request()
        return count_tokens(request.system) + count_tokens(request.material)


def needs_asking(matter: Matter) -> bool:
    """Returns whether there is more to tell of the matter than there is room for."""
    return matter.room is not None and weigh(matter.bullets) > matter.room


def open_question(question: Question, answers: AnswerStore) -> Question | None:
    """Returns the question at the level at which it is to be put now, or none where the stored answers settle it."""
    for level in range(len(PRESSURES)):
        asked = replace(question, level=level)
        kept = _kept(answers, asked)
        if kept is None:
            return asked
        if kept.answer.stop_reason in REFUSED or (kept.is_whole and _fits(kept, question.matter)):
            return None
    return None


def told_by_model(question: Question, answers: AnswerStore, price: Price) -> Told | None:
    """Returns what the model wrote of the matter; none where it was never asked, refused or never came to an end.

    Where no answer was smaller than the facts it is about, all that is notable is told, with the reason.
    """
    asked = (replace(question, level=level) for level in range(len(PRESSURES)))
    kept = [found for one in asked if (found := _kept(answers, one))]
    if not kept or not kept[-1].is_whole:
        return None
    prices = [price(one.answer) for one in kept]
    told = Told(
        read_bullets(kept[-1].answer.text, question.matter),
        len(kept) - 1,
        kept[-1].answer.model,
        tuple(one.name for one in kept),
        question.key.prompt_hash,
        None if None in prices else round(sum(one for one in prices if one is not None), 6),
    )
    if told.bullets and weigh(told.bullets) < question.matter.fact_tokens:
        return told
    problem = "no answer was smaller than the facts" if told.bullets else "no line of the answer holds"
    return replace(told, bullets=question.matter.bullets, problem=problem)


def read_bullets(text: str, matter: Matter) -> list[Bullet]:
    """Returns the lines of an answer that hold, and what else has to be told, in their order on the page."""
    found = list(_parse(text, matter))
    told = {id for bullet in found for id in bullet.ids}
    must = [b for b in matter.bullets if matter.span.keeps_high and b.priority == "high" and not told.intersection(b.ids)]
    return in_order([*found, *must]) if found else []


def _parse(text: str, matter: Matter) -> Iterator[Bullet]:
    shown = {short_id(id): bullet for bullet in matter.bullets for id in bullet.ids}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None or len(match["text"]) > LONGEST_LINE:
            continue
        cited = [shown.get(short) for short in re.split(r"\s*[,;]\s*", match["ids"])]
        sources = list(dict.fromkeys(bullet for bullet in cited if bullet is not None))
        said = " ".join(bullet.text for bullet in sources).lower()
        if None in cited or any(len(name) > 1 and name.lower() not in said for name in exact_names(match["text"])):
            continue
        priority = min((bullet.priority for bullet in sources), key=ORDER.__getitem__)
        ids = tuple(dict.fromkeys(id for bullet in sources for id in bullet.ids))
        yield Bullet(sources[-1].category, priority, match["text"], ids)


def _material(matter: Matter) -> str:
    """Returns what a model is shown of the matter itself."""
    lines = [f"{MARKS[b.priority]} {' '.join(b.text.split())} [{', '.join(map(short_id, b.ids))}]" for b in matter.bullets]
    held = [row["text"] for row in matter.facts if (one := matter.set_aside.get(row["id"])) and one.reason == "held"]
    beside = {"narratives": "\n".join(matter.narratives), "held observations": "\n".join(held)}
    last = matter.span.last_day(matter.first)
    when = f"on {matter.first}" if last == matter.first else f"from {matter.first} to {last}"
    what = f"the observations about {matter.project} of this {matter.span.name}, {when}"
    quoted = [fenced(title, _cut(body)) for title, body in beside.items() if body]
    return "\n\n".join(
        [*quoted, fenced("observations", "\n".join(lines)), f"Condense {what}, into at most {matter.room} tokens."]
    )


def _cut(text: str) -> str:
    return text[: SHOWN_TOKENS * CHARS_A_TOKEN]


def _fits(kept: StoredAnswer, matter: Matter) -> bool:
    bullets = read_bullets(kept.answer.text, matter)
    return bool(bullets) and matter.room is not None and weigh(bullets) <= matter.room


def _kept(answers: AnswerStore, question: Question) -> StoredAnswer | None:
    return answers.read_any(question.key)


@cache
def prompt() -> str:
    """Returns the reflector's prompt."""
    return files("memory_assets.stages.reflect").joinpath("reflector.md").read_text(encoding="utf-8")


def prompt_hash() -> str:
    """Returns the hash of the prompt that travels with what it produced."""
    return hashlib.sha256(prompt().encode()).hexdigest()[:12]
