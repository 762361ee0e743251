"""Groups a window into exchanges: a turn of the owner and the assistant's replies until the next
turn.

Takes the messages of a window; returns exchanges with their sentences. Tool calls and their results
are not read: they are quoted material. So is what the owner pasted: a mail, a log, a review, a
chat, a diff, a document, a prompt for another agent. The owner's own lines are then before it, and
a last one that speaks to the assistant.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from memory_assets.text.sentences import STRAIGHT, Sentence, split_message, split_sentences

Row = dict[str, Any]

_TRAILS_OFF = re.compile(
    r"…|(?<=[a-z]{3}[.!?]|\s-[a-z][.!?])(?<!etc\.)\s+(?=[a-z])|(?<=[a-z ])\.{2,}(?=[a-z]|\s"
    r"|$)|\.{3,}(?=\s|$)"
)
"""People end a thought with two dots, or go on with a small letter; but not in a path such as
"../docs".
"""

_WRAPPED = re.compile(r"(?<=[^\n]{60})\n[ \t]{2,}(?=\S)")
"""A line break that a terminal inserted."""

_HARD_WRAP = re.compile(r"\S\n[ \t]{3,}\S[^\n]*\n[ \t]{2,}\S")
"""Two lines that a terminal broke and indented; one alone may be a long line of the owner."""

LONG_TURN_CHARS = 900
"""Longer turns are mostly pasted; only the short paragraphs around the paste are considered."""

EDGE_CHARS = 320
"""Longest paragraph that may be the owner's own line around a paste."""

_FENCED = re.compile(r"^\s*(```|~~~).*?(?:^\s*\1\s*$|\Z)", re.S | re.M)
_TAGGED = re.compile(r"<([a-zA-Z][\w-]{2,})\b[^<>\n]*>.*?</\1>", re.S)
_QUOTE_FOLLOWS = re.compile(
    r"(?im)^[^\n]*(?:\b(?:here(?:'?s| is| are)|this is|following|below|feedback|review"
    r"|comments?|mail|message|output"
    r"|logs?)\b[^.?!\n:]*:|\b(?:says?|said|wrote|replied|told me):?|\bif:"
    r"|:(?=[ \t]*\n[ \t]*\n(?![ \t]*[-*•\d])))[ \t]*$"
)
"""A line that introduces words of somebody else, or a supposition; it is the owner's, what follows
is not.
"""

_QUOTE_STARTS = re.compile(
    r"(?im)^[ \t]*(?:(?:from|to|cc|subject|date|human|user|assistant|system|owner|agent"
    r"|findings?): ?|on .{6,80} wrote:|[❯$%➜] "
    r"\S|traceback |#{1,4} \w|you are (?:an?|the) \w|act as |your task is\b|(?:task"
    r"|prompt)\b[^\n:]*:|@@ |diff |(?:dear|hi"
    r"|hello) \w+,$|\W*\d+\. \W?(?:critical|high|medium|low)\b"
    r"|\+\+\+ |\w+ — (?:yesterday|today|\d)|(?:[^\n]+\n)?\W?\d\d?:\d\d(?::\d\d)?(?: "
    r"?[ap]m)?\W|(?:[^\n]+\n+)?(?:cr"
    r"itical|high|medium|low) severity[ \t]*$|(?!note|rule|important|decision|also"
    r"|reminder)(?-i:[A-Z]\w+(?: \w+)?: [A-Z]))"
)
"""The first line of a mail, a chat, a terminal, a document, or a prompt for an agent; the rest of
the turn belongs to it.
"""

_MACHINE_LINE = re.compile(
    r"(?i)\s*(?:>|//|/\*|===|---|\d{4}[-/]\d\d[-/]\d\d|\[[\w:. /-]+\]|[a-z_]+=\S+ [a-z_]+="
    r"|[\w./-]+:\d+(?::\d+)?[: ]|[|{}<]"
    r"|[-+] {0,3}\S*[{}();=]|(?:error|warn\w*|info|debug|fatal|panic|hint|remote)[\s:!(]"
    r"|File \"|\w+(?:Error|Exception):"
    r"|[-*\d.) ]*(?:\W{0,3}(?:high|medium|low|critical|major|minor|nit|P[0-3])\b\W{0,3}[:–—-]))"
)
"""A quotation, output, a diff, code, or a finding of a review."""

_CLOSES = re.compile(r"(?=[a-z])(?=[^\n]*(?:\bplease\b|\byou\b|\?$))[^\n]{1,320}\Z")
"""A line behind a paste that speaks to the assistant."""


@dataclass(frozen=True, slots=True)
class AssistantReply:
    """One text message of the assistant."""

    message: Row
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn of the owner, if there is one, and the assistant's replies."""

    message: Row | None
    owner_sentences: tuple[str, ...]
    replies: tuple[AssistantReply, ...] = ()

    @property
    def said(self) -> str:
        """The owner's own words, in one line."""
        return " ".join(self.owner_sentences)


def parse_exchanges(messages: Sequence[Row]) -> list[Exchange]:
    """Returns the exchanges of the window in order; only the first may lack a turn of the owner."""
    found: list[tuple[Row | None, list[AssistantReply]]] = [(None, [])]
    for message in messages:
        if message["is_user_turn"] and message["author"] == "owner":
            found.append((message, []))
        elif message["author"] == "assistant" and message["kind"] == "text":
            found[-1][1].append(AssistantReply(message, tuple(split_message(message["text"]))))
    return [
        Exchange(t, owner_sentences(t["text"]) if t else (), tuple(replies))
        for t, replies in found
        if t or replies
    ]


def owner_sentences(text: str) -> tuple[str, ...]:
    """Returns the sentences that the owner typed in a turn; people end them with dots, line breaks,
    or two dots.
    """
    found = []
    for paragraph in own_paragraphs(text):
        for line in _WRAPPED.sub(" ", paragraph).splitlines():
            for piece in _TRAILS_OFF.split(line.translate(STRAIGHT)):
                found += split_sentences(" ".join(piece.split()))
    return tuple(found)


def own_paragraphs(text: str) -> list[str]:
    """Returns the paragraphs of a user turn that the owner wrote, in order."""
    bare = _TAGGED.sub("\n\n", _FENCED.sub("\n\n", text))
    ends = [found.end() for found in _QUOTE_FOLLOWS.finditer(bare)] + [
        found.start() for found in _QUOTE_STARTS.finditer(bare)
    ]
    typed, whole = _paragraphs(bare[: min(ends, default=None)]), _paragraphs(bare)
    # A terminal indents what an agent says.
    typed = [part for part in typed if not part.startswith("  ")]
    if len(bare) > LONG_TURN_CHARS or _HARD_WRAP.search(bare):
        typed = [
            *filter(_is_line, typed[:1]),
            *takewhile(lambda part: _is_line(part) and part[0].islower(), typed[1:]),
        ]
    if typed and len(typed) + 1 < len(whole) and _CLOSES.match(whole[-1]):
        typed.append(whole[-1])
    lines = [
        "\n".join(line for line in part.splitlines() if not _MACHINE_LINE.match(line))
        for part in typed
    ]
    return [part.strip("\n") for part in lines if part.strip()]


def _paragraphs(text: str) -> list[str]:
    return [part.strip("\n") for part in re.split(r"\n(?:[ \t]*\n)+", text) if part.strip()]


def _is_line(paragraph: str) -> bool:
    return len(paragraph) <= EDGE_CHARS and not _HARD_WRAP.search(paragraph)
