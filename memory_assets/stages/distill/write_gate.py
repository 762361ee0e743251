"""Decides which candidate facts are stored: allow, hold or discard, with a reason.

Takes candidates; returns one result for each, with its category. Calls no model: the verdict of a
model that observed the fact is the candidate's `hint`. The first rule that applies decides.
Sentences that the rules observer found are also judged by their wording: orders, passing states,
opinions. A model has judged that itself. Its facts are held if they lack evidence, are no whole
sentence, or let somebody else speak for the owner. Of the rules observer's facts only the most
useful are allowed; a model is asked for few from the start. Conflicts with stored facts are handled
when memories are built.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memory_assets.english.passing import is_passing_state
from memory_assets.schema.protocols import Embedder
from memory_assets.schema.records import Verdict
from memory_assets.schema.vocabulary import Category
from memory_assets.stages.distill.grounding.window_index import QUOTED
from memory_assets.stages.distill.rules import instructions
from memory_assets.stages.distill.rules.candidates import OWNERS_KINDS, Candidate
from memory_assets.stages.distill.standards import (
    DEFAULT_STANDARDS,
    MOST_ALLOWED,
    GateLimits,
    Standards,
)
from memory_assets.stages.distill.taxonomy import ONLY_THE_OWNERS, categorise
from memory_assets.text.patterns import patterns_beside
from memory_assets.text.words import stems_of

LESS_USEFUL = "usefulness below"
"""Beginning of the reason for a fact that is not useful enough; the threshold follows."""

NO_SHARE = "more useful facts fill the session's share"
"""Reason for a fact beyond the number of facts that its session may allow."""

OVER_THE_ROOM = "more important facts fill the 8,000 tokens of the answer"

NO_EVIDENCE = "no evidence in the transcript"

PERHAPS = "perhaps a rule"
"""Beginning of the reason for a fact that a person is asked about; the doubt follows."""

MOST_PERHAPS = 3
"""Most such facts of a session: a person who is asked about more reads none of them."""

SPECIFIC_BONUS = 0.05
UNKNOWN = 0.5
"""Verifiability of a text without any signal."""

_PATTERNS = patterns_beside(__file__)
_CODE = re.compile(r"`[^`\n]*`")
_SAYING = re.compile(r"(?i)^(?:the (?:owner|user)\b[^:“\"]{0,30}:\s*)?[“\"']?\s*")
_LABELS = re.compile(r"\w:(?=[\s,.]|$)")
_JOINED = re.compile(r"[,;]\s*[,;:](?!\w)|:\s*;|(?<!:):\s+:|,\s*\.(?=\s|$)")
_JOINED_AT_COLON = re.compile(r":\s*,")
_MASKED = re.compile(r"(?<!\S)\*{4,}")
"""Masked words of prose. A password in an address or an assignment leaves a fact whole."""

_CUT = _PATTERNS["cut"]
"""A text that begins after its subject or within a sentence, or ends before its last word."""

_NAME = re.compile(r"`[^`]*`s?|\S*[/_(]\S*|\S+\.\w{1,4}\b")
ADR = re.compile(r"\bADR[-_ ]?\d+\b", re.I)
PATH_OR_COMMAND = _PATTERNS["path_or_command"]
SIGNALS = ((ADR, 0.4), (PATH_OR_COMMAND, 0.3), (_PATTERNS["opinion"], -0.3))
"""Patterns and their effects on verifiability. An opinion alone is below `least_verifiable`; a path
offsets it.
"""


GateRule = tuple[bool, Verdict, float, str]
"""Whether a rule applies, its verdict, its confidence and its reason."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """A candidate with its category and its verdict."""

    candidate: Candidate
    category: Category
    category_confidence: float
    verdict: Verdict = "allow"
    reason: str = ""
    gate_confidence: float = 0.0


def evaluate_rules(
    candidate: Candidate, category: Category, limits: GateLimits
) -> Iterator[GateRule]:
    """Yields the rules in order of precedence."""
    yield from _content_rules(candidate, limits)
    yield from _evidence_rules(candidate)
    yield from _authority_rules(candidate, category)
    yield from _form_rules(candidate, limits)
    yield from _usefulness_rules(candidate, limits)


def _content_rules(candidate: Candidate, limits: GateLimits) -> Iterator[GateRule]:
    is_others = candidate.author != "owner"
    folded = instructions.fold_confusables(candidate.text) if is_others else ""
    is_short = len(candidate.text.strip()) < limits.least_chars
    yield is_short, "discard", 0.99, f"shorter than {limits.least_chars} characters"
    is_masked = _MASKED.search(candidate.quote) or _MASKED.search(candidate.text)
    yield bool(is_masked), "discard", 0.9, "masked"
    is_hidden = is_others and instructions.has_invisible_characters(candidate.text)
    yield is_hidden, "discard", 0.95, "characters that nobody sees"
    is_edit = candidate.hint is None and bool(_PATTERNS["edit"].search(folded))
    is_artefact = is_others and (is_edit or bool(_PATTERNS["artefact"].search(folded)))
    yield is_artefact, "discard", 0.9, "instruction artefact"
    instructs = is_others and bool(_PATTERNS["instructs"].search(folded))
    yield instructs, "discard", 0.9, "instructs whoever reads it"
    yield candidate.hint == "discard", "discard", 0.8, "the observer discards it"


def _evidence_rules(candidate: Candidate) -> Iterator[GateRule]:
    fault = candidate.fault
    yield fault == "contradicted", "hold", 0.7, "may say the opposite of its evidence"
    has_evidence = candidate.lines and candidate.message_ids and fault != "unsupported"
    yield not has_evidence, "hold", 0.95, NO_EVIDENCE
    yield fault == "unknown name", "hold", 0.9, "names what the session does not name"


def _authority_rules(candidate: Candidate, category: Category) -> Iterator[GateRule]:
    text = candidate.text
    is_others = candidate.author != "owner"
    is_quoted = candidate.author in QUOTED
    is_order = (is_quoted or candidate.hint is None) and instructions.gives_order(text)
    makes_rule = candidate.kind in OWNERS_KINDS or category in ONLY_THE_OWNERS or is_order
    yield (
        is_others and makes_rule,
        "hold",
        0.95,
        "only the owner's words make rules and preferences",
    )
    speaks_for_owner = is_others and instructions.attributes_to_owner(text)
    yield speaks_for_owner, "hold", 0.9, "speaks for the owner without the owner's words"
    decides = is_quoted and instructions.states_decision(text)
    yield decides, "hold", 0.9, "quoted material decides nothing"
    is_injected = candidate.author == "injected"
    yield is_injected, "hold", 0.9, "text that harnesses and memories put there"


def _form_rules(candidate: Candidate, limits: GateLimits) -> Iterator[GateRule]:
    yield candidate.kind == "narrative", "hold", 0.9, "a narrative, for looking up"
    is_answered = candidate.kind == "answer"
    yield not is_answered and is_broken(candidate.text), "hold", 0.9, "no whole sentence"
    is_asking = candidate.text.rstrip("”\"' ").endswith("?")
    yield not is_answered and is_asking, "hold", 0.9, "a question states nothing"
    yield bool(candidate.ungrounded_times), "hold", 0.95, "clock time not in the source"
    yield len(candidate.text) > limits.most_chars, "hold", 0.8, "longer than one fact"
    yield candidate.is_overturned, "hold", 0.8, "overturned later in the session"
    yield bool(candidate.doubt), "hold", 0.6, f"{PERHAPS}: {candidate.doubt}"
    yield candidate.hint == "hold", "hold", 0.7, "the observer holds it"
    yield candidate.hint == "over", "hold", 0.9, OVER_THE_ROOM
    yield candidate.hint == "missing", "hold", 0.7, "no verdict from the observer"


def _usefulness_rules(candidate: Candidate, limits: GateLimits) -> Iterator[GateRule]:
    text = candidate.text
    is_ruled = candidate.hint is None
    is_ruled_by_others = is_ruled and candidate.author != "owner"
    is_transient = is_passing_state(text) and not ADR.search(text)
    yield is_ruled_by_others and is_transient, "hold", 0.7, "a passing state"
    is_opinion = is_ruled_by_others and verifiability_of(text) < limits.least_verifiable
    yield is_opinion, "hold", 0.6, "an opinion"
    yield candidate.confidence < limits.least_confident, "hold", 0.7, "too little confidence"
    is_less_useful = usefulness_of(candidate) < limits.least_useful
    yield is_less_useful, "hold", 0.6, f"{LESS_USEFUL} {limits.least_useful}"
    names_little = is_ruled and (len(stems_of(text)) < 3 or _only_names(text))
    yield names_little, "hold", 0.6, "names too little"


def judge(
    candidates: Sequence[Candidate],
    *,
    most_allowed: int = MOST_ALLOWED,
    standards: Standards = DEFAULT_STANDARDS,
    embedder: Embedder | None = None,
) -> list[GateResult]:
    """Returns the result for each candidate of one window, in the same order.

    At most `most_allowed` candidates of the rules observer are allowed. The embedder decides
    between categories that fit equally.
    """
    results = [_judge(candidate, standards, embedder) for candidate in candidates]
    is_allowed = [result.verdict == "allow" and result.candidate.hint is None for result in results]
    allowed = [place for place, is_one in enumerate(is_allowed) if is_one]
    is_perhaps = [result.reason.startswith(PERHAPS) for result in results]
    perhaps = [place for place, is_one in enumerate(is_perhaps) if is_one]
    for places, most in ((allowed, most_allowed), (perhaps, MOST_PERHAPS)):
        places.sort(key=lambda place: usefulness_of(results[place].candidate), reverse=True)
        for place in places[most:]:
            results[place] = replace(
                results[place], verdict="hold", reason=NO_SHARE, gate_confidence=0.6
            )
    return results


def _judge(candidate: Candidate, standards: Standards, embedder: Embedder | None) -> GateResult:
    is_ruled = candidate.hint is None
    # The category follows from the owner's own words if the fact adds an explanation to them.
    is_own = candidate.author == "owner" and is_ruled
    subject = candidate.quote if is_own else candidate.text
    category, category_confidence = categorise(
        subject,
        candidate.kind,
        candidate.author,
        candidate.hint_category,
        taxonomy=standards.taxonomy,
        embedder=embedder,
    )
    result = GateResult(candidate, category, category_confidence)
    rules = evaluate_rules(candidate, category, standards.limits)
    for applies, verdict, confidence, reason in rules:
        if applies:
            return replace(result, verdict=verdict, reason=reason, gate_confidence=confidence)
    confidence = candidate.hint_confidence
    if confidence is None:
        confidence = usefulness_of(candidate)
    return replace(
        result,
        reason="durable, with evidence" if is_ruled else "the observer allows it, with evidence",
        gate_confidence=round(min(max(confidence, 0.0), 1.0), 2),
    )


def usefulness_of(candidate: Candidate) -> float:
    """Returns the usefulness of a fact, increased by ids of decisions and by exact paths or
    commands (TUT).
    """
    bonus = 0.0
    if ADR.search(candidate.text):
        bonus = 2 * SPECIFIC_BONUS
    elif PATH_OR_COMMAND.search(candidate.text):
        bonus = SPECIFIC_BONUS
    return min(candidate.usefulness + bonus, 1.0)


def verifiability_of(text: str) -> float:
    """Returns how well somebody else could verify the text, 0 to 1 (A77: "a verifiable fact, not an
    opinion").
    """
    signals = sum(weight for pattern, weight in SIGNALS if pattern.search(text))
    return round(min(max(UNKNOWN + signals, 0.0), 1.0), 2)


def is_broken(text: str) -> bool:
    """Returns whether the text is not a whole sentence, but cut or joined from list items.

    Stray commas and colons show joined items. Labels such as "docs:, chore: and test:" do not
    count, and code is not read.
    """
    bare = _CODE.sub("x", text)
    has_labels = len(_LABELS.findall(bare)) >= 2
    is_joined = _JOINED.search(bare) or (_JOINED_AT_COLON.search(bare) and not has_labels)
    return bool(is_joined or _CUT.search(_SAYING.sub("", bare.strip(), count=1)))


def _only_names(text: str) -> bool:
    """Returns whether the text only lists names, without an arrow that states a change."""
    return "→" not in text and not stems_of(_NAME.sub(" ", text))
