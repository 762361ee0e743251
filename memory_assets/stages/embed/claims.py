"""Reads what a sentence claims, and decides whether two sentences make the same claim.

A claim has a subject and a relation (its content words), values (numbers with units, identifiers, names), a polarity (which of
its words it denies), a time and conditions. Similarity alone cannot decide: MiniLM ranks near-misses above paraphrases (5432
against 5433: 0.955; never against always force-push: 0.970; a true paraphrase: 0.849 or 0.599), so cosine only finds
candidates. Two claims are the same if

- every value of the older one is in the newer one, and no number, command, condition or direction ("before", "depends on")
  differs,
- none denies, or has the opposite of, what the other one says, and both are of one time and one mood: a guess, an order and a
  report of the same thing are three claims,
- one has the other's words, or most of them in another construction. The same construction around another word is another
  claim: "The upload failed because the disk was full" and "The download failed because the disk was full".
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from memory_assets.stages.embed.changes import read_changes
from memory_assets.text.opposites import NEGATING, opposites_by
from memory_assets.text.words import squeezed, word_set

_NO_CLAIM = re.compile(
    r"(?i)^\W*(?:(?:(?:no|yes)(?=\s*[,:!.–—])|ok(?:ay)?|so|well|and|but|again|also|please|let['’]?s|actually|wait|hm+|oh|"
    r"sorry|by the way|btw|i (?:have )?(?:told|said)(?: \w+){0,2}(?=:)|(?:remember|note|reminder)(?: that|(?=:)))"
    r"\b[\s,:!.–—-]+)+|\bfrom now on\b"
)
"""How a statement is introduced."""

_TOKEN = re.compile(r"[\w./:@#~+-]*\w[\w./:@#~+-]*", re.UNICODE)
_SPECIFIC = re.compile(r"\d|[/_@#~]|\w\.\w|[a-z][A-Z]|^--?\w")
_DENIAL = re.compile(
    r"(?i)\b(?:not|no|never|none|nobody|nothing|without|cannot|nor|avoid|stop|(?:do|does|did|is|are|was|were|wo|ca|should|must|"
    r"need|could|would|has|have)n['’]?t)\b(?! (?:only|just)\b)"
)
_OF_NOUNS = word_set("no without none nobody nothing")
_CLAUSE_END = re.compile(r"[;:–—]\s|[()]|[.!?](?:\s|$)|,\s|\s(?:but|because|since|while|so|unless|and)\s", re.I)
_CONDITION = re.compile(r"(?i)\b(?:if|unless|only|except|without|but|by default)\b")
_ASIDE = re.compile(r"\([^()]*\)")
_TIME = re.compile(r"(?i)\b(?:until|when|whenever|while)\b")
_CODE = re.compile(r"`([^`]+)`")
_QUOTATION = re.compile(r"\"[^\"]*\s[^\"]*\"|“[^”]*”|(?<!\w)'(?:[^']|(?<=\w)'(?=\w))*\s(?:[^']|(?<=\w)'(?=\w))*'(?!\w)")
_PAST = re.compile(
    r"(?i)\b(?:was|were|had|used to|previously|formerly|earlier|originally|at first|back then|yesterday|ago|until|"
    r"last (?:week|month|year|night|time)|didn['’]?t|wasn['’]?t|weren['’]?t)\b"
)
_PRESENT = re.compile(r"(?i)\b(?:is|are|isn['’]?t|aren['’]?t|does|doesn['’]?t|now)\b")
_PASSIVE = re.compile(r"(?i)\b(?:is|are|was|were|be|been|gets?)\s+(?:\w+ly\s+)?\w+(?:ed|en|wn|pt|lt|nt|ne|de)\b")
_FINITE_S = re.compile(r"(?i)\b([a-z]{3,}s)\b")
_MOMENT = (
    r"(?:pass|passes|passing|fails?|failing|failed|failure|green|red|broken|fixed|done|running|stuck|finished|ready|pushed|merged|"
    r"committed|open|opened|closed|clean|dirty|found|works?|working|needed|necessary|sure|left|today|currently)"
)
_MOMENTARY = re.compile(
    rf"(?i)\b(?:is|are|isn't|aren't|be|been|not|still|now|all|tests?|ci|build|it)\s+(?:not\s+|still\s+|all\s+|now\s+)?{_MOMENT}\b"
    rf"|\b{_MOMENT}\W*$"
)
_STATE_AT_END = re.compile(rf"(?i)(?<!must be )(?<!should be )\b{_MOMENT}(?:\s+(?:now|again|too|clean|cleanly))?\W*$")
_INTENTION = re.compile(
    r"(?i)^\W*(?:now|next|then|let me|let us|i['’]ll|i['’]m|i['’]d|can you|could you|"
    r"[a-z]{3,}ing (?:for|on|the|and|now|that|it|a|my|your|all|to))\b|:\s*$"
)
"""What is about to be done, and a line that only introduces what follows."""

_GUESS = re.compile(r"(?i)\b(?:could|might|maybe|perhaps|probably|likely|(?:must|may|should) have|seems?)\b")
_DIRECTION = re.compile(
    r"(?i)\b(?:before|after|over|(?<!rather )than|from|into|to|by|depends? on|calls?|imports?|extends|owns|blocks)\b"
)
_ACROSS = {"befor": "after", "after": "befor", "from": "to", "to": "from"}
STOP = word_set("""a an and are as at be been being but by do does did for from had has have if in into is it its of on or
    our so than that the their then there these they this those to was we were when which who will with you your i me my he
    she his her us them also just all any every each both always please must should shall may might can could would need
    want like prefer owner user ok okay now let lets not no never none nothing nobody cannot nor avoid stop without only
    don't doesn't didn't isn't aren't wasn't weren't won't can't shouldn't mustn't needn't couldn't wouldn't hasn't haven't
    don doesn didn isn aren wasn weren won shouldn mustn needn couldn wouldn hasn haven ll ve re ever while because since
    instead rather over before after such merely simply actually basically explicitly clearly currently get gets bitte""")
"""Words without content of their own: grammar, politeness, modality and denial (which is read separately)."""

LIGHT = word_set("""use make get put take give keep go goes come appear belong mean say tell add set live stay hold store write
    show touch access thing people person part way one kind case very really directly straight still above below other
    another require allow""")
"""Words of general meaning, which a rewording exchanges freely."""

_AT_LEAST = re.compile(r"(?i)\b(?:over|above|more than|at least|not less than)\s+(?=\d)")
_AT_MOST = re.compile(r"(?i)\b(?:under|below|less than|fewer than|at most|up to|not more than)\s+(?=\d)")
_NUMBERS: dict[str, str] = dict(
    zip("two three four five six seven eight nine ten eleven twelve".split(), map(str, range(2, 13)), strict=True)
)
_UNITS = word_set("""ms second minute hour day week month quarter year byte kb mb gb tb percent character line token time""")
NEAREST, NEAR, REWORDED = 0.9, 0.85, 0.75
"""Cosines from which most words in common suffice, nearly all do, and two equal ones do; below, three equal ones are needed."""

DENIED_NOUNS = 2
"""Words that "no" and "without" deny."""

HALF, MOST, NEARLY_ALL = 0.5, 0.6, 0.75
"""Shares of common words: with more detail in one of the two, in a long or very near rewording, and in any other rewording."""

LEAST_OF_BOTH = 0.55
"""Twice the common words by the words of both, in a very near rewording."""

MOST_EXCHANGED = 0.15
"""Share of words that may stand in another word's place; with less than seven words none may."""

LONG = 8
"""Content words from which a claim is long; a number that only the newer one has is then a detail."""


def root(word: str) -> str:
    """Returns the word without its inflection: "adding", "added" and "adds" are "add"."""
    if not word.isalpha():
        return word
    word = _IRREGULAR.get(word, word)
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    ending = next((end for end, least in _ENDINGS if word.endswith(end) and len(word) - len(end) >= least), "")
    bare = word if word.endswith("ss") else word.removesuffix(ending)
    if ending in ("ing", "ed") and len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "sl":
        bare = bare[:-1]
    return bare.removesuffix("e") if len(bare) > 3 else bare


_IRREGULAR_FORMS = """
    made:make done:do ran:run written:write wrote:write kept:keep sent:send held:hold built:build chosen:choose
    chose:choose taken:take took:take given:give gave:give shown:show began:begin begun:begin found:find left:leave
    said:say told:tell thrown:throw drawn:draw known:know broken:break spoken:speak brought:bring bought:buy
    spent:spend
"""
_IRREGULAR: dict[str, str] = {past: verb for past, _, verb in (pair.partition(":") for pair in _IRREGULAR_FORMS.split())}
_AUXILIARIES = word_set("is are be been being was were not get gets must should can")
_ENDINGS = (("ations", 5), ("ation", 5), ("ing", 3), ("ed", 3), ("es", 3), ("ly", 4), ("s", 3))
_STOP_ROOTS = frozenset(map(root, STOP)) | STOP
_LIGHT_ROOTS = frozenset(map(root, LIGHT))
_OPPOSITES, _STATES = opposites_by(root), opposites_by(root, of_states=True)


@dataclass(frozen=True)
class Claim:
    """The parts of a sentence that identify its claim."""

    normal: str
    """Its words in lower case, without marks and introduction."""
    content: tuple[str, ...]
    """Roots of its content words and its values, in order."""
    specifics: frozenset[str]
    """Identifiers, numbers, and numbers with their units."""
    names: frozenset[str]
    denied: frozenset[str]
    """Roots that it denies."""
    denials: tuple[frozenset[str], ...]
    conditions: frozenset[str]
    """Roots in its conditions."""
    times: frozenset[str]
    """Roots in its clauses of time."""
    behind: frozenset[tuple[str, str]]
    """Words of direction, each with the next word."""
    is_past: bool | None
    """Whether it is about the past; None if its verb does not say."""
    is_passive: bool
    is_momentary: bool
    """Whether it is about a state of the moment: saying it again later is another statement."""
    commands: frozenset[str]
    """Its code spans of several words."""
    plain: frozenset[str]
    """Its content words that are no values and not in code."""
    size: int
    """Number of its content words and values outside of commands."""

    @property
    def words(self) -> frozenset[str]:
        """Its content words, without order."""
        return frozenset(self.content)

    @property
    def is_negated(self) -> bool:
        """Whether it denies something."""
        return len(self.denials) % 2 == 1


@lru_cache(maxsize=65_536)
def read_claim(text: str) -> Claim:
    """Returns the parts of the sentence."""
    bare = without_introduction(text)
    tokens = tokens_of(bare)
    content = tuple(form for token in tokens if (form := form_of(token)))
    names = {
        token.lower()
        for token in tokens[1:]
        if token[:1].isupper() and (not token.isupper() or (len(token) == 1 and token != "I"))
    }
    first = _CLAUSE_END.split(bare, maxsplit=1)[0]
    commands = [squeezed(code) for code in _CODE.findall(text) if " " in code.strip()]
    denials = tuple(_denials(bare, frozenset(change.gone for change in read_changes(text))))
    return Claim(
        normal=" ".join(token.lower() for token in tokens if token.lower() not in ("please", "always")),
        content=content,
        specifics=frozenset(_plain(token) for token in tokens if _SPECIFIC.search(token)) | _quantities(tokens),
        names=frozenset(names),
        denied=frozenset().union(*denials),
        denials=denials,
        conditions=_words_behind(_CONDITION, _ASIDE.sub(" ", bare)),
        times=_words_behind(_TIME, bare),
        behind=_behind(bare),
        is_past=_tense(first),
        is_passive=_PASSIVE.search(bare) is not None,
        is_momentary=_STATE_AT_END.search(first) is not None,
        commands=frozenset(commands),
        size=len(content) - sum(bool(form_of(token)) for code in commands for token in tokens_of(code)),
        plain=frozenset(form for token in tokens_of(_CODE.sub(" ", text)) if (form := form_of(token)) and form.isalpha()),
    )


def without_introduction(text: str) -> str:
    """Returns the statement without "no,", "please", "I told you:" and back-ticks, its limits in one form."""
    bare = _NO_CLAIM.sub(" ", text).replace("`", "")
    return _AT_MOST.sub("below ", _AT_LEAST.sub("above ", bare))


def tokens_of(text: str) -> list[str]:
    """Returns the words, numbers and identifiers of the text in order, as they are written."""
    return [token for token in (found.strip(".,:;+~").rstrip("-/") for found in _TOKEN.findall(text)) if token]


def is_past(text: str) -> bool:
    """Returns whether the text is about the past."""
    return _PAST.search(text) is not None or "no longer" in text.lower()


def is_momentary(text: str) -> bool:
    """Returns whether the text is about a state of the moment, which another moment does not contradict."""
    return _MOMENTARY.search(text) is not None


def _tense(clause: str) -> bool | None:
    return True if _PAST.search(clause) else False if _PRESENT.search(clause) else None


def _plain(token: str) -> str:
    """Returns the identifier in lower case; a version without its "v"."""
    return re.sub(r"^v(?=\d)", "", token.lower())


def form_of(token: str) -> str:
    """Returns what a token counts as in a claim: a value as it is, a word by its root, nothing if it has no content."""
    low = token.lower().replace("’", "'")
    if _SPECIFIC.search(token):
        return _plain(token)
    form = _NUMBERS.get(low) or root(low)
    return "" if low in STOP or form in _STOP_ROOTS or (len(form) < 2 and not form.isdigit()) else form


def _words_of(clause: str) -> list[str]:
    """Returns the content words of a clause, without those of general meaning."""
    return [form for token in tokens_of(clause) if (form := form_of(token)) and form not in _LIGHT_ROOTS]


def _denials(text: str, rejected: frozenset[str]) -> Iterable[frozenset[str]]:
    """Yields the words of each denial: of its clause, or what follows "no" and "without".

    "Use uv, not pip" rejects a name and denies nothing.
    """
    for clause in _CLAUSE_END.split(_QUOTATION.sub(" ", text)):
        for match in _DENIAL.finditer(clause):
            follow = _words_of(clause[match.end() :])
            if follow and not any(follow[0] == root(name.split()[0]) for name in rejected):
                yield frozenset(follow[:DENIED_NOUNS] if match[0].lower() in _OF_NOUNS else _words_of(clause))


def _words_behind(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    """Returns the content words between each match and the end of its clause."""
    ends = (match.end() for match in pattern.finditer(text))
    return frozenset(word for end in ends for word in _words_of(_CLAUSE_END.split(text[end:], maxsplit=1)[0]))


def _quantities(tokens: Sequence[str]) -> set[str]:
    """Returns number words in digits, and every number together with its unit."""
    found = {_NUMBERS[token.lower()] for token in tokens if token.lower() in _NUMBERS}
    for token, after in pairwise([*tokens, ""]):
        number, unit = _NUMBERS.get(token.lower(), token), after.lower().removesuffix("s") if after != "ms" else after
        if number[:1].isdigit() and unit in _UNITS:
            found.add(f"{number} {unit}")
    return found


def _behind(text: str) -> frozenset[tuple[str, str]]:
    found = set()
    for match in _DIRECTION.finditer(text):
        if word := next(iter(_words_of(text[match.end() :])), None):
            found.add((root(match.group().lower().removesuffix(" on")), word))
    return frozenset(found)


def same_claim(newer: str, older: str, similarity: float) -> str | None:
    """Returns why the two merge, or None; the newer wording must contain every value of the older one."""
    a, b = read_claim(newer), read_claim(older)
    if newer == older or (a.normal and a.normal == b.normal):
        return "same words"
    if similarity < REWORDED and 2 * len(a.words & b.words) < len(a.words | b.words):
        return None  # before the costlier comparisons
    ours, theirs = _left(a, b), _left(b, a)
    covers, is_covered = theirs <= _LIGHT_ROOTS, ours <= _LIGHT_ROOTS
    common = max(len(a.words) - len(ours), len(b.words) - len(theirs))
    if similarity < REWORDED and not (covers and is_covered and common > 2):
        return None
    if not (a.plain and b.plain) or _differ_in_mood(a, b, newer, older):
        return None
    if not (_has_values_of(a, b, covers) and not opposition(a, b)) or _differ_in_relation(a, b, newer, older):
        return None
    if a.words == b.words:
        return "same words in another order"
    if covers and is_covered and common > 1:
        return "same words but for general ones"
    if similarity < NEAR or _opening(newer) in ours - _LIGHT_ROOTS or _opening(older) in theirs - _LIGHT_ROOTS:
        return None
    if (covers or is_covered) and common >= HALF * max(len(a.words), len(b.words)):
        return "same claim, one with more detail" if common > 2 or _state_one_change(newer, older) else None
    is_nearest, unshared = similarity >= NEAREST, (ours | theirs) - _LIGHT_ROOTS
    least = MOST if is_nearest or _are_long(a, b) else NEARLY_ALL
    of_both = LEAST_OF_BOTH if is_nearest else least
    is_shared = common >= least * min(len(a.words), len(b.words)) and 2 * common >= of_both * (len(a.words) + len(b.words))
    is_told = len(a.plain & b.plain) >= HALF * min(len(a.plain), len(b.plain))
    return "same claim in other words" if is_shared and is_told and _exchanged(a, b, unshared) <= MOST_EXCHANGED else None


def _are_long(a: Claim, b: Claim) -> bool:
    return min(len(a.words), len(b.words)) >= LONG


def _differ_in_mood(a: Claim, b: Claim, newer: str, older: str) -> bool:
    """Returns whether only one is a guess or an intention, or the two are about different moments."""
    intended, guessed = ([pattern.search(text) is not None for text in (newer, older)] for pattern in (_INTENTION, _GUESS))
    if intended[0] != intended[1] or guessed[0] != guessed[1]:
        return True
    is_momentary = a.is_momentary != b.is_momentary or (a.is_momentary and not _are_long(a, b))
    return a.words != b.words and (any(intended) or is_momentary)


def _has_values_of(a: Claim, b: Claim, covers: bool) -> bool:
    """Returns whether the newer claim has every value of the older one, and no other number unless as a detail."""
    has_all = all(_has(a, value) for value in b.specifics | b.names)
    return has_all and (covers or _are_long(a, b) or _numbers(a) <= b.specifics)


def _differ_in_relation(a: Claim, b: Claim, newer: str, older: str) -> bool:
    """Returns whether the words of the two are related otherwise."""
    if _states_replacement(newer, older) or _differ_in_time(a, b, newer, older):
        return True
    return _are_reversed(a, b) or _differ_in_condition(a, b) or _differ_in_command(a, b)


def _state_one_change(newer: str, older: str) -> bool:
    changes = ({(change.gone, change.came) for change in read_changes(text)} for text in (newer, older))
    return bool(set.intersection(*changes))


def _differ_in_time(a: Claim, b: Claim, newer: str, older: str) -> bool:
    """Returns whether one is about the past and the other about the present: was and is, used and uses."""
    texts = ((newer, older), (older, newer))
    if any(_opening(one) in _finished(other) for one, other in texts):
        return True
    if None not in (a.is_past, b.is_past):
        return a.is_past != b.is_past
    return any(_finished(one) & frozenset(map(root, _FINITE_S.findall(other.lower()))) for one, other in texts)


def _finished(text: str) -> frozenset[str]:
    """Returns the roots of the verbs in a past form, apart from those of a passive."""
    tokens = [token.lower() for token in tokens_of(without_introduction(text))]
    return frozenset(root(one) for before, one in pairwise(["", *tokens]) if _is_finished(one) and before not in _AUXILIARIES)


def _is_finished(word: str) -> bool:
    return (word.endswith("ed") and not word.endswith("eed")) or word in _IRREGULAR


def _has(claim: Claim, value: str) -> bool:
    """Returns whether the claim has the value: itself, in a path, or in parts."""
    paths = (f"/{one}/" for one in claim.specifics if "/" in one)
    if value in claim.specifics or {value, root(value)} & claim.words or any(f"/{value}/" in path for path in paths):
        return True
    parts = [part for part in re.split(r"[/=]", value) if part]
    return len(parts) > 1 and all(part in claim.specifics or root(part) in claim.words for part in parts)


def _states_replacement(newer: str, older: str) -> bool:
    """Returns whether the newer sentence says that something was replaced which the older one only names."""
    gone = {change.gone for change in read_changes(newer)} - {change.gone for change in read_changes(older)}
    return any(name in read_claim(older).normal for name in gone)


def _numbers(claim: Claim) -> frozenset[str]:
    return frozenset(token for token in claim.specifics if any(ch.isdigit() for ch in token))


def _left(claim: Claim, other: Claim) -> frozenset[str]:
    """Returns the words that the other claim lacks."""
    return frozenset(word for word in claim.words - other.words if not _has(other, word))


def opposition(a: Claim, b: Claim, *, of_states: bool = False) -> list[frozenset[str]]:
    """Returns what in the one is the opposite of the other: pairs of opposite words, and words that one of them denies."""
    table = _STATES if of_states else _OPPOSITES
    only_a, only_b = a.words - b.words, b.words - a.words
    pairs = [frozenset({one, other}) for one in only_a for other in _opposites(one, table) & only_b]
    for one, other in ((a, b), (b, a)):
        pairs += [denied for denied in one.denials if 2 * len(denied & (other.words - other.denied)) > len(denied)]
    return pairs


def _opposites(word: str, table: Mapping[str, frozenset[str]]) -> frozenset[str]:
    prefixed = {prefix + word for prefix in NEGATING} | {word.removeprefix(prefix) for prefix in NEGATING}
    return table.get(word, frozenset()) | (prefixed - {word})


def _are_reversed(a: Claim, b: Claim) -> bool:
    """Returns whether the same words stand on the other sides of a word.

    Different words follow the same word of direction, one word follows "before" and "after", or subject and object are
    exchanged.
    """
    for one, other in ((a, b), (b, a)):
        if any((_ACROSS.get(way), word) in other.behind for way, word in one.behind - other.behind):
            return True
    directions = {way for way, _ in a.behind} & {way for way, _ in b.behind} - {"to"}
    if a.is_passive == b.is_passive and _triples(a) & {triple[::-1] for triple in _triples(b)}:
        return True
    return any({w for d, w in a.behind if d == one}.isdisjoint(w for d, w in b.behind if d == one) for one in directions)


def _triples(claim: Claim) -> frozenset[tuple[str, ...]]:
    """Returns the words that follow one another, three by three, without repeated ones."""
    words = [word for word in claim.content if claim.content.count(word) == 1]
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _opening(text: str) -> str:
    """Returns the root of the first word, which in an order is its verb; empty if it has no content or is in the past."""
    first = next(iter(tokens_of(without_introduction(text))), "")
    return "" if _is_finished(first.lower()) or first.endswith("ing") else form_of(first)


def _differ_in_command(a: Claim, b: Claim) -> bool:
    """Returns whether one has a command that the other one has otherwise, or flags of its own beside the other's flags."""
    pairs = ((one, other) for one in a.commands for other in b.commands)
    if any(one != other and one.split()[0] == other.split()[0] for one, other in pairs):
        return True
    flags, others = ({word for word in claim.content if word.startswith("-")} for claim in (a, b))
    return flags != others and bool(flags and others)


def _differ_in_condition(a: Claim, b: Claim) -> bool:
    """Returns whether one has a condition that the other one lacks, or the newer one lacks a clause of time."""
    clauses = ((a.conditions, b), (b.conditions, a), (b.times, a))
    if any(one.conditions and not (other.conditions or other.times) for one, other in ((a, b), (b, a))):
        return True
    return any(2 * len(words - other.words) > len(words) for words, other in clauses if words)


def _exchanged(a: Claim, b: Claim, unshared: frozenset[str]) -> float:
    """Returns the share of unshared words that stand in the place of another one, within one construction."""
    steps = SequenceMatcher(None, a.content, b.content, autojunk=False).get_opcodes()
    pairs = [(a.content[i1:i2], b.content[j1:j2]) for what, i1, i2, j1, j2 in steps if what == "replace"]
    short = [pair for pair in pairs if max(map(len, pair)) <= 2]
    return sum(min(len(unshared.intersection(side)) for side in pair) for pair in short) / max(min(a.size, b.size), 1)
