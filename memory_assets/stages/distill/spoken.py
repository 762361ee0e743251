"""Quotes the first request and the last state in exchanges: whole sentences, with `…` at each cut.

A request is a turn of the owner that says what it is about, or that begins like a task. A greeting,
a "yes" or a slash command is none. The state is quoted from the last reply that has words: its
first sentences, or else its last one. A question, an announced step or an order is no state.
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
"""Longest quotes. Sentences are added up to this length; the first one is always quoted."""

LONGEST_SENTENCE = 400
"""A longer sentence is not quoted: it is pasted text or a long explanation."""

FEWEST_STEMS = 2
"""Fewest content words of a request. A shorter turn ("yes", "patch it") is only a request if it
begins like a task.
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
    """Returns whether the turn says what it is about; "commit" and "yes" do not."""
    return len(stems_of(_asked(" ".join(_words(exchange))))) >= LEAST_NAMED


def find_request(exchanges: Iterable[Exchange]) -> Quote:
    """Returns a quote of the first turn that is a request."""
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
    """Returns the owner's own sentences, or if all may be pasted, those of the first paragraph."""
    if exchange.message is None or _COMMAND.match(exchange.message["text"]):
        return ()
    return exchange.owner_sentences or split_sentences(
        squeezed(opening_paragraph(exchange.message["text"]))
    )


def find_state(exchanges: Sequence[Exchange]) -> Quote:
    """Returns a quote of the state in the last reply that has words."""
    messages = [reply.message for exchange in exchanges for reply in exchange.replies]
    message = next(filter(_has_words, reversed(messages)), None)
    if message is None:
        return Quote()
    sentences = written_sentences(message["text"], ("prose",))
    beginning = fitting([*takewhile(_is_state, sentences)], STATE_CHARS)
    ending = [*filter(_is_state, sentences[-1:])]
    for quoted_sentences in (beginning, ending):
        if len(stems_of(" ".join(quoted_sentences))) >= LEAST_NAMED:
            return _quote(message, quoted_sentences)
    return Quote()


def _has_words(message: Row) -> bool:
    return re.search(r"\w", " ".join(written_sentences(message["text"]))) is not None


def fitting(sentences: Sequence[str], most: int) -> list[str]:
    """Returns the first sentences that together have at most `most` characters, at least one.

    Sentences over `LONGEST_SENTENCE` are skipped.
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
    """Returns the text without a greeting, and without words that only open a turn."""
    return strip_opening(_GREETING.sub("", text))


def _is_state(sentence: str) -> bool:
    is_plan = sentence.endswith(("?", ":")) or _PLANS.search(sentence)
    return not is_plan and len(sentence) <= LONGEST_SENTENCE and not is_directive(sentence)


def _quote(message: Row, sentences: Sequence[str]) -> Quote:
    text = excerpt(message["text"], sentences)
    return Quote(text, message["message_id"] if text else "")
