"""Finds the records that a model's fact rests on, by the words they share.

Takes facts and the messages of their window; gives evidence for each: rows, whose words they are, a quote. Rare words
count for more than common ones. A fact that nothing supports has no evidence, and the gate throws it away.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memory_assets.schema.records import Author
from memory_assets.stages.distill.rules.candidates import MOST_LINES
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.stages.distill.rules.folded import folded
from memory_assets.stages.distill.rules.instructions import belongs_to_instruction, decides
from memory_assets.stages.distill.rules.quotes import quote_from
from memory_assets.stages.distill.rules.voices import own_paragraphs
from memory_assets.text.words import stems_of

SUPPORTED = 0.4
"""Share of a fact's weight that its evidence must hold together; below it the fact is not in the window."""

LEAST_SHARE = 0.15
"""A message that holds less of a fact is no evidence of it."""

NEARLY_AS_GOOD = 0.5
MOST_ROWS = 8

TOLD_BY_TOOL = 0.8
"""Tool output repeats everything; people and assistants say what it means."""

OWNERS_SHARE, UNNAMED_SHARE = 0.15, 0.4
"""From this share on the owner's own words are evidence: of a fact that names the owner, and of one that does not."""

PARAPHRASED_SHARE, FEWEST_SHARED = 0.15, 2
"""So much of the owner's words is left in a paraphrase; it counts only where no quoted material says the same."""

QUOTED: frozenset[Author] = frozenset({"tool", "file", "web", "injected", "subagent"})
"""Who may be quoted, and decides nothing."""

BROUGHT_IN = 0.3
"""A line of quoted material that holds this share of what the owner did not say has brought it in."""

NOT_BY_CHANCE = 0.2
"""A smaller share of a fact stands in some line of every long transcript."""

SAYS_AS_MUCH = 0.5
"""A line that holds so much of a fact, and no less than the owner's sentence, is where the fact comes from."""

LINE_CHARS = 600
"""Longer lines are data."""

_ABOUT_OWNER = re.compile(r"\b(?:owner|user)\b", re.I)
_ASCRIBED = frozenset({"owner", "user"})
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+|\\n")
_REPORTED = re.compile(
    r"(?<=\bsays:)[^\n]+|(?<=\bsaid:)[^\n]+|(?<=\bwrote:)[^\n]+"
    r"|[\"“](?:always|never|do not|don't|you must|from now on|ignore)\b[^\"”\n]*[\"”]",
    re.I,
)
"""What the owner says that somebody said, and orders between quotation marks."""

_FRAMING = stems_of(
    "always never must should from now on prefer prefers wants decided corrected agreed approved said says asked rule mandatory"
    " use uses used because with replaces instead install installed installing run made wanted"
    " all every each session sessions assistant agents team before after they with them everywhere project"
)
"""Words that a model puts around what was said."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rows that support a fact, best first, whose words it rests on, and how much of it they hold."""

    rows: tuple[int, ...]
    author: Author
    quote: str
    share: float


class Grounding:
    """The words of one window, ready to be searched."""

    def __init__(self, messages: Sequence[Row]) -> None:
        self.messages = messages
        self.stems = [stems_of(message["text"]) for message in messages]
        self.owners = {
            row: stems_of(_unquoted(" ".join(own_paragraphs(message["text"]))))
            for row, message in enumerate(messages)
            if message["author"] == "owner" and message["is_user_turn"]
        }
        self.said = frozenset[str]().union(*self.owners.values())
        self.sentences = [(row, stems_of(said), belongs_to_instruction(said)) for row, said in self._said_by_owner()]
        self.planted = [(row, stems_of(line)) for row, line in self._instructions()]
        counts = Counter(stem for stems in self.stems for stem in stems)
        self.known = frozenset(counts).union(*(stems for _, stems in self.planted))
        self.weights = {stem: 1 / (1 + math.log1p(count)) for stem, count in counts.items()}

    def find(self, text: str) -> Evidence | None:
        """Returns the evidence of a fact, or nothing where no message supports it."""
        wanted = stems_of(text) - _ASCRIBED
        if not wanted:
            return None
        shares = [self._share(wanted, row) for row in range(len(self.messages))]
        best = max(shares, default=0.0)
        near = sorted((-share, row) for row, share in enumerate(shares) if share >= max(NEARLY_AS_GOOD * best, LEAST_SHARE))
        rows = [row for _, row in near[:MOST_ROWS]]
        if not rows or self._held_together(wanted, rows) < SUPPORTED:
            return None
        author, speaker = self._author(text, wanted, rows)
        rows = [speaker, *(row for row in rows if row != speaker)][:MOST_ROWS]
        rows += self._rows_with_names(wanted, rows, shares)
        return Evidence(tuple(rows[:MOST_LINES]), author, quote_from(self.messages[speaker]["text"], text), best)

    def _rows_with_names(self, wanted: frozenset[str], rows: Sequence[int], shares: Sequence[float]) -> list[int]:
        """Returns, for each exact name in the fact that none of the rows has, the best row that has it."""
        held = frozenset().union(*(self.stems[row] for row in rows))
        names = sorted(stem for stem in wanted - held if not stem.isalpha())
        found = (
            max((row for row, stems in enumerate(self.stems) if name in stems), key=shares.__getitem__, default=None)
            for name in names
        )
        return [row for row in dict.fromkeys(found) if row is not None and row not in rows]

    def _share(self, wanted: frozenset[str], row: int) -> float:
        held = self._weight(wanted & self.stems[row])
        is_said = self.messages[row]["kind"] == "text" and self.messages[row]["author"] in ("owner", "assistant")
        return held / self._weight(wanted) * (1.0 if is_said else TOLD_BY_TOOL)

    def _held_together(self, wanted: frozenset[str], rows: Sequence[int]) -> float:
        """Returns the share of the fact's weight that the rows hold between them."""
        held = wanted & frozenset().union(*(self.stems[row] for row in rows))
        return self._weight(held) / self._weight(wanted)

    def _author(self, text: str, wanted: frozenset[str], rows: Sequence[int]) -> tuple[Author, int]:
        """Returns whose words the fact rests on: the owner's where the fact is about them and they said part of it."""
        planted = self._planted(wanted)
        if planted is not None:
            return (self._voice(planted), planted) if decides(text) else (self._voice(rows[0]), rows[0])
        said = {row: self._weight(wanted & stems) / self._weight(wanted) for row, stems in self.owners.items()}
        row = max(said, key=lambda r: (said[r], -r), default=None)
        needed = OWNERS_SHARE if _ABOUT_OWNER.search(text) else UNNAMED_SHARE
        if row is not None and (said[row] >= needed or self._is_paraphrase(wanted, row, said[row], rows)):
            return "owner", row
        return self._voice(rows[0]), rows[0]

    def _planted(self, wanted: frozenset[str]) -> int | None:
        """Returns the row of quoted material that a fact takes its order from, where the owner gave none like it."""
        core = (wanted - _FRAMING) or wanted
        unsaid = (core - self.said) & self.known
        total = self._weight(core)
        said = [(self._weight(core & stems), is_order) for _, stems, is_order in self.sentences]
        most = max((weight for weight, _ in said), default=0.0)
        ordered = max((weight for weight, is_order in said if is_order), default=0.0)
        for row, stems in self.planted:
            held = self._weight(core & stems)
            brought_in = self._weight(unsaid & stems)
            if brought_in and brought_in >= max(BROUGHT_IN * self._weight(unsaid), NOT_BY_CHANCE * total):
                return row
            if held >= max(SAYS_AS_MUCH * total, most) and ordered < SAYS_AS_MUCH * total:
                return row
        return None

    def _weight(self, stems: Iterable[str]) -> float:
        return sum(self.weights.get(stem, 1.0) for stem in stems)

    def _said_by_owner(self) -> Iterator[tuple[int, str]]:
        for row in self.owners:
            for paragraph in map(_unquoted, own_paragraphs(self.messages[row]["text"])):
                yield from ((row, sentence) for sentence in _SENTENCE_END.split(paragraph) if sentence.strip())

    def _instructions(self) -> Iterator[tuple[int, str]]:
        """Yields the lines of quoted material that may be part of an instruction."""
        for row, message in enumerate(self.messages):
            if self._voice(row) in QUOTED:
                own = _unquoted(" ".join(own_paragraphs(message["text"]))) if row in self.owners else ""
                for line in _SENTENCE_END.split(folded(message["text"])):
                    if len(line) <= LINE_CHARS and line not in own and belongs_to_instruction(line):
                        yield row, line

    def _is_paraphrase(self, wanted: frozenset[str], owners: int, share: float, rows: Sequence[int]) -> bool:
        """Says whether the fact may be a paraphrase of the owner's words, and not of what a tool or a page said before."""
        if share < PARAPHRASED_SHARE or len(wanted & self.owners[owners]) < FEWEST_SHARED:
            return False
        last = max(owners, *rows)
        quoted = (row for row in range(last + 1) if self._voice(row) in QUOTED)
        return max((self._share(wanted, row) for row in quoted), default=0.0) < SUPPORTED

    def _voice(self, row: int) -> Author:
        """Returns who speaks in a row; pasted text in a turn of the owner's is quoted material."""
        author: Author = self.messages[row]["author"]
        return "file" if author == "owner" else author


def without_orders(text: str, messages: Sequence[Row]) -> str:
    """Returns the sentences of a text but for those that order or decide in words that are not the owner's."""
    sentences = _SENTENCE_END.split(text)
    if not any(decides(sentence) for sentence in sentences):
        return text
    grounding = Grounding(messages)
    return " ".join(sentence for sentence in sentences if not decides(sentence) or _is_owners(grounding.find(sentence)))


def _unquoted(text: str) -> str:
    return _REPORTED.sub(" ", text)


def _is_owners(evidence: Evidence | None) -> bool:
    return evidence is not None and evidence.author == "owner"
