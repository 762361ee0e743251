"""Groups a window into exchanges: a turn of the owner and the assistant's replies until the next turn.

Takes the messages of a window; returns exchanges with their sentences. Tool calls and their results are not read: they are
quoted material. So is what the owner pasted: a turn may contain a log, a review, a chat, a diff or a document, and the owner's
own line is then the first or the last.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from memory_assets.text.sentences import STRAIGHT, Sentence, split_message, split_sentences

Row = dict[str, Any]

_TRAILS_OFF = re.compile(r"…|(?<=[a-z ])\.{2,}(?=[a-z]|\s|$)|\.{3,}(?=\s|$)")
"""Two dots end a thought, but not in a path such as "../docs"."""

_WRAPPED = re.compile(r"(?<=[^\n]{60})\n[ \t]{2,}(?=\S)")
"""A line break that a terminal inserted."""

LONG_TURN_CHARS = 900
"""Longer turns are mostly pasted; only their first and last paragraphs are considered."""

EDGE_CHARS = 320
"""Longest first or last paragraph that may be the owner's own line around a paste."""

DOCUMENT_CHARS = 60
"""Shorter well-formed paragraphs may be typed."""

_FENCED = re.compile(r"^\s*(```|~~~).*?(?:^\s*\1\s*$|\Z)", re.S | re.M)
_TAGGED = re.compile(r"<([a-zA-Z][\w-]{2,})\b[^<>\n]*>.*?</\1>", re.S)
_INTRODUCES = re.compile(
    r"(?i)(?:\b(?:feedback|review|finding|comment|issue|error|output|log|message|example|following|this|says|said|wrote|replied"
    r"|told me|got|here'?s?)\b[^.?!\n]{0,40}[:：]|\b(?:says|said|wrote|replied)\s*)\s*$"
)
_LOG_LINE = re.compile(
    r"(?i)^\s*(?:[❯$%>#»]\s|===|---\s|\+\+\+|@@|\d{4}[-/]\d\d[-/]\d\d|[a-z_]+=\S+ [a-z_]+=|\d\d:\d\d:\d\d|\[[\w:. /-]{2,40}\]"
    r"|(?:error|warning|fatal|panic|info|debug|note|traceback|caused by|at |exit code|ok |fail|pass|remote|source|target"
    r"|hint)[\s:!(]|(?:human|user|assistant|system|owner|ai|bot|agent)\s*:|File \"|\w+(?:Error|Exception):|[|+│┌└├─═╭╰]"
    r"|[{}\[\]<]|\d+\s*[|│]|[\w./-]+:\d+(?::\d+)?[: ]|[-+] {0,3}\S*[{}();=])"
)
_STAMPED_CHAT = re.compile(r"\[\d{1,2}:\d\d(?:\s?[AP]M)?\]|^\s*\w+\s+(?:\d{1,2}:\d\d\s?[AP]M|[—-]\s*Yesterday)", re.I | re.M)
_FINDINGS = re.compile(
    r"(?im)^\s*(?:[-*]|\d+[.)])?\s*(?:\W{0,3}(?:high|medium|low|critical|major|minor|nit|P[0-3])\b\W{0,3}[:\-–—]"
    r"|findings?\b.{0,20}:|one remaining finding|#{1,4}\s|\*\*)"
)
_HARD_WRAP = re.compile(r"\S\n[ \t]{3,}\S[^\n]*\n[ \t]{2,}\S")
"""Two lines that a terminal broke and indented; one alone may be a long line of the owner."""

_CASUAL = re.compile(
    r"(?<![\w'.])i(?![\w.])|\b(?:dont|doesnt|didnt|cant|wont|isnt|thats|whats|theres|im|ive|ur|u|gonna|wanna|cuz|pls|plz|yeah"
    r"|oh|hmm)\b|(?<=[a-z])\.\.(?=[a-z ])"
)
"""How people type to an agent, but do not write documents."""

_SMALL_WORD = re.compile(r"\s*[a-z']+(?:[ ,?!]|\.\.|$)")
_PROMPT = re.compile(r"^\s*[❯$%➜]\s+\S", re.M)
_CURLY = re.compile(r"[’“”]")
_WORDS = re.compile(r"[A-Za-z']+")
_CODE_MARKS = re.compile(r"[{}()\[\];=<>|\\/*_#$@]|::")


@dataclass(frozen=True, slots=True)
class AssistantReply:
    """One text message of the assistant."""

    message: Row
    sentences: tuple[Sentence, ...]
    is_closing: bool
    """The last one before the owner's next turn."""


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
    found: list[tuple[Row | None, list[Row]]] = [(None, [])]
    for message in messages:
        if message["is_user_turn"] and message["author"] == "owner":
            found.append((message, []))
        elif message["author"] == "assistant" and message["kind"] == "text":
            found[-1][1].append(message)
    return [_exchange(turn, replies) for turn, replies in found if turn or replies]


def owner_sentences(text: str) -> tuple[str, ...]:
    """Returns the sentences that the owner typed in a turn; people end them with dots, line breaks, or two dots."""
    found = []
    for paragraph in own_paragraphs(text):
        for line in _WRAPPED.sub(" ", paragraph).splitlines():
            for piece in _TRAILS_OFF.split(line.translate(STRAIGHT)):
                found += split_sentences(" ".join(piece.split()))
    return tuple(found)


def _exchange(turn: Row | None, replies: list[Row]) -> Exchange:
    parsed = [AssistantReply(row, tuple(split_message(row["text"])), row is replies[-1]) for row in replies]
    return Exchange(turn, owner_sentences(turn["text"]) if turn else (), tuple(parsed))


def own_paragraphs(text: str) -> list[str]:
    """Returns the paragraphs of a user turn that the owner wrote, in order."""
    bare = _TAGGED.sub("\n\n", _FENCED.sub("\n\n", text))
    paragraphs = [part.strip("\n") for part in re.split(r"\n\s*\n", bare) if part.strip()]
    return _edges(paragraphs) if _looks_pasted(bare) else _typed(paragraphs)


def _looks_pasted(text: str) -> bool:
    if len(text) > LONG_TURN_CHARS or _STAMPED_CHAT.search(text) or _PROMPT.search(text):
        return True
    return bool((len(text) > 200 and _HARD_WRAP.search(text)) or (len(text) > 300 and _FINDINGS.search(text)))


def _edges(paragraphs: list[str]) -> list[str]:
    """Returns the first and the last paragraph if the owner seems to have typed them, and casual ones after the first."""
    if not paragraphs:
        return []
    casual = takewhile(lambda paragraph: _is_edge(paragraph) and _is_casual(paragraph), paragraphs[1:])
    opening = [paragraphs[0], *casual]
    first = _typed(opening) if _is_edge(paragraphs[0]) else []
    last = paragraphs[-1]
    is_spoken = bool(first) or _is_casual(last) or last.rstrip().endswith("?")
    is_own = len(paragraphs) > len(opening) and _is_edge(last) and not _is_document(last) and is_spoken
    return first + (_typed([last]) if is_own else [])


def _is_casual(paragraph: str) -> bool:
    """Returns whether the paragraph is typed casually: lower case, no apostrophes, dots between thoughts."""
    return bool(_SMALL_WORD.match(paragraph)) or (bool(_CASUAL.search(paragraph)) and not _CURLY.search(paragraph))


def _is_edge(paragraph: str) -> bool:
    return len(paragraph) <= EDGE_CHARS and not _FINDINGS.search(paragraph) and not _HARD_WRAP.search(paragraph)


def _is_document(paragraph: str) -> bool:
    """Returns whether the paragraph reads like a document: a bullet, or a well-formed sentence that addresses nobody."""
    if re.match(r"\s*(?:[-*•>|]|\d+[.)])\s", paragraph):
        return True
    is_sentence = paragraph[:1].isupper() and paragraph.rstrip().endswith(".")
    return is_sentence and not re.search(r"\b(?:i|we|you|please|let'?s)\b", paragraph, re.I)


def _typed(paragraphs: list[str]) -> list[str]:
    """Returns the paragraphs without lines of logs and code, up to one that introduces a quotation."""
    found = []
    is_casual = bool(paragraphs) and _is_casual(paragraphs[0])
    for number, paragraph in enumerate(paragraphs):
        if _STAMPED_CHAT.search(paragraph):
            continue
        is_formal = paragraph.rstrip().endswith(".") and len(paragraph) > 2 * DOCUMENT_CHARS
        is_formal = is_formal or _is_document(paragraph) or bool(_CURLY.search(paragraph) and not _CURLY.search(paragraphs[0]))
        if number and is_casual and len(paragraph) > DOCUMENT_CHARS and is_formal and not _is_casual(paragraph):
            continue
        typed = takewhile(lambda line: not _PROMPT.match(line), paragraph.splitlines())
        lines = [line for line in typed if not _is_machine_made(line)]
        if any(line.strip() for line in lines):
            found.append("\n".join(lines))
        if _INTRODUCES.search(paragraph):
            break
    return found


def _is_machine_made(line: str) -> bool:
    """Returns whether a line is output, code or a quotation."""
    words = _WORDS.findall(line)
    is_code = len(line) > 30 and (len(words) < 3 or len(_CODE_MARKS.findall(line)) > 2 * len(words))
    return is_code or bool(_LOG_LINE.match(line))
