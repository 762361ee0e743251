"""Finds the messages that a model's fact rests on, their author, and whether they say what the fact
says.

Takes facts with the time that the model gave them, and the messages of their window. Messages near
that time are considered first: at most four, within three minutes. Names, paths, numbers and quoted
words of the fact must occur in the window; other words may be a paraphrase and weigh little. A fact
in another language than the window rests on its names and numbers.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Literal

from memory_assets.schema.protocols import Embedder
from memory_assets.schema.vocabulary import Author
from memory_assets.stages.distill.contradictions import is_contradicted
from memory_assets.stages.distill.grounding.evidence_rows import MOST_ROWS, find_rows
from memory_assets.stages.distill.grounding.exact_names import ExactNames
from memory_assets.stages.distill.grounding.owners_words import OwnersWords
from memory_assets.stages.distill.grounding.quoted import OWNER_WORDS, QuotedLines
from memory_assets.stages.distill.grounding.speaker import Claimed, Speaker, Speakers
from memory_assets.stages.distill.grounding.window_index import Closeness, Stamp, WindowIndex
from memory_assets.stages.distill.items import names_in, numbers_in, quote_from
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.text.words import stems_of

COMPARED_CHARS = 8_000
"""Characters of a message in which sentences are compared with a fact."""

Fault = Literal["", "unsupported", "unknown name", "contradicted"]

_ABOUT_OWNER = re.compile(r"\b(?:owner|user)\b(?![’']s)", re.I)


@dataclass(frozen=True, slots=True)
class FactEvidence:
    """The rows that support a fact, best first, with the author and a quote of the row that it
    rests on.
    """

    rows: tuple[int, ...]
    author: Author
    quote: str
    fault: Fault = ""
    """Why the rows are not enough."""


class Grounding:
    """One window, in which the evidence of facts is found."""

    def __init__(
        self, messages: Sequence[Row], zone: tzinfo | None = None, embedder: Embedder | None = None
    ) -> None:
        self._messages = messages
        self._window = WindowIndex(messages, zone)
        self._names = ExactNames(self._window)
        self._owner = OwnersWords(self._window)
        self._quoted = QuotedLines(self._window, self._owner)
        self._speakers = Speakers(self._window, self._owner, self._quoted, embedder)

    def find(self, text: str, stamp: Stamp | None = None) -> FactEvidence | None:
        """Returns the evidence of a fact, with its fault if it is not enough; None if no message
        has any of its words.
        """
        wanted = stems_of(text) - OWNER_WORDS
        if not wanted or not self._messages:
            return None
        near = self._window.near(stamp)
        rows, is_supported = find_rows(self._window, self._sought(text, wanted), near)
        fact = Claimed(text, wanted, near, rows, names_owner=bool(_ABOUT_OWNER.search(text)))
        speaker = self._speakers.find(fact)
        if speaker is None:
            return None
        if speaker.author == "owner" and not (is_supported or speaker.is_meant):
            meant = self._speakers.meant_by_owner(fact)
            speaker = speaker if meant is None else Speaker("owner", meant, is_meant=True)
        evidence = self._rows(speaker, rows, near)
        quote = quote_from([self._messages[speaker.row]["text"]], text)
        is_enough = is_supported or speaker.is_meant
        fault = self._fault(text, evidence) if is_enough else "unsupported"
        return FactEvidence(evidence, speaker.author, quote, fault)

    def _rows(self, speaker: Speaker, rows: Sequence[int], near: Closeness) -> tuple[int, ...]:
        """Returns the speaker's message, then what the owner said in the very minute of a fact of
        theirs, then the other evidence.
        """
        is_owners = speaker.author == "owner"
        turns = [row for row in self._owner.texts if is_owners and near.get(row) == 1.0]
        return tuple(dict.fromkeys([speaker.row, *turns, *rows]))[:MOST_ROWS]

    def _sought(self, text: str, wanted: frozenset[str]) -> frozenset[str]:
        """Returns the words by which evidence is found: of a text in another language its names and
        numbers alone.
        """
        if not self._names.is_foreign(text):
            return wanted
        return stems_of(" ".join([*names_in(text), *numbers_in(text)])) or wanted

    def _fault(self, text: str, rows: Sequence[int]) -> Fault:
        if self._names.missing_in(text):
            return "unknown name"
        texts = (self._messages[row]["text"][:COMPARED_CHARS] for row in rows)
        return "contradicted" if is_contradicted(text, texts) else ""

    def is_planted(self, text: str) -> bool:
        """Returns whether quoted material gives the order that the text repeats, or brought in an
        address of it.
        """
        return self._quoted.is_source_of(text)
