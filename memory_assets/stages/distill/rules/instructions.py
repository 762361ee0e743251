"""Detects texts that instruct the reader, as opposed to texts that state facts.

Takes a text; returns whether it gives an order, attributes something to the owner, states a
decision, or may be part of an instruction. The write gate decides what follows. Texts are compared
with look-alike letters folded and hidden characters removed; such a folded text is never stored.
"""

import base64
import binascii
import re
import unicodedata

from memory_assets.english.standing import orders_elsewhere

_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0441\u0440\u0445\u0443\u0456\u0458\u0455\u04bb\u0501\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420"
    "\u0421\u0422\u0425\u0391\u0392\u0395\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03b1\u03c1\u03bd",
    "aeocpxyijshdABEKMHOPCTXABEHIKMNOPTYXoapv",
)
"""Cyrillic and Greek letters that look like Latin ones."""

_FOREIGN = re.compile(r"[\u0370-\u03ff\u0400-\u052f]")
_WORD = re.compile(r"\w+")
_TAG_LETTERS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
_ENCODED = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}|(?:[0-9a-f]{2}){12,}")
_HIDING = re.compile(
    r"[\u00ad\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff\U000e0020-\U000e007e]"
)

_VERBS = (
    "use|run|install|push|commit|merge|deploy|skip|add|send|call|write|ask|make|do|delete"
    "|remove|ignore|disable|enable|pass|set"
    "|put|store|save|execute|post|upload|download|fetch|switch|prefer|avoid|answer|reply"
    "|approve|trust|follow|start|begin"
)
"""Base forms: "never returns" states a fact, "never return" gives an order."""

_ORDERS = re.compile(
    r"(?i)^\W*(?:(?:please|important|note|warning|rule|remember|reminder)\W+)*(?:always"
    r"|never|do not|don't|you (?:must|should"
    r"|need to|have to)|(?:all|every|each) (?:agents?|assistants?|sessions?|commits?"
    r"|projects?)|(?:agents?"
    r"|assistants?) (?:must|should|need|have)|must\b|make sure|ensure|from now on|going "
    r"forward|in (?:all )?future)\b"
    rf"|^\W*(?:{_VERBS})\b.*\b(?:(?:every|each) \w+|all \w+s|at all times)\b|\b(?:always"
    rf"|never) (?:{_VERBS})\b|\bfrom now on\b"
    r"|\b(?:i|we)(?:'ll| will) (?:always|never)\b|\byou (?:must|should|have to|need to) "
    rf"(?:always |never |now )?(?:{_VERBS})\b"
    r"|\b(?:every|all|each) (?:agents?|assistants?|sessions?) (?:must|should|has to|have to"
    r"|need)|\b(?:is"
    rf"|are) (?:now )?(?:mandatory|forbidden|prohibited|compulsory)\b|\b(?:hard rule|is the rule)\b"
)
_ATTRIBUTED = re.compile(
    r"(?i)\b(?:the )?(?:user|owner|developer)(?:'s)? (?:has |have |had |also |really "
    r")?(?:said|says|stated|states|wants?"
    r"|prefers?|preference|approved|authori[sz]ed|always|never|likes?|insists?|instructed"
    r"|asked for)\b"
)
_DECIDED = re.compile(
    r"\b(?:decided|agreed|approved|chose|corrected|insisted|instructed|wants?|prefers?"
    r"|demands?|told us|accepted)\b",
    re.I,
)
_IMPERATIVE = re.compile(rf"^\W*(?:please )?(?:{_VERBS})\b", re.I)
_MAY_BE_INSTRUCTION = re.compile(
    r"(?i)\b(?:always|never|must|mandatory|from now on|remember|memory|rules?|polic(?:y"
    r"|ies)|prefers?|owners?|users?|agents?"
    rf"|assistants?|instructions?|only|(?:every|all) \w+|not allowed|decided|agreed|instead)\b"
    rf"|^\W*(?:\w+:\s*)?(?:\W*)(?:please )?(?:{_VERBS})\b"
)


def gives_order(text: str) -> bool:
    """Returns whether the text gives an order or sets a rule."""
    shown = fold_confusables(text)
    return bool(_ORDERS.search(shown) or orders_elsewhere(shown))


def attributes_to_owner(text: str) -> bool:
    """Returns whether the text reports what the owner said, wants or allows."""
    return bool(_ATTRIBUTED.search(fold_confusables(text)))


def states_decision(text: str) -> bool:
    """Returns whether the text states what somebody decided, or begins with an imperative."""
    shown = fold_confusables(text)
    return bool(_DECIDED.search(shown) or _IMPERATIVE.search(shown))


def is_directive(text: str) -> bool:
    """Returns whether the text gives an order, attributes something to the owner or states a
    decision.
    """
    return (
        gives_order(text)
        or attributes_to_owner(text)
        or bool(_DECIDED.search(fold_confusables(text)))
    )


def may_be_instruction(line: str) -> bool:
    """Returns whether a folded line may be part of an instruction; prefers false positives."""
    return bool(_MAY_BE_INSTRUCTION.search(line) or orders_elsewhere(line))


def has_invisible_characters(text: str) -> bool:
    """Returns whether the text contains characters that are not displayed."""
    return bool(_HIDING.search(text))


def fold_confusables(text: str) -> str:
    """Returns the text as it is displayed, without accents; decoded base64 and hex is appended."""
    if text.isascii():
        plain = text
    else:
        shown = unicodedata.normalize("NFKD", text.translate(_TAG_LETTERS))
        bare = "".join(
            letter for letter in shown if unicodedata.category(letter) not in ("Cf", "Mn")
        )
        plain = _WORD.sub(_to_latin, bare)
    return "\n".join([plain, *filter(None, map(_decode, _ENCODED.findall(plain)))])


def _to_latin(word: re.Match[str]) -> str:
    """Returns a word in Latin letters if all of its letters have a Latin look-alike, else the
    word.
    """
    latin = word[0].translate(_ALIKE)
    return word[0] if _FOREIGN.search(latin) else latin


def _decode(run: str) -> str:
    """Returns the words encoded in the run, or an empty string if there are none."""
    for decode in (bytes.fromhex, lambda wrapped: base64.b64decode(wrapped, validate=True)):
        try:
            text = decode(run).decode("ascii")
        except (ValueError, binascii.Error):
            continue
        if text.isprintable() and " " in text:
            return text
    return ""
