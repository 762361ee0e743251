"""Answers a question in sentences, each with the sources it rests on.

Takes a question and sources of all tiers (lines of MEMORY.md, facts, narratives, messages), best
first. A model writes the answer, which is checked: a sentence that cites nothing, cites what was
not given, or has an exact name that its sources do not have is dropped and listed. Without a model,
or where it fails, the answer is extractive: the sentences of the sources that cover most of the
question. A question that no source answers gets "not in memory".
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from memory_assets.english.asking import only_asks
from memory_assets.english.causes import gives_reason
from memory_assets.english.errands import is_to_do
from memory_assets.schema.protocols import ModelAnswer, ModelRequest
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.distill.model.material import fenced, read_prompt
from memory_assets.stages.recall.query import AnswerDependencies, ask_in_time
from memory_assets.stages.recall.results import MESSAGE, Cost, Recalled, cost_of_call, one_line
from memory_assets.stages.recall.wording import Frequency, exact_names
from memory_assets.text.excerpts import whole_sentences
from memory_assets.text.sentences import plain, split_sentences
from memory_assets.text.short_ids import short_id, short_message_id
from memory_assets.text.terms import query_terms, text_terms
from memory_assets.text.words import CHARS_A_TOKEN, likeness

DEADLINE_SECONDS = 60.0
"""The user is waiting; after that the answer is extractive."""

PROMPT_TOKENS = 6_000
"""Of all sources together; the best come first."""

CHARS_A_SOURCE = 1_000
ANSWER_TOKENS = 1_000
CHARS_A_SENTENCE = 400
MOST_SENTENCES = 3
"""Of an answer without a model."""

ENOUGH = 0.5
"""Share of the question's words that a message's sentence needs beside a better source."""

SAME = 0.6
"""Likeness from which two sentences say the same."""

TYPED = "! "
"""Before a command that a person typed in a session."""

MASKED = "*" * 6
"""In a text with a masked secret."""

NOT_IN_MEMORY = "Not in memory."

_NOTHING = re.compile(r"\W*not in memory\b", re.I)
_GROUP = re.compile(r"\s*\[([^\[\]\n]{3,600})\]")
_ID = re.compile(r"(?:mem|msg)_[\w-]+|MEMORY\.md:\d+")
_ENDS = re.compile(r"""[.!?…]["'”’)`*]*$""")
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)]|#{1,4})\s+")


@dataclass(frozen=True)
class Citation:
    """A source that the answer rests on."""

    id: str
    kind: str
    """`MEMORY.md`, fact, narrative or message."""
    text: str
    session: str
    path: str
    lines: tuple[int, ...]
    event_at: datetime | None
    ref: str = ""
    """The whole id, as in the tables."""
    said_by: str = ""
    """Who said it; empty for a line of MEMORY.md."""


@dataclass(frozen=True)
class AnswerSource(Citation):
    """Something in memory that an answer can cite by its id."""

    score: float = 1.0

    @property
    def spoken(self) -> str:
        """What stands before a quoted sentence: who said it, and when."""
        on = f", {self.event_at:%Y-%m-%d}" if self.event_at else ""
        return f"{self.said_by}{on}: " if self.said_by else ""

    @property
    def line(self) -> str:
        """The source as it is shown to a model."""
        on = f"{self.event_at:%Y-%m-%d}, " if self.event_at else ""
        by = f", said by {self.said_by}" if self.said_by else ""
        return f"[{self.id}] ({on}{self.kind}{by}) {one_line(self.text, CHARS_A_SOURCE)}"


@dataclass(frozen=True)
class DroppedSentence:
    """A sentence of a model that is not supported by its sources, and why."""

    text: str
    reason: str


@dataclass(frozen=True)
class CitedAnswer:
    """The answer, its sources, and its cost."""

    question: str
    text: str
    """Sentences, each followed by the ids of its sources."""
    is_known: bool
    """False: the answer is not in memory."""
    is_extractive: bool
    """Whether the sentences are quoted from the sources."""
    citations: tuple[Citation, ...] = ()
    dropped: tuple[DroppedSentence, ...] = ()
    cost: Cost = field(default_factory=Cost)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class CitedSentence:
    """A sentence and the ids it cites."""

    text: str
    ids: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.text} [{', '.join(self.ids)}]" if self.ids else self.text


def answer_with_citations(
    question: str,
    sources: Sequence[AnswerSource],
    dependencies: AnswerDependencies,
    *,
    is_known: bool,
) -> CitedAnswer:
    """Returns the answer; the model is not asked where nothing is known."""
    model = dependencies.model
    if not is_known or not sources:
        return CitedAnswer(question, NOT_IN_MEMORY, is_known=False, is_extractive=model is None)
    quotes = _quotes(question, sources, dependencies.frequency or (lambda _: 1))
    text = "\n".join(map(str, quotes)) or NOT_IN_MEMORY
    given = {source.id: source for source in reversed(sources)}
    extractive = CitedAnswer(question, text, bool(quotes), True, _citations(quotes, given))
    if model is None:
        return extractive
    shown = fitting(sources)
    found = ask_in_time(model, request_of(question, shown), dependencies.deadline_seconds)
    if isinstance(found, str):
        note = f"{model.name} {found}; the answer is extractive."
        return replace(extractive, cost=Cost(model_calls=1), notes=(note,))
    checked = _checked(question, found, shown)
    notes = checked.notes
    left = len(sources) - len(shown)
    if left:
        unread = f"{left} of {len(sources)} sources did not fit into the question to {model.name}."
        notes = (unread, *notes)
    checked = replace(checked, cost=cost_of_call(found, dependencies.price(found)), notes=notes)
    if checked.citations or not checked.is_known:
        return checked
    nothing = f"{found.model} answered nothing that its sources support ({found.stop_reason})"
    notes = (*notes, f"{nothing}; the answer is extractive.")
    return replace(extractive, cost=checked.cost, dropped=checked.dropped, notes=notes)


def sources_of(result: Recalled) -> Iterator[AnswerSource]:
    """Yields a result of recall, cited as `mem_` or `msg_` and twelve characters, and the other
    half of its exchange.
    """
    shorten = short_message_id if result.kind == MESSAGE else short_id
    where = (result.session, result.path, result.lines, result.event_at)
    what = (shorten(result.memory_id), result.kind, result.text)
    source = AnswerSource(*what, *where, result.memory_id, result.said_by, result.score)
    half = result.other_half
    if half is None:
        yield source
        return
    own_lines = result.lines[:1] if result.kind == MESSAGE else result.lines
    yield replace(source, lines=own_lines)
    yield replace(
        source,
        kind=MESSAGE,
        id=short_message_id(half.message_id),
        ref=half.message_id,
        lines=(half.line,),
        said_by=half.said_by,
        text=half.text,
    )


def unique_sources(sources: Iterable[AnswerSource]) -> list[AnswerSource]:
    """Returns the first source of each id."""
    by_id: dict[str, AnswerSource] = {}
    for source in sources:
        by_id.setdefault(source.id, source)
    return list(by_id.values())


def weights_of(question: str, frequency: Frequency) -> dict[str, float]:
    """Returns the weights of the question's terms: the fewer memories have a term, the higher."""
    return {term: 1 / math.log(2 + frequency(term)) for term in query_terms(question)}


def weighted_share(text: str, weights: Mapping[str, float]) -> float:
    """Returns the weighted share of the question's terms in the text, from 0 to 1."""
    terms = text_terms(text)
    share = sum(weight for term, weight in weights.items() if term in terms)
    return share / (sum(weights.values()) or 1.0)


def lines_about(question: str, content: str, most: int = 8) -> list[AnswerSource]:
    """Returns the lines of MEMORY.md with at least half of the question's terms, best first."""
    wanted = set(query_terms(question))
    found = []
    for number, line in enumerate(content.splitlines(), 1):
        text = line.strip()
        terms = set() if text.startswith("#") else wanted & set(text_terms(text))
        share = len(terms) / max(len(wanted), 1)
        if share >= 0.5 and (share == 1.0 or len(wanted) > 2):
            what = (f"{MEMORY_MD}:{number}", MEMORY_MD, _LIST_MARK.sub("", text))
            where = ("", MEMORY_MD, (number,), None)
            found.append(AnswerSource(*what, *where, score=share))
    return sorted(found, key=lambda source: -source.score)[:most]


def fitting(sources: Sequence[AnswerSource], tokens: int = PROMPT_TOKENS) -> list[AnswerSource]:
    """Returns the first sources that fit into so many tokens, each id once."""
    kept: dict[str, AnswerSource] = {}
    left = tokens * CHARS_A_TOKEN
    for source in sources:
        left -= len(source.line) + 1
        if left < 0:
            break
        kept.setdefault(source.id, source)
    return list(kept.values())


def request_of(question: str, sources: Sequence[AnswerSource]) -> ModelRequest:
    """Returns the request to the model."""
    material = [
        fenced("sources", "\n".join(source.line for source in sources)),
        fenced("question", one_line(question, 2_000)),
    ]
    return ModelRequest(read_prompt("recall", "cited_answer"), "\n\n".join(material), ANSWER_TOKENS)


def problem_of(
    sentence: CitedSentence, sources: Mapping[str, AnswerSource], question: str
) -> str | None:
    """Returns why a sentence is not supported, or None."""
    if not sentence.ids:
        return "it cites nothing"
    if unknown := [id for id in sentence.ids if id not in sources]:
        return f"it cites {', '.join(unknown)}, which it was not given"
    cited = [sources[id] for id in sentence.ids]
    texts = [f"{source.text} {source.event_at or ''}" for source in cited]
    given = " ".join([*texts, question]).lower()
    names = (name for name in exact_names(sentence.text) if len(name) > 1)
    invented = [name for name in names if name.lower() not in given]
    return f"its sources do not name {', '.join(invented)}" if invented else None


def _checked(question: str, answer: ModelAnswer, shown: Sequence[AnswerSource]) -> CitedAnswer:
    if _NOTHING.match(answer.text):
        return CitedAnswer(question, NOT_IN_MEMORY, is_known=False, is_extractive=False)
    given = {source.id: source for source in shown}
    supported: list[CitedSentence] = []
    dropped: list[DroppedSentence] = []
    for sentence in parse_sentences(answer.text):
        problem = problem_of(sentence, given, question)
        if problem is None:
            supported.append(sentence)
        else:
            dropped.append(DroppedSentence(sentence.text, problem))
    count = len(supported) + len(dropped)
    note = f"{len(dropped)} of {count} sentences of {answer.model} were dropped."
    text = " ".join(map(str, supported))
    citations = _citations(supported, given)
    notes = (note,) if dropped else ()
    return CitedAnswer(question, text, True, False, citations, tuple(dropped), notes=notes)


def _quotes(
    question: str, sources: Sequence[AnswerSource], frequency: Frequency
) -> list[CitedSentence]:
    """Returns at most three sentences of the sources, with speaker and date: memories, and
    sentences of messages that have enough of the question's words.

    They are in the sources' order, reasons first where the question asks for them, and no two are
    alike. Where none has enough words, the statement with most of them is quoted.
    """
    weights = weights_of(question, frequency)
    asks_why = "why" in question.lower().split()
    statements = [(text, source) for source in sources for text in _statements(source)]
    candidates = [
        (text, source)
        for text, source in statements
        if source.kind != MESSAGE or _answers(text, weights, asks_why)
    ]
    if asks_why:
        candidates.sort(key=lambda candidate: not gives_reason(candidate[0]))
    if not candidates:
        candidates = sorted(statements, key=lambda each: -weighted_share(each[0], weights))[:1]
    quoted: list[tuple[str, AnswerSource]] = []
    for text, source in candidates:
        if all(likeness(text, other) < SAME for other, _ in quoted):
            quoted.append((text, source))
    return [
        CitedSentence(f"{source.spoken}{one_line(text, CHARS_A_SENTENCE)}", (source.id,))
        for text, source in quoted[:MOST_SENTENCES]
    ]


def _answers(text: str, weights: Mapping[str, float], asks_why: bool) -> bool:
    """Returns whether a sentence has enough of the question's words; a single one of several is
    enough only for a reason that is asked for.
    """
    count = len(weights.keys() & text_terms(text))
    if asks_why and count and gives_reason(text):
        return True
    return count >= min(len(weights), 2) and weighted_share(text, weights) >= ENOUGH


def _statements(source: AnswerSource) -> Iterator[str]:
    """Yields the whole sentences of a source that state something: no question, no to-do, no
    command that was typed, no masked secret, and no words that only introduce what follows.
    """
    if source.kind != MESSAGE:
        yield plain(source.text)
        return
    for sentence in whole_sentences(source.text):
        text = plain(_LIST_MARK.sub("", sentence))
        is_whole = text[-1:] not in ":," and not text.startswith(TYPED)
        is_asked = only_asks(text) or "? " in text
        if text and is_whole and not (is_asked or MASKED in sentence or is_to_do(text)):
            yield text


def parse_sentences(text: str) -> Iterator[CitedSentence]:
    """Yields the sentences of an answer with the ids that each cites; those before a cited one on a
    line cite nothing.
    """
    for line in text.splitlines():
        yield from _parse_line(_LIST_MARK.sub("", line).strip())


def _parse_line(line: str) -> Iterator[CitedSentence]:
    text, ids = "", list[str]()
    for between, cited in _pieces(line):
        words = between.lstrip(" .!?;,") if ids else between.strip()
        goes_on = bool(ids) and not (
            _ENDS.search(text) or between[:1] in tuple(".!?") or words[:1].isupper()
        )
        if words and ids and not goes_on:
            yield CitedSentence(text, tuple(dict.fromkeys(ids)))
            text, ids = "", []
        found = split_sentences(f"{text} {words}" if text else words) if words else [text]
        if goes_on and len(found) > 1:
            yield CitedSentence(found.pop(0), tuple(dict.fromkeys(ids)))
            ids = []
        yield from (CitedSentence(one, ()) for one in found[:-1])
        text, ids = found[-1], [*ids, *cited]
    if text:
        yield CitedSentence(text, tuple(dict.fromkeys(ids)))


def _pieces(line: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the text before each group of citations with its ids, and the rest of the line with
    none.
    """
    at = 0
    for group in _GROUP.finditer(line):
        cited = _ID.findall(group[1])
        if cited and not _ID.sub("", group[1]).strip(" ,;"):
            yield line[at : group.start()], cited
            at = group.end()
    yield line[at:], []


def _citations(
    sentences: Sequence[CitedSentence], sources: Mapping[str, AnswerSource]
) -> tuple[Citation, ...]:
    cited = dict.fromkeys(id for sentence in sentences for id in sentence.ids)
    names = [field.name for field in fields(Citation)]
    return tuple(Citation(*(getattr(sources[id], name) for name in names)) for id in cited)
