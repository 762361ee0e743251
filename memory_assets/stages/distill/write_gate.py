"""Decides which candidate facts may be stored: allow, hold or discard, with the reason.

Takes candidates with their category; gives the same with a verdict. Calls no model: the observer's own verdict
arrives as a hint. The rules stand in one table, first match wins; what is left over after it is ranked, and the best
few of a session are allowed. What conflicts with stored facts is found among their vectors, and settled in the fold of
memories.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_assets.schema.records import Category, Verdict
from memory_assets.stages.distill.grounding import QUOTED
from memory_assets.stages.distill.rules.candidates import FACT_CHARS, OWNERS_KINDS, Candidate
from memory_assets.stages.distill.rules.folded import folded, hides
from memory_assets.stages.distill.rules.instructions import speaks_for_the_owner, tells_a_decision, tells_what_to_do
from memory_assets.stages.distill.taxonomy import ONLY_THE_OWNERS
from memory_assets.stages.distill.verifiable import ADR, LEAST_VERIFIABLE, PATH_OR_COMMAND, verifiability_of
from memory_assets.text.words import stems_of

LEAST_CHARS = 12
"""Shorter texts name nothing (TUT, the write gate)."""

LEAST_USEFUL = 0.7
"""Usefulness below which a fact is held, where the settings do not say otherwise (SPEC, decision 4)."""

LESS_USEFUL = "usefulness below"
"""How the reason begins for which such a fact is held; the number follows."""

LEAST_CONFIDENT = 0.3

MOST_ALLOWED = 25
"""Allowed facts of one session; more than that nobody reads, and noise grows faster than knowledge."""

NO_SHARE = "more useful facts fill the session's share"
"""The reason of what would be allowed in a shorter session."""

SPECIFIC_BONUS = 0.05

_ARTEFACT = re.compile(
    r"^(?:\W*(?:add|insert|replace|append|paste|put|change|update|remove|delete|rename|modify"
    r"|edit)\b[^.]{0,60}\b(?:after|before|below|above|with the following|the following|line \d+|at the (?:top|bottom"
    r"|end) of)\b"
    r"|you (?:are|must|should|will) (?:an?|now|always|never)\b|you must\b|(?:please )?(?:ignore|disregard"
    r"|forget) (?:all|any|the|your|previous|prior|above)"
    r"|<\/?[a-z][\w-]*>|system prompt|as an ai\b|note to (?:ai|agents?|assistants?|llms?)\b|attention,? (?:ai|agents?"
    r"|assistants?)\b)",
    re.I,
)
_INSTRUCTS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass) (?:(?:all|any|the|your|these|previous|prior|above|earlier"
    r"|other)\s+){1,3}(?:instructions?|rules?|prompts?|guidelines?|context|messages?|memor\w+)"
    r"|\b(?:remember|memori[sz]e|store|save|note|record) (?:this|that|the following|in (?:your )?memory"
    r"|for (?:all )?future|permanently)\b|\badd (?:this|the following) to (?:your )?memor"
    r"|\bfrom now on,? (?:you|always|never|all)\b|\bnew (?:rule|instruction|policy|system prompt)s?\s*:",
    re.I,
)
_TRANSIENT = re.compile(
    r"\b(?:\d+ commits? (?:ahead|behind)|uncommitted|untracked|working tree|force-push(?:ed)?|pushed to|branch is"
    r"|(?:branch|commit|change|work|fix|it|pr|tag)s? (?:is|are) (?:now )?pushed"
    r"|ready to (?:push|commit|merge)|in progress|awaiting|pull request is|pr (?:#\d+ )?is (?:now |still )?(?:open|ready|up)"
    r"|pushed as|committed as|opened (?:the |a )?(?:draft )?pr|opened it|new commit|new pr commit|tests? pass"
    r"|lint passes|all green|is clean|branch has (?:advanced|moved|diverged)|fast-forward(?:ed)? from"
    r"|commits? (?:past|have landed)|all pass(?:ed)?|0 issues)\b"
    r"|\b(?:single commit|closes #\d+|working copy (?:was|is|has)|it(?:'s| is) possible|(?:manual )?validation:"
    r"|still (?:nothing|failing|fails|broken|the same))"
    r"|^\W*(?:pushed|committed|merged|opened|rebased|commits?)\b[.:!]|\b(?:test )?suites? pass(?:es|ed)?\b",
    re.I,
)


_NAME = re.compile(r"`[^`]*`s?|\S*[/_(]\S*|\S+\.\w{1,4}\b")


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with its category and what the gate says of it."""

    candidate: Candidate
    category: Category
    category_confidence: float
    verdict: Verdict = "allow"
    reason: str = ""
    gate_confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The numbers that rules judge by; the settings may name others, and so may who asks what these would change."""

    least_chars: int = LEAST_CHARS
    most_chars: int = FACT_CHARS
    least_verifiable: float = LEAST_VERIFIABLE
    least_confident: float = LEAST_CONFIDENT
    least_useful: float = LEAST_USEFUL
    most_allowed: int = MOST_ALLOWED


@dataclass(frozen=True, slots=True)
class Rule:
    """When it holds, the candidate gets the verdict, for the reason."""

    reason: str
    verdict: Verdict
    confidence: float
    holds: Callable[[Candidate, Category], bool]


def _is_owners(candidate: Candidate) -> bool:
    return candidate.author == "owner"


def _makes_rule(candidate: Candidate, category: Category) -> bool:
    return candidate.kind in OWNERS_KINDS or category in ONLY_THE_OWNERS or tells_what_to_do(candidate.text)


def _only_names(text: str) -> bool:
    """Says whether the text is a list of names and nothing is said of them; an arrow says what became of one."""
    return "→" not in text and not stems_of(_NAME.sub(" ", text))


def rules_with(limits: Limits) -> tuple[Rule, ...]:
    """Returns the rules in order: what may never be stored, may never instruct, was never checked, or is worth too little."""
    return (
        Rule(
            f"shorter than {limits.least_chars} characters",
            "discard",
            0.99,
            lambda c, _: len(c.text.strip()) < limits.least_chars,
        ),
        Rule("no evidence in the transcript", "discard", 0.95, lambda c, _: not c.lines or not c.message_ids),
        Rule("characters that nobody sees", "discard", 0.95, lambda c, _: not _is_owners(c) and hides(c.text)),
        Rule("instruction artefact", "discard", 0.9, lambda c, _: not _is_owners(c) and bool(_ARTEFACT.search(folded(c.text)))),
        Rule(
            "instructs whoever reads it",
            "discard",
            0.9,
            lambda c, _: not _is_owners(c) and bool(_INSTRUCTS.search(folded(c.text))),
        ),
        Rule("the observer discards it", "discard", 0.8, lambda c, _: c.hint == "discard"),
        Rule(
            "only the owner's words make rules and preferences",
            "hold",
            0.95,
            lambda c, category: not _is_owners(c) and _makes_rule(c, category),
        ),
        Rule(
            "speaks for the owner without the owner's words",
            "hold",
            0.9,
            lambda c, _: not _is_owners(c) and speaks_for_the_owner(c.text),
        ),
        Rule(
            "quoted material decides nothing",
            "hold",
            0.9,
            lambda c, _: c.author in QUOTED and tells_a_decision(c.text),
        ),
        Rule("text that harnesses and memories put there", "hold", 0.9, lambda c, _: c.author == "injected"),
        Rule("a narrative, for looking up", "hold", 0.9, lambda c, _: c.kind == "narrative"),
        Rule("clock time not in the source", "hold", 0.95, lambda c, _: bool(c.ungrounded_times)),
        Rule("longer than one fact", "hold", 0.8, lambda c, _: len(c.text) > limits.most_chars),
        Rule("overturned later in the session", "hold", 0.8, lambda c, _: c.is_overturned),
        Rule("the observer holds it", "hold", 0.7, lambda c, _: c.hint == "hold"),
        Rule("no verdict from the observer", "hold", 0.7, lambda c, _: c.hint == "missing"),
        Rule(
            "a passing state",
            "hold",
            0.7,
            lambda c, _: not _is_owners(c) and bool(_TRANSIENT.search(c.text)) and not ADR.search(c.text),
        ),
        Rule(
            "an opinion",
            "hold",
            0.6,
            lambda c, _: not _is_owners(c) and verifiability_of(c.text) < limits.least_verifiable,
        ),
        Rule("too little confidence", "hold", 0.7, lambda c, _: c.confidence < limits.least_confident),
        Rule(f"{LESS_USEFUL} {limits.least_useful}", "hold", 0.6, lambda c, _: usefulness_of(c) < limits.least_useful),
        Rule("names too little", "hold", 0.6, lambda c, _: len(stems_of(c.text)) < 3 or _only_names(c.text)),
    )


RULES = rules_with(Limits())


def judge(
    candidates: Sequence[tuple[Candidate, Category, float]],
    *,
    most_allowed: int = MOST_ALLOWED,
    rules: Sequence[Rule] = RULES,
) -> list[Judged]:
    """Returns the candidates of one window with their verdicts, in the order given; at most so many are allowed."""
    judged = [_judge(*entry, rules) for entry in candidates]
    allowed = [(place, j) for place, j in enumerate(judged) if j.verdict == "allow"]
    ranked = sorted(allowed, key=lambda entry: (-usefulness_of(entry[1].candidate), entry[0]))
    over = {place for place, _ in ranked[most_allowed:]}
    return [
        Judged(j.candidate, j.category, j.category_confidence, "hold", NO_SHARE, 0.6) if place in over else j
        for place, j in enumerate(judged)
    ]


def _judge(candidate: Candidate, category: Category, category_confidence: float, rules: Sequence[Rule]) -> Judged:
    for rule in rules:
        if rule.holds(candidate, category):
            return Judged(candidate, category, category_confidence, rule.verdict, rule.reason, rule.confidence)
    reason = "durable, with evidence" if candidate.hint is None else "the observer allows it, with evidence"
    confidence = candidate.hint_confidence if candidate.hint_confidence is not None else usefulness_of(candidate)
    return Judged(candidate, category, category_confidence, "allow", reason, round(min(max(confidence, 0.0), 1.0), 2))


def usefulness_of(candidate: Candidate) -> float:
    """Returns how useful a fact is; ids of decisions, and exact paths or commands, raise it (TUT)."""
    if ADR.search(candidate.text):
        return min(candidate.usefulness + 2 * SPECIFIC_BONUS, 1.0)
    return min(candidate.usefulness + SPECIFIC_BONUS * bool(PATH_OR_COMMAND.search(candidate.text)), 1.0)
