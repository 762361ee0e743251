"""Cuts a message to the sentences that match a question, and marks every gap with "…"; gives its
whole sentences back.
"""

from collections.abc import Collection, Iterator, Sequence

from memory_assets.schema.protocols import Row
from memory_assets.text.sentences import sentence_spans
from memory_assets.text.terms import text_terms
from memory_assets.text.words import squeezed

LONGEST = 600
"""Characters shown of a message alone, and of two together."""

BESIDE = 180
"""Characters shown of the message beside the one that was found: about a line and a half."""

STEP = 40
"""Characters between the spans of a long sentence that are compared."""

CUT = "…"


def excerpt(passage: Row, terms: Collection[str] = (), longest: int = LONGEST) -> str:
    """Returns the sentences around the passage that have most of the terms, in their lines.

    `passage` has `whole`, `char_from` and `char_to`. A sentence longer than `longest` characters is
    cut between words: then "…" stands at a word, elsewhere beside a space.
    """
    text, start, end = passage["whole"], passage["char_from"], passage["char_to"]
    room = longest - 2 * len(f"{CUT} ")
    low = max(start - 4 * longest, 0)
    spans = [
        (low + first, low + last) for first, last in sentence_spans(text[low : end + 4 * longest])
    ]
    inside = [place for place, (first, last) in enumerate(spans) if first < end and last > start]
    if not inside:
        return around(text, start, end, longest)
    windows = [_window(spans, place, room) for place in inside]
    first, last = max(windows, key=lambda window: _terms_in(text[slice(*window)], terms))
    if last - first > room:
        return around(text, *_densest_span(text, first, last, room, terms), longest)
    lines = (squeezed(line) for line in text[first:last].splitlines())
    shown = "\n".join(line for line in lines if line)
    before = f"{CUT} " if text[:first].strip() else ""
    after = f" {CUT}" if text[last:].strip() else ""
    return f"{before}{shown}{after}"


def whole_sentences(shown: str) -> Iterator[str]:
    """Yields the sentences of an excerpt, each on one line, without those that were cut."""
    text = shown.removeprefix(f"{CUT} ").removesuffix(f" {CUT}")
    for first, last in sentence_spans(text):
        sentence = squeezed(text[first:last])
        if not (sentence.startswith(CUT) or sentence.endswith(CUT)):
            yield sentence


def _window(spans: Sequence[tuple[int, int]], place: int, room: int) -> tuple[int, int]:
    """Returns the span of the sentence at that place and of those after it that fit into the room
    with it.
    """
    first, last = spans[place]
    for _, end in spans[place + 1 :]:
        if end - first > room:
            break
        last = end
    return first, last


def _terms_in(text: str, terms: Collection[str]) -> int:
    return len(set(terms).intersection(text_terms(text)))


def _densest_span(
    text: str, start: int, end: int, length: int, terms: Collection[str]
) -> tuple[int, int]:
    """Returns the span of that length, between start and end, that has most of the terms."""
    first = max(
        range(start, end - length + 1, STEP),
        key=lambda at: _terms_in(text[at : at + length], terms),
    )
    return first, first + length


def around(text: str, start: int, end: int, length: int = LONGEST) -> str:
    """Returns the span of the text on one line, with as much text around it as fits into `length`
    characters.
    """
    room = max(length - (end - start) - 2, 0)
    low = max(start - room // 2, 0)
    high = min(low + (end - start) + room, len(text))
    low = max(min(low, high - (end - start) - room), 0)
    if low > 0:
        space = text.find(" ", low, start)
        low = space + 1 if space >= 0 else start
    if high < len(text):
        space = text.rfind(" ", end, high)
        high = space if space >= 0 else end
    shown = " ".join(text[low:high].split())[: length - 2]
    return f"{CUT if low > 0 else ''}{shown}{CUT if high < len(text) else ''}"
