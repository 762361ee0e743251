"""Tells which tier a question is answered from: summaries, where it asks broadly for what they hold; else memories, then raw.

Takes the words of a question; a broad one names a category of knowledge or a project ("what are our conventions", "what do we
know about deployment of shop") and hardly anything else. The summaries suffice when they hold facts about everything else
that it names. Searches nothing and embeds nothing: an answer of the first tier is the cheapest there is.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from memory_assets.stages.recall.wording import clean, exact_names
from memory_assets.text.terms import STOP_WORDS, query_terms, text_terms

SUMMARIES, MEMORIES, RAW = 1, 2, 3
"""The tiers."""

NAMES = {SUMMARIES: "summaries", MEMORIES: "memories", RAW: "word for word"}
MOST_SUMMARIES = 3
SUFFICIENT = 2
"""Facts that a summary must hold about a topic, to be an answer about it; a single one may be there by chance."""

MOST_TOPICS = 2
"""A question that names more than this, beside a category and a project, asks for something in particular."""

_NOUNS = (
    "conventions?|rules?|guidelines?|standards?|polic(?:y|ies)|preferences?|habits?|tastes?|architecture|design|structure"
    "|components?|operations|ops|deployments?|deploys?|releases?|builds?|ci|infrastructure|infra|people|team|colleagues"
    "|contacts|goals?|aims?|status|state|decisions?|projects?|setup|basics|essentials"
)
_BUILT = r"(?:built|structured|organi[sz]ed|put\stogether|set\sup)"
_OPEN = re.compile(
    rf"""
      \bwhat\s(?:all\s)?(?:do|did)\s(?:i|we|you)\s(?:already\s|actually\s|currently\s)?(?:know|remember|have\son\sfile)\b
    | \bwhat\s(?:is|are|were)\s(?:known|all)\b
    | \bwhat(?:'s|\sis|\sare|\swere|\sabout)\s
        (?:(?:all|of|the|our|my|your|this|its|general|main|most|important|key|team|overall|coding|working|[\w.-]+'s)\s)*
        (?:[\w-]+\s)?(?:{_NOUNS})\b
    | \b(?:overview|summary|gist|rundown|recap|outline|digest)\b
    | \bsummari[sz]e\b
    | \btell\sme\s(?:everything\s|all\s|something\s)?(?:you\sknow\s)?about\b
    | \b(?:everything|all|anything)\s(?:that\s)?(?:you|we|i)\s(?:already\s)?(?:know|remember|learn(?:ed|t))\b
    | \bwhat\s(?:have|did)\s(?:we|i|you)\s(?:all\s|already\s|so\sfar\s)?learn(?:ed|t)?\b
    | \bwhat\s(?:should|must|do)\s(?:i|we|one|you|somebody|anyone)\s(?:have\sto\s|need\sto\s)?
        (?:know|keep\sin\smind|be\saware\sof)\b
    | \b(?:list|show|name|give)\s(?:me\s)?(?:all\s)?(?:of\s)?(?:our|my|the|your)\s(?:[\w-]+\s)?(?:{_NOUNS})\b
    | \b(?:what|which)\s(?:[\w-]+\s)?(?:{_NOUNS})\s(?:are|do|apply|hold|exist|should|must|have|matter|count|there)\b
    | \bhow\sdo\s(?:i|we|you|people)\s(?:usually\s|generally\s)?work\s(?:here|around|in\sthis)\b
    | \b(?:catch|bring|fill)\sme\s(?:up|in)\b
    | \bhow\sis\s(?:[\w./-]+|the\s[\w-]+|(?:this|the)\swhole\sthing)\s{_BUILT}\b
    | \bwho(?:'s|\sis)\swho\b
    """,
    re.I | re.X,
)
_NARROW = re.compile(
    r"\b(?:why|when|how (?:many|much|long|often|far|big|old)|instead of|versus|vs|difference|compared?|yesterday|today"
    r"|last (?:time|week|month|session)|error|exception|traceback|exact(?:ly)?|precise(?:ly)?"
    r"|who (?:said|decided|wrote|asked)|still (?:true|right|valid))\b",
    re.I,
)
_CUES = {
    stem: category
    for category, words in {
        "rules-conventions": "conventions rules guidelines standards policies style",
        "preferences": "preferences prefer taste likes dislikes habits",
        "system-architecture": "architecture design structure structured components built organised organized",
        "operations": "operations ops deployments releases builds ci infrastructure infra",
        "people-relationships": "people team colleagues contacts",
        "projects": "goals aims status state decisions",
    }.items()
    for stem in query_terms(words)
}
_TOPICAL = frozenset(query_terms("deployments releases builds ci infrastructure infra"))
"""Cues that are more than a category: the answer has to be about them."""

_TALK = frozenset(
    query_terms(
        """
        know known remember file everything anything something overview summary gist rundown recap outline digest summarise
        summarize tell give show list name learn learned learnt must keep mind aware need work working catch bring fill speed
        apply hold exist matter count general main important key overall project system whole thing put together set already
        actually currently far please code coding codebase repo repository basics essentials basic essential setup usually
        generally follow around start starting short brief quick one somebody anyone us find use
        """
    )
)


@dataclass(frozen=True)
class Reading:
    """How broadly a question asks, and for what."""

    tier: int
    reason: str
    categories: tuple[str, ...] = ()
    project: str | None = None
    topics: tuple[str, ...] = ()
    """Stems of what it names beside a category and a project."""


@dataclass(frozen=True)
class Summarised:
    """Facts of summaries that answer a question, best first, and which summaries they stand in."""

    memory_ids: tuple[str, ...]
    summaries: tuple[str, ...]


def is_open(question: str) -> bool:
    """Returns whether the question has the form of one for what is known at large."""
    return bool(_OPEN.search(question)) and not _NARROW.search(question)


def read_question(question: str, projects: Collection[str], project: str | None = None) -> Reading:
    """Returns which tier the question asks for; `projects` are the known ones, `project` is where its asker stands."""
    if not is_open(question):
        return Reading(MEMORIES, "it asks for something in particular")
    named = _named(question, projects)
    rest = _without(question, named)
    if names := exact_names(rest):
        return Reading(MEMORIES, f"it names {len(names)} thing{'s'[: len(names) > 1]} exactly")
    words = [word for word in query_terms(clean(rest)) if word not in STOP_WORDS]
    cues = {word: _CUES[word] for word in words if word in _CUES}
    topics = tuple(word for word in words if (word not in cues and word not in _TALK) or word in _TOPICAL)
    if not cues and not named:
        return Reading(MEMORIES, "it names no category and no project", topics=topics)
    if len(topics) > MOST_TOPICS:
        return Reading(MEMORIES, "it names more than a category and a project", topics=topics)
    return Reading(SUMMARIES, "it asks for what is known at large", tuple(sorted(set(cues.values()))), named or project, topics)


def find_summarised(reading: Reading, summaries: pl.DataFrame, texts: dict[str, str], person: str | None) -> Summarised | None:
    """Returns the facts that answer the question, or nothing where the summaries do not suffice.

    `texts` are the memories that may be shown, by id.
    """
    if reading.tier != SUMMARIES:
        return None
    chosen = _fitting(reading, summaries, person)
    ids = [[id for id in row["memory_ids"] if id in texts and _covers(texts[id], reading.topics)] for row in chosen]
    found = tuple(dict.fromkeys(_in_turn(ids)))
    if len(found) < (SUFFICIENT if reading.topics else 1):
        return None
    return Summarised(found, tuple(row["summary_id"] for row, kept in zip(chosen, ids, strict=True) if kept))


def _fitting(reading: Reading, summaries: pl.DataFrame, person: str | None) -> list[dict[str, Any]]:
    """Returns the three summaries that fit best: of the project and the asker, in the categories, the fullest first."""
    is_own = (pl.col("scope") != "person") | (pl.col("person") == (person or ""))
    is_of = pl.col("category").is_in(list(reading.categories)) if reading.categories else pl.lit(True)
    rows = summaries.filter(is_own & is_of).sort(["fact_count", "event_at", "summary_id"], descending=[True, True, False])
    if reading.project is not None:
        wide = pl.col("scope") != "project"
        here = pl.col("project").map_elements(_squashed, return_dtype=pl.String) == _squashed(reading.project)
        rows = rows.filter(here | wide).with_columns(wide.alias("is_wide")).sort("is_wide", maintain_order=True)
        if not reading.categories:  # a project alone is not asked for what holds everywhere
            rows = rows.filter(~pl.col("is_wide"))
    return rows.head(MOST_SUMMARIES).to_dicts()


def _named(question: str, projects: Collection[str]) -> str | None:
    """Returns the known project that the question names, the longest name first."""
    words = re.findall(r"[\w./-]*\w", question.lower())
    said = {_squashed(" ".join(words[at : at + length])) for length in (1, 2, 3) for at in range(len(words) - length + 1)}
    found = [name for name in projects if len(_squashed(name)) > 2 and _squashed(name) in said]
    return max(found, key=lambda name: (len(name), name), default=None)


def _without(question: str, project: str | None) -> str:
    if project is None:
        return question
    parts = [re.escape(part) for part in re.findall(r"[a-z0-9]+", project.lower())]
    return re.sub(r"\b" + r"[\W_]*".join(parts) + r"(?:'s)?\b", " ", question, flags=re.I)


def _squashed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _covers(text: str, topics: Sequence[str]) -> bool:
    return set(topics) <= set(text_terms(text)) if topics else True


def _in_turn(lists: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yields the first of each list, then the second of each."""
    for number in range(max(map(len, lists), default=0)):
        yield from (ids[number] for ids in lists if number < len(ids))
