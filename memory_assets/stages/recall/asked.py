"""What a question asks for, read once: where it looks, which time it means, what it needs, and the text to embed.

Takes the typed question and what the memory knows of projects and persons; gives what the arms search with and what `judge`
measures candidates by. Names of projects, "my" and spans of time are taken out of the text that is embedded: they say where,
whose and when, and MiniLM would find everything that shares them.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_assets.schema.protocols import Texts
from memory_assets.schema.requests import Filters
from memory_assets.stages.recall.needs import TALK_WEIGHT, Need, needs_of, unmet
from memory_assets.stages.recall.results import Asker
from memory_assets.stages.recall.scope import Scope, in_person, read_scope, without
from memory_assets.stages.recall.when import read_time
from memory_assets.text.terms import query_terms

SPEAKS_FOR_ITSELF = 2
"""With so many words that memories know, a question is embedded without those of the conversation."""

_CODE = re.compile(r"^--\w|\w[/_]\w|\w\.\w")


@dataclass(frozen=True)
class Asked:
    """A question, read."""

    text: str
    """What is embedded."""
    scope: Scope
    needs: tuple[Need, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    """The time that the question names, if it names one."""
    unknown_names: tuple[str, ...] = field(default=())
    """Names in the question of which no text speaks."""

    @property
    def unmet(self) -> float:
        """The share of what is needed of which no text speaks."""
        return unmet(self.needs)

    def heard_in(self, corpora: Iterable[Texts]) -> "Asked":
        """Returns the same with what any of these corpora speaks of taken for met."""
        known = {term for texts in corpora for need in self.needs for term in need.spoken_of(texts)}
        needs = tuple(replace(need, is_met=need.is_met or need.term in known) for need in self.needs)
        still = tuple(name for name in self.unknown_names if not _is_heard(name, known))
        return replace(self, needs=needs, unknown_names=still)


def read_question(
    question: str,
    asker: Asker,
    filters: Filters,
    *,
    context: str = "",
    texts: Texts | None,
    projects: Collection[str] = (),
    persons: Collection[str] = (),
    aliases: Mapping[str, Sequence[str]] | None = None,
) -> Asked:
    """Returns the question, read; `context` are words of the conversation that it leans on, `texts` the corpus's words."""
    timed = read_time(question, asker.now)
    scope = read_scope(timed.text, asker, filters, projects, persons)
    me = filters.person or asker.person
    whose = in_person(timed.text, me if me in persons else None)
    needs: tuple[Need, ...] = ()
    if texts is not None and len(texts):
        needs = needs_of(timed.text, texts, context=context, names=[*projects, *persons], aliases=aliases)
    text = without(whose, scope.projects if scope.is_project_named and len(scope.projects) == 1 else ())
    speaks = sum(need.is_met and not need.is_context and need.weight > TALK_WEIGHT for need in needs)
    if speaks < SPEAKS_FOR_ITSELF:
        text = " ".join([text, *context.split()])
    return Asked(text, scope, needs, timed.since, timed.until, _unknown(timed.text, needs))


def _unknown(question: str, needs: Sequence[Need]) -> tuple[str, ...]:
    """Returns the names in the question, of things and of code, of which no text speaks."""
    met = {need.term for need in needs if need.is_met or not need.weight}
    found, is_first = list[str](), True
    for typed in question.split():
        word = typed.strip(".,;:!?()\"'`")
        whole = query_terms(word)
        is_name = _is_name(word, is_first) or bool(_CODE.search(word))
        if whole and is_name and not _is_heard(word, met):
            found.append(word)
        is_first = typed.endswith((".", "!", "?"))
    return tuple(found)


def _is_name(word: str, is_first: bool) -> bool:
    return not is_first and word[:1].isupper() and not word.isupper()


def _is_heard(name: str, terms: Collection[str]) -> bool:
    """Returns whether a name is among the terms; code as a whole, as `verify` says nothing of `--no-verify-ssl`."""
    whole = query_terms(name)
    return whole[0] in terms if _CODE.search(name) else any(term in terms for term in whole)
