"""Words a memory as a line of MEMORY.md, without a model: cut to the clauses that carry the rule,
in the owner's own words.

    No, use uv, never pip. That goes for all my Python projects.    Use uv, never pip, in all Python
                                                                    projects.
    The owner said: “let's switch to camelCase”.                    Use camelCase.

Cut are introductions, errands and questions beside the rule, and who said or approved it; the
reason for a rule stays. The whole text remains in the evidence. A line that points at something
outside of it cannot be worded without knowing what that is: it waits as a question to the owner.
"""

import re
from functools import lru_cache

from memory_assets.english.asking import is_question
from memory_assets.english.errands import is_errand
from memory_assets.english.openings import strip_opening
from memory_assets.english.pointers import LOOSE_START, stands_alone
from memory_assets.english.standing import ALL as GENERAL
from memory_assets.stages.distill.items import entities_of
from memory_assets.stages.reflect.durable import Said, own_words, sentences_of
from memory_assets.stages.reflect.present import what_holds
from memory_assets.text.sentences import capitalised
from memory_assets.text.words import specifics_in, stems_of

_FOUND = re.compile(
    r"(?i)^(?:root cause(?: found)?: |the (?:issue|problem|cause|reason) was (?:that )?)(?=\S)"
)
_BY_OWNER = re.compile(
    r"(?i)^(?:user|owner|(?:the )?(?:owner|user)'s (?:correction|rule|decision|wish)): "
    r"|\s*\((?:the )?(?:user|owner)(?:'s)? (?:decision|choice|request|rule)\)(?=[.!]?$)"
)
"""Who said or decided it, as a model notes it beside what holds."""

_LETS = re.compile(
    r"(?i)^(?:no,? (?=(?:just|please|let'?s)\b)|from now on,? |please |just "
    r"|let'?s (?!not\b)|we(?:'ll| will) )+(?=\w)"
)
_TAKE_UP = re.compile(
    r"(?i)^(?:switch|change|move) (?:over )?to (?=\S)|^(?:go|stay|stick) with (?=\S)"
)
_LETS_NOT = re.compile(r"(?i)^let'?s not (?=\w)")
_LASTING = re.compile(r"(?i),? from now on(?=[.!]?$)")
_HOLDS_FOR = re.compile(
    r"(?i)^(?:and )?(?:that|this|it|the same) (?:also )?(?:goes|applies|holds|is true)"
    r" (?:for|to|in|across) (?P<where>(?:all|every|each|any|both|this|the)\b.{2,80}?"
    r"|everything.{0,40}?)[.!]*$"
)
"""A sentence that only says where the one before it holds."""

_WANTED = re.compile(r"(?i)^(?:i|we) want (?P<what>(?:[\w`./-]+ ){1,4}?)to (?P<not>not )?(?=\w)")
_OWN = re.compile(r"(?i)\b(all|every|each|any)(?: of)? (?:my|our)\b")
FEWEST_STEMS = 2
"""Fewer content words say nothing: beside a rule they are an interjection, alone a fragment."""

_UNNAMED = re.compile(
    r"(?i)^the (?!(?:owner|user|repo\w*|project|tests?|build|docs|app|api|server|database|cli)\b)"
    r"[a-z]+ (?:is|are|has|have|was|were|[a-z]+[^s]s)\b"
    r"|\bthe (?:\w+ )?(?:cause|bug|problem|issue|fix)\b(?! (?:of|for|with|in)\b| #)"
)
"""Begins with a thing that something before named ("the header appears only once"), or explains an
unnamed problem.
"""

_REPLY = re.compile(
    r"(?i)(?:no(?:pe)? (?=(?:just|we|you|it|that|this|use|do|make|put|instead)\b)"
    r"|(?:ok(?:ay)?|yes|yeah|then|just|so|well)\b)"
)
"""Answers what was said before it; "no inline styles" does not."""

_ALWAYS = re.compile(r"(?i)\b(?:always|never|every|each|from now on)\b")
_TO_A_KIND = re.compile(
    r"(?i)\w+ (?!(?:the|this|that|these|those|an?|my|your|it|all|both)\b)(?:[\w-]+ "
    r"){0,2}?[\w-]+[^\Ws]s\b"
)
"""Is done to all things of a kind: "write dates the British way"."""

_DEMANDS = re.compile(r"(?i)\b(?:should|must|shall|ought to|(?:needs?|has|have) to)\b|^(?:i|we)\b")
_FORBIDS = re.compile(
    r"(?i)(?:don't|do not|never|always|avoid|no|stop|use|prefer|only)\b"
    r"|(?!(?:the|this|that|my|our|your|an?) )(?:[a-z-]+ ){0,2}[a-z-]+(?<!s)s"
    r" (?:must|should|need|have|are|may)\b"
)
"""Orders or forbids something in general, or is about all things of a kind."""

_OF_ALL = re.compile(rf"(?i){GENERAL}|\bat all\b")
_HIDDEN_NAME = re.compile(r"(?<![\w.])\.[a-z]\w+")
"""A file or folder such as ".config", which is an exact name."""

_AT_HAND = re.compile(
    r"(?i)\b(?:that|which) (?:is|are|was|were) (?:written|there|shown|listed|mentioned|said"
    r"|here|above|below)\b"
)
"""Points at a text that both had in view."""

_POINTER = re.compile(
    r"(?i)\b(?:it|its|them|they|their|he|she|this|that|these|those|the same|both)\b"
)


@lru_cache(maxsize=16_384)
def line_of(text: str) -> str:
    """Returns a memory's text as a line of MEMORY.md."""
    sentences = sentences_of(text)
    parts: list[str] = []
    if any(sentence.words for sentence in sentences):
        for sentence in sentences:
            _add_part(parts, sentence)
    parts = parts or [_FOUND.sub("", _BY_OWNER.sub("", own_words(text)))]
    line = " ".join(map(_as_sentence, parts))
    return what_holds(line) or line


def _add_part(parts: list[str], sentence: Said) -> None:
    """Adds what the sentence contributes to a line; "that goes for …" qualifies the part before."""
    place = _HOLDS_FOR.match(sentence.sentence)
    if parts and place:
        where = _OWN.sub(r"\1", place["where"])
        parts[-1] = f"{parts[-1].rstrip(' .!')}, in {where}"
    elif sentence.words:
        parts.append(_plain_order(sentence.words))
    elif not _is_aside(sentence.sentence):
        parts.append(sentence.sentence)


def question_about(line: str) -> str | None:
    """Returns what the owner has to be asked so that the line stands alone, or None if it does."""
    words = line.rstrip(" .!")
    if stands_alone(words) and len(stems_of(words)) + min(specifics_in(words), 1) >= FEWEST_STEMS:
        return None
    pointer = LOOSE_START.match(words) or _POINTER.search(words)
    if pointer is None:
        return "what is it about?"
    return f"what does “{pointer[0].strip().lower()}” stand for?"


def general_line(text: str) -> str:
    """Returns the owner's words as a line; empty if they do not stand alone, or are about one spot
    or task.
    """
    line = line_of(text)
    is_general = holds_in_general(line, own_words(text)) and question_about(line) is None
    return line if is_general else ""


def holds_in_general(line: str, words: str) -> bool:
    """Returns whether a line, and the words that it was cut from, are about more than one spot or
    task.
    """
    is_task = is_errand(line) and not _TO_A_KIND.match(line)
    is_once = bool(_REPLY.match(words) or is_task) and not _ALWAYS.search(line)
    is_named = entities_of(line) or _HIDDEN_NAME.search(line)
    is_wish = _DEMANDS.search(line) and not _FORBIDS.match(line)
    is_of_all = bool(is_named or not is_wish or _OF_ALL.search(line))
    return is_of_all and not is_once and not _AT_HAND.search(line)


def is_about_unnamed(line: str) -> bool:
    """Returns whether the line is about a thing that it does not name, though its grammar is
    whole.
    """
    return _UNNAMED.search(line) is not None


def _plain_order(words: str) -> str:
    """Returns an order without "let's", "please" and "from now on", which its place in MEMORY.md
    says.
    """
    plain = _LETS_NOT.sub("do not ", _BY_OWNER.sub("", words))
    plain = _TAKE_UP.sub("use ", _LASTING.sub("", _LETS.sub("", plain)))
    plain = _WANTED.sub(lambda wish: f"{wish['what']}should {wish['not'] or ''}", plain)
    return plain if len(stems_of(plain)) >= FEWEST_STEMS else words


def _is_aside(sentence: str) -> bool:
    """Returns whether a sentence beside a rule is a question, an errand or an interjection."""
    bare = strip_opening(sentence)
    is_short = len(stems_of(bare)) < FEWEST_STEMS
    return is_short or is_question(sentence) or is_errand(bare)


def _as_sentence(words: str) -> str:
    """Returns the words with a stop and a capital, unless they begin with a name in code."""
    shown = capitalised(words.strip())
    if not shown:
        return ""
    return shown if re.search(r"[.!?…。][”\")]?$", shown) else f"{shown.rstrip(' ,;:')}."
