"""Decides whether a later statement says that an earlier one no longer holds, without naming both
sides of a change.

A statement corrects an earlier one if it shares its subject and ends it ("Percy is out"), turns it
("listens on 8090 now"), waives or restores it ("Docs need a review again"), or cures what it worked
around. How much each sign counts is in `corrections.toml`. A statement about another environment,
one about other people, and one that only adds ("also", "too") correct nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from memory_assets.english.changes import clauses
from memory_assets.english.claims import CLAUSE_END, QUOTATION, read_claim
from memory_assets.english.negation import excluded
from memory_assets.english.openings import denies_before, strip_opening
from memory_assets.english.word_forms import (
    LIGHT_ROOTS,
    SPECIFIC,
    family_of,
    form_of,
    root,
    tokens_of,
)
from memory_assets.stages.embed.compared_statements import (
    HAPPENED,
    ComparedStatement,
    read_statement,
)
from memory_assets.text.patterns import data_beside, words_beside

FEWEST = 2
"""Words of its subject that a statement has in common with the one that it corrects."""

LONGEST = 3
"""Words of a value, or of a circumstance before the subject."""


def _form(word: str) -> str:
    """Returns the root of the word, but not of "stops": what a thing does ends nothing."""
    return word if word.endswith("s") else root(word)


def _parts_of(word: str) -> str:
    return "-".join(map(_form, word.split("-")))


_LISTS = {name: frozenset(map(_parts_of, words)) for name, words in words_beside(__file__).items()}
_CUES = frozenset[str]().union(*map(_LISTS.__getitem__, "ends turns cures waives demands".split()))
_GENERAL = (_CUES - _LISTS["cures"] | _LISTS["general"] | LIGHT_ROOTS) - {"new"}
"""Words of ending, resuming and demanding, which are no subject."""

UNKNOWN = 0.3
"""Cosine that is assumed where facts are compared for good: below that of most statements about one
subject, as a false conflict hides a fact.
"""

_DENIALS = _LISTS["ends"] | _LISTS["denies"]
_WEIGHTS: Mapping[str, float] = data_beside(__file__)["weights"]


@dataclass(frozen=True)
class _Wording:
    """The features of a text that are compared."""

    words: frozenset[str]
    """Roots of its words, and of each two of them."""
    subject: tuple[str, ...]
    """What its words count as, in order, without general ones."""
    names: frozenset[str]
    """Its exact values and names."""
    is_denied: bool
    is_order: bool

    def has(self, cue: str) -> bool:
        """Returns whether it has a word of the list."""
        return not self.words.isdisjoint(_LISTS[cue])


@lru_cache(maxsize=65_536)
def corrects(newer: str, older: str, similarity: float = UNKNOWN) -> bool:
    """Returns whether the newer statement says that the older one no longer holds.

    `similarity` is the cosine of the two.
    """
    main = older if excluded(older) else CLAUSE_END.split(older, maxsplit=1)[0]
    if _is_over(main) or "?" in main:
        return False
    least = -_WEIGHTS["similarity"] * similarity
    return any(_total(signs) > least for signs in signs_of_parts(newer, main))


def _total(signs: Mapping[str, float]) -> float:
    return sum(_WEIGHTS[name] * sign for name, sign in signs.items())


def has_cue(text: str) -> bool:
    """Returns whether the text has a word by which statements correct others: quick to tell."""
    return not _CUES.isdisjoint(_words(tokens_of(text)))


def may_correct(newer: str, older: str) -> bool:
    """Returns whether the newer statement states a change and shares the older one's subject, so
    that only a reader can decide whether it corrects it.
    """
    shared = (read_statement(newer).core & read_statement(older).core) - _GENERAL
    return len(shared) >= FEWEST and states_news(newer)


def states_news(text: str) -> bool:
    """Returns whether the text says that something ends, or holds from now on."""
    wording = _read(text)
    return wording.has("ends") or wording.has("turns") or denies_before(text)


def adds(statement: ComparedStatement) -> bool:
    """Returns whether the statement adds something to what holds."""
    plain = statement.plain
    return plain[-1:] == ("too",) or not _LISTS["adds"].isdisjoint(_words(plain))


def signs_of_parts(newer: str, older: str) -> Iterator[dict[str, float]]:
    """Yields, for each part of the newer statement that has a word of the older one's subject and
    is about the same environment, how much it has of each sign of a correction.
    """
    old = _without_gone(older)
    is_revert = newer.lower().startswith("revert")
    for clause in clauses(newer if is_revert else QUOTATION.sub(" ", newer)):
        is_addition = adds(read_statement(clause))
        for text in {strip_opening(clause), *CLAUSE_END.split(clause)}:
            part = _read(text)
            is_about = not set(part.subject).isdisjoint(old.subject)
            is_other = is_addition and not part.has("ends")
            if is_about and not is_other and not _is_elsewhere(clause, text, old):
                yield _signs(text, newer, older)


def _is_over(text: str) -> bool:
    """Returns whether the text is about the past, and does not say that this is over now."""
    is_past = read_claim(text).is_past or HAPPENED.search(text)
    return bool(is_past) and not _read(text).has("ends")


def _is_elsewhere(clause: str, text: str, old: _Wording) -> bool:
    """Returns whether a part of a clause is about another environment, other people or the past, or
    is only a contrast: "…, not with Electron".
    """
    part = _read(text)
    beginning = " ".join(clause.split()[:LONGEST]) if _opens_with_scope(clause) else ""
    places = (part.words | _read(beginning).words) & _LISTS["places"]
    # "Now the tests" says what comes next.
    is_announced = clause.startswith("Now ") and read_claim(clause).mood == "intention"
    is_aside = is_announced or text.startswith(("not ", "never "))
    return is_aside or _is_over(text) or part.has("others") or not places <= old.words


def _signs(text: str, newer: str, older: str) -> dict[str, float]:
    part = _read(text)
    old = _without_gone(older)
    shared = {word for word in part.subject if word in old.subject}
    foreign_count = sum(word not in shared for word in part.subject)
    share = min(len(shared) / max(len(set(old.subject)) - 1, 1), 1)
    place = min(map(part.subject.index, shared))
    is_ended = _is_new("ends", text, older)
    is_flipped = part.is_denied != old.is_denied or part.has("waives") != old.has("waives")
    is_changed = _is_changed(newer, older)
    return dict(
        always=1,
        share=share,
        foreign=min(foreign_count, 6) / 6,
        before=min(place, LONGEST) / LONGEST,
        weak=len(shared) == 1 and shared.isdisjoint(old.names | {old.subject[-1]}),
        ends=is_ended,
        ends_only=is_ended and not foreign_count,
        turns_share=share if is_changed else 0,
        plain=not (is_changed or is_flipped),
        same=not (foreign_count or is_flipped or is_ended),
        **_signs_of_rules(part, newer, older),
    )


def _signs_of_rules(part: _Wording, newer: str, older: str) -> dict[str, float]:
    old = _read(older)
    is_rule = old.has("demands") or old.is_order or old.is_denied
    is_waived = part.has("waives") != old.has("waives")
    return dict(
        waives_rule=is_rule and is_waived,
        cures_rule=is_rule and _is_new("cures", newer, older),
        **_signs_of_values(newer, older),
    )


def _signs_of_values(newer: str, older: str) -> dict[str, float]:
    """Returns which of the two has an exact value or a name, or a scope, that the other lacks."""
    new = _read(newer)
    old = _without_gone(older)
    is_lost = not old.names <= set(new.subject)
    is_named = not new.names <= set(old.subject)
    return {
        "values": is_lost and is_named and _is_changed(newer, older),
        "no_value": is_lost and not (is_named or _is_new("ends", newer, older)),
        "scope_lost": any(_is_scoped(older, word, new) for word in ("of", "in")),
        "scope_first": _opens_with_scope(newer) and new.subject[0] not in old.subject,
    }


def _is_changed(newer: str, older: str) -> bool:
    return denies_before(newer) or any(_is_new(cue, newer, older) for cue in ("turns", "ends"))


def _opens_with_scope(text: str) -> bool:
    """Returns whether the text begins with what it is about: "In birch, …"."""
    return text.lower().partition(" ")[0] in _LISTS["scopes"]


def _is_new(cue: str, newer: str, older: str) -> bool:
    """Returns whether the newer statement has a word of the list that the older one lacks."""
    return not _read(newer).words & _LISTS[cue] <= _read(older).words


def _is_scoped(text: str, preposition: str, other: _Wording) -> bool:
    """Returns whether behind the preposition stands a word that the other statement lacks."""
    _, _, rest = f" {text.lower()} ".partition(f" {preposition} ")
    return not other.subject or not set(_read(rest).subject[:1]) <= set(other.subject)


def _words(tokens: Sequence[str]) -> frozenset[str]:
    """Returns the roots of the words, each also together with the one behind it."""
    roots = [_form(token.lower()) for token in tokens]
    return frozenset([*roots, *("-".join(pair) for pair in pairwise(roots))])


@lru_cache(maxsize=65_536)
def _without_gone(text: str) -> _Wording:
    """Returns the features without the subjects that the text itself says are gone."""
    wording = _read(text)
    ended = {word for change in read_statement(text).changes for word in _read(change.gone).subject}
    subject = tuple(word for word in wording.subject if word not in ended)
    return replace(wording, subject=subject, names=wording.names - ended)


@lru_cache(maxsize=65_536)
def _read(text: str) -> _Wording:
    tokens = tokens_of(text.replace("’", "'"))
    words = _words(tokens)
    forms = {token: form_of(token) for token in tokens}
    content = [token for token in tokens if forms[token] not in _GENERAL | {""}]
    subject = [family_of(forms[token].rsplit("/", 1)[-1]) for token in content]
    names = [
        word
        for word, token in zip(subject, content, strict=True)
        if SPECIFIC.search(token) or (token in tokens[1:] and token[:1].isupper())
    ]
    claim = read_claim(text)
    return _Wording(
        words=words,
        subject=tuple(subject),
        names=frozenset(names),
        is_denied=claim.is_negated or not words.isdisjoint(_DENIALS),
        is_order=bool(claim.opening),
    )
