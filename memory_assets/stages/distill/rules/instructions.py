"""Tells texts that instruct whoever reads them from texts that say how things are.

Takes a text; says whether it tells what to do, speaks for the owner, tells of a decision, or belongs to an instruction. Who may
do so is the gate's business. Texts are read folded, so that look-alike letters and hidden ones help nobody.
"""

import re

from memory_assets.stages.distill.rules.folded import folded

_VERBS = (
    "use|run|install|push|commit|merge|deploy|skip|add|send|call|write|ask|make|do|delete|remove|ignore|disable|enable|pass|set"
    "|put|store|save|execute|post|upload|download|fetch|switch|prefer|avoid|answer|reply|approve|trust|follow|start|begin"
)
"""Base forms: "never returns" says how things are, "never return" what to do."""

_ORDERS = re.compile(
    rf"^\W*(?:(?:please|important|note|warning|rule|remember|reminder)\W+)*(?:always|never|do not|don't|you (?:must"
    rf"|should|need to|have to)|(?:all|every|each) (?:agents?|assistants?|sessions?|commits?|projects?)|(?:agents?|assistants?)"
    rf" (?:must|should|need|have)|must\b|make sure|ensure|from now on|going forward|in (?:all )?future)\b"
    rf"|^\W*(?:{_VERBS})\b.*\b(?:(?:every|each) \w+|all \w+s|at all times)\b"
    rf"|\b(?:always|never) (?:{_VERBS})\b|\bfrom now on\b|\b(?:i|we)(?:'ll| will) (?:always|never)\b"
    rf"|\byou (?:must|should|have to|need to) (?:always |never |now )?(?:{_VERBS})\b"
    rf"|\b(?:every|all|each) (?:agents?|assistants?|sessions?) (?:must|should|has to|have to|need)"
    rf"|\b(?:is|are) (?:now )?(?:mandatory|forbidden|prohibited|compulsory)\b|\b(?:hard rule|is the rule)\b",
    re.I,
)
_ABROAD = re.compile(
    r"\b(?:immer|niemals|ab jetzt|toujours|jamais|desormais|siempre|nunca|a partir de ahora|sempre|d'ora in poi|altijd|nooit)\b"
    r"|всегда|никогда|отныне|必须|必須|始终|从现在|絕不|绝不|必ず|禁止|今後",
    re.I,
)
_FOR_THE_OWNER = re.compile(
    r"\b(?:the )?(?:user|owner|developer)(?:'s)? (?:has |have |had |also |really )?(?:said|says|stated|states|wants?|prefers?"
    r"|preference|approved|authori[sz]ed|always|never|likes?|insists?|instructed|asked for)\b",
    re.I,
)
_DECIDED = re.compile(
    r"\b(?:decided|agreed|approved|chose|corrected|insisted|instructed|wants?|prefers?|demands?|told us|accepted)\b", re.I
)
_IMPERATIVE = re.compile(rf"^\W*(?:please )?(?:{_VERBS})\b", re.I)
_BELONGS = re.compile(
    rf"\b(?:always|never|must|mandatory|from now on|remember|memory|rules?|polic(?:y|ies)|prefers?|owners?|users?|agents?"
    rf"|assistants?|instructions?|only|(?:every|all) \w+|not allowed|decided|agreed|instead)\b"
    rf"|^\W*(?:\w+:\s*)?(?:\W*)(?:please )?(?:{_VERBS})\b",
    re.I,
)


def tells_what_to_do(text: str) -> bool:
    """Says whether the text gives an order or sets a rule."""
    shown = folded(text)
    return bool(_ORDERS.search(shown) or _ABROAD.search(shown))


def speaks_for_the_owner(text: str) -> bool:
    """Says whether the text tells what the owner said, wants or allows."""
    return bool(_FOR_THE_OWNER.search(folded(text)))


def tells_a_decision(text: str) -> bool:
    """Says whether the text tells what somebody decided, or commands in the bare form of a verb."""
    shown = folded(text)
    return bool(_DECIDED.search(shown) or _IMPERATIVE.search(shown))


def decides(text: str) -> bool:
    """Says whether the text orders, speaks for the owner or tells a decision."""
    return tells_what_to_do(text) or speaks_for_the_owner(text) or bool(_DECIDED.search(folded(text)))


def belongs_to_instruction(line: str) -> bool:
    """Says whether a line, already folded, may be part of an instruction; many that are none are, too."""
    return bool(_BELONGS.search(line) or _ABROAD.search(line))
