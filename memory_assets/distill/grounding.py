"""Finds the records that a model's fact rests on, by the words they share.

Takes facts and the messages of their window; gives evidence for each: rows, whose words they are, a quote. Rare words
count for more than common ones. A fact that nothing supports has no evidence, and the gate throws it away.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memory_assets.distill.exchanges import Row
from memory_assets.distill.quotes import quote_from
from memory_assets.distill.voices import own_paragraphs
from memory_assets.distill.words import stems_of
from memory_assets.records import Author

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

_QUOTED: frozenset[Author] = frozenset({"tool", "file", "web", "injected", "subagent"})

_ABOUT_OWNER = re.compile(r"\b(?:owner|user)\b", re.I)
_ASCRIBED = frozenset({"owner", "user"})


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
            row: stems_of(" ".join(own_paragraphs(message["text"])))
            for row, message in enumerate(messages)
            if message["author"] == "owner" and message["is_user_turn"]
        }
        counts = Counter(stem for stems in self.stems for stem in stems)
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
        return Evidence(tuple(rows), author, quote_from(self.messages[speaker]["text"], text), best)

    def _share(self, wanted: frozenset[str], row: int) -> float:
        total = sum(self.weights.get(stem, 1.0) for stem in wanted)
        held = sum(self.weights[stem] for stem in wanted & self.stems[row])
        is_said = self.messages[row]["kind"] == "text" and self.messages[row]["author"] in ("owner", "assistant")
        return held / total * (1.0 if is_said else TOLD_BY_TOOL)

    def _held_together(self, wanted: frozenset[str], rows: Sequence[int]) -> float:
        """Returns the share of the fact's weight that the rows hold between them."""
        held = wanted & frozenset().union(*(self.stems[row] for row in rows))
        return sum(self.weights[stem] for stem in held) / sum(self.weights.get(stem, 1.0) for stem in wanted)

    def _author(self, text: str, wanted: frozenset[str], rows: Sequence[int]) -> tuple[Author, int]:
        """Returns whose words the fact rests on: the owner's where the fact is about them and they said part of it."""
        total = sum(self.weights.get(stem, 1.0) for stem in wanted)
        said = {row: sum(self.weights.get(stem, 1.0) for stem in wanted & stems) / total for row, stems in self.owners.items()}
        row = max(said, key=lambda r: (said[r], -r), default=None)
        needed = OWNERS_SHARE if _ABOUT_OWNER.search(text) else UNNAMED_SHARE
        if row is not None and (said[row] >= needed or self._is_paraphrase(wanted, row, said[row], rows)):
            return "owner", row
        return self._voice(rows[0]), rows[0]

    def _is_paraphrase(self, wanted: frozenset[str], owners: int, share: float, rows: Sequence[int]) -> bool:
        """Says whether the fact may be a paraphrase of the owner's words, and not of what a tool or a page said before."""
        if share < PARAPHRASED_SHARE or len(wanted & self.owners[owners]) < FEWEST_SHARED:
            return False
        last = max(owners, *rows)
        quoted = (row for row in range(last + 1) if self._voice(row) in _QUOTED)
        return max((self._share(wanted, row) for row in quoted), default=0.0) < SUPPORTED

    def _voice(self, row: int) -> Author:
        """Returns who speaks in a row; pasted text in a turn of the owner's is quoted material."""
        author: Author = self.messages[row]["author"]
        return "file" if author == "owner" else author
