"""Finds where a session stopped: the owner's last request, the last state that the assistant
stated, and open work.

Takes the messages of the session's last window in order; uses no model. All texts are quotes of
whole sentences, except the note, which is one of three fixed sentences. Open work is: a commit that
was not pushed or merged, an open pull request, a question or offer to the owner, an announced step
that no later reply confirms, and an error that remains.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from memory_assets.stages.distill import spoken
from memory_assets.stages.distill.rules.exchanges import Exchange, Row, parse_exchanges
from memory_assets.stages.distill.rules.grammar import LEAST_NAMED
from memory_assets.text.patterns import patterns_beside
from memory_assets.text.sentences import excerpt, split_sentences, written_sentences
from memory_assets.text.words import specifics_in, stems_of

OPEN_CHARS = 320
MOST_SENTENCES = 3
"""Most sentences about open work; the last ones are quoted."""

LONG_CHARS = 240
"""A longer sentence mainly explains; it is only quoted if there is no shorter one."""

_PATTERNS = patterns_beside(__file__)
_OPEN = _PATTERNS["open"]
"""Words of a sentence that says that something is not finished."""

_ANNOUNCES = _PATTERNS["announces"]
"""Words with which the assistant announces a step; if they are its last, the step is open."""

_MERGED = re.compile(r"(?i)(?<!not )(?<!un)\b(?:merged|closed)\b(?! yet)")
_PASSES = _PATTERNS["passes"]
"""Words about something that ends with the session, such as a process that it ran."""

_DONE = _PATTERNS["done"]
_MOVED_ON = re.compile(r"(?i)\bpush|\bmerge|\bPR\b|\bpull request\b")
NOT_PUSHED, NOT_DONE = "Nothing says that it was pushed.", "Nothing says that it was done."
STOPPED = "Stopped before it was done."
"""Note about a session that ended while the assistant worked."""

_TRUNKS = frozenset(("", "main", "master", "trunk", "develop", "HEAD"))


@dataclass(frozen=True)
class Handoff:
    """Where a session stopped; texts may be empty."""

    request: str = ""
    state: str = ""
    open_text: str = ""
    """The sentences of the last reply that are about open work."""
    note: str = ""
    """`NOT_PUSHED`, `NOT_DONE`, `STOPPED` or empty."""


def find_handoff(messages: Sequence[Row], branch: str = "") -> Handoff:
    """Returns where the window's session stopped.

    A commit on a branch other than the trunk is open until a reply says that it was pushed.
    """
    all_exchanges = parse_exchanges(messages)
    exchanges = [exchange for exchange in all_exchanges if not _is_short_question(exchange)]
    turns = [exchange for exchange in reversed(exchanges) if spoken.says_enough(exchange)]
    open_text, note = _open_work(all_exchanges, is_trunk=branch in _TRUNKS)
    is_working = bool(messages) and messages[-1]["kind"] in ("tool_call", "tool_result")
    if not open_text and is_working and all_exchanges and spoken.says_enough(all_exchanges[-1]):
        note = STOPPED
    request = spoken.find_request(turns or exchanges[::-1]).text
    return Handoff(request, spoken.find_state(exchanges).text, open_text, note)


def _is_short_question(exchange: Exchange) -> bool:
    return exchange.said.endswith("?") and not spoken.says_enough(exchange)


def _open_work(exchanges: Sequence[Exchange], *, is_trunk: bool) -> tuple[str, str]:
    """Returns the open work in the last reply, and a note.

    If that reply only answers a short question, the reply before it is read instead.
    """
    is_answered = False
    for exchange in reversed(exchanges):
        texts = (reply.message["text"] for reply in reversed(exchange.replies))
        text = next((text for text in texts if stems_of(" ".join(written_sentences(text)))), "")
        if text:
            open_sentences, note = _open_in(
                written_sentences(text), is_answered=is_answered, is_trunk=is_trunk
            )
            if open_sentences or not _is_short_question(exchange):
                return excerpt(text, spoken.fitting(open_sentences, OPEN_CHARS)), note
        is_answered |= bool(exchange.said)
    return "", ""


def _open_in(
    sentences: Sequence[str], *, is_answered: bool, is_trunk: bool
) -> tuple[list[str], str]:
    """Returns the sentences of a reply that are about open work, and a note.

    `is_answered` says whether the owner spoke after the reply.
    """
    sentences = list(filter(stems_of, sentences))
    is_open = partial(_is_open, last=sentences[-1] if sentences else "", is_answered=is_answered)
    open_sentences = list(filter(is_open, sentences))
    if not open_sentences:
        commit = [] if is_trunk else _unpushed_commit(sentences)
        return commit, NOT_PUSHED if commit else ""
    if all(map(_says_little, open_sentences)):
        open_sentences = [*_context(sentences, open_sentences[0]), *open_sentences]
    brief = [text for text in open_sentences if len(text) <= LONG_CHARS] or open_sentences
    is_announced = brief[-1] is sentences[-1] and _only_announces(brief[-1])
    return brief[-MOST_SENTENCES:], NOT_DONE if is_announced else ""


def _context(sentences: Sequence[str], open_sentence: str) -> list[str]:
    """Returns the first sentence before the open one that does not end with a colon."""
    earlier = sentences[: sentences.index(open_sentence)]
    return [sentence for sentence in earlier if not sentence.endswith(":")][:1]


def _unpushed_commit(sentences: Sequence[str]) -> list[str]:
    """Returns the sentence that reports a commit, with the next one if a colon introduces it.

    Returns nothing if a sentence speaks of pushing, merging or a pull request.
    """
    if _MOVED_ON.search(" ".join(sentences)):
        return []
    reports = [n for n, sentence in enumerate(sentences) if _PATTERNS["committed"].search(sentence)]
    if not reports:
        return []
    start = reports[0]
    length = 2 if sentences[start].endswith(":") else 1
    return list(sentences[start : start + length])


def _says_little(sentence: str) -> bool:
    """Returns whether the sentence needs another one, as "Want me to open it?" does."""
    name_count = len(stems_of(sentence)) + specifics_in(sentence)
    return name_count <= LEAST_NAMED and not _ANNOUNCES.search(sentence)


def _only_announces(sentence: str) -> bool:
    return _ANNOUNCES.search(sentence) is not None and not _OPEN.search(sentence)


def drop_finished_work(next_step: str) -> str:
    """Returns the sentences of a next step that a model named, without reports of finished work."""
    sentences = split_sentences(next_step)
    return " ".join(
        sentence
        for sentence in sentences
        if not _DONE.search(sentence) or _is_open(sentence, sentences[-1], is_answered=False)
    )


def _is_open(text: str, last: str, *, is_answered: bool) -> bool:
    if _PASSES.search(text) or (text.endswith(":") and text is not last):
        return False
    if not text[:1].isalnum() and text[:1] not in '`“"(#*[':
        return False  # the rest of a sentence that began in a block of code
    if text.endswith("?"):
        return not is_answered and bool(_PATTERNS["asks"].search(text))
    if _PATTERNS["pull_request"].search(text) and _PATTERNS["stands_open"].search(text):
        return not _MERGED.search(text)
    return bool(_OPEN.search(text) or (not is_answered and _ANNOUNCES.search(text)))
