"""Recognises standing orders: what holds always, never, each time, from now on.

An order is an adverb with a verb in its base form ("never push", "always ask"). A statement about
what always happens has another form ("the job never works") and orders nothing.
"""

import re

ALWAYS = r"(?:always|never)(?: ever)?"

BASE = r"(?!(?:mind|again|happen|been|had|seen|saw|got|was|were|did|\w{3,}ed|\w+[^s]s)\b)[a-z]+"
"""A verb in its base form, as an imperative has it; the past and the third person tell a story."""

LASTS = r"\bfrom now on\b|\b(?:in future|going forward|as a rule)\b"
"""Says that something holds from here on."""

EACH_TIME = (
    r"\bwhenever\b|\b(?:every|each) time\b|\b(?:before|after|on|with|for) (?:each|every) "
    r"(?:push|commit|pr|merge|release|deploy\w*|(?:\w+ )?change|session|build)\b"
)
"""An occasion that comes again and again."""

ALL = r"\b(?:(?:each|every)(?! \d)|all|any(?! more)|always|only|not?|never|without|instead)\b"
"""Says that something holds for a whole kind, or for none of it; "every 15 minutes" does not."""

_ORDER = re.compile(
    rf"(?i)(?:^|[,;:.–—] |\b(?:and|but|so|please|we|must|should|i'll|we'll|will"
    rf"|to) ){ALWAYS} {BASE}"
)
_ORDER_EACH_TIME = re.compile(
    r"(?i)^(?:when(?:ever)? (?:you|\w+ing)|(?:every|each) time you|(?:before|after) (?:every"
    r"|each))\b[^,]*, (?!it\b|i\b|we\b|the\b|just\b|(?:no|every)thing\b)\w"
)
_LASTS = re.compile(rf"(?i){LASTS}")
_EACH_TIME = re.compile(rf"(?i){EACH_TIME}")
_OF_ALL = re.compile(rf"(?i){ALL}")
_PLACE = (
    r"(?:this|the (?:whole|entire)|every|all|any|each|our|my)\b(?: \w+){0,3}? "
    r"(?:repo|project|codebase|package|service|machine)"
)
_ELSEWHERE = re.compile(
    r"(?i)\b(?:immer|nie(?:mals)?|ab jetzt|toujours|jamais|d[eé]sormais|siempre|nunca|a partir de "
    r"ahora|sempre|d'ora in poi|altijd|nooit)\b"
    r"|всегда|никогда|отныне|必须|必須|始终|从现在|絕不|绝不|必ず|禁止|今後"
)
"""Always, never and from now on in other languages."""

_IN_SO_MANY_WORDS = re.compile(
    rf"(?i){LASTS}|\b(?:hard|house|standing|general) rule\b"
    r"|\bi(?:'ve| have)?(?: already)? (?:told|asked) you\b"
    r"|\bi(?:'ve| have)?(?: already)? said (?:\w+ )?(?:before|already|again|twice)\b"
    r"|\bhow (?:often|many times)\b"
    rf"|\b{ALWAYS}\b.*\b{_PLACE}|\b{_PLACE}.*\b{ALWAYS}\b"
)


def orders_always(words: str) -> bool:
    """Returns whether the words order something for always, or forbid it forever."""
    return _ORDER.search(words) is not None


def lasts(words: str) -> bool:
    """Returns whether the words say that something holds from now on."""
    return _LASTS.search(words) is not None


def recurs(words: str) -> bool:
    """Returns whether the words name an occasion that comes again and again."""
    return _EACH_TIME.search(words) is not None


def orders_each_time(words: str) -> bool:
    """Returns whether the words begin with such an occasion and say what is to be done then."""
    return _ORDER_EACH_TIME.match(words) is not None


def is_of_all(words: str) -> bool:
    """Returns whether the words are about all of a kind, or about none of it."""
    return _OF_ALL.search(words) is not None


def is_standing_order(sentence: str) -> bool:
    """Returns whether a sentence of a person says in so many words that it lasts, or that it had to
    be repeated.
    """
    return _IN_SO_MANY_WORDS.search(sentence.replace("’", "'")) is not None


def orders_elsewhere(words: str) -> bool:
    """Returns whether the words may be a standing order in another language than English."""
    return _ELSEWHERE.search(words) is not None
