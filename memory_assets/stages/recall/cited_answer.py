"""Answers a question in sentences, each with the sources it rests on.

Takes a question and sources of all tiers (lines of MEMORY.md, facts, narratives, messages), best
first. A model writes the answer, which is checked: a sentence that cites nothing, cites what was
not given, or has an exact name that its sources do not have is dropped and listed. Without a model,
or where it fails, the answer is extractive: the sentences of the sources that cover most of the
question. A question that no source answers gets "not in memory".
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from itertools import accumulate
from operator import attrgetter

from memory_assets.english.asking import only_asks
from memory_assets.english.causes import gives_reason
from memory_assets.english.errands import is_to_do
from memory_assets.schema.protocols import ModelAnswer, ModelRequest
from memory_assets.schema.records import MEMORY_MD
from memory_assets.stages.distill.model.material import fenced, read_prompt
from memory_assets.stages.recall.query import AnswerDependencies, ask_in_time
from memory_assets.stages.recall.results import MESSAGE, Cost, Recalled, cost_of_call, one_line
from memory_assets.stages.recall.speakers import PASTED
from memory_assets.stages.recall.wording import exact_names
from memory_assets.text.excerpts import CUT, whole_sentences
from memory_assets.text.sentences import plain, split_message, split_sentences
from memory_assets.text.short_ids import short_id, short_message_id
from memory_assets.text.terms import query_terms, text_terms
from memory_assets.text.words import CHARS_A_TOKEN, likeness, specifics_in, stems_of

DEADLINE_SECONDS = 60.0
"""The user is waiting; after that the answer is extractive."""

PROMPT_TOKENS = 6_000
"""Of all sources together; the best come first."""

CHARS_A_SOURCE = 1_000
ANSWER_TOKENS = 1_000
CHARS_A_SENTENCE = 400
MOST_SENTENCES = 3
"""Of an answer without a model."""

ABOUT = 0.25
SHOWN = 0.1
REASON = 1.0
"""How far a statement's own words raise its worth; recall's order of the sources, which knows the
exchanges around them, counts for most.
"""

NEARLY = 0.8
"""Share of the best statement's worth that another one needs to stand beside it."""

SAME = 0.6
"""Likeness from which two sentences say the same."""

SHORT = 2
"""Words of a sentence that only opens the next one, such as "Yes."."""

UNFINISHED = f":,{CUT}"
NO_PROSE = "!<[("
"""First characters of a command that a person typed in a session, of markup and of asides."""

MASKED = "*" * 3
"""In a text with a masked secret, also where Markdown's marks are taken out."""

NOT_IN_MEMORY = "Not in memory."

_NOTHING = re.compile(r"\W*not in memory\b", re.I)
_ID = re.compile(r"[mM][eEs][mMg](?:ORY\.md)?[_:][\w-]+")
_GROUP = re.compile(rf"\s*\[(?>{_ID.pattern}[,;\s]*)+\]")
_END = r"""([.!?…]+["'”’)`*]*)?"""
_CITED = re.compile(rf"{_END}((?:{_GROUP.pattern})+){_END}(?=(\s+[A-Z])?)")
"""Citations with the end of their sentence on either side, and the beginning of the next one."""

_LIST_MARK = re.compile(r"^\s*[-*•#\d]{1,4}[.)]?(?<=[-*•#.)])\s+")


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
    whole: str = ""
    """The whole message that `text` is cut from; may be empty."""

    @property
    def day(self) -> date:
        """When it was said; a line of MEMORY.md holds now."""
        return self.event_at.date() if self.event_at else date.max

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
    quotes = _quotes(question, sources)
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
    left_out = len(sources) - len(shown)
    unread = f"{left_out} of {len(sources)} sources did not fit into the question to {model.name}."
    notes = (unread, *checked.notes) if left_out else checked.notes
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


def lines_about(question: str, content: str, most: int = 8) -> list[AnswerSource]:
    """Returns the lines of MEMORY.md with at least half of the question's terms, best first."""
    terms = set(query_terms(question))
    sources: list[AnswerSource] = []
    for number, line in enumerate(content.splitlines(), 1):
        text = _LIST_MARK.sub("", line.strip())
        share = len(terms.intersection(text_terms(text))) / max(len(terms), 1)
        is_about = share >= 0.5 and (share == 1.0 or len(terms) > 2)
        if is_about and not line.startswith("#"):
            where = ("", MEMORY_MD, (number,), None)
            source = AnswerSource(f"{MEMORY_MD}:{number}", MEMORY_MD, text, *where, score=share)
            sources.append(source)
    return sorted(sources, key=lambda source: -source.score)[:most]


def fitting(sources: Sequence[AnswerSource], tokens: int = PROMPT_TOKENS) -> list[AnswerSource]:
    """Returns the first sources that fit into so many tokens."""
    lengths = accumulate(len(source.line) + 1 for source in sources)
    room = tokens * CHARS_A_TOKEN
    return [source for source, length in zip(sources, lengths, strict=True) if length <= room]


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
    if invented:
        return f"its sources do not name {', '.join(invented)}"
    words = stems_of(sentence.text)
    is_about_nothing = words and words.isdisjoint(stems_of(" ".join(texts)))
    return "its sources say nothing of it" if is_about_nothing else None


def _checked(question: str, answer: ModelAnswer, shown: Sequence[AnswerSource]) -> CitedAnswer:
    if _NOTHING.match(answer.text):
        return CitedAnswer(question, NOT_IN_MEMORY, is_known=False, is_extractive=False)
    given = {source.id: source for source in shown}
    sentences = list(parse_sentences(answer.text))
    problems = [problem_of(sentence, given, question) for sentence in sentences]
    judged = list(zip(sentences, problems, strict=True))
    supported = [sentence for sentence, problem in judged if problem is None]
    dropped = tuple(DroppedSentence(sentence.text, why) for sentence, why in judged if why)
    note = f"{len(dropped)} of {len(judged)} sentences of {answer.model} were dropped."
    text = " ".join(map(str, supported))
    citations = _citations(supported, given)
    notes = (note,) if dropped else ()
    return CitedAnswer(question, text, True, False, citations, dropped, notes=notes)


def _quotes(question: str, sources: Sequence[AnswerSource]) -> list[CitedSentence]:
    """Returns the statements that are worth the most, at most three, with speaker and date."""
    statements = [(text, source) for source in sources for text in _statements(source)]
    quotes = [
        replace(source, text=text, score=_worth(text, source, question))
        for text, source in statements
    ]
    quotes.sort(key=attrgetter("score"), reverse=True)
    likely = (quote for quote in quotes if quote.score >= NEARLY * quotes[0].score)
    return [
        CitedSentence(f"{quote.spoken}{one_line(quote.text)}", (quote.id,))
        for quote in _distinct(likely)[:MOST_SENTENCES]
    ]


def _worth(text: str, source: AnswerSource, question: str) -> float:
    """Returns the score of the source, raised by the share of the question's terms in the
    statement, by the part of it that recall shows, and for a reason where one is asked for.

    Recall has judged all words of a memory. What others wrote is quoted only where nobody else
    says anything.
    """
    words = set(text_terms(text))
    terms = set(query_terms(question)) if source.kind == MESSAGE else words
    about = len(words & terms) / max(len(terms), 1)
    shown = len(words.intersection(text_terms(source.text))) / max(len(words), 1)
    asks_why = about > 0 and "why" in question.lower().split()
    reason = REASON if asks_why and gives_reason(text) else 0.0
    score = 0.0 if source.said_by.startswith(PASTED) else source.score
    return score * (1 + ABOUT * about + SHOWN * shown + reason)


def _distinct(quotes: Iterable[AnswerSource]) -> list[AnswerSource]:
    """Returns the quotes in their order; of those that say the same only the newest, in the place
    of the first.
    """
    distinct: list[AnswerSource] = []
    for quote in quotes:
        alike = (other for other in distinct if likeness(quote.text, other.text) >= SAME)
        twin = next(alike, None)
        if twin is None:
            distinct.append(quote)
        elif quote.day > twin.day:
            distinct[distinct.index(twin)] = quote
    return distinct


def _statements(source: AnswerSource) -> Iterator[str]:
    """Yields what the source states: a short memory as it is, else its whole sentences outside of
    tables and code, short ones ("No.") together with the next, items behind the line that
    introduces them.
    """
    if source.kind != MESSAGE and len(source.text) <= CHARS_A_SENTENCE:
        yield plain(source.text)
        return
    opening = ""
    for sentence in split_message(source.whole or "\n".join(whole_sentences(source.text))):
        words = sentence.text
        text = f"{opening}{words if words.endswith('?') else words.rpartition('? ')[2]}"
        lead = f"{sentence.lead}: " if sentence.lead and sentence.place == "bullet" else ""
        is_opening = len(text.split()) <= SHORT and not lead and text[-1:] not in UNFINISHED
        opening = f"{text} " if is_opening else ""
        is_quotable = sentence.place != "table" and len(lead + text) <= CHARS_A_SENTENCE
        if is_quotable and not is_opening and _states(text):
            yield lead + text
    if specifics_in(opening):
        yield opening.strip()


def _states(text: str) -> bool:
    """Returns whether the text is a whole statement: no question, no to-do, no command that was
    typed, no markup, no masked secret, and no words that only introduce what follows.
    """
    is_whole = text[-1:] not in UNFINISHED and text[:1] not in NO_PROSE
    return is_whole and not (only_asks(text) or is_to_do(text) or MASKED in text)


def parse_sentences(text: str) -> Iterator[CitedSentence]:
    """Yields the sentences of an answer with the ids that each cites, in front of its end or
    behind it.
    """
    for line in text.splitlines():
        for part in _CITED.sub(_in_front, _LIST_MARK.sub("", line)).splitlines():
            for sentence in split_sentences(part):
                ids = _ID.findall(" ".join(_GROUP.findall(sentence)))
                words = _GROUP.sub("", sentence).strip()
                if words.strip(" .!?;,"):
                    yield CitedSentence(words, tuple(dict.fromkeys(ids)))


def _in_front(cited: re.Match[str]) -> str:
    """Returns the citations in front of the end of their sentence, and a line break behind it."""
    end = f"{cited[1] or ''}{cited[3] or ''}"
    return f"{cited[2]}{end}\n" if end or cited[4] else cited[2]


def _citations(
    sentences: Sequence[CitedSentence], sources: Mapping[str, AnswerSource]
) -> tuple[Citation, ...]:
    cited = dict.fromkeys(id for sentence in sentences for id in sentence.ids)
    names = [field.name for field in fields(Citation)]
    return tuple(Citation(*(getattr(sources[id], name) for name in names)) for id in cited)
