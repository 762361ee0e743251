"""Quotes, word for word, what people and the session's own model wrote about the work.

Takes the messages of a segment in order; returns what the owner asked for first, the plans that
they accepted, commits, pull requests, summaries of the conversation, and the last words of the
assistant. A quote is part of one message: its first whole sentences, its first line or a title.
Nothing is joined or added.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, dropwhile, islice
from typing import Any, NamedTuple

from memory_assets.schema.vocabulary import QuoteSource
from memory_assets.stages.distill.rules.exchanges import Exchange, Row, parse_exchanges
from memory_assets.text.sentences import CALL, STRAIGHT, sentence_spans
from memory_assets.text.words import squeezed, stems_of

REQUEST_CHARS, STATE_CHARS, SUMMARY_CHARS = 200, 240, 480
"""Longest quotes; of a longer text its first sentences are quoted, at least one."""

FEWEST_STEMS = 2
"""Fewest content words of a request: "yes" and "go on" are none."""

LONGEST_SENTENCE = 400
"""A text that begins with a longer sentence is not quoted: nobody wrote it as a summary."""

COMMIT = re.compile(r"^\[[^\s\]]+(?: \(root-commit\))? ([0-9a-f]{7,40})\] (\S.*)$", re.M)
"""What `git commit` prints: the hash and the subject."""

_PLAN = re.compile(r"^(?:## Approved Plan|Implement the following plan):\s*#*\s*(\S.*)$", re.M)
"""The first line of an accepted plan, below the line with which Claude Code puts it in."""

_PULL_REQUEST = re.compile(r"\bgh pr create\b.*?--title[ =](?P<mark>\\?[\"'])(.+?)(?P=mark)", re.S)
_SUMMARY_STARTS = re.compile(
    r"(?s)\A.*?^(?:<summary>|Summary:)\s*|\A(?:#|Another language model started)[^\n]*\n", re.M
)
"""What comes before the sentences of a summary: instructions for its reader, or a title."""


QUOTE_COLUMNS = ("quote_sources", "quotes", "quote_ids")
"""The columns of the table `segments` that hold its quotes, one list each."""


class Quote(NamedTuple):
    """Words of one message; the owner's if they are a request, else the assistant's."""

    source: QuoteSource
    text: str
    message_id: str


def label_of(source: QuoteSource) -> str:
    """Returns who wrote a quote of this source, and as what."""
    speakers = {"request": "Owner", "state": "Assistant"}
    return speakers.get(source, f"Assistant ({source})")


def quotes_of(segment: Mapping[str, Any]) -> list[Quote]:
    """Returns the quotes of a row of `segments`."""
    return [*map(Quote, *(segment[name] for name in QUOTE_COLUMNS))]


def rendered(quote: Quote) -> str:
    """Returns the quote in one line, with who wrote it."""
    return f"{label_of(quote.source)}: “{squeezed(quote.text)}”"


def find_quotes(messages: Sequence[Row]) -> list[Quote]:
    """Returns the quotes of the messages: the first request, the rest in order, the last state."""
    requests = chain.from_iterable(map(_request, parse_exchanges(messages)))
    states = chain.from_iterable(map(_state, reversed(messages)))
    written = chain.from_iterable(map(_written, messages))
    distinct = {(quote.source, quote.text): quote for quote in written}
    return [*islice(requests, 1), *distinct.values(), *islice(states, 1)]


def opening(text: str, most: int) -> str:
    """Returns the first whole sentences of the text, at least one, up to `most` characters.

    The last one is none that only introduces what follows it.
    """
    spans = sentence_spans(text)
    if not spans or spans[0][1] - spans[0][0] > LONGEST_SENTENCE:
        return ""
    start = spans[0][0]
    fitting = [end for _, end in spans if end - start <= most] or [spans[0][1]]
    whole = [end for end in fitting if not text[:end].rstrip("*_").endswith(":")]
    return text[start : max(whole, default=start)]


def _request(exchange: Exchange) -> Iterator[Quote]:
    """Yields the owner's sentences that follow each other in a turn, if it asks for something."""
    sentences = [*dropwhile(lambda sentence: not stems_of(sentence), exchange.owner_sentences)]
    is_named = len(stems_of(exchange.said)) >= FEWEST_STEMS
    if exchange.message is None or not is_named or sentences[0].startswith("/"):
        return
    text = squeezed(exchange.message["text"])
    for count in range(len(sentences), 0, -1):
        words = " ".join(sentences[:count])
        start = text.translate(STRAIGHT).find(words)
        if start >= 0 and (count == 1 or len(words) <= REQUEST_CHARS):
            quote = text[start : start + len(words)]
            yield Quote("request", quote, exchange.message["message_id"])
            return


def _state(message: Row) -> Iterator[Quote]:
    """Yields the beginning of a text of the assistant."""
    if message["author"] == "assistant" and message["kind"] == "text":
        prose = message["text"].partition("```")[0].partition(CALL)[0]
        quote = opening(prose, STATE_CHARS)
        if quote:
            yield Quote("state", quote, message["message_id"])


def _written(message: Row) -> Iterator[Quote]:
    """Yields what the session's model wrote in the message for others to read."""
    text = message["text"]
    is_summary = message["kind"] == "summary"
    has_calls = message["kind"] == "tool_call" or CALL in text
    is_plan = message["author"] == "injected" or message["tool_name"] == "ExitPlanMode"
    is_result = message["kind"] == "tool_result"
    texts: dict[QuoteSource, list[str]] = {
        "summary": [_summary(text)] if is_summary else [],
        "plan": _PLAN.findall(text)[:1] if is_plan else [],
        "commit": [subject for _, subject in COMMIT.findall(text)] if is_result else [],
        "pull request": [title for _, title in _PULL_REQUEST.findall(text)] if has_calls else [],
    }
    for source, quotes in texts.items():
        yield from (Quote(source, quote, message["message_id"]) for quote in quotes if quote)


def _summary(text: str) -> str:
    return opening(_SUMMARY_STARTS.sub("", text, count=1), SUMMARY_CHARS)
