"""Chooses the tier that answers a question: summaries, where it asks broadly for their content;
else memories, then messages.

Takes the words of a question; a broad one names a category or a project ("what are our
conventions", "what do we know about deployment of shop") and hardly anything else. The summaries
suffice when they have facts about every other topic that it names. Nothing is searched or embedded:
an answer of the first tier is the cheapest there is.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import zip_longest

import polars as pl

from memory_assets.stages.recall.wording import clean, exact_names
from memory_assets.text.terms import STOP_WORDS, query_terms, text_terms

SUMMARIES, MEMORIES, MESSAGES = 1, 2, 3
"""The tiers."""

NAMES = {SUMMARIES: "summaries", MEMORIES: "memories", MESSAGES: "word for word"}
MOST_SUMMARIES = 3
SUFFICIENT = 2
"""Least facts about a topic for an answer from summaries; a single one may be there by chance."""

MOST_TOPICS = 2
"""A question with more topics, beside a category and a project, is not broad."""

_OPEN = re.compile(
    r"\b(?:what(?:'s| is| are)|what (?:do|have|should) (?:i|we|you) (?:know|learn\w*)"
    r"|(?:what|which) (?:rules|conventions|guidelines)|how is|who(?:'s| is)|tell me|list|show|give"
    r"|everything|overview|summar\w+|gist|rundown|recap|outline|digest|(?:catch|bring|fill) me)\b",
    re.I,
)
"""Asks for what there is, not for a place, a reason or a number."""

_NARROW = re.compile(
    r"\b(?:why|when|how (?:many|much|long|often|far|big|old)|instead of|versus|vs|difference"
    r"|compared?|yesterday|today"
    r"|last (?:time|week|month|session)|error|exception|traceback|exact(?:ly)?|precise(?:ly)?"
    r"|who (?:said|decided|wrote|asked)|still (?:true|right|valid))\b",
    re.I,
)
_CUES = {
    stem: category
    for category, words in {
        "rules-conventions": "conventions rules guidelines standards policies style",
        "preferences": "preferences prefer taste likes dislikes habits",
        "system-architecture": "architecture design structure structured components built "
        "organised organized",
        "operations": "operations ops deployments releases builds ci infrastructure infra",
        "people-relationships": "people team colleagues contacts",
        "health": "health",
        "hobbies": "hobbies hobby",
        "projects": "goals aims status state decisions",
    }.items()
    for stem in query_terms(words)
}
_TOPICAL = frozenset(query_terms("deployments releases builds ci infrastructure infra"))
"""Cues that are also topics: the answer has to be about them."""

_TALK = frozenset(
    query_terms(
        """
        know known remember file everything anything something overview summary gist rundown recap
        outline digest summarise summarize tell give show list name learn learned learnt must keep
        mind aware need work working catch bring fill speed apply hold exist matter count general
        main important key overall project system whole thing put together set already actually
        currently far please code coding codebase repo repository basics essentials basic essential
        setup usually generally follow around start starting short brief quick one somebody anyone
        us find use
        """
    )
)


@dataclass(frozen=True)
class TierChoice:
    """The tier of a question, and what it asks the summaries for."""

    tier: int
    categories: tuple[str, ...] = ()
    project: str | None = None
    topics: tuple[str, ...] = ()
    """Stems of what it names beside a category and a project."""


def is_broad(question: str) -> bool:
    """Returns whether the question has the form of a broad one; the rest is found out by
    `choose_tier`.
    """
    return bool(_OPEN.search(question)) and not _NARROW.search(question)


def choose_tier(question: str, projects: Collection[str], project: str | None = None) -> TierChoice:
    """Returns the tier of the question; `projects` are the known ones, `project` is that of the
    asker.
    """
    if not is_broad(question):
        return TierChoice(MEMORIES)
    named = _named(question, projects)
    rest = _without(question, named)
    words = [word for word in query_terms(clean(rest)) if word not in STOP_WORDS]
    cues = {word: _CUES[word] for word in words if word in _CUES}
    topics = tuple(
        word for word in words if (word not in cues and word not in _TALK) or word in _TOPICAL
    )
    if exact_names(rest) or not (cues or named) or len(topics) > MOST_TOPICS:
        return TierChoice(MEMORIES, topics=topics)
    return TierChoice(SUMMARIES, tuple(sorted(set(cues.values()))), named or project, topics)


def find_summarised(
    choice: TierChoice, summaries: pl.DataFrame, texts: Mapping[str, str], person: str | None
) -> list[str]:
    """Returns the ids of the facts that answer the question, best first; none where the summaries
    do not suffice.

    `texts` are the memories that may be shown, by id.
    """
    topics = set(choice.topics)
    lists = [
        [id for id in ids if id in texts and topics <= set(text_terms(texts[id]) if topics else ())]
        for ids in _fitting(choice, summaries, person)["memory_ids"].to_list()
    ]
    in_turn = (id for row in zip_longest(*lists) for id in row if id is not None)
    found = list(dict.fromkeys(in_turn))
    return found if len(found) >= (SUFFICIENT if topics else 1) else []


def _fitting(choice: TierChoice, summaries: pl.DataFrame, person: str | None) -> pl.DataFrame:
    """Returns the three summaries that fit best: of the project and the asker, in the categories,
    the largest first.
    """
    is_own = (pl.col("scope") != "person") | (pl.col("person") == (person or ""))
    is_of = pl.col("category").is_in(list(choice.categories)) | (not choice.categories)
    order = ["fact_count", "event_at", "summary_id"]
    rows = summaries.filter(is_own & is_of).sort(order, descending=[True, True, False])
    if choice.project is not None:
        is_wide = pl.col("scope") != "project"
        names = pl.col("project").map_elements(_squashed, return_dtype=pl.String)
        here = names == _squashed(choice.project)
        # A question about a project alone does not ask for what holds everywhere.
        fits = here | is_wide if choice.categories else here & ~is_wide
        rows = rows.filter(fits).sort(is_wide, maintain_order=True)
    return rows.head(MOST_SUMMARIES)


def _named(question: str, projects: Collection[str]) -> str | None:
    """Returns the known project that the question names, the longest name first."""
    words = re.findall(r"[\w./-]*\w", question.lower())
    spans = {
        _squashed(" ".join(words[at : at + length]))
        for length in (1, 2, 3)
        for at in range(len(words) - length + 1)
    }
    long_spans = {span for span in spans if len(span) > 2}
    found = [name for name in projects if _squashed(name) in long_spans]
    return max(found, key=lambda name: (len(name), name), default=None)


def _without(question: str, project: str | None) -> str:
    if project is None:
        return question
    parts = [re.escape(part) for part in re.findall(r"[a-z0-9]+", project.lower())]
    return re.sub(r"\b" + r"[\W_]*".join(parts) + r"(?:'s)?\b", " ", question, flags=re.I)


def _squashed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
