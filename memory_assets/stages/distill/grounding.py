"""Finds the messages that a model's fact rests on, their author, and whether they say what the fact
says.

Takes facts with the time that the model gave them, and the messages of their window. Messages near
that time are considered first: at most four, within three minutes. Names, paths, numbers and quoted
words of the fact must occur in the window; other words may be a paraphrase and weigh little. What
the owner wants may be said in quite other words, so it is compared with the owner's turns by
meaning, where there is an embedder. A fact in another language than the window rests on its names
and numbers.

The owner is its author if they said it, or agreed to what the assistant had proposed; not if quoted
material brought it in.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from functools import cached_property
from typing import Literal

import numpy as np

from memory_assets.english.languages import language_of
from memory_assets.schema.protocols import Embedder
from memory_assets.schema.vocabulary import Author
from memory_assets.stages.distill.contradictions import is_contradicted
from memory_assets.stages.distill.items import names_in, numbers_in, quotations_in, quote_from
from memory_assets.stages.distill.rules.exchanges import Row, own_paragraphs
from memory_assets.stages.distill.rules.instructions import (
    fold_confusables,
    gives_order,
    is_directive,
    may_be_instruction,
    states_decision,
)
from memory_assets.text.words import squeezed, stems_of

SUPPORTED = 0.4
"""Least share of a fact's weight that its evidence has; below it the fact is unsupported."""

SUPPORTED_NEARBY = 0.3
"""The same for messages near the fact's time, which is evidence of its own."""

UNKNOWN_WEIGHT = 0.3
"""Weight of an ordinary word that the window does not have: a paraphrase. A name weighs 1."""

NEAR_MINUTES, FADING = 3, 0.25
"""Messages so many minutes from the time are near it; each minute takes that share of their weight.
"""

MOST_ROWS = 4
"""Evidence is at most so many messages."""

LEAST_GAIN = 0.08
"""Least share of the fact's weight that one more message must add."""

NEARLY_AS_GOOD = 0.5
"""Share of the best message's words from which another one says the same."""

TOLD_BY_TOOL = 0.8
"""Factor for tool output: it repeats everything, while people and assistants interpret it."""

OWNERS_SHARE, UNNAMED_SHARE = 0.15, 0.4
"""Least share of the owner's words for the owner to be the author: of a fact that names the owner,
and of others.
"""

NEARBY_BONUS = 0.2
"""A turn of the owner near the time of a fact is preferred to one that has this share more of its
words.
"""

PARAPHRASED_SHARE, FEWEST_SHARED = 0.15, 2
"""Least share and number of stems of a paraphrase; it counts only if no quoted material supports
the fact.
"""

SAME_MEANING = 0.45
"""Cosine from which a sentence of the owner means what a fact says of their wishes. With MiniLM,
recorded wishes have 0.53 to 0.73 with the words that they paraphrase, and at most 0.43 with others
nearby."""

CLEARLY_NEARER = 0.05
"""Cosine by which a quoted instruction must be nearer to a fact than the owner's sentence, to be
its source.
"""

MOST_COMPARED, MOST_PLANTED = 12, 3
"""Sentences of the owner and lines of quoted material that are compared by meaning, the most likely
first: each takes 20 ms.
"""

MOST_CANDIDATES = 40
"""Messages from which the evidence of a fact is chosen."""

MEANING_CHARS = 300
"""The beginning of a sentence that is compared by meaning."""

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

COMPARED_CHARS = 8_000
"""Characters of a message in which sentences are compared with a fact."""

PROPOSAL_CHARS = 2_000
"""The end of the assistant's message that a short assent of the owner is about."""

Fault = Literal["", "unsupported", "unknown name", "contradicted"]

_ABOUT_OWNER = re.compile(r"\b(?:owner|user)\b(?![’']s)", re.I)
_OWNER_WORDS = frozenset({"owner", "user"})
_SUBJECT = re.compile(
    r"(?i)^(?:the )?(?:owner|user)(?:'s)?\b:?\s*(?:(?:wants?|prefers?|said|asked|decided)\b)?"
)
_ASSENT = re.compile(
    r"(?i)^\W*(?:(?:ok(?:ay)?|yes|yeah|yep|sure|agreed?|right|exactly|perfect|please do|do "
    r"it|go (?:ahead|for it|with)"
    r"|sounds good|let'?s (?:do|go)|i (?:agree|like (?:it|that|\d|[a-d]\b))|(?:do |option "
    r"|use )?(?:\d|[a-d])\b(?=\W|$)))"
)
ASSENT_WORDS = 12
"""A longer turn says itself what it is about."""

_HOST = re.compile(r"https?://([^\s/`'\"<>()]+)")
_ADDRESS = re.compile(r"^\W*\w+:\s*")
"""Whom a line addresses: "agents: send it"."""

_NAME_PARTS = re.compile(r"[\s/()\[\]{}=,:;|\"'`…<>]+|\.{2,}")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+|\\n")
_REPORTED = re.compile(
    r"(?i)(?<=\bsays:)[^\n]+|(?<=\bsaid:)[^\n]+|(?<=\bwrote:)[^\n]+|[\"“](?:always|never|do "
    r"not|don't|you must|from now on"
    r"|ignore)\b[^\"”\n]*[\"”]"
)
"""Reported speech, and orders between quotation marks."""

_FRAMING = stems_of(
    "always never must should from now on prefer prefers wants decided corrected agreed approved "
    "said says asked rule mandatory use uses used because with replaces instead install installed "
    "installing run made wanted all every each session sessions assistant agents team before after "
    "they with them everywhere project"
)
"""Words that a model adds around a fact."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The time that a model gave a fact: a local time, on a day if the answer names one."""

    hour: int
    minute: int
    day: date | None = None


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
    """An index of the words of one window."""

    def __init__(
        self, messages: Sequence[Row], zone: tzinfo | None = None, embedder: Embedder | None = None
    ) -> None:
        self.messages = messages
        self.zone, self.embedder = zone, embedder
        self.stems = [stems_of(message["text"]) for message in messages]
        own = {
            row: own_paragraphs(m["text"])
            for row, m in enumerate(messages)
            if m["author"] == "owner" and m["is_user_turn"]
        }
        self.own_text = {
            row: _REPORTED.sub(" ", " ".join(paragraphs)) for row, paragraphs in own.items()
        }
        self.owners = {row: stems_of(text) for row, text in self.own_text.items()}
        self.said = frozenset[str]().union(*self.owners.values())
        typed = [
            (row, _REPORTED.sub(" ", paragraph))
            for row, paragraphs in own.items()
            for paragraph in paragraphs
        ]
        found = [(row, sentence) for row, paragraph in typed for sentence in _split(paragraph)]
        self.sentences = [
            (stems_of(sentence), may_be_instruction(sentence)) for _, sentence in found
        ]
        self.own_sentences = found
        self.quoted_lines = list(self._instructions())
        self.planted = [
            (row, stems_of(line), gives_order(_ADDRESS.sub("", line)))
            for row, line in self.quoted_lines
        ]
        counts = Counter(stem for stems in self.stems for stem in stems)
        self.known = frozenset(counts).union(*(stems for _, stems, _ in self.planted))
        self.weights = {stem: 1 / (1 + math.log1p(count)) for stem, count in counts.items()}
        self.vectors: dict[str, np.ndarray] = {}

    def find(
        self, text: str, stamp: Stamp | None = None, *, is_wish: bool = False
    ) -> FactEvidence | None:
        """Returns the evidence of a fact, with its fault if it is not enough; None if no message
        has any of its words.

        `is_wish`: the model says that it is a rule or a preference.
        """
        wanted = stems_of(text) - _OWNER_WORDS
        if not wanted or not self.messages:
            return None
        shares = [self._share(wanted, row) for row in range(len(self.messages))]
        is_about_owner = is_wish or bool(_ABOUT_OWNER.search(text))
        near = self._near(stamp)
        exact = (
            stems_of(" ".join([*names_in(text), *numbers_in(text)]))
            if self._is_foreign(text)
            else None
        )
        rows, is_supported = self._rows(exact or wanted, shares, near)
        author, speaker, is_meant = self._author(
            text, wanted, rows, near, is_about_owner=is_about_owner
        )
        if speaker is None:
            return None
        if (
            author == "owner"
            and is_about_owner
            and self.embedder
            and not (is_supported or is_meant)
        ):
            is_meant = (meant := self._meant_by_owner(text, wanted, near)) is not None
            speaker = speaker if meant is None else meant
        turns = (
            [row for row in self.owners if near.get(row) == 1.0]
            if author == "owner" and is_about_owner
            else []
        )
        rows = tuple(dict.fromkeys([speaker, *turns, *rows]))[:MOST_ROWS]
        fault: Fault = "" if is_supported or is_meant else "unsupported"
        if not fault and self._unknown_names(text):
            fault = "unknown name"
        if not fault and is_contradicted(
            text, (self.messages[row]["text"][:COMPARED_CHARS] for row in rows)
        ):
            fault = "contradicted"
        return FactEvidence(rows, author, quote_from([self.messages[speaker]["text"]], text), fault)

    # Where it was said.

    def _rows(
        self, wanted: frozenset[str], shares: Sequence[float], near: Mapping[int, float]
    ) -> tuple[list[int], bool]:
        """Returns the evidence, and whether it supports the fact; without support near the time,
        from the whole window.
        """
        rows = self._cover(wanted, shares, near)
        if rows and self._support(wanted, rows) >= SUPPORTED_NEARBY:
            return rows, True
        anywhere = self._cover(wanted, shares, dict.fromkeys(range(len(self.messages)), 1.0))
        is_supported = bool(anywhere) and self._support(wanted, anywhere) >= SUPPORTED
        return (anywhere, True) if is_supported else (rows or anywhere, False)

    def _near(self, stamp: Stamp | None) -> dict[int, float]:
        """Returns how close to the time the rows within three minutes are: on its day, else on any
        day of the window.
        """
        if stamp is None:
            return {}
        days = sorted(
            {message["event_at"].astimezone(self.zone).date() for message in self.messages}
        )
        for chosen in ([stamp.day] if stamp.day in days else [], days):
            times = [
                datetime(day.year, day.month, day.day, stamp.hour, stamp.minute, tzinfo=self.zone)
                for day in chosen
                if day
            ]
            near = {}
            for row, message in enumerate(self.messages):
                minutes = min(
                    (abs((message["event_at"] - at) // timedelta(minutes=1)) for at in times),
                    default=math.inf,
                )
                if minutes <= NEAR_MINUTES:
                    near[row] = 1 - FADING * minutes
            if near:
                return near
        return {}

    def _cover(
        self, wanted: frozenset[str], shares: Sequence[float], among: Mapping[int, float]
    ) -> list[int]:
        """Returns the few rows that together have most of the wanted words, those first that add
        most; then others that say it, or some of it in the very minute.

        `among` has a factor for each row.
        """
        total = self._weight(wanted)
        left, rows = wanted, list[int]()
        best = sorted(
            (row for row in among if shares[row] > 0),
            key=lambda row: (-shares[row] * among[row], row),
        )
        candidates = best[:MOST_CANDIDATES]
        while candidates and len(rows) < MOST_ROWS:
            gains = [
                (self._weight(left & self.stems[row]) * self._voice_factor(row) * among[row], -row)
                for row in candidates
            ]
            gain, row = max(gains)
            if gain < LEAST_GAIN * total or not total:
                break
            rows.append(-row)
            left -= self.stems[-row]
            candidates.remove(-row)
        least = NEARLY_AS_GOOD * max((shares[row] * among[row] for row in rows), default=1.0)
        others = [
            row
            for row in best
            if row not in rows and (shares[row] * among[row] >= least or self._is_at(row, among))
        ]
        return (rows + others)[:MOST_ROWS]

    def _is_at(self, row: int, among: Mapping[int, float]) -> bool:
        """Returns whether the row was said in the very minute of the fact, by the owner or the
        assistant.
        """
        return (
            len(among) < len(self.messages) and among[row] == 1.0 and self._voice_factor(row) == 1.0
        )

    def _support(self, wanted: frozenset[str], rows: Sequence[int]) -> float:
        total = self._weight(wanted)
        return self._weight(wanted & self._stems_in(rows)) / total if total else 0.0

    def _stems_in(self, rows: Sequence[int]) -> frozenset[str]:
        return frozenset[str]().union(*(self.stems[row] for row in rows))

    def _share(self, wanted: frozenset[str], row: int) -> float:
        return (
            self._weight(wanted & self.stems[row]) / self._weight(wanted) * self._voice_factor(row)
        )

    def _voice_factor(self, row: int) -> float:
        is_said = self.messages[row]["kind"] == "text" and self.messages[row]["author"] in (
            "owner",
            "assistant",
        )
        return 1.0 if is_said else TOLD_BY_TOOL

    def _weight(self, stems: Iterable[str]) -> float:
        """Returns the weight of the words; exact, whatever the order of the set."""
        return math.fsum(
            self.weights.get(stem, UNKNOWN_WEIGHT if stem.isalpha() else 1.0) for stem in stems
        )

    # Whether it names what the window names.

    @cached_property
    def _text(self) -> str:
        return "\n".join(
            squeezed(message["text"]).casefold().replace("’", "'") for message in self.messages
        )

    @cached_property
    def _language(self) -> str:
        said = (
            m["text"]
            for m in self.messages
            if m["kind"] == "text" and m["author"] in ("owner", "assistant")
        )
        return language_of("\n".join(said))

    def _is_foreign(self, text: str) -> bool:
        """Returns whether the fact is in another language than the window, and has names to find it
        by.
        """
        language = language_of(text)
        return bool(
            language and self._language and language != self._language and any(names_in(text))
        )

    def _unknown_names(self, text: str) -> list[str]:
        """Returns the names, numbers and quotations of the fact that the window does not have."""
        exact = [name for name in names_in(text) if not self._has(name)]
        numbers = [number for number in numbers_in(text) if not self._has_number(number)]
        said = [
            words
            for words in quotations_in(text)
            if not self._has(words) and not self._is_said(words)
        ]
        return [*exact, *numbers, *said]

    def _has(self, name: str) -> bool:
        """Returns whether the window has the name, or every part of it: commands are shortened,
        folders left out.
        """
        plain = squeezed(name).casefold().replace("’", "'")
        parts = [part for part in _NAME_PARTS.split(plain) if len(part.strip(".-")) > 1]
        return plain in self._text or (
            bool(parts) and all(part.strip(".") in self._text for part in parts)
        )

    def _has_number(self, number: str) -> bool:
        digits = re.escape(number) if len(number) < 4 else ",?".join(map(re.escape, number))
        words = _NUMBER_WORDS.get(number, digits)
        return re.search(rf"(?<![\d.]){digits}(?!\d|\.\d)|\b{words}\b", self._text) is not None

    def _is_said(self, words: str) -> bool:
        stems = stems_of(words)
        return not stems or any(len(stems & row) >= 0.8 * len(stems) for row in self.stems)

    # Who said it.

    def _author(
        self,
        text: str,
        wanted: frozenset[str],
        rows: Sequence[int],
        near: Mapping[int, float],
        *,
        is_about_owner: bool,
    ) -> tuple[Author, int | None, bool]:
        """Returns the author of the fact, their row, and whether they said it by meaning or assent
        instead of in its words.

        It is the owner if they said part of it, more of it if the fact is not about them.
        """
        planted = self._planted(wanted)
        if planted is None:
            said = {
                row: self._weight(wanted & stems) / self._weight(wanted)
                for row, stems in self.owners.items()
            }
            row = max(said, key=lambda r: (said[r] + NEARBY_BONUS * (r in near), -r), default=None)
            needed = OWNERS_SHARE if _ABOUT_OWNER.search(text) else UNNAMED_SHARE
            if row is not None and (
                said[row] >= needed or self._is_paraphrase(wanted, row, said[row], rows)
            ):
                return "owner", row, False
            if is_about_owner and (row := self._assented(wanted, near)) is not None:
                return "owner", row, True
        if (
            is_about_owner
            and self.embedder
            and (row := self._meant_by_owner(text, wanted, near)) is not None
        ):
            return "owner", row, True
        if planted is not None and (
            is_directive(text) or (states_decision(text) and self._ordered(wanted) is not None)
        ):
            return self._voice(planted), planted, False
        spoken = next(
            (row for row in rows if self._voice(row) == "assistant"), rows[0] if rows else None
        )
        return (
            (self._voice(spoken), spoken, False)
            if spoken is not None
            else ("assistant", None, False)
        )

    def _meant_by_owner(
        self, text: str, wanted: frozenset[str], near: Mapping[int, float]
    ) -> int | None:
        """Returns the turn of the owner that means what the fact says, unless a quoted instruction
        is nearer to it.
        """
        turns = self._turns(near)
        own = [(row, sentence) for row, sentence in self.own_sentences if row in turns]
        own += [(row, part) for row in turns for part in self._proposal(row, wanted)]
        own = sorted(own, key=lambda line: (-len(wanted & stems_of(line[1])), -line[0]))[
            :MOST_COMPARED
        ]
        alike, turn = max(
            ((self._cosine(text, sentence), -row) for row, sentence in own), default=(0.0, 0)
        )
        if alike < SAME_MEANING:
            return None
        likely = sorted(
            self.quoted_lines, key=lambda line: (-self._weight(wanted & stems_of(line[1])), line[0])
        )[:MOST_PLANTED]
        planted = max(
            (self._cosine(text, line) for _, line in likely if wanted & stems_of(line)), default=0.0
        )
        return None if planted > alike + CLEARLY_NEARER else -turn

    def _turns(self, near: Mapping[int, float]) -> list[int]:
        """Returns the owner's turns near the time, the last one before it included."""
        before = [row for row in self.owners if near and row < min(near)]
        return sorted({*(row for row in near if row in self.owners), *before[-1:]})

    def _proposal(self, row: int, wanted: frozenset[str]) -> list[str]:
        """Returns the sentences that the assistant proposed before the owner's assent and that are
        about the fact.
        """
        words = self.own_text[row].split()
        if (
            len(words) > ASSENT_WORDS
            or not _ASSENT.match(self.own_text[row])
            or self.own_text[row].rstrip().endswith("?")
        ):
            return []
        before = next(
            (
                m
                for m in reversed(self.messages[:row])
                if m["kind"] == "text" and m["author"] == "assistant"
            ),
            None,
        )
        parts = _split(before["text"][-PROPOSAL_CHARS:]) if before else []
        return [part for part in parts if len(wanted & stems_of(part)) >= FEWEST_SHARED]

    def _assented(self, wanted: frozenset[str], near: Mapping[int, float]) -> int | None:
        """Returns the turn near the time in which the owner agreed to a proposal that has the words
        of the fact.
        """
        for row in reversed(self._turns(near)):
            said = frozenset[str]().union(*map(stems_of, self._proposal(row, wanted)))
            if (
                self._support(wanted, [row]) + self._weight(wanted & said) / self._weight(wanted)
                >= SUPPORTED
            ):
                return row
        return None

    def _cosine(self, a: str, b: str) -> float:
        """Returns the similarity of meaning, rounded so that it does not depend on the machine."""
        one, other = (self._vector(_SUBJECT.sub("", text).strip() or text) for text in (a, b))
        return round(math.fsum(float(x) * float(y) for x, y in zip(one, other, strict=True)), 3)

    def _vector(self, text: str) -> np.ndarray:
        assert self.embedder is not None
        if text not in self.vectors:
            self.vectors[text] = self.embedder.encode_query(text[:MEANING_CHARS])
        return self.vectors[text]

    def _planted(self, wanted: frozenset[str]) -> int | None:
        """Returns the row of quoted material that a fact takes its order from, if the owner gave no
        such order.
        """
        if (ordered_in := self._ordered(wanted)) is not None:
            return ordered_in
        core = (wanted - _FRAMING) or wanted
        unsaid = (core - self.said) & self.known
        total = self._weight(core)
        said = [(self._weight(core & stems), is_order) for stems, is_order in self.sentences]
        most = max((weight for weight, _ in said), default=0.0)
        ordered = max((weight for weight, is_order in said if is_order), default=0.0)
        for row, stems, _ in self.planted:
            brought_in = self._weight(unsaid & stems)
            if brought_in and brought_in >= max(
                BROUGHT_IN * self._weight(unsaid), NOT_BY_CHANCE * total
            ):
                return row
            if (
                self._weight(core & stems) >= max(SAYS_AS_MUCH * total, most)
                and ordered < SAYS_AS_MUCH * total
            ):
                return row
        return None

    def _ordered(self, wanted: frozenset[str]) -> int | None:
        """Returns the first row of quoted material with an order that has a name of the fact that
        the owner never used.
        """
        names = {stem for stem in wanted - self.said if not stem.isalpha()}
        return next(
            (row for row, stems, is_order in self.planted if is_order and names & stems), None
        )

    def is_planted(self, text: str) -> bool:
        """Returns whether quoted material gives the order that the text repeats, or brought in an
        address of it.
        """
        wanted = stems_of(text) - _OWNER_WORDS
        said = (
            m["text"]
            for m in self.messages
            if m["kind"] == "text" and m["author"] in ("owner", "assistant")
        )
        hosts = set(_HOST.findall(text))
        return bool(wanted and self._planted(wanted) is not None) or bool(
            hosts - set(_HOST.findall("\n".join(said)))
        )

    def _instructions(self) -> Iterator[tuple[int, str]]:
        """Yields the lines of quoted material that may be part of an instruction, with their
        rows.
        """
        for row, message in enumerate(self.messages):
            if self._voice(row) in QUOTED:
                for line in _SENTENCE_END.split(fold_confusables(message["text"])):
                    if (
                        len(line) <= LINE_CHARS
                        and line not in self.own_text.get(row, "")
                        and may_be_instruction(line)
                    ):
                        yield row, line

    def _is_paraphrase(
        self, wanted: frozenset[str], owners: int, share: float, rows: Sequence[int]
    ) -> bool:
        """Returns whether the fact may paraphrase the owner, and not a tool or a page that came
        before.
        """
        if share < PARAPHRASED_SHARE or len(wanted & self.owners[owners]) < FEWEST_SHARED:
            return False
        quoted = (row for row in range(max(owners, *rows, 0) + 1) if self._voice(row) in QUOTED)
        return max((self._share(wanted, row) for row in quoted), default=0.0) < SUPPORTED

    def _voice(self, row: int) -> Author:
        """Returns the author of a row; text that the owner pasted is quoted material."""
        author: Author = self.messages[row]["author"]
        return "file" if author == "owner" else author


_NUMBER_WORDS = dict(
    zip(
        map(str, range(1, 13)),
        "one two three four five six seven eight nine ten eleven twelve".split(),
        strict=True,
    )
)


def _split(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def without_orders(text: str, messages: Sequence[Row]) -> str:
    """Returns the text without sentences that order or decide something that the owner did not
    say.
    """
    sentences = _SENTENCE_END.split(text)
    if not any(map(is_directive, sentences)):
        return text
    grounding = Grounding(messages)

    def is_owners(sentence: str) -> bool:
        evidence = grounding.find(sentence)
        return evidence is not None and evidence.author == "owner" and not evidence.fault

    return " ".join(
        sentence for sentence in sentences if not is_directive(sentence) or is_owners(sentence)
    )


def without_quoted(text: str, messages: Sequence[Row]) -> str:
    """Returns the sentences of a model's text that no quoted material brought in and that give no
    order of somebody else.
    """
    grounding = Grounding(messages)
    sentences = [one for one in _split(text) if not grounding.is_planted(one)]
    return without_orders(" ".join(sentences), messages)
