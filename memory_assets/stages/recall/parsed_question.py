"""Parses a question once: where it looks, which time it names, its terms, and the text to embed.

Takes the typed question and the projects and persons that the memory knows; gives what the retrievers search with and what
`relevance` measures candidates by. Names of projects, "my" and spans of time are taken out of the text that is embedded: they
say where, whose and when, and MiniLM would find everything that shares them.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_assets.schema.protocols import Texts
from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.query_coverage import TALK_WEIGHT, QueryTerm, terms_of, uncovered_share
from memory_assets.stages.recall.results import Asker
from memory_assets.stages.recall.scope import Scope, in_person, parse_scope, without_names
from memory_assets.stages.recall.when import parse_time
from memory_assets.text.terms import query_terms

ENOUGH_WORDS = 2
"""A question with so many words that occur in memories is embedded without those of the conversation."""

_CODE = re.compile(r"^--\w|\w[/_]\w|\w\.\w")


@dataclass(frozen=True)
class ParsedQuestion:
    """A question and what it asks for."""

    text: str
    """What is embedded."""
    scope: Scope
    terms: tuple[QueryTerm, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    """The time that the question names, if it names one."""
    unknown_names: tuple[str, ...] = ()
    """Names in the question that occur in no text."""

    @property
    def uncovered_share(self) -> float:
        """The share of the terms, by weight, that no text covers."""
        return uncovered_share(self.terms)

    def covered_by(self, corpora: Iterable[Texts]) -> "ParsedQuestion":
        """Returns the question with the terms that any of these corpora covers marked as covered."""
        known = {term.term for texts in corpora for term in self.terms if term.occurs_in(texts)}
        terms = tuple(replace(term, is_covered=term.is_covered or term.term in known) for term in self.terms)
        return replace(self, terms=terms, unknown_names=tuple(n for n in self.unknown_names if not _is_among(n, known)))


def parse_question(
    question: str,
    asker: Asker,
    filters: Filters,
    *,
    context: str = "",
    texts: Texts | None,
    projects: Collection[str] = (),
    persons: Collection[str] = (),
    aliases: Mapping[str, Sequence[str]] | None = None,
) -> ParsedQuestion:
    """Returns the parsed question; `context` are words of the conversation that it refers to, `texts` the corpus's words."""
    timed = parse_time(question, asker.now)
    scope = parse_scope(timed.text, asker, filters, projects, persons)
    me = filters.person or asker.person
    terms: tuple[QueryTerm, ...] = ()
    if texts is not None and len(texts):
        terms = terms_of(timed.text, texts, context=context, names=[*projects, *persons], aliases=aliases)
    text = in_person(timed.text, me if me in persons else None)
    if scope.is_project_named and len(scope.projects) == 1:
        text = without_names(text, scope.projects)
    if sum(term.is_covered and not term.is_context and term.weight > TALK_WEIGHT for term in terms) < ENOUGH_WORDS:
        text = " ".join([text, *context.split()])
    return ParsedQuestion(text, scope, terms, timed.since, timed.until, _unknown_names(timed.text, terms))


def _unknown_names(question: str, terms: Sequence[QueryTerm]) -> tuple[str, ...]:
    """Returns the names in the question, of things and of code, that occur in no text."""
    known = {term.term for term in terms if term.is_covered or not term.weight}
    found, is_first = list[str](), True
    for typed in question.split():
        word = typed.strip(".,;:!?()\"'`")
        is_name = bool(_CODE.search(word)) or (not is_first and word[:1].isupper() and not word.isupper())
        if is_name and query_terms(word) and not _is_among(word, known):
            found.append(word)
        is_first = typed.endswith((".", "!", "?"))
    return tuple(found)


def _is_among(name: str, terms: Collection[str]) -> bool:
    """Returns whether a name is among the terms; code as a whole, as `verify` says nothing of `--no-verify-ssl`."""
    whole = query_terms(name)
    return whole[0] in terms if _CODE.search(name) else any(term in terms for term in whole)
