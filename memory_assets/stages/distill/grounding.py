"""Finds the messages that support a model's fact, by shared words.

Takes facts and the messages of their window; returns the evidence of each: rows, author and quote. Rare words weigh more than
common ones. A fact without support has no evidence, and the gate discards it.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memory_assets.schema.records import Author
from memory_assets.stages.distill.items import quote_from
from memory_assets.stages.distill.rules.candidates import MOST_LINES
from memory_assets.stages.distill.rules.exchanges import Row, own_paragraphs
from memory_assets.stages.distill.rules.instructions import fold_confusables, is_directive, may_be_instruction
from memory_assets.text.words import stems_of

SUPPORTED = 0.4
"""Least share of a fact's weight that all its evidence has; below it the fact is unsupported."""

LEAST_SHARE = 0.15
"""Least share that one message must have to be evidence."""

NEARLY_AS_GOOD = 0.5
MOST_ROWS = 8

TOLD_BY_TOOL = 0.8
"""Factor for tool output: it repeats everything, while people and assistants interpret it."""

OWNERS_SHARE, UNNAMED_SHARE = 0.15, 0.4
"""Least share of the owner's words for the owner to be the author: of a fact that names the owner, and of others."""

PARAPHRASED_SHARE, FEWEST_SHARED = 0.15, 2
"""Least share and number of stems of a paraphrase; it counts only if no quoted material supports the fact."""

QUOTED: frozenset[Author] = frozenset({"tool", "file", "web", "injected", "subagent"})
"""Authors of quoted material; they decide nothing."""

BROUGHT_IN = 0.3
"""Share of the words that the owner did not use from which a quoted line is their source."""

NOT_BY_CHANCE = 0.2
"""Smaller shares of a fact occur by chance in every long transcript."""

SAYS_AS_MUCH = 0.5
"""Share from which a quoted line is the source of a fact, if no sentence of the owner has more."""

LINE_CHARS = 600
"""Longer lines are data, not instructions."""

_ABOUT_OWNER = re.compile(r"\b(?:owner|user)\b", re.I)
_OWNER_WORDS = frozenset({"owner", "user"})
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+|\\n")
_REPORTED = re.compile(
    r"(?i)(?<=\bsays:)[^\n]+|(?<=\bsaid:)[^\n]+|(?<=\bwrote:)[^\n]+|[\"“](?:always|never|do not|don't|you must|from now on"
    r"|ignore)\b[^\"”\n]*[\"”]"
)
"""Reported speech, and orders between quotation marks."""

_FRAMING = stems_of(
    "always never must should from now on prefer prefers wants decided corrected agreed approved said says asked rule mandatory"
    " use uses used because with replaces instead install installed installing run made wanted"
    " all every each session sessions assistant agents team before after they with them everywhere project"
)
"""Words that a model adds around a fact."""


@dataclass(frozen=True, slots=True)
class FactEvidence:
    """The rows that support a fact, best first, with the author and a quote of the row that it rests on."""

    rows: tuple[int, ...]
    author: Author
    quote: str


class Grounding:
    """An index of the words of one window."""

    def __init__(self, messages: Sequence[Row]) -> None:
        self.messages = messages
        self.stems = [stems_of(message["text"]) for message in messages]
        own = {row: own_paragraphs(m["text"]) for row, m in enumerate(messages) if m["author"] == "owner" and m["is_user_turn"]}
        self.own_text = {row: _REPORTED.sub(" ", " ".join(paragraphs)) for row, paragraphs in own.items()}
        self.owners = {row: stems_of(text) for row, text in self.own_text.items()}
        self.said = frozenset[str]().union(*self.owners.values())
        typed = (_REPORTED.sub(" ", paragraph) for paragraphs in own.values() for paragraph in paragraphs)
        sentences = [sentence for paragraph in typed for sentence in _SENTENCE_END.split(paragraph) if sentence.strip()]
        self.sentences = [(stems_of(sentence), may_be_instruction(sentence)) for sentence in sentences]
        self.planted = [(row, stems_of(line)) for row, line in self._instructions()]
        counts = Counter(stem for stems in self.stems for stem in stems)
        self.known = frozenset(counts).union(*(stems for _, stems in self.planted))
        self.weights = {stem: 1 / (1 + math.log1p(count)) for stem, count in counts.items()}

    def find(self, text: str) -> FactEvidence | None:
        """Returns the evidence of a fact, or none if no message supports it."""
        wanted = stems_of(text) - _OWNER_WORDS
        if not wanted:
            return None
        shares = [self._share(wanted, row) for row in range(len(self.messages))]
        least = max(NEARLY_AS_GOOD * max(shares, default=0.0), LEAST_SHARE)
        near = sorted((-share, row) for row, share in enumerate(shares) if share >= least)
        rows = [row for _, row in near[:MOST_ROWS]]
        if not rows or self._weight(wanted & self._stems_in(rows)) / self._weight(wanted) < SUPPORTED:
            return None
        author, speaker = self._author(text, wanted, rows)
        rows = [speaker, *(row for row in rows if row != speaker)][:MOST_ROWS]
        rows += self._rows_with_names(wanted, rows, shares)
        return FactEvidence(tuple(rows[:MOST_LINES]), author, quote_from([self.messages[speaker]["text"]], text))

    def _rows_with_names(self, wanted: frozenset[str], rows: Sequence[int], shares: Sequence[float]) -> list[int]:
        """Returns, for each exact name in the fact that none of the rows has, the best row that has it."""
        names = sorted(stem for stem in wanted - self._stems_in(rows) if not stem.isalpha())
        having = ([row for row, stems in enumerate(self.stems) if name in stems] for name in names)
        return list(dict.fromkeys(max(found, key=shares.__getitem__) for found in having if found))

    def _stems_in(self, rows: Sequence[int]) -> frozenset[str]:
        return frozenset[str]().union(*(self.stems[row] for row in rows))

    def _share(self, wanted: frozenset[str], row: int) -> float:
        is_said = self.messages[row]["kind"] == "text" and self.messages[row]["author"] in ("owner", "assistant")
        return self._weight(wanted & self.stems[row]) / self._weight(wanted) * (1.0 if is_said else TOLD_BY_TOOL)

    def _author(self, text: str, wanted: frozenset[str], rows: Sequence[int]) -> tuple[Author, int]:
        """Returns the author of the fact and their row: the owner if the fact is about them and they said part of it."""
        planted = self._planted(wanted)
        if planted is None:
            said = {row: self._weight(wanted & stems) / self._weight(wanted) for row, stems in self.owners.items()}
            row = max(said, key=lambda r: (said[r], -r), default=None)
            needed = OWNERS_SHARE if _ABOUT_OWNER.search(text) else UNNAMED_SHARE
            if row is not None and (said[row] >= needed or self._is_paraphrase(wanted, row, said[row], rows)):
                return "owner", row
        row = planted if planted is not None and is_directive(text) else rows[0]
        return self._voice(row), row

    def _planted(self, wanted: frozenset[str]) -> int | None:
        """Returns the row of quoted material that a fact takes its order from, if the owner gave no such order."""
        core = (wanted - _FRAMING) or wanted
        unsaid = (core - self.said) & self.known
        total = self._weight(core)
        said = [(self._weight(core & stems), is_order) for stems, is_order in self.sentences]
        most = max((weight for weight, _ in said), default=0.0)
        ordered = max((weight for weight, is_order in said if is_order), default=0.0)
        for row, stems in self.planted:
            brought_in = self._weight(unsaid & stems)
            if brought_in and brought_in >= max(BROUGHT_IN * self._weight(unsaid), NOT_BY_CHANCE * total):
                return row
            if self._weight(core & stems) >= max(SAYS_AS_MUCH * total, most) and ordered < SAYS_AS_MUCH * total:
                return row
        return None

    def _weight(self, stems: Iterable[str]) -> float:
        return math.fsum(self.weights.get(stem, 1.0) for stem in stems)  # exact, whatever the order of the set

    def _instructions(self) -> Iterator[tuple[int, str]]:
        """Yields the lines of quoted material that may be part of an instruction, with their rows."""
        for row, message in enumerate(self.messages):
            if self._voice(row) in QUOTED:
                for line in _SENTENCE_END.split(fold_confusables(message["text"])):
                    if len(line) <= LINE_CHARS and line not in self.own_text.get(row, "") and may_be_instruction(line):
                        yield row, line

    def _is_paraphrase(self, wanted: frozenset[str], owners: int, share: float, rows: Sequence[int]) -> bool:
        """Returns whether the fact may paraphrase the owner, and not a tool or a page that came before."""
        if share < PARAPHRASED_SHARE or len(wanted & self.owners[owners]) < FEWEST_SHARED:
            return False
        quoted = (row for row in range(max(owners, *rows) + 1) if self._voice(row) in QUOTED)
        return max((self._share(wanted, row) for row in quoted), default=0.0) < SUPPORTED

    def _voice(self, row: int) -> Author:
        """Returns the author of a row; text that the owner pasted is quoted material."""
        author: Author = self.messages[row]["author"]
        return "file" if author == "owner" else author


def without_orders(text: str, messages: Sequence[Row]) -> str:
    """Returns the text without sentences that order or decide something that the owner did not say."""
    sentences = _SENTENCE_END.split(text)
    if not any(map(is_directive, sentences)):
        return text
    grounding = Grounding(messages)

    def is_owners(sentence: str) -> bool:
        evidence = grounding.find(sentence)
        return evidence is not None and evidence.author == "owner"

    return " ".join(sentence for sentence in sentences if not is_directive(sentence) or is_owners(sentence))
