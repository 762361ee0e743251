"""Quotes what was asked for and where it ended, verbatim: whole sentences of one message, `…` at
each cut.

Takes exchanges; nothing is composed. A request is a turn that says what it is about or begins as an
errand: no greeting, no "yes", no slash command. A state is what the last reply with words begins
with, or else ends with, if that states something: no question, no announced step, no order.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from memory_assets.stages.distill.rules.exchanges import Exchange, Row, opening_paragraph
from memory_assets.stages.distill.rules.grammar import ERRAND, LEAST_NAMED, strip_opening
from memory_assets.stages.distill.rules.instructions import is_directive
from memory_assets.text.sentences import excerpt, split_sentences, written_sentences
from memory_assets.text.words import squeezed, stems_of

REQUEST_CHARS, STATE_CHARS = 200, 240
"""Sentences are added up to this length; the first one is quoted whole."""

LONGEST_SENTENCE = 400
"""A longer one is a paste, or explains more than it says."""

FEWEST_STEMS = 2
"""A turn with fewer ("yes", "patch it") asks for nothing alone, unless it begins as an errand does.
"""

_PLANS = re.compile(
    r"(?i)^(?:now|next)\b|\b(?:let me|I['’]ll|I will|I['’]m (?:now |still )?(?!not\b)\w+ing)\b"
)
_COMMAND = re.compile(r"\s*/[\w:-]+(?:\s|$)")
_GREETING = re.compile(
    r"(?i)^(?:\W*(?:(?:hi|hey|hello|good (?:morning|afternoon|evening|day))(?: \w+){0,2}"
    r"|how are you[\w ]*)"
    r"\s*(?:[.!?,;:]+\s*|$))+"
)


@dataclass(frozen=True, slots=True)
class Quote:
    """Whole sentences of one message; empty if there are none."""

    text: str = ""
    message_id: str = ""


def spoken(speaker: str, text: str) -> str:
    """Returns the quoted words with their speaker, or nothing if there are none."""
    return f"{speaker}: “{text}”" if text else ""


def says_enough(exchange: Exchange) -> bool:
    """Returns whether the turn says what it is about; "commit" and "yes" go on with what was asked
    before.
    """
    return len(stems_of(_asked(" ".join(_words(exchange))))) >= LEAST_NAMED


def find_request(exchanges: Iterable[Exchange]) -> Quote:
    """Returns what the first of the turns asks for that is a request."""
    turn = next(filter(_is_request, exchanges), None)
    if turn is None or turn.message is None:
        return Quote()
    sentences = dropwhile(lambda sentence: not stems_of(_asked(sentence)), _words(turn))
    return _quote(turn.message, fitting([*sentences], REQUEST_CHARS))


def _is_request(exchange: Exchange) -> bool:
    request = _asked(" ".join(_words(exchange)))
    least_stems = FEWEST_STEMS if exchange.owner_sentences else LEAST_NAMED
    return len(stems_of(request)) >= least_stems or ERRAND.match(request) is not None


def _words(exchange: Exchange) -> Sequence[str]:
    """Returns the owner's own sentences; where all of the turn may be pasted, those of its first
    paragraph.
    """
    if exchange.message is None or _COMMAND.match(exchange.message["text"]):
        return ()
    return exchange.owner_sentences or split_sentences(
        squeezed(opening_paragraph(exchange.message["text"]))
    )


def find_state(exchanges: Sequence[Exchange]) -> Quote:
    """Returns what the last reply with words states."""
    messages = [reply.message for exchange in exchanges for reply in exchange.replies]
    message = next(filter(_has_words, reversed(messages)), None)
    if message is None:
        return Quote()
    sentences = written_sentences(message["text"], ("prose",))
    beginning = fitting([*takewhile(_is_state, sentences)], STATE_CHARS)
    ending = [*filter(_is_state, sentences[-1:])]
    for stated in (beginning, ending):
        if len(stems_of(" ".join(stated))) >= LEAST_NAMED:
            return _quote(message, stated)
    return Quote()


def _has_words(message: Row) -> bool:
    return re.search(r"\w", " ".join(written_sentences(message["text"]))) is not None


def fitting(sentences: Sequence[str], most: int) -> list[str]:
    """Returns the first of the sentences that have so many characters together, at least one; too
    long ones are left out.
    """
    fitting_sentences = list[str]()
    for sentence in sentences:
        if len(sentence) > LONGEST_SENTENCE:
            continue
        most -= len(sentence)
        if fitting_sentences and most < 0:
            break
        fitting_sentences.append(sentence)
    return fitting_sentences


def _asked(text: str) -> str:
    """Returns the text without a greeting and words that only open a turn."""
    return strip_opening(_GREETING.sub("", text))


def _is_state(sentence: str) -> bool:
    is_plan = sentence.endswith(("?", ":")) or _PLANS.search(sentence)
    return not is_plan and len(sentence) <= LONGEST_SENTENCE and not is_directive(sentence)


def _quote(message: Row, sentences: Sequence[str]) -> Quote:
    text = excerpt(message["text"], sentences)
    return Quote(text, message["message_id"] if text else "")
