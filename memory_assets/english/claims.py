"""Reads what a sentence claims: its words, values, denials, conditions, mood, time and roles."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from memory_assets.english.changes import read_changes
from memory_assets.english.word_forms import (
    IRREGULAR,
    LIGHT_ROOTS,
    NUMBERS,
    SPECIFIC,
    family_of,
    form_of,
    root,
    tokens_of,
    value_of,
)
from memory_assets.text.words import squeezed, word_set

_INTRODUCTION = re.compile(
    r"(?i)^\W*(?:(?:(?:no|yes)(?=\s*[,:!.–—])|ok(?:ay)?|so|well|and|but|again|also|please|actually"
    r"|sorry|hm+|(?:the |our )?(?:i|we|team|owner|user)(?:['’]ve| have)? (?:asked|decided|agreed"
    r"|told|said)(?: (?:you|me|us|already|that|for|to)\b)*|(?:remember|note)(?: that|(?=:)))"
    r"\b[\s,:!.–—-]+)+|\b(?:from now on|pls|thanks)\b"
)
"""How a statement is introduced, and politeness."""

_CODE = re.compile(r"`([^`]+)`")
QUOTATION = re.compile(
    r"\"[^\"]*\s[^\"]*\"|“[^”]*”|(?<!\w)'(?:[^']|(?<=\w)'(?=\w))*\s(?:[^']|(?<=\w)'(?=\w))*'(?!\w)"
)
CLAUSE_END = re.compile(
    r"[;:–—]\s|[()]|[.!?](?:\s|$)|,\s|\s(?:but|because|since|while|so|unless|and)\s", re.I
)
"""The end of a clause, whatever follows."""

_AT_LEAST = re.compile(r"(?i)\b(?:over|above|more than|at least)\s+(?=\d)")
_AT_MOST = re.compile(
    r"(?i)\b(?:under|below|less than|at most|up to|not (?:be )?(?:more|longer) than)\s+(?=\d)"
)
_ONE = re.compile(r"(?i)(?<!the )(?<!no )\b(?:one|single)(?= (?!that|more|another)[a-z]{4})")
_UNITS = word_set("ms second minute hour day week byte kb mb gb percent character line token time")

DENIAL = re.compile(
    r"(?i)\b(?:not|no|never|nobody|nothing|without|(?:instead of|rather than)(?= "
    r"\w+ing\b)|cannot|nor|avoid|stop|"
    r"forbidden|forbids?|\w+n['’]t|(?:do|does|did|ca|wo|should)nt)"
    r"\b(?! (?:only|just)\b)"
)
_OF_NOUNS = frozenset({"no", "without", "nobody", "nothing", "instead of", "rather than"})
_OF_SUBJECTS = frozenset({"forbidden"})
_DEMAND = re.compile(r"(?i)^(?!\W*(?:need|have)\b).*\b(?:without|unless|until)\b")
"""Behind a denial: "never deploy without a backup" demands the backup."""

_TOO_EARLY = re.compile(
    r"(?i)\b(?:never|(?:do not|don['’]?t)(?: ever)?)\s+(?P<first>[^.;:,]+?)\s+before\s+"
    r"(?P<then>(?:i|you|we|he|she|they|it|the|all)\b[^.;:,]*)"
)
"""What has to wait for something: "never push before you run the tests" demands the tests before
the push.
"""

_CONDITION = re.compile(
    r"(?i)\b(?:if|unless|only|without|but|by default|until|when(?:ever)?|while)\b"
)
_LIMIT = re.compile(r"(?i)\b(?:only|unless|except)\b")
_DIRECTION = re.compile(
    r"(?i)\b(?:before|after|over|(?<!rather )than|from|into|to|by|depends? on|calls?"
    r"|imports?|extends|owns|blocks)\b"
)
_PASSIVE = re.compile(
    r"(?i)\b(?:is|are|was|were|be|been|gets?)\s+(?:\w+ly\s+)?\w+(?:ed|[ew]n|[plnt]t|[nd]e)\b"
)
_PAST = re.compile(
    r"(?i)\b(?:was|were|had|used to|previously|formerly|originally|earlier|yesterday|ago|until"
    r"|last (?:week|month|year|night|time)|did)(?:n['’]?t)?\b"
)
_PRESENT = re.compile(r"(?i)\b(?:(?:is|are|does)(?:n['’]?t)?|now)\b")
_NO_FINITE = word_set(
    "is are be been being was were not get must should can the a an our any every of in to has"
)
"""Words before a participle that is no verb in the past."""

_MOMENT = (
    r"(?:pass|passes|passing|fail(?:s|ed|ing)?|green|red|broken|fixed|done|running|finished|ready"
    r"|pushed|merged|committed|open|clean|found|works?|working|needed|left|today|currently)"
)
_MOMENTARY = re.compile(
    rf"(?i)\b(?:is|are|isn['’]t|be|not|still|now|tests?|ci|build|it)\s+(?:(?:not|still|all|now)\s+)?"
    rf"{_MOMENT}\b|\b{_MOMENT}\W*$"
)
_MOMENT_AT_END = re.compile(
    rf"(?i)(?<!must be )(?<!should be )\b(?:{_MOMENT}|(?:is|are) (?:in|back|made|created|staged))"
    r"(?:\s+(?:now|again|too|cleanly))?\W*$"
)
_MOODS = {
    "guess": re.compile(
        r"(?i)\b(?:could|might|maybe|perhaps|probably|likely|seems?|wonder|must have been)\b"
    ),
    "request": re.compile(r"(?i)^\W*(?:can|could|would) you\b|\?[\s*\"')]*$"),
    "introduction": re.compile(r"(?i)^\W*here(?:['’]s| is| are)\b"),
    "intention": re.compile(
        r"(?i)^\W*(?:now(?! we)|next|then|let me|let us|(?:i|we|they|it|you)(?: will|['’]ll)"
        r"|i['’](?:d|m|ve)"
        r"|i (?!(?:(?:always|never|do|not|don['’]?t|would|also) )*(?:want|prefer|like|need|use)\b)"
        r"|[a-z]{3,}ing (?:for|on|the|that|it|a|my|your|to))\b|:[\s*\"')]*$"
    ),
}
"""What is no statement: supposed, asked, announced, about to be done or reported of one's own work.
"""

WORDS_BEHIND = 3
"""Words that belong to a word of direction."""

DENIED_NOUNS = 2
"""Words that "no" and "without" deny."""


@dataclass(frozen=True)
class Claim:
    """The parts of a sentence that identify its claim; words are roots."""

    normal: str
    """Its words in lower case, without marks and introduction."""
    content: tuple[str, ...]
    """Its content words and values, in order."""
    families: Mapping[str, str]
    """The family of each of them; of a path that of the file."""
    spoken: frozenset[str]
    """Those outside of code."""
    opening: str
    """The verb of an order: the first word."""
    specifics: frozenset[str]
    """Identifiers, numbers, and numbers with their units."""
    names: frozenset[str]
    commands: frozenset[str]
    """Code spans of several words."""
    replaced: frozenset[str]
    """Names that it says were replaced or are rejected."""
    denials: tuple[frozenset[str], ...]
    """The words that each denial denies."""
    conditions: frozenset[str]
    is_limited: bool
    mood: str
    """A name in `_MOODS`, moment, or nothing for a plain statement or order."""
    is_past: bool | None
    """None if its verb does not say."""
    finished: frozenset[str]
    """Verbs in a past form."""
    is_report: bool
    """Whether it begins with one of them: "Removed the flag"."""
    present: frozenset[str]
    """Words that can be verbs in the present."""
    is_passive: bool
    behind: frozenset[tuple[str, str]]
    """Words of direction, each with the words behind it."""

    @property
    def words(self) -> frozenset[str]:
        """Its content words and values, without order."""
        return frozenset(self.families)

    @property
    def denied(self) -> frozenset[str]:
        """All words that it denies."""
        return frozenset().union(*self.denials)

    def words_behind(self, way: str) -> set[str]:
        """Returns the words behind a word of direction."""
        return {word for direction, word in self.behind if direction == way}

    @property
    def is_negated(self) -> bool:
        """Whether it denies something."""
        return len(self.denials) % 2 == 1


@lru_cache(maxsize=65_536)
def read_claim(text: str) -> Claim:
    """Returns the parts of the sentence."""
    bare = _TOO_EARLY.sub(r"\g<then> before \g<first>", without_introduction(text))
    tokens = tokens_of(bare)
    lower = [token.lower() for token in tokens]
    content = tuple(filter(None, map(form_of, tokens)))
    first = CLAUSE_END.split(bare, maxsplit=1)[0]
    replaced = frozenset(change.gone for change in read_changes(text))
    codes = _CODE.findall(text)
    opening = _opening(tokens)
    third_persons = {root(word) for word in lower if word.endswith("s")}
    return Claim(
        normal=" ".join(word for word in lower if word not in ("please", "always")),
        content=content,
        families={word: family_of(word.rsplit("/", 1)[-1]) for word in content},
        spoken=frozenset(filter(None, map(form_of, tokens_of(_CODE.sub(" ", text))))),
        opening=opening,
        specifics=_specifics(tokens),
        names=_names(tokens, codes),
        commands=frozenset(squeezed(code) for code in codes if " " in code.strip()),
        replaced=replaced,
        denials=tuple(_denials(bare, replaced)),
        conditions=_words_behind(_CONDITION, bare),
        is_limited=_LIMIT.search(bare) is not None,
        mood=_mood(text, first),
        is_past=_time_of(first),
        finished=frozenset(_finished_verbs(lower)),
        is_report=bool(lower) and _is_finished("", lower[0]),
        present=frozenset({opening, *third_persons} - {""}),
        is_passive=_PASSIVE.search(bare) is not None,
        behind=frozenset(_directions(bare)),
    )


def _opening(tokens: list[str]) -> str:
    """Returns the form of the first word, if it can be the verb of an order."""
    if not tokens:
        return ""
    first = tokens[0].lower()
    return "" if _is_finished("", first) or first.endswith("ing") else form_of(tokens[0])


def _specifics(tokens: list[str]) -> frozenset[str]:
    """Returns exact values, number words in digits, and every number together with its unit."""
    specifics = {value_of(token) for token in tokens if SPECIFIC.search(token)}
    lower = [token.lower() for token in tokens]
    specifics |= {NUMBERS[word] for word in lower if word in NUMBERS}
    for word, following in pairwise([*lower, ""]):
        number = NUMBERS.get(word, word)
        unit = following if following == "ms" else following.removesuffix("s")
        if number[:1].isdigit() and unit in _UNITS:
            specifics.add(f"{number} {unit}")
    return frozenset(specifics)


def _names(tokens: list[str], codes: list[str]) -> frozenset[str]:
    names = {token.lower() for token in tokens[1:] if _is_name(token)}
    forms = {form_of(code) for code in codes if code.isalpha()}
    return frozenset(names | (forms - {""}))


def _mood(text: str, first_clause: str) -> str:
    moods = (mood for mood, pattern in _MOODS.items() if pattern.search(text))
    is_of_moment = _MOMENT_AT_END.search(_CONDITION.split(first_clause)[0])
    return next(moods, "moment" if is_of_moment else "")


def _time_of(clause: str) -> bool | None:
    """Returns whether the clause is about the past; None if its verb does not say."""
    if _PAST.search(clause):
        return True
    return False if _PRESENT.search(clause) else None


def _finished_verbs(lower: list[str]) -> Iterator[str]:
    for previous, word in pairwise(["", *lower]):
        if _is_finished(previous, word):
            yield root(word)


def _directions(text: str) -> Iterator[tuple[str, str]]:
    """Yields each word of direction with each of the words behind it."""
    for match in _DIRECTION.finditer(text):
        direction = root(match[0].lower().removesuffix(" on"))
        following = _DIRECTION.split(text[match.end() :], maxsplit=1)[0]
        for word in _words_of(following)[:WORDS_BEHIND]:
            yield direction, word


def without_introduction(text: str) -> str:
    """Returns the statement without "no,", "please", "I told you:" and back-ticks, its limits in
    one form.
    """
    bare = _ONE.sub("1", _INTRODUCTION.sub(" ", text).replace("`", ""))
    return _AT_MOST.sub("below ", _AT_LEAST.sub("above ", bare))


def is_past(text: str) -> bool:
    """Returns whether the text is about the past."""
    return _PAST.search(text) is not None or "no longer" in text.lower()


def is_momentary(text: str) -> bool:
    """Returns whether the text is about a state of the moment, which another moment does not
    contradict.
    """
    return _MOMENTARY.search(text) is not None


def _is_name(token: str) -> bool:
    return token[:1].isupper() and (not token.isupper() or (len(token) == 1 and token != "I"))


def _is_finished(previous: str, word: str) -> bool:
    is_past_form = (word.endswith("ed") and not word.endswith("eed")) or word in IRREGULAR
    return is_past_form and previous not in _NO_FINITE


def _words_of(clause: str) -> list[str]:
    """Returns the content words of a clause, without those of general meaning."""
    forms = map(form_of, tokens_of(clause))
    return [form for form in forms if form and form not in LIGHT_ROOTS]


def _denials(text: str, rejected: frozenset[str]) -> Iterator[frozenset[str]]:
    """Yields the words of each denial: of its clause, or what follows "no" and "without".

    "Use uv, not pip" rejects a name and denies nothing, and "never without" demands.
    """
    rejected_roots = {root(name.split()[0]) for name in rejected}
    for clause in CLAUSE_END.split(QUOTATION.sub(" ", text)):
        for match in DENIAL.finditer(clause):
            rest = clause[match.end() :]
            if _DEMAND.search(rest):
                return
            word = match[0].lower()
            following = _words_of(rest)
            denied = following[:DENIED_NOUNS] if word in _OF_NOUNS else _words_of(clause)
            is_rejection = word not in _OF_SUBJECTS
            if following:
                is_rejection = following[0] in rejected_roots
            if denied and not is_rejection:
                yield frozenset(denied)


def _words_behind(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    """Returns the content words between each match and the end of its clause."""
    rests = (text[match.end() :] for match in pattern.finditer(text))
    clauses = (CLAUSE_END.split(rest, maxsplit=1)[0] for rest in rests)
    return frozenset[str]().union(*map(_words_of, clauses))
