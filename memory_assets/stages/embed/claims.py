"""Reads what a sentence claims, and decides whether two sentences make the same claim.

Similarity alone cannot decide: MiniLM ranks near-misses above paraphrases (5432 against 5433:
0.955; never against always force-push: 0.970; a true paraphrase: 0.849 or 0.599), so cosine only
finds candidates. Two claims are the same if they share most of their words, and agree in

- values: the newer one has every number, identifier, name and command of the older one, and no
  other number or flag,
- polarity: none denies, replaces, or has the opposite of, what the other one says,
- mood and time: an order, a guess, a report, a question, and a state of the moment are five claims,
- conditions: neither has a condition or a limit ("only", "unless") that the other one lacks,
- roles: what is before, after, from or by something, and who does it to whom.

Words are shared with synonyms and relatives ("fail", "failure"). The nearer the two are, the fewer
words have to be shared, but no word may stand in the place of another: "The upload failed because
the disk was full" and "The download failed because the disk was full".
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from memory_assets.english.changes import read_changes
from memory_assets.english.opposites import NEGATING, opposites_by
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
_QUOTATION = re.compile(
    r"\"[^\"]*\s[^\"]*\"|“[^”]*”|(?<!\w)'(?:[^']|(?<=\w)'(?=\w))*\s(?:[^']|(?<=\w)'(?=\w))*'(?!\w)"
)
_CLAUSE_END = re.compile(
    r"[;:–—]\s|[()]|[.!?](?:\s|$)|,\s|\s(?:but|because|since|while|so|unless|and)\s", re.I
)
_AT_LEAST = re.compile(r"(?i)\b(?:over|above|more than|at least)\s+(?=\d)")
_AT_MOST = re.compile(
    r"(?i)\b(?:under|below|less than|at most|up to|not (?:be )?(?:more|longer) than)\s+(?=\d)"
)
_ONE = re.compile(
    r"(?i)(?<!the )(?<!no )\b(?:one|single)(?= (?!(?:of|or|and|is|was|are|can|that|who|more"
    r"|another|at|to)\b)[a-z])"
)
_UNITS = word_set("ms second minute hour day week byte kb mb gb percent character line token time")

_DENIAL = re.compile(
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
_ACROSS = {"befor": "after", "after": "befor", "from": "to", "to": "from"}
_PASSIVE = re.compile(
    r"(?i)\b(?:is|are|was|were|be|been|gets?)\s+(?:\w+ly\s+)?\w+(?:ed|en|wn|pt|lt|nt|ne|de)\b"
)
_PAST = re.compile(
    r"(?i)\b(?:was|were|had|used to|previously|formerly|originally|earlier|yesterday|ago|until"
    r"|last (?:week|month|year|night|time)|did)(?:n['’]?t)?\b"
)
_PRESENT = re.compile(r"(?i)\b(?:(?:is|are|does)(?:n['’]?t)?|now)\b")
_NO_FINITE = word_set(
    "is are be been being was were not get gets must should can the a an our any each every of in "
    "to has its"
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

NEAREST, NEAR, REWORDED, FARTHEST = 0.9, 0.85, 0.75, 0.5
"""Cosines from which the least share of words suffices; from which a word of content may be
unshared; from which few words suffice; and of any candidate."""

LEAST_COMMON, ALL_COMMON = 0.6, 0.95
"""Least share of common words, by weight, in one of the two: of the nearest and of the farthest
candidates.
"""

LEAST_OF_BOTH, LEAST_OF_DETAILED = 0.7, 0.5
"""Least share in both together, and where only the newer one has more detail."""

LIGHT_WEIGHT, VALUE_WEIGHT, LEAST_WEIGHT = 0.3, 2.0, 1.9
"""Of a word of general meaning, of a value, and of all common words together; a word weighs 1."""

HALF = 0.5
"""Share of the words outside of code that are common, too."""

MOST_EXCHANGED = 0.15
"""Share of words that may stand in another word's place, none of them among the first ones."""

FIRST = 3
"""Words at the beginning, which name the subject."""

LONG = 8
"""Content words from which a claim is long: a number, a condition or a word of only one of the two
is then a detail.
"""

WORDS_BEHIND, DENIED_NOUNS = 3, 2
"""Words that belong to a word of direction, and that "no" and "without" deny."""

_OPPOSITES, _STATES = opposites_by(root), opposites_by(root, of_states=True)


@dataclass(frozen=True)
class Claim:
    """The parts of a sentence that identify its claim; words are roots."""

    normal: str
    """Its words in lower case, without marks and introduction."""
    content: tuple[str, ...]
    """Its content words and values, in order."""
    families: Mapping[str, str]
    """The family of each of them; of a path that of the file."""
    told: frozenset[str]
    """Those outside of code."""
    opening: str
    """The verb of an order: the first word."""
    specifics: frozenset[str]
    """Identifiers, numbers, and numbers with their units."""
    names: frozenset[str]
    commands: frozenset[str]
    """Code spans of several words."""
    gone: frozenset[str]
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
    first = _CLAUSE_END.split(bare, maxsplit=1)[0]
    gone = frozenset(change.gone for change in read_changes(text))
    codes = _CODE.findall(text)
    opening = (
        ""
        if not tokens or _is_finished("", lower[0]) or lower[0].endswith("ing")
        else form_of(tokens[0])
    )
    return Claim(
        normal=" ".join(word for word in lower if word not in ("please", "always")),
        content=content,
        families={word: family_of(word.rsplit("/", 1)[-1]) for word in content},
        told=frozenset(filter(None, map(form_of, tokens_of(_CODE.sub(" ", text))))),
        opening=opening,
        specifics=frozenset(value_of(token) for token in tokens if SPECIFIC.search(token))
        | _quantities(lower),
        names=frozenset(token.lower() for token in tokens[1:] if _is_name(token))
        | frozenset(form_of(code) for code in codes if code.isalpha() and form_of(code)),
        commands=frozenset(squeezed(code) for code in codes if " " in code.strip()),
        gone=gone,
        denials=tuple(_denials(bare, gone)),
        conditions=_words_behind(_CONDITION, bare),
        is_limited=_LIMIT.search(bare) is not None,
        mood=next(
            (mood for mood, pattern in _MOODS.items() if pattern.search(text)), _moment(first)
        ),
        is_past=True if _PAST.search(first) else False if _PRESENT.search(first) else None,
        finished=frozenset(
            root(word) for before, word in pairwise(["", *lower]) if _is_finished(before, word)
        ),
        is_report=bool(lower) and _is_finished("", lower[0]),
        present=frozenset({opening, *(root(word) for word in lower if word.endswith("s"))} - {""}),
        is_passive=_PASSIVE.search(bare) is not None,
        behind=frozenset(
            (root(match[0].lower().removesuffix(" on")), word)
            for match in _DIRECTION.finditer(bare)
            for word in _words_of(_DIRECTION.split(bare[match.end() :], maxsplit=1)[0])[
                :WORDS_BEHIND
            ]
        ),
    )


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


def _moment(clause: str) -> str:
    return "moment" if _MOMENT_AT_END.search(_CONDITION.split(clause)[0]) else ""


def _is_name(token: str) -> bool:
    return token[:1].isupper() and (not token.isupper() or (len(token) == 1 and token != "I"))


def _is_finished(before: str, word: str) -> bool:
    is_past_form = (word.endswith("ed") and not word.endswith("eed")) or word in IRREGULAR
    return is_past_form and before not in _NO_FINITE


def _words_of(clause: str) -> list[str]:
    """Returns the content words of a clause, without those of general meaning."""
    return [
        form for token in tokens_of(clause) if (form := form_of(token)) and form not in LIGHT_ROOTS
    ]


def _denials(text: str, rejected: frozenset[str]) -> Iterator[frozenset[str]]:
    """Yields the words of each denial: of its clause, or what follows "no" and "without".

    "Use uv, not pip" rejects a name and denies nothing, and "never without" demands.
    """
    for clause in _CLAUSE_END.split(_QUOTATION.sub(" ", text)):
        for match in _DENIAL.finditer(clause):
            word, follow, whole = (
                match[0].lower(),
                _words_of(clause[match.end() :]),
                _words_of(clause),
            )
            if _DEMAND.search(clause[match.end() :]):
                return
            denied = follow[:DENIED_NOUNS] if word in _OF_NOUNS else whole
            is_rejection = (
                any(root(name.split()[0]) == follow[0] for name in rejected)
                if follow
                else word not in _OF_SUBJECTS
            )
            if denied and not is_rejection:
                yield frozenset(denied)


def _words_behind(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    """Returns the content words between each match and the end of its clause."""
    ends = (match.end() for match in pattern.finditer(text))
    return frozenset(
        word for end in ends for word in _words_of(_CLAUSE_END.split(text[end:], maxsplit=1)[0])
    )


def _quantities(lower: list[str]) -> set[str]:
    """Returns number words in digits, and every number together with its unit."""
    found = {NUMBERS[word] for word in lower if word in NUMBERS}
    for word, after in pairwise([*lower, ""]):
        number, unit = NUMBERS.get(word, word), after.removesuffix("s") if after != "ms" else after
        if number[:1].isdigit() and unit in _UNITS:
            found.add(f"{number} {unit}")
    return found


def same_claim(newer: str, older: str, similarity: float) -> str | None:
    """Returns why the two merge, or None; the newer wording must contain every value of the older
    one.
    """
    a, b = read_claim(newer), read_claim(older)
    if newer == older or (a.normal and a.normal == b.normal):
        return "same words"
    least = _least_common(similarity)
    common = frozenset(a.families.values()) & frozenset(b.families.values())
    if not (a.told and b.told) or len(common) < least * min(len(a.families), len(b.families)) / 2:
        # before the costlier comparisons; a value can be in the other claim in another form
        return None
    ours, theirs = _missing(a, b), _missing(b, a)
    if not _share_words(a, b, ours, theirs, similarity) or any(
        differ(a, b) for differ in _DIFFERENCES
    ):
        return None
    if a.words == b.words:
        return "same words in another order"
    if ours | theirs <= LIGHT_ROOTS:
        return "same words but for general ones"
    return "same claim in other words" if ours and theirs else "same claim, one with more detail"


def _least_common(similarity: float) -> float:
    far = min(max((NEAREST - similarity) / (NEAREST - FARTHEST), 0), 1)
    return LEAST_COMMON + far * (ALL_COMMON - LEAST_COMMON)


def _missing(claim: Claim, other: Claim) -> frozenset[str]:
    """Returns the words that the other claim lacks."""
    known = frozenset(other.families.values())
    return frozenset(
        word
        for word, family in claim.families.items()
        if family not in known and not _has(other, word)
    )


def _has(claim: Claim, value: str) -> bool:
    """Returns whether the claim has the value: itself, in a path, or in parts."""
    if value in claim.specifics or value in claim.families or root(value) in claim.families:
        return True
    if any(f"/{value}/" in f"/{one}/" for one in claim.specifics if "/" in one):
        return True
    parts = [part for part in re.split(r"[/=]", value) if part]
    return len(parts) > 1 and all(
        part in claim.specifics or root(part) in claim.families for part in parts
    )


def _share_words(
    a: Claim, b: Claim, ours: frozenset[str], theirs: frozenset[str], similarity: float
) -> bool:
    """Returns whether the two have enough words in common for their similarity, and none that
    stands in another's place.
    """
    size, other_size, left, other_left = map(_weight, (a.words, b.words, ours, theirs))
    if size - left < LEAST_WEIGHT + (similarity < REWORDED) or 1 - min(
        left / size, other_left / other_size
    ) < _least_common(similarity):
        return False
    ours, theirs = ours - LIGHT_ROOTS, theirs - LIGHT_ROOTS
    if not (ours or theirs):
        return True
    if similarity < NEAR or a.opening in ours or b.opening in theirs:
        return False
    told, other_told = ({claim.families.get(word, word) for word in claim.told} for claim in (a, b))
    if len(told & other_told) < HALF * min(len(told), len(other_told)):
        return False
    of_both = 1 - (left + other_left) / (size + other_size)
    return (
        of_both >= (LEAST_OF_BOTH if theirs else LEAST_OF_DETAILED)
        and _exchanged(a, b, ours | theirs) <= MOST_EXCHANGED
    )


def _weight(words: Iterable[str]) -> float:
    return sum(
        LIGHT_WEIGHT if word in LIGHT_ROOTS else 1 if word.isalpha() else VALUE_WEIGHT
        for word in words
    )


def _exchanged(a: Claim, b: Claim, unshared: frozenset[str]) -> float:
    """Returns the share of unshared words that stand in the place of another one, in one
    construction; 1 for the subject.
    """
    families = [[claim.families[word] for word in claim.content] for claim in (a, b)]
    steps = SequenceMatcher(None, *families, autojunk=False).get_opcodes()
    spans = [
        (i1, a.content[i1:i2], b.content[j1:j2])
        for what, i1, i2, j1, j2 in steps
        if what == "replace"
    ]
    least = 2 if min(len(a.families), len(b.families)) >= LONG else 1
    contrasts = [
        start
        for start, one, other in spans
        if max(len(one), len(other)) <= 2
        and not (LIGHT_ROOTS.issuperset(one) or LIGHT_ROOTS.issuperset(other))
        and sum(not unshared.isdisjoint(side) for side in (one, other)) >= least
    ]
    return (
        1.0
        if any(start < FIRST for start in contrasts)
        else len(contrasts) / min(len(a.told), len(b.told))
    )


def _differ_in_values(a: Claim, b: Claim) -> bool:
    """Returns whether the newer claim lacks a value, or has another number (unless as a detail),
    command or flag.
    """
    numbers = {value for value in a.specifics if any(map(str.isdigit, value))}
    is_detail = min(len(a.words), len(b.words)) >= LONG or _missing(b, a) <= LIGHT_ROOTS
    if not all(_has(a, value) for value in b.specifics | b.names) or not (
        is_detail or numbers <= b.specifics
    ):
        return True
    if any(
        one != other and one.split()[0] == other.split()[0]
        for one in a.commands
        for other in b.commands
    ):
        return True
    flags, others = ({word for word in claim.content if word.startswith("-")} for claim in (a, b))
    return flags != others and bool(flags and others)


def _differ_in_polarity(a: Claim, b: Claim) -> bool:
    """Returns whether the one denies or replaces what the other one asserts."""
    return bool(opposition(a, b)) or any(name in b.normal for name in a.gone - b.gone)


def opposition(a: Claim, b: Claim, *, of_states: bool = False) -> list[frozenset[str]]:
    """Returns what in the one is the opposite of the other: pairs of opposite words, and words that
    one of them denies.
    """
    table = _STATES if of_states else _OPPOSITES
    only_a, only_b = a.words - b.words, b.words - a.words
    pairs = [
        frozenset({one, other})
        for one in only_a
        for other in _opposites(one, table) & only_b
        if (one == a.opening) == (other == b.opening)
    ]
    found = [pair for pair in pairs if bool(pair & a.denied) == bool(pair & b.denied)]
    for one, other in ((a, b), (b, a)):
        found += [
            denied
            for denied in one.denials
            if 2 * len(denied & (other.words - other.denied)) > len(denied)
        ]
    return found


def _opposites(word: str, table: Mapping[str, frozenset[str]]) -> frozenset[str]:
    prefixed = {prefix + word for prefix in NEGATING} | {
        word.removeprefix(prefix) for prefix in NEGATING
    }
    return table.get(word, frozenset()) | (prefixed - {word})


def _differ_in_mood(a: Claim, b: Claim) -> bool:
    """Returns whether the two are of different moods, or no plain statements and of different
    words.
    """
    is_long = min(len(a.words), len(b.words)) >= LONG
    return a.mood != b.mood or (
        a.words != b.words and a.mood not in ("", "guess", "moment" if is_long else "")
    )


def _differ_in_time(a: Claim, b: Claim) -> bool:
    """Returns whether one is about the past and the other about the present: was and is, used and
    uses, report and order.
    """
    if any(
        one.is_report and not (other.finished or other.is_past or other.is_passive)
        for one, other in ((a, b), (b, a))
    ):
        return True
    if None not in (a.is_past, b.is_past):
        return a.is_past != b.is_past
    return not (a.finished.isdisjoint(b.present) and b.finished.isdisjoint(a.present))


def _differ_in_conditions(a: Claim, b: Claim) -> bool:
    """Returns whether one has a condition or a limit that the other one lacks, unless as a detail
    of the newer one.
    """
    is_long = min(len(a.words), len(b.words)) >= LONG
    pairs = [(b, a)] if is_long else [(a, b), (b, a)]
    if any(
        2 * len(one.conditions & _missing(one, other)) > len(one.conditions)
        for one, other in pairs
        if one.conditions
    ):
        return True
    return any(
        one.is_limited and not (other.is_limited or other.conditions) for one, other in pairs
    )


def _differ_in_roles(a: Claim, b: Claim) -> bool:
    """Returns whether the same words stand on the other sides of a word.

    Different words follow the same word of direction, one word follows "before" and "after", or
    subject and object are exchanged.
    """
    if any((_ACROSS.get(way), word) in b.behind for way, word in a.behind - b.behind):
        return True
    if a.is_passive == b.is_passive and _triples(a) & {triple[::-1] for triple in _triples(b)}:
        return True
    ways = {way for way, _ in a.behind} & {way for way, _ in b.behind} - {"to"}
    return any(
        {w for d, w in a.behind if d == one}.isdisjoint(w for d, w in b.behind if d == one)
        for one in ways
    )


def _triples(claim: Claim) -> frozenset[tuple[str, ...]]:
    """Returns the words that follow one another, three by three, without repeated ones."""
    words = [word for word in claim.content if claim.content.count(word) == 1]
    return frozenset(zip(words, words[1:], words[2:], strict=False))


_DIFFERENCES = (
    _differ_in_values,
    _differ_in_polarity,
    _differ_in_mood,
    _differ_in_time,
    _differ_in_conditions,
    _differ_in_roles,
)
