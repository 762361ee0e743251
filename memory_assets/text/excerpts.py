"""Cuts a message to the sentences that match a question, and marks every gap with "…"; finds the
words that match, and gives whole sentences back.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from memory_assets.text.sentences import sentence_spans, split_message
from memory_assets.text.terms import text_terms
from memory_assets.text.words import squeezed

LONGEST = 600
"""Characters shown of a message alone, and of two together."""

BESIDE = 180
"""Characters shown of the message beside the one that was found: about a line and a half."""

STEP = 40
"""Characters between the spans of a long sentence that are compared."""

CUT = "…"

SHOWN_SENTENCES = 3
"""Most sentences of a message that a person reads among results."""


def excerpt(passage: Mapping[str, Any], terms: Collection[str] = (), longest: int = LONGEST) -> str:
    """Returns the sentences around the passage that have most of the terms, in their lines.

    `passage` has `whole`, `char_from` and `char_to`. A sentence longer than `longest` characters is
    cut between words: then "…" stands at a word, elsewhere beside a space.
    """
    text = passage["whole"]
    start = passage["char_from"]
    end = passage["char_to"]
    room = longest - 2 * len(f"{CUT} ")
    spans = _spans_near(text, start, end, 4 * longest)
    inside = [place for place, (low, high) in enumerate(spans) if low < end and high > start]
    if not inside:
        return around(text, start, end, longest)
    windows = [_window(spans, place, room) for place in inside]
    first, last = max(windows, key=lambda window: _terms_in(text[slice(*window)], terms))
    if last - first > room:
        return around(text, *_densest_span(text, first, last, room, terms), longest)
    return _marked_cut(text, first, last)


def _spans_near(text: str, start: int, end: int, reach: int) -> list[tuple[int, int]]:
    """Returns the spans of the sentences around that span of the text."""
    low = max(start - reach, 0)
    return [(low + first, low + last) for first, last in sentence_spans(text[low : end + reach])]


def _marked_cut(text: str, first: int, last: int) -> str:
    """Returns the span of the text in its lines, with marks of the gaps beside it."""
    lines = (squeezed(line) for line in text[first:last].splitlines())
    shown = "\n".join(line for line in lines if line)
    opening = f"{CUT} " if text[:first].strip() else ""
    closing = f" {CUT}" if text[last:].strip() else ""
    return f"{opening}{shown}{closing}"


def words_around(text: str, terms: Collection[str], longest: int) -> str:
    """Returns, on one line, the part of the text with most of the terms."""
    room = longest - 2 * len(CUT)
    if len(text) <= longest:
        return squeezed(text)
    first, last = _densest_span(text, 0, len(text), room, terms)
    if first > 0:
        first = max(first, text.find(" ", first, last) + 1)
    return around(text, first, last, longest)


def prose_of(text: str, terms: Collection[str]) -> str:
    """Returns the sentences outside of tables and blocks of code, a line each, without Markdown's
    marks but those of items; the text as it is if one of the terms stands elsewhere.
    """
    sentences = (each for each in split_message(text) if each.place != "table")
    lines = [f"- {each.text}" if each.place == "bullet" else each.text for each in sentences]
    closing = f" {CUT}" if text.endswith(CUT) else ""
    prose = "\n".join(lines).removesuffix(CUT).rstrip() + closing
    return prose if _terms_in(prose, terms) == _terms_in(text, terms) else text


def cut_to_match(text: str, terms: Collection[str], most_words: int) -> str:
    """Returns, on one line, the up to three sentences in a row that have most of the terms, in at
    most so many words.

    A longer sentence is cut between words to the part with most of the terms.
    """
    lengths = [len(text[first:last].split()) for first, last in sentence_spans(text)]
    words = text.split()
    spans = list(_sentence_windows(lengths, most_words))
    first, last = _most_matching(words, spans, terms)
    if last - first > most_words:
        starts = range(first, last - most_words + 1)
        first, last = _most_matching(words, [(at, at + most_words) for at in starts], terms)
    opening = f"{CUT} " if first > 0 and words[first] != CUT else ""
    closing = f" {CUT}" if last < len(words) and words[last - 1] != CUT else ""
    return f"{opening}{' '.join(words[first:last])}{closing}"


def _sentence_windows(lengths: Sequence[int], most_words: int) -> Iterator[tuple[int, int]]:
    """Yields, for each sentence, the words from it to the last one that may be shown with it."""
    start = 0
    for place, length in enumerate(lengths):
        end = start + length
        for further in lengths[place + 1 : place + SHOWN_SENTENCES]:
            if end + further - start > most_words:
                break
            end += further
        yield start, end
        start += length


def _most_matching(
    words: Sequence[str], spans: Sequence[tuple[int, int]], terms: Collection[str]
) -> tuple[int, int]:
    """Returns the first of the spans of words that have most of the terms."""
    counts = [_terms_in(" ".join(words[first:last]), terms) for first, last in spans]
    return spans[counts.index(max(counts))] if spans else (0, len(words))


def matching_words(text: str, terms: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yields the spans of the words that have one of the terms."""
    end = 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        if _terms_in(word, terms):
            yield start, end


def further_terms(terms: Collection[str], text: str) -> list[str]:
    """Returns the terms that the text lacks: what the answer to it may add."""
    present = set(text_terms(text))
    return [term for term in terms if term not in present]


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
