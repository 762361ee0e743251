"""Finds, in a message, the words that a fact rests on."""

from collections.abc import Sequence

from memory_assets.text.sentences import STRAIGHT
from memory_assets.text.words import stems_of

QUOTE_CHARS = 300


def quote_from(source: str, sentence: str) -> str:
    """Returns words of the source, verbatim: the sentence where it stands there, else the line most like it."""
    return _verbatim(source, sentence) or _likest(source, sentence)


def quote_from_any(sources: Sequence[str], sentence: str) -> str:
    """Returns words of one of the sources: the first that holds the sentence, else the likest line of the first."""
    found = (_verbatim(source, sentence) for source in sources)
    return next((quote for quote in found if quote), "") or _likest(sources[0], sentence)


def _verbatim(source: str, sentence: str) -> str:
    at = source.translate(STRAIGHT).find(sentence)
    return source[at : at + min(len(sentence), QUOTE_CHARS)].strip() if at >= 0 else ""


def _likest(source: str, sentence: str) -> str:
    stems = stems_of(sentence)

    def fit(line: str) -> float:
        return len(stems & stems_of(line[: 2 * QUOTE_CHARS])) / (1 + 0.005 * len(line))

    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return max(lines, key=fit, default=source.strip())[:QUOTE_CHARS].strip()
