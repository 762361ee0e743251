"""Finds the lines of quoted material that may be instructions, and whether a fact comes from one.

Quoted material is what tools, files, pages and harnesses brought in, and what the owner pasted. It
decides nothing, however it is worded.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_assets.stages.distill.grounding import owners_words
from memory_assets.stages.distill.grounding.window_index import QUOTED, WindowIndex
from memory_assets.stages.distill.rules.instructions import (
    fold_confusables,
    gives_order,
    may_be_instruction,
)
from memory_assets.text.words import stems_of

BROUGHT_IN = 0.3
"""Share of the words that the owner did not use from which a quoted line is their source."""

NOT_BY_CHANCE = 0.2
"""Smaller shares of a fact occur by chance in every long transcript."""

SAYS_AS_MUCH = 0.5
"""Share from which a quoted line is the source of a fact, if no sentence of the owner has more."""

LINE_CHARS = 600
"""Longer lines are data, not instructions."""

_HOST = re.compile(r"https?://([^\s/`'\"<>()]+)")
_ADDRESS = re.compile(r"^\W*\w+:\s*")
"""Whom a line addresses: "agents: send it"."""

OWNER_WORDS = frozenset({"owner", "user"})

_FRAMING = stems_of(
    "always never must should from now on prefer prefers wants decided corrected agreed approved "
    "said says asked rule mandatory use uses used because with replaces instead install installed "
    "installing run made wanted all every each session sessions assistant agents team before after "
    "they with them everywhere project"
)
"""Words that a model adds around a fact."""


@dataclass(frozen=True, slots=True)
class QuotedLine:
    """A line that may be an instruction."""

    row: int
    text: str
    stems: frozenset[str]
    is_order: bool


class QuotedLines:
    """The lines of a window that may be instructions, beside what the owner typed."""

    def __init__(self, window: WindowIndex, owner: owners_words.OwnersWords) -> None:
        self._window = window
        self._owner = owner
        self.lines = list(self._find())
        self._known = window.known_stems.union(*(line.stems for line in self.lines))
        self._typed = [
            (stems_of(sentence), may_be_instruction(sentence)) for _, sentence in owner.sentences
        ]

    def _find(self) -> Iterator[QuotedLine]:
        for row, message in enumerate(self._window.messages):
            if self._window.voice(row) not in QUOTED:
                continue
            typed = self._owner.texts.get(row, "")
            for line in owners_words.split_sentences(fold_confusables(message["text"])):
                is_short = len(line) <= LINE_CHARS
                if is_short and line not in typed and may_be_instruction(line):
                    is_order = gives_order(_ADDRESS.sub("", line))
                    yield QuotedLine(row, line, stems_of(line), is_order)

    def source_of(self, wanted: frozenset[str]) -> int | None:
        """Returns the row that a fact takes its order from, if the owner gave no such order."""
        ordering = self.ordered_in(wanted)
        if ordering is not None:
            return ordering
        core = (wanted - _FRAMING) or wanted
        unsaid = (core - self._owner.all_stems) & self._known
        weigh = self._window.weigh
        total = weigh(core)
        least_brought = max(BROUGHT_IN * weigh(unsaid), NOT_BY_CHANCE * total)
        least_said = self._least_said(core, SAYS_AS_MUCH * total)
        for line in self.lines:
            brought = weigh(unsaid & line.stems)
            if brought and brought >= least_brought:
                return line.row
            if least_said and weigh(core & line.stems) >= least_said:
                return line.row
        return None

    def _least_said(self, core: frozenset[str], half: float) -> float:
        """Returns the weight from which a line says as much as the owner; 0 if they ordered it."""
        weigh = self._window.weigh
        weights = [(weigh(core & stems), is_order) for stems, is_order in self._typed]
        ordered = max((weight for weight, is_order in weights if is_order), default=0.0)
        most = max((weight for weight, _ in weights), default=0.0)
        return 0.0 if ordered >= half else max(half, most)

    def ordered_in(self, wanted: frozenset[str]) -> int | None:
        """Returns the first row with an order that has a name of the fact that the owner never
        used.
        """
        names = {stem for stem in wanted - self._owner.all_stems if not stem.isalpha()}
        return next((line.row for line in self.lines if line.is_order and names & line.stems), None)

    def is_source_of(self, text: str) -> bool:
        """Returns whether a line gives the order that the text repeats, or a page brought in an
        address of it.
        """
        wanted = stems_of(text) - OWNER_WORDS
        hosts = set(_HOST.findall(text))
        spoken_hosts = set(_HOST.findall("\n".join(self._window.speech())))
        is_planted = bool(wanted) and self.source_of(wanted) is not None
        return is_planted or not hosts <= spoken_hosts
