"""Judges who wrote each block of a person's turn: the person, or somebody whose text was pasted.

Takes the text of a turn; returns its blocks in order. The judgement rests on how a block looks (a
header, a prompt, the time of a chat, numbering, a diff, its length, its language), not on what it
says. `typed` is plainly the person's own; `pasted` has marks of another writer; `unsure` may be
either: a rule in it waits for a person. A last line that speaks to the assistant is typed, whatever
is above it. Distillation, recall and triage judge by this module alone.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from memory_assets.english.languages import language_of
from memory_assets.text.sentences import STRAIGHT, split_sentences

Writer = Literal["typed", "unsure", "pasted"]


class Block(NamedTuple):
    """A part of a turn that one hand wrote."""

    text: str
    writer: Writer


LONG_TURN_CHARS = 900
"""Longer turns are mostly pasted; only the short blocks around the paste are typed."""

EDGE_CHARS = 320
"""Longest block that may be the person's own line around a paste."""

_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.S | re.M)
_TAGGED = re.compile(r"<([a-zA-Z][\w-]{2,})\b[^<>\n]*>.*?</\1>", re.S)
_GAP = re.compile(r"\n(?:[ \t]*\n)+")

_NAME = r"(?:[A-Z][\w.'-]{0,40}|[\w.-]{0,40}[_.-][\w.-]{0,40})"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?"
_CHAT = re.compile(
    rf"(?m)^\W{{0,3}}(?:{_CLOCK}|\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}})\W"
    rf"|^(?:{_NAME},? ){{1,3}}\W{{0,3}}{_CLOCK}(?: ?[AaPp][Mm])?\W*$"
    r"|^[^\n]{1,40}[ \t]{2,}\d{1,2}:\d{2}(?: ?[AP]M)?[ \t]*$"
    r"|^[\w .-]{1,40} [—·•] \w+(?: at)? ?\d|^<[\w.-]{1,40}> \w"
    r"|^[^\n]{0,60}\b\d+ ?(?:m|h|d|min|minutes?|hours?|days?|weeks?|months?|years?) ago\W*$"
)
"""A line with a name or a time, as chats, forums and logs write it."""

_SHELL = re.compile(
    r"(?m)^(?:PS )?[A-Za-z]:\\[^>\n]*>|^[\w.-]{1,60}@[\w.-]{1,60}[^\s$#%]{0,200}[ ~]?[$#%] \S"
    r"|^(?:\([\w.-]+\) )?[❯$%➜] \S|^>>> \S|^(?:In|Out) ?\[\d+\]:|^Traceback "
)
"""A prompt; output follows."""

_DOCUMENT = re.compile(
    r"(?m)^(?:@@ |diff |\+\+\+ |commit [0-9a-f]{7}|<!--|-{3,}[^\n-]+-{3,}$|-- ?$)"
    r"|(?im:^(?:you are (?:an?|the) |act as |your task is|comment on line|(?:task"
    r"|prompt)\b[^\n:]{0,40}:)|^(?:human|user|assistant|system): ?"
    r"|^\W{0,12}(?!(?:i|we|you|he|she|they)\b)[\w.-]{1,40}\W{0,4} (?:commented|left a|requested"
    r"|suggested"
    r"|approved|replied|posted)\b|^[^\n?!]{0,90}\b(?:wrote|writes|schrieb|a écrit|escribió"
    r"|ha scritto|escreveu)\b[^\n?!]{0,60}:[ \t]*$"
    r"|^(?:[^\n]+\n)?[^\w\n]*(?:\d+[^\w\n]+)?(?:critical|high|medium|low)(?: severity|\)|:))"
)
"""The first line of a diff, a mail, a review, or a prompt for another agent."""

_INTRODUCES = re.compile(
    r"(?im)^[^\n]*(?:\b(?:here(?:'?s| is| are)|this is|below|following|feedback|review|comments?"
    r"|mail|message|output|logs?)\b[^.?!\n:]*:|\b(?:says?|said|replied|told me):?|\bif:"
    r"|:(?=[ \t]*\n[ \t]*\n(?![ \t]*[-*•\d])))[ \t]*$"
)
"""A line of the person behind which words of somebody else, or a supposition, follow."""

_HEADER = r"\W{0,12}(?!https?)[\w-]{1,14} ?:[ \t]+\S[^\n]*"
_LAID_OUT = re.compile(
    rf"(?m)^{_HEADER}\n{_HEADER}|^(?:#{{1,6}} \w|\*\*[^*\n]+\*\*:?$)"
    r"|^(?!(?i:note|rule|important|decision|also|reminder|ps)\b)[A-Z]\w+(?: \w+)?: [A-Z]"
)
"""Headers, headings, or a speaker before the words, as mails, documents and minutes have them."""

_MACHINE_LINE = re.compile(
    r"(?i)\s*(?:>|//|/\*|===|---|\d{4}[-/]\d\d[-/]\d\d|\[[\w:. /-]+\]|[a-z_]+=\S+ [a-z_]+="
    r"|[\w./-]+:\d+(?::\d+)?[: ]|[|{}<]|[-+] {0,3}\S*[{}();=]|File \"|\w+(?:Error|Exception):"
    r"|(?:error|warn\w*|info|debug|fatal)[\s:!(])"
)
"""A quotation, output or code."""

_NUMBERED = re.compile(r"(?m)^[ \t]*\d{1,3}[.)][ \t]+\S")
_WRAPPED_BY_TERMINAL = re.compile(r"\S\n[ \t]{3,}\S[^\n]*\n[ \t]{2,}\S")
"""Two lines that a terminal broke and indented; one alone may be a long line of the person."""

_CLOSES = re.compile(r"(?=[a-z])(?=[^\n]*(?:\bplease\b|\byou\b|\?$))[^\n]{1,320}\Z")
"""A line behind a paste that speaks to the assistant."""

_SOFT_BREAK = re.compile(r"(?<=[^\n]{60})\n[ \t]{2,}(?=\S)")
_TRAILS_OFF = re.compile(
    r"…|(?<=[a-z]{3}[.!?]|\s-[a-z][.!?])(?<!etc\.)\s+(?=[a-z])|(?<=[a-z ])\.{2,}(?=[a-z]|\s|$)"
    r"|\.{3,}(?=\s|$)"
)
"""People end a thought with two dots, or go on with a small letter; but not in a path such as
"../docs".
"""

_CONDITION = re.compile(
    r"(?i)^(?:(?:and|but|so|also) )?(?:if|when|whenever|unless|before|after|as long as"
    r"|in case)\b[^,;:.!?]*,?$"
)
"""A condition whose main clause is on the next line."""

_QUOTATION = re.compile(r"[\"“„«][^\"”“»\n]{12,600}[\"”“»]|(?<!\w)'[^'\n]{12,600}'(?!\w)")
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=4_096)
def blocks_of(turn: str) -> tuple[Block, ...]:
    """Returns the blocks of the turn in order; without fenced code and tags, which nobody typed."""
    bare = _TAGGED.sub("\n\n", _FENCED.sub("\n\n", turn))
    blocks = list(_judged(_parts(bare), is_long=len(bare) > LONG_TURN_CHARS))
    last = next(reversed(_paragraphs(bare)), "")
    if len(blocks) > 1 and blocks[-1].text == last and _CLOSES.match(last):
        is_own = any(block.writer == "typed" for block in blocks[:-1])
        blocks[-1] = Block(last, "typed" if is_own else "unsure")
    return tuple(_of_one_language(blocks))


def typed_paragraphs(turn: str) -> list[str]:
    """Returns the blocks that the person typed, in order."""
    return [block.text for block in blocks_of(turn) if block.writer == "typed"]


def typed_sentences(turn: str) -> tuple[str, ...]:
    """Returns the sentences that the person typed in a turn."""
    return sentences_of_blocks(typed_paragraphs(turn))


def sentences_of_blocks(paragraphs: Sequence[str]) -> tuple[str, ...]:
    """Returns the sentences of blocks; people end them with dots, line breaks, or two dots.

    A condition stays with the clause that it is for.
    """
    sentences: list[str] = []
    for paragraph in paragraphs:
        pieces: list[str] = []
        for line in _SOFT_BREAK.sub(" ", paragraph).splitlines():
            pieces += filter(None, map(str.strip, _TRAILS_OFF.split(line.translate(STRAIGHT))))
        for piece in _with_conditions(pieces):
            sentences += split_sentences(" ".join(piece.split()))
    return tuple(sentences)


def is_pasted(quote: str, turn: str) -> bool:
    """Returns whether the turn holds the quote only in text that is not plainly typed."""
    typed = "\n".join(typed_paragraphs(turn))
    words = words_of(quote)
    return words in words_of(turn) and words not in words_of(_QUOTATION.sub(" ", typed))


def _parts(text: str) -> Iterator[tuple[str, Writer]]:
    """Yields the paragraphs of the text, cut at marks; each with the writer whose mark is the last.

    A line of the person that introduces something ends a part, another mark begins one.
    """
    marks: dict[int, Writer] = {0: "typed"}
    for pattern in (_LAID_OUT, _CHAT):
        marks |= {match.start(): "unsure" for match in pattern.finditer(text)}
    marks |= {match.end(): "pasted" for match in _INTRODUCES.finditer(text)}
    for pattern in (_SHELL, _DOCUMENT):
        marks |= {match.start(): "pasted" for match in pattern.finditer(text)}
    starts = sorted(marks)
    writer: Writer = "typed"
    for start, end in pairwise([*starts, len(text)]):
        writer = "pasted" if "pasted" in (writer, marks[start]) else marks[start]
        for paragraph in _paragraphs(text[start:end]):
            yield paragraph, "pasted" if paragraph.startswith("  ") else writer


def _judged(parts: Iterable[tuple[str, Writer]], *, is_long: bool) -> Iterator[Block]:
    """Yields the parts without what a machine printed; a typed one must also be laid out as people
    type.
    """
    for number, (part, writer) in enumerate(parts):
        is_by_hand = _is_by_hand(part, number, is_long=is_long)
        lines = [line for line in part.splitlines() if not _MACHINE_LINE.match(line)]
        if any(map(str.strip, lines)):
            text = "\n".join(lines).strip("\n")
            yield Block(text, "unsure" if writer == "typed" and not is_by_hand else writer)


def _is_by_hand(part: str, number: int, *, is_long: bool) -> bool:
    """Returns whether a part without marks is laid out as people type: short, not numbered."""
    if _NUMBERED.match(part) and "\n" in part.strip():
        return False
    if not is_long and not _WRAPPED_BY_TERMINAL.search(part):
        return True
    return len(part) <= EDGE_CHARS and (number == 0 or part[0].islower())


def _of_one_language(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yields the blocks; one in another language than the typed text around it may be pasted."""
    typed = [block.text for block in blocks if block.writer == "typed"]
    beside = typed if len(typed) > 1 else ()  # a text alone has nothing to differ from
    languages = {text: language_of(text) for text in beside}
    first = next(filter(None, languages.values()), "")
    for block in blocks:
        is_typed = block.writer == "typed"
        is_foreign = is_typed and languages.get(block.text, "") not in ("", first)
        yield Block(block.text, "unsure") if is_foreign else block


def _with_conditions(pieces: Sequence[str]) -> Iterator[str]:
    """Yields the pieces; a condition without its main clause is joined with the next piece."""
    condition = ""
    for piece in pieces:
        whole = f"{condition}{piece}"
        if _CONDITION.match(whole) and len(pieces) > 1:
            condition = f"{whole.rstrip(',')}, "
        else:
            condition = ""
            yield whole
    if condition:
        yield condition.rstrip(", ")


def _paragraphs(text: str) -> list[str]:
    return [part.strip("\n") for part in _GAP.split(text) if part.strip()]


def words_of(text: str) -> str:
    """Returns the words alone: a quote may join lines and straighten apostrophes."""
    return " ".join(_WORD.findall(text.lower()))
