"""Finds the problems of a day that were solved on the same day; the solution is kept, and so is the root cause."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from memory_assets.stages.embed.claims import read_claim

_PROBLEM = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|broken?|breaks|bugs?|crash(?:es|ed|ing)?|hangs?|hung|flaky|leak(?:s|ing)?|stuck|wrong|errors?|"
    r"does(?:n't| not) work|did(?:n't| not) work|is(?:n't| not) working|can(?:not|'t) (?:connect|find|start|build))\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(r"\b(?:root cause|caused? by|the cause|because|due to|turned out)\b", re.IGNORECASE)
_SOLUTION = re.compile(
    r"\b(?:fix(?:ed|es)?|solved|resolved|works (?:again|now)|is green|tests? (?:now )?pass|root cause|caused by|solution)\b",
    re.IGNORECASE,
)
SHARED_WORDS = 0.5
"""Share of the problem's own words, or one of its file names or identifiers, that its solution repeats."""


def find_resolved(facts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Returns, by the id of each fact that states a problem, the id of the first later one that solves it.

    Facts are given in order of time. A rule, an important statement of the owner, and a fact with a cause or a solution are not
    problems.
    """
    solutions = [(number, fact) for number, fact in enumerate(facts) if _SOLUTION.search(fact["text"])]
    found: dict[str, str] = {}
    for number, fact in enumerate(facts):
        if _is_problem(fact):
            solving = (solution["id"] for later, solution in solutions if later > number and _is_about(solution, fact))
            if first := next(solving, None):
                found[fact["id"]] = first
    return found


def _is_problem(fact: Mapping[str, Any]) -> bool:
    text = fact["text"]
    if fact["category"] in ("rules-conventions", "preferences") or (fact["author"], fact["priority"]) == ("owner", "high"):
        return False
    return bool(_PROBLEM.search(text)) and not (_CAUSE.search(text) or _SOLUTION.search(text))


def _is_about(solution: Mapping[str, Any], problem: Mapping[str, Any]) -> bool:
    a, b = read_claim(solution["text"]), read_claim(problem["text"])
    words = {word for word in b.words if not _PROBLEM.fullmatch(word)}
    shared = len(a.words & words) / max(len(words), 1)
    return shared >= SHARED_WORDS or (bool(a.specifics & b.specifics) and len(a.words & words) >= 2)
