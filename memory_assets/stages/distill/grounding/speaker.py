"""Decides whose statement a fact is: the owner's, the assistant's, or that of quoted material.

It is the owner's if their own sentences carry it: not those that only ask, and not much fewer of
its words than the assistant's message that has most of them. So an answer is the assistant's,
whatever the owner asked and even if they accept it, and a rule that the owner dictates is theirs,
even if the assistant repeats it. A fact that names the owner needs fewer of their words: they may
have said it in other words, or agreed to what the assistant had proposed. Quoted material never
becomes their statement.
"""

import math
import re
from dataclasses import dataclass

import numpy as np

from memory_assets.schema.protocols import Embedder
from memory_assets.schema.vocabulary import Author
from memory_assets.stages.distill.grounding.evidence_rows import SUPPORTED
from memory_assets.stages.distill.grounding.owners_words import OwnersWords
from memory_assets.stages.distill.grounding.quoted import QuotedLines
from memory_assets.stages.distill.grounding.window_index import Closeness, WindowIndex
from memory_assets.stages.distill.rules.instructions import is_directive, states_decision
from memory_assets.text.words import stems_of

OWNERS_SHARE = 0.15
"""Least share of a fact's words that the owner stated in one turn if it is theirs."""

NAMED_SHARE = 0.1
"""The same for a fact that names the owner."""

OWNERS_PART = 0.4
"""Least part of the words that the assistant's message with most of them has."""

SAME_MEANING = 0.45
"""Cosine from which a sentence of the owner means what a fact says of their wishes. With MiniLM,
recorded wishes have 0.53 to 0.73 with the words that they paraphrase, and at most 0.43 with others
nearby."""

CLEARLY_NEARER = 0.05
"""Cosine by which a quoted instruction must be nearer to a fact than the owner's sentence, to be
its source.
"""

MOST_COMPARED = 12
MOST_PLANTED = 3
"""Sentences of the owner and lines of quoted material that are compared by meaning, the most likely
first: each takes 20 ms.
"""

MEANING_CHARS = 300
"""The beginning of a sentence that is compared by meaning."""

_SUBJECT = re.compile(
    r"(?i)^(?:the )?(?:owner|user)(?:'s)?\b:?\s*(?:(?:wants?|prefers?|said|asked|decided)\b)?"
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A fact whose speaker is sought."""

    text: str
    wanted: frozenset[str]
    """The stems of its content words."""
    near: Closeness
    rows: list[int]
    """Its evidence."""
    names_owner: bool


@dataclass(frozen=True, slots=True)
class Speaker:
    """The author of a fact and the message that it rests on."""

    author: Author
    row: int
    is_meant: bool = False
    """Whether the owner said it in other words, or agreed to it."""


class Speakers:
    """Finds the speakers of the facts of one window."""

    def __init__(
        self,
        window: WindowIndex,
        owner: OwnersWords,
        quoted: QuotedLines,
        embedder: Embedder | None,
    ) -> None:
        self._window = window
        self._owner = owner
        self._quoted = quoted
        self._embedder = embedder
        self._vectors: dict[str, np.ndarray] = {}

    def find(self, fact: Claimed) -> Speaker | None:
        """Returns the speaker; none if no message has words of the fact."""
        planted = self._quoted.source_of(fact.wanted)
        if planted is None:
            stated = self._stated(fact)
            if stated is not None:
                return Speaker("owner", stated)
        meant = self._accepted(fact) if planted is None else None
        if meant is None:
            meant = self.meant_by_owner(fact)
        if meant is not None:
            return Speaker("owner", meant, is_meant=True)
        if planted is not None and self._repeats_order(fact):
            return Speaker(self._window.voice(planted), planted)
        voice = self._window.voice
        spoken = [row for row in fact.rows if voice(row) == "assistant"] or fact.rows
        return Speaker(voice(spoken[0]), spoken[0]) if spoken else None

    def _stated(self, fact: Claimed) -> int | None:
        """Returns the turn of the owner whose statements carry the fact, near its time or evidence
        if there is any.
        """
        least = NAMED_SHARE if fact.names_owner else self._least_share(fact)
        stated = self._owner.stated
        turns = stated.keys() & {*self._owner.turns_near(fact.near), *fact.rows}
        shares = {row: self._window.part(fact.wanted, stated[row]) for row in turns or stated}
        carrying = [row for row in shares if shares[row] >= least]
        return max(carrying, key=lambda row: (shares[row], -row), default=None)

    def _least_share(self, fact: Claimed) -> float:
        """Returns the share of the words from which the owner's turn carries the fact."""
        rows = {*fact.rows, *fact.near} - self._owner.texts.keys()
        replies = filter(self._window.is_speech, rows)
        most = max((self._window.share(fact.wanted, row) for row in replies), default=0.0)
        return max(OWNERS_SHARE, OWNERS_PART * most)

    def _accepted(self, fact: Claimed) -> int | None:
        """Returns the turn near the time in which the owner agreed to a proposal that has the words
        of a fact about them.
        """
        turns = self._owner.turns_near(fact.near) if fact.names_owner else []
        for row in reversed(turns):
            proposed = map(stems_of, self._owner.proposal(row, fact.wanted))
            stems = self._window.stems[row].union(*proposed)
            if self._window.part(fact.wanted, stems) >= SUPPORTED:
                return row
        return None

    def _repeats_order(self, fact: Claimed) -> bool:
        is_named = self._quoted.ordered_in(fact.wanted) is not None
        return is_directive(fact.text) or (is_named and states_decision(fact.text))

    def meant_by_owner(self, fact: Claimed) -> int | None:
        """Returns the turn of the owner that means what a fact about them says, unless a quoted
        instruction is nearer to it.
        """
        if not (self._embedder and fact.names_owner):
            return None
        turns = self._owner.turns_near(fact.near)
        sentences = [(row, text) for row, text in self._owner.sentences if row in turns]
        for row in turns:
            sentences += [(row, part) for part in self._owner.proposal(row, fact.wanted)]
        sentences.sort(key=lambda line: (-len(fact.wanted & stems_of(line[1])), -line[0]))
        cosines = [(self._cosine(fact.text, text), -row) for row, text in sentences[:MOST_COMPARED]]
        nearest, turn = max(cosines, default=(0.0, 0))
        is_meant = (
            nearest >= SAME_MEANING and self._planted_cosine(fact) <= nearest + CLEARLY_NEARER
        )
        return -turn if is_meant else None

    def _planted_cosine(self, fact: Claimed) -> float:
        """Returns the similarity of the quoted instruction that is nearest to the fact."""
        weights = {
            line: self._window.weigh(fact.wanted & line.stems)
            for line in self._quoted.lines
            if fact.wanted & line.stems
        }
        likely = sorted(weights, key=lambda line: (-weights[line], line.row))[:MOST_PLANTED]
        return max((self._cosine(fact.text, line.text) for line in likely), default=0.0)

    def _cosine(self, a: str, b: str) -> float:
        """Returns the similarity of meaning, rounded so that it does not depend on the machine."""
        first = self._vector(_SUBJECT.sub("", a).strip() or a)
        second = self._vector(_SUBJECT.sub("", b).strip() or b)
        products = (float(x) * float(y) for x, y in zip(first, second, strict=True))
        return round(math.fsum(products), 3)

    def _vector(self, text: str) -> np.ndarray:
        assert self._embedder is not None
        if text not in self._vectors:
            self._vectors[text] = self._embedder.encode_query(text[:MEANING_CHARS])
        return self._vectors[text]
