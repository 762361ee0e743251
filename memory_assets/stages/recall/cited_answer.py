"""Answers a question in sentences, each with the sources it rests on.

Takes a question and sources of all tiers (lines of MEMORY.md, facts, narratives, messages), best
first. A model writes the answer, which is checked: a sentence that cites nothing, cites what was
not given, or has an exact name that its sources do not have is dropped and listed. Without a model,
or where it fails, the answer is extractive: the sentences of the sources that cover most of the
question. A question that no source answers gets "not in memory".
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate

from memory_assets.schema.protocols import ModelAnswer, ModelRequest
from memory_assets.stages.distill.model.material import fenced, read_prompt
from memory_assets.stages.recall.query import AnswerDependencies, ask_in_time
from memory_assets.stages.recall.results import Cost, cost_of_call, one_line
from memory_assets.stages.recall.sources import LIST_MARK, AnswerSource, Citation
from memory_assets.stages.recall.statements import Wording
from memory_assets.stages.recall.wording import exact_names
from memory_assets.text.sentences import split_sentences
from memory_assets.text.words import CHARS_A_TOKEN, stems_of

DEADLINE_SECONDS = 60.0
"""The user is waiting; after that the answer is extractive."""

PROMPT_TOKENS = 6_000
"""Of all sources together; the best come first."""

ANSWER_TOKENS = 1_000
NOT_IN_MEMORY = "Not in memory."

_NOTHING = re.compile(r"\W*not in memory\b", re.I)
_ID = re.compile(r"[mM][eEs][mMg](?:ORY\.md)?[_:][\w-]+")
_GROUP = re.compile(rf"\s*\[(?>{_ID.pattern}[,;\s]*)+\]")
_END = r"""([.!?…]+["'”’)`*]*)?"""
_CITED = re.compile(rf"{_END}((?:{_GROUP.pattern})+){_END}(?=(\s+[A-Z])?)")
"""Citations with the end of their sentence on either side, and the beginning of the next one."""


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
    nearest: str = ""
    """Where nothing is known, the statement nearest to the question; it is no answer."""


@dataclass(frozen=True)
class CitedSentence:
    """A sentence and the ids it cites."""

    text: str
    ids: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.text} [{', '.join(self.ids)}]" if self.ids else self.text


def answer_with_citations(
    wording: Wording,
    sources: Sequence[AnswerSource],
    dependencies: AnswerDependencies,
    *,
    is_known: bool,
) -> CitedAnswer:
    """Returns the answer, quotes newest first; the model is not asked where nothing is known."""
    model = dependencies.model
    question = wording.text
    given = {source.id: source for source in reversed(sources)}
    sources = [source for source in sources if given[source.id] is source]
    best = wording.best_statements(sources)
    nearest = str(_quoted(best[0])) if best else ""
    nothing = CitedAnswer(question, NOT_IN_MEMORY, False, model is None, nearest=nearest)
    if not is_known or not sources:
        return nothing
    extractive = replace(nothing, is_extractive=True)
    if best and wording.is_answered_by(best[0]):
        quotes = list(map(_quoted, sorted(best, key=lambda quote: quote.day, reverse=True)))
        text = "\n".join(map(str, quotes))
        extractive = CitedAnswer(question, text, True, True, _citations(quotes, given))
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
    unsupported = f"{found.model} answered nothing that its sources support ({found.stop_reason})"
    notes = (*notes, f"{unsupported}; the answer is extractive.")
    return replace(extractive, cost=checked.cost, dropped=checked.dropped, notes=notes)


def _quoted(source: AnswerSource) -> CitedSentence:
    return CitedSentence(f"{source.spoken}{one_line(source.text)}", (source.id,))


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


def parse_sentences(text: str) -> Iterator[CitedSentence]:
    """Yields the sentences of an answer with the ids that each cites, in front of its end or
    behind it.
    """
    for line in text.splitlines():
        for part in _CITED.sub(_in_front, LIST_MARK.sub("", line)).splitlines():
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
