"""Tokens of a statement, and what each counts as: a value, a root, a family of words that say the
same; nothing for grammar.
"""

import re
from functools import lru_cache

from memory_assets.english.aliases import names_of
from memory_assets.text.words import word_set

_TOKEN = re.compile(r"[\w./:@#~+-]*\w[\w./:@#~+-]*", re.UNICODE)
SPECIFIC = re.compile(r"\d|[/_@#~]|\w\.\w|[a-z][A-Z]|^--?\w")
"""In an identifier, a path, a flag or a number."""

NUMBERS: dict[str, str] = dict(
    zip(
        "two three four five six seven eight nine ten eleven twelve".split(),
        map(str, range(2, 13)),
        strict=True,
    )
)
STOP = word_set("""
    a an and are as at be been being but by do does did for from had has have if in into is it its
    of on or our so than that the their then there these they this those to up was we were when
    which who will with you your i me my he she his her us them also just all any every each both
    always please must should shall may might can could would need want like prefer owner user ok
    okay now let lets not no never none nothing nobody cannot nor avoid stop without only don't
    doesn't didn't isn't aren't wasn't weren't won't can't shouldn't mustn't needn't couldn't
    wouldn't hasn't haven't don doesn didn isn aren wasn weren won shouldn mustn needn couldn wouldn
    hasn haven ll ve re ever while because since dont doesnt didnt isnt arent wasnt wont cant
    shouldnt mustnt instead rather over before after until unless such merely simply actually
    basically clearly currently get gets bitte forbidden forbid prohibited banned anything something
    anymore whenever exclusively solely already longer
    """)
"""Words without content of their own: grammar, politeness, modality and denial."""

LIGHT = word_set("""use make get put take give keep go come appear belong mean say tell add set live
    stay hold store write show touch access thing people person part way one kind case very really
    directly straight still above below other another require allow locate happen first last own
    cause""")
"""Words of general meaning, which a rewording exchanges freely."""

_IRREGULAR_FORMS = """
    made:make done:do ran:run written:write wrote:write kept:keep sent:send held:hold built:build
    chosen:choose chose:choose taken:take took:take given:give gave:give shown:show began:begin
    begun:begin found:find left:leave said:say told:tell thrown:throw drawn:draw known:know
    broken:break broke:break spoken:speak brought:bring bought:buy spent:spend used:use goes:go
    does:do came:come lost:lose met:meet
"""
IRREGULAR: dict[str, str] = {
    past: verb for past, _, verb in (pair.partition(":") for pair in _IRREGULAR_FORMS.split())
}
_INFLECTIONS = (("ations", 5), ("ation", 5), ("ing", 3), ("ed", 3), ("es", 3), ("ly", 4), ("s", 3))
"""Endings, with the letters that remain at least."""

_DERIVATIONS = """
    ibility ability ation ement ition ment ness ance anc enc sion tion abl ibl ibly ion ity ur iv
    ing ful al er or ly y
    """.split()
"""Endings that make another kind of word, the longest first, without a silent "e"."""

_LEAST = 4
"""Letters that remain without such an ending."""

_SYNONYMS = """
    " remove delete erase, show display, start begin launch, need require, create generate,
    fix solve resolve repair, crash break fail, end finish, change edit modify alter, run execute,
    choose pick select, check verify, permit allow, build compile, reject refuse, maximum most,
    minimum least, big large, tiny small, quick fast, wrong incorrect, convert transform, error bug,
    mail email e-mail, own maintain responsible charge responsibility, answer reply respond,
    look search, limit cap, store save keep, reuse existing, expose publish, move relocate,
    ask approval permission confirm approve, every per, expire timeout, obsolete outdated,
    host deploy, decide decision, time once
"""
"""Groups of words that exchange one another without a change of the claim."""


def tokens_of(text: str) -> list[str]:
    """Returns the words, numbers and identifiers of the text in order, as they are written."""
    return [
        token
        for token in (found.strip(".,:;+~").rstrip("-/") for found in _TOKEN.findall(text))
        if token
    ]


def value_of(token: str) -> str:
    """Returns the identifier in lower case; a version without its "v"."""
    return re.sub(r"^v(?=\d)", "", token.lower())


@lru_cache(maxsize=65_536)
def form_of(token: str) -> str:
    """Returns what a token counts as: a value as it is, a word by its root, nothing if it has no
    content.
    """
    low = token.lower().replace("’", "'")
    if SPECIFIC.search(token):
        return value_of(token)
    form = NUMBERS.get(low) or root(low.removesuffix("'s"))
    # "theme" is no form of "them".
    is_stop = low in STOP or (form in _STOP_ROOTS and low != f"{form}e")
    return "" if is_stop or (len(form) < 2 and not form.isdigit()) else form


def root(word: str) -> str:
    """Returns the word without its inflection: "adding", "added" and "adds" are "add"."""
    if not word.isalpha():
        return word
    word = IRREGULAR.get(word, word)
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    ending = next(
        (
            end
            for end, least in _INFLECTIONS
            if word.endswith(end) and len(word) - len(end) >= least
        ),
        "",
    )
    bare = word if word.endswith("ss") else word.removesuffix(ending)
    if ending in ("ing", "ed") and len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "sl":
        bare = bare[:-1]
    return bare.removesuffix("e") if len(bare) > 3 else bare


@lru_cache(maxsize=65_536)
def family_of(form: str) -> str:
    """Returns a name for the word, its abbreviation, its synonyms and its relatives: "fail",
    "failure" and "crash".
    """
    full = names_of(form)[0]
    word = root(full) if full != form and _is_abbreviation(form, full) else form
    return _GROUP_OF.get(word) or _GROUP_OF.get(stem := _stem(word)) or stem


def _is_abbreviation(short: str, full: str) -> bool:
    letters = iter(full)
    return " " not in full and short[:1] == full[:1] and all(letter in letters for letter in short)


def _stem(word: str) -> str:
    if not word.isalpha():
        return word
    ending = next(
        (one for one in _DERIVATIONS if word.endswith(one) and len(word) - len(one) >= _LEAST), ""
    )
    stem = word.removesuffix(ending)
    return stem[:-1] if len(stem) > _LEAST and stem[-1] == stem[-2] else stem


_STOP_ROOTS = frozenset(map(root, STOP)) | STOP
LIGHT_ROOTS = frozenset(map(root, LIGHT))
_GROUP_OF = {
    root(word): group.split()[0] for group in _SYNONYMS.split(",") for word in group.split()
}
_GROUP_OF = {_stem(form): first for form, first in _GROUP_OF.items()} | _GROUP_OF
