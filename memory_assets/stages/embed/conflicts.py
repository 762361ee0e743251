"""Decides whether two statements about one subject contradict each other, and how.

Invalidating facts by similarity hits unrelated ones, so a conflict is read from the words; in doubt there is none:

    replaced      the newer one says that what the older one asserts was replaced by something else
    opposite      the same words, one with and one without a "not" (or enabled and disabled, required and optional)
    other value   the same words around another value, in a place that holds one value at a time: a port, a limit, a
                  version something runs on, one of several tools that exclude each other

Flags, paths, positions in a list, measurements, momentary states and statements about the past conflict with nothing. Who said
it, and which of the two holds, is decided in `memories`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory_assets.stages.embed.claims import Change, Claim, clauses, is_past, read_changes, read_claim, stem_pairs, tokens_of
from memory_assets.stages.embed.project import concept_words
from memory_assets.text.words import stem, word_set

REPLACED, OPPOSITE, OTHER_VALUE = "replaced", "opposite", "other value"

CONSIDERED_FROM = 0.5
"""Cosine from which two statements are compared by their words."""

_HALF, _NEARLY_ALL = 0.5, 0.8
"""Shares of common words: with the subject of a change, and between two statements that differ in a negation."""

_ALTERNATIVES = tuple(map(word_set, (
    "tabs spaces", "uv pip poetry conda pipenv pdm", "npm pnpm yarn bun", "pytest unittest nose", "jest vitest mocha",
    "squash rebase merge", "main master trunk", "postgres postgresql mysql mariadb sqlite", "redis memcached",
    "heroku fly hetzner render vercel netlify", "jenkins buildkite circleci", "snake_case camelcase kebab-case",
    "single double", "light dark", "sync async synchronous asynchronous", "sha1 sha256", "http https", "british american",
    "monday tuesday wednesday thursday friday saturday sunday", "mondays tuesdays wednesdays thursdays fridays",
)))  # fmt: skip
"""Exclusive choices: choosing one of a group rejects the others."""

_OPPOSED = stem_pairs(
    "enable disable, enabled disabled, allow deny, allowed denied, allow forbid, allowed forbidden, required optional, "
    "mandatory optional, true false, include exclude, public private, before after"
)


def _stem_set(words: str) -> frozenset[str]:
    """Returns the stems of the words, which are separated by white space."""
    return frozenset(map(stem, words.split()))


_NEGATIONS = _stem_set("""not no never none without cannot nor avoid stop don't doesn't isn't aren't won't can't shouldn't
    didn't wasn't mustn't don doesn isn aren won can shouldn mustn""")
_FILLING = _stem_set("""always must should shall please ok okay fine allowed may can do does ever just also still already only
    we the an""")
_TAKING = _stem_set("""always use run prefer choose switch switched move moving moved migrate migrated replace replaced now with
    for please must every second minute hour day s re ve ll""")
_MOMENTARY = word_set("""pass passes passing fail fails failing failed failure green red broken fixed done running stuck
    finished ready pushed merged committed open opened closed clean dirty found work works working needed necessary sure left
    today currently""")
"""Momentary states: both statements can be right at different moments."""

_EPISODE = word_set("""problem issue error bug fix change commit task coverage count total size duration speed latency
    throughput score ratio progress remaining status result""")
"""Belongs to one piece of work, or is measured again each time."""

_EACH = re.compile(r"\b(?:every|each|any|all|no)\b", re.IGNORECASE)
_LISTED = word_set("""step item point phase option adr issue pr line lines chapter section milestone part row case round attempt
    task rule question figure table commit ticket story level day week example batch test tests""")
"""Words before a number that is only an index."""

_PLAIN_FILLING = word_set("the our now always please must should currently")
_SEVERAL = re.compile(
    r"(?i)\b(?:also|or|either|both|such as|for example|e\.g\.|one of|another|some|besides|as well|including|sometimes|usually|"
    r"(?:^|\s)an?\s+\w+\s+(?:is|are))\b"
)
_HEDGED = re.compile(r"\?\W*$|\b(?:could|might|maybe|perhaps|probably|consider|what if|will|would|going to|wonder)\b", re.I)
_BE = word_set("is are be stays remains equals = :")
_HOLDS_ONE = word_set("""port version region zone timeout limit branch default deadline interval budget threshold width length
    name tag model maximum minimum max min retries reviewers replicas workers dimension owner maintainer license""")
_SET = re.compile(
    r"(?:\b(?:runs?|runs? only|listens?|lives?|hosted|deployed|pinned|set|defaults?|default|limited|capped|bound|expires?|"
    r"times out|retries|retry|stays|based|written|deploys?|released?|happens?|due)\s+(?:on|in|at|to|after|every|by|within|"
    r"up to|with)(?:\s+(?:port|version|python|node|go|region))?|\b(?:needs?|requires?|takes?|waits?|keeps?|uses?|use|using|"
    r"prefers?|prefer|wants?|with|for|in|by|on|via)|\b(?:at least|at most|up to|exactly))$"
)
_CHOICE = re.compile(r"\b(?:use|uses|using|prefer|prefers|with|in|by|on|via|to|is|are|wants?|like|likes|choose|runs on)$")
_USE = (
    r"\b(?:use[sd]?|using|deploy\w*(?:\s+[\w-]+){0,3}\s+(?:to|on)|runs?\s+on|hosted\s+(?:on|at)|built\s+(?:with|on)|"
    r"based\s+on|lives?\s+(?:on|in)|stored\s+in|managed\s+(?:with|by)|tests?\s+with)\s+"
)
_NUMBER_OR_CODE = re.compile(r"^v?\d[\w.]*$|^[a-z]{2}-[a-z]+-\d$|^\d+(?:ms|s|m|h|d|kb|mb|gb)$")


@dataclass(frozen=True)
class _Features:
    """The compared features of one statement."""

    claim: Claim
    changes: tuple[Change, ...]
    asserted: tuple[str, ...]
    """Its sentences about the present."""
    plain: tuple[str, ...]
    """Its words in order, lower case, without articles and filler words."""
    core: frozenset[str]
    """Stems of its subject: no negations, no filler words."""
    is_settled: bool
    """It is about the present, and no question, guess, plan, momentary state or one of several."""
    is_of_each: bool


@lru_cache(maxsize=65_536)
def _read(text: str) -> _Features:
    claim, tokens = read_claim(text), [token.lower().replace("’", "'").strip("`'\"") for token in tokens_of(text)]
    stems = {stem(token) for token in tokens} | claim.words
    return _Features(
        claim=claim,
        changes=read_changes(text),
        asserted=tuple(clause for clause in clauses(text) if not is_past(clause) and not _HEDGED.search(clause)),
        plain=tuple(token for token in tokens if token not in _PLAIN_FILLING),
        core=frozenset(word for word in stems if word not in _NEGATIONS | _FILLING | _TAKING and len(word) > 1),
        is_settled=not (_HEDGED.search(text) or is_past(text) or _SEVERAL.search(text) or _MOMENTARY.intersection(tokens)),
        is_of_each=_EACH.search(text) is not None,
    )


def find_conflict(newer: str, older: str) -> str | None:
    """Returns how the newer statement conflicts with the older one, or None."""
    a, b = _read(newer), _read(older)
    if any(_replaces(change, sentence, b.changes) for change in a.changes for sentence in b.asserted):
        return REPLACED
    if not (a.is_settled and b.is_settled):
        return None
    if _are_opposite(a, b):
        return OPPOSITE
    return OTHER_VALUE if _differ_in_a_value(a, b) else None


def _replaces(change: Change, older: str, before: Sequence[Change]) -> bool:
    """Returns whether the older sentence asserts the replaced name about the subject of the change."""
    if not _holds(older, change.gone):
        return False
    if any((change.gone, change.came) == (other.came, other.gone) for other in before):
        return True
    asserted, said = read_claim(older), read_claim(change.clause)
    if asserted.is_negated or _holds(older, change.came):
        return False
    about, subject = (_subject(claim, change) - _TAKING for claim in (asserted, said))
    about -= _stems(concept_words(change.gone))
    if not about or not subject:
        return not about or _relies_on(older, change.gone)
    opening = next((word for word in map(stem, older.lower().split()) if word in asserted.words - _FILLING), "")
    names = {name for name in asserted.specifics | asserted.names if not _is_part(name, change)}
    names |= {opening} & about  # a statement begins with its subject
    return names <= said.specifics | said.names | said.words and len(about & subject) >= _HALF * len(about)


def _subject(claim: Claim, change: Change) -> frozenset[str]:
    return claim.words - _stems(change.gone) - _stems(change.came) - _NEGATIONS - _FILLING


def _is_part(name: str, change: Change) -> bool:
    first = name.split()[0]  # "60 seconds" goes with "60"
    return first in change.gone.split() or first in change.came.split()


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(token.lower()) for token in tokens_of(text))


def _relies_on(text: str, name: str) -> bool:
    """Returns whether the text says that the name is in use, so that a general change applies to it."""
    return re.search(rf"{_USE}(?:the\s+)?[`'\"]?{re.escape(name)}(?![\w/-]|\.\w)", text, re.IGNORECASE) is not None


def _holds(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)", text, re.IGNORECASE) is not None


def _are_opposite(newer: _Features, older: _Features) -> bool:
    """Returns whether both say the same about the same subject, one of them negated."""
    a, b = newer.claim, older.claim
    if a.specifics != b.specifics or not a.names <= b.names | b.words or not b.names <= a.names | a.words:
        return False
    said, before = newer.core, older.core
    flips = [pair for pair in _OPPOSED if len(pair & (said - before)) == 1 == len(pair & (before - said))]
    if (a.is_negated != b.is_negated) == (len(flips) % 2 == 1):
        return False
    said, before = said.difference(*flips), before.difference(*flips)
    return bool(said) and len(said & before) >= _NEARLY_ALL * len(said | before)


def _differ_in_a_value(newer: _Features, older: _Features) -> bool:
    """Returns whether the two are the same words around different values, in a place for one value."""
    a, b = newer.plain, older.plain
    places = [n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y]
    if len(a) != len(b) or len(places) != 1:
        return False
    head, one, other, tail = a[: places[0]], a[places[0]], b[places[0]], a[places[0] + 1 :]
    if not {stem(word) for word in head + tail} & newer.claim.words or (head and head[-1] in _LISTED):
        return False
    if not newer.is_of_each and {*head, *tail} & _EPISODE:
        return False
    if any({one, other} <= group for group in _ALTERNATIVES):
        return _CHOICE.search(" ".join(head)) is not None
    return bool(_NUMBER_OR_CODE.match(one) and _NUMBER_OR_CODE.match(other)) and _takes_one_value(head, tail)


def _takes_one_value(head: Sequence[str], tail: Sequence[str]) -> bool:
    if not head:
        return len(tail) > 2 and tail[0] in _BE and bool(_HOLDS_ONE & set(tail[:4]))
    if head[-1] in _HOLDS_ONE or head[-1] in _BE:
        return len(head) > 1 and head[0] not in ("a", "an", "another", "some", "one")
    return _SET.search(" ".join(head)) is not None and len(head) > 1
