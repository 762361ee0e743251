"""Decides whether a later statement says that an earlier one no longer holds, without naming both
sides of a change.

It does if it ends what the earlier one is about, and nothing else ("Percy is out", "stop tagging
releases"), if it takes the end of it back ("required again"), or if it has the same subject and
another value at the end from now on. A statement about another environment corrects nothing, nor
does one that only adds ("also", "too").
"""

from collections.abc import Sequence
from functools import lru_cache

from memory_assets.english.changes import ENDINGS, TURNS, clauses, ends, reverts, turns
from memory_assets.english.negation import excluded
from memory_assets.english.openings import strip_opening
from memory_assets.english.word_forms import root
from memory_assets.stages.embed.claim_reading import CLAUSE_END
from memory_assets.stages.embed.compared_statements import ComparedStatement, read_statement
from memory_assets.text.patterns import words_beside

FEWEST = 2
"""Words of its subject that a statement has in common with the one that it corrects."""

LONGEST = 3
"""Words of a value."""

_LISTS = words_beside(__file__)
_ADDS = _LISTS["adds"]
_PLACES = frozenset(map(root, _LISTS["places"]))
"""Environments: what holds in one says nothing about the others."""

_GENERAL = frozenset(map(root, _LISTS["general"] | ENDINGS | TURNS))
"""Words of ending and resuming, which are no subject."""

_RENAMING = frozenset({root("rename"), root("call")})
_UNDONE_WORK = frozenset({root("commit")})
_NOTHING = frozenset[str]()


@lru_cache(maxsize=65_536)
def corrects(newer: str, older: str) -> bool:
    """Returns whether the newer statement says that the older one no longer holds."""
    main = older if excluded(older) else CLAUSE_END.split(older, maxsplit=1)[0]
    if not read_statement(main).asserted:
        return False
    return any(_corrects(strip_opening(clause), main) for clause in clauses(newer))


def may_correct(newer: str, older: str) -> bool:
    """Returns whether the newer statement states a change and shares the older one's subject, so
    that only a reader can decide whether it corrects it.
    """
    shared = (read_statement(newer).core & read_statement(older).core) - _GENERAL
    return len(shared) >= FEWEST and (turns(newer) or ends(newer))


def adds(statement: ComparedStatement) -> bool:
    """Returns whether the statement adds something to what holds."""
    return not _ADDS.isdisjoint(statement.plain)


def _corrects(clause: str, older: str) -> bool:
    new = read_statement(clause)
    if new.core & _PLACES != read_statement(older).core & _PLACES:
        return False
    corrections = [_ends, _excludes]
    if turns(clause):
        corrections += [_renames, _resumes]
        corrections += [] if adds(new) else [_revalues]
    parts = {clause, *CLAUSE_END.split(clause)}
    return any(correct(part, older) for correct in corrections for part in filter(_says, parts))


def _says(part: str) -> bool:
    """Returns whether the part of a clause is more than a contrast: "…, not with Electron"."""
    return bool(part) and not part.startswith(("not ", "never "))


def _is_ended(text: str) -> bool:
    """Returns whether the text says that something does not hold."""
    return read_statement(text).claim.is_negated or ends(text)


def _ends(part: str, older: str) -> bool:
    """Returns whether the part only says that the older statement, or a name in it, is over."""
    about = read_statement(part).core - _GENERAL - (_UNDONE_WORK if reverts(part) else _NOTHING)
    old = read_statement(older)
    names = old.claim.names | old.claim.specifics | {*_ordered(older)[-1:]}
    is_about = about <= old.core and bool(about & names - _excluded(older))
    return is_about and _is_ended(part) and not _is_ended(older)


def _excludes(part: str, older: str) -> bool:
    """Returns whether the part has all words of the older statement, and newly says of some that
    they are not, or no longer, meant.
    """
    subject = read_statement(older).core - _GENERAL
    is_about = len(subject) >= FEWEST and subject <= read_statement(part).words
    return (
        is_about and not _is_ended(older) and bool((_excluded(part) - _excluded(older)) & subject)
    )


def _excluded(text: str) -> frozenset[str]:
    names = (change.gone for change in read_statement(text).changes)
    left_behind = text.partition(" moved from ")[2].partition(" to ")[0]
    return read_statement(" ".join((*names, excluded(text), left_behind))).words


def _renames(part: str, older: str) -> bool:
    """Returns whether the part gives another name to what has the name at the older one's end."""
    is_renamed = not _RENAMING.isdisjoint(read_statement(part).words)
    return is_renamed and _ordered(part)[:1] == _ordered(older)[-1:]


def _resumes(part: str, older: str) -> bool:
    """Returns whether the part asserts what the older statement ended."""
    subject = read_statement(older).core - _GENERAL
    is_about = len(subject) >= FEWEST and subject <= read_statement(part).words
    return is_about and _is_ended(older) and not _is_ended(part)


def _revalues(part: str, older: str) -> bool:
    """Returns whether the part is the older statement with another value at the end."""
    words = _ordered(older)
    new_words = _ordered(part)
    old_value = [word for word in words if word not in read_statement(part).words]
    value = [word for word in new_words if word not in read_statement(older).words]
    if len(words) - len(old_value) < FEWEST or not _is_value(value) or not _is_value(old_value):
        return False
    are_at_end = [words[-len(old_value) :], new_words[-len(value) :]] == [old_value, value]
    return are_at_end and not _is_ended(part)


def _is_value(words: Sequence[str]) -> bool:
    return 0 < len(words) <= LONGEST


def _ordered(text: str) -> list[str]:
    """Returns the words of a statement in order, without those of ending and resuming."""
    statement = read_statement(text)
    forms = [statement.forms.get(word, "") for word in statement.plain]
    return [form for form in dict.fromkeys(forms) if form in statement.core - _GENERAL]
