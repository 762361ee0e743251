"""The words of one window: how much of a text each message has, and which messages are near a time.

A word weighs less the more messages have it. A word that no message has weighs little, as it may be
a paraphrase; a name or a number that no message has weighs 1.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from memory_assets.schema.vocabulary import Author
from memory_assets.stages.distill.rules.exchanges import Row
from memory_assets.text.words import stems_of

UNKNOWN_WEIGHT = 0.3
"""Weight of an ordinary word that the window does not have."""

NEAR_MINUTES = 3
FADING = 0.25
"""Messages so many minutes from a time are near it; each minute takes that share of their weight.
"""

TOLD_BY_TOOL = 0.8
"""Factor for tool output: it repeats everything, while people and assistants interpret it."""

QUOTED: frozenset[Author] = frozenset({"tool", "file", "web", "injected", "subagent"})
"""Authors of quoted material; they decide nothing."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The time that a model gave a fact: a local time, on a day if the answer names one."""

    hour: int
    minute: int
    day: date | None = None


class WindowIndex:
    """An index of the words of the messages."""

    def __init__(self, messages: Sequence[Row], zone: tzinfo | None = None) -> None:
        self.messages = messages
        self.zone = zone
        self.stems = [stems_of(message["text"]) for message in messages]
        counts = Counter(stem for stems in self.stems for stem in stems)
        self.known_stems = frozenset(counts)
        self._weights = {stem: 1 / (1 + math.log1p(count)) for stem, count in counts.items()}

    def weigh(self, stems: Iterable[str]) -> float:
        """Returns the weight of the words; the same in whatever order the set has them."""
        return math.fsum(self._weight(stem) for stem in stems)

    def _weight(self, stem: str) -> float:
        return self._weights.get(stem, UNKNOWN_WEIGHT if stem.isalpha() else 1.0)

    def part(self, wanted: frozenset[str], stems: frozenset[str]) -> float:
        """Returns the share of the wanted words' weight that is among the stems."""
        total = self.weigh(wanted)
        return self.weigh(wanted & stems) / total if total else 0.0

    def share(self, wanted: frozenset[str], row: int) -> float:
        """Returns the share that a message has; tool output counts less."""
        return self.part(wanted, self.stems[row]) * self.voice_factor(row)

    def support(self, wanted: frozenset[str], rows: Iterable[int]) -> float:
        """Returns the share that the messages have together."""
        return self.part(wanted, frozenset[str]().union(*(self.stems[row] for row in rows)))

    def voice_factor(self, row: int) -> float:
        """Returns the factor for the voice of a message."""
        return 1.0 if self.is_speech(row) else TOLD_BY_TOOL

    def is_speech(self, row: int) -> bool:
        """Returns whether the message is a text of the owner or the assistant."""
        message = self.messages[row]
        return message["kind"] == "text" and message["author"] in ("owner", "assistant")

    def speech(self) -> list[str]:
        """Returns the texts of the owner and the assistant."""
        return [m["text"] for row, m in enumerate(self.messages) if self.is_speech(row)]

    def voice(self, row: int) -> Author:
        """Returns whose words a message is if the owner did not type them: a paste is a file."""
        author: Author = self.messages[row]["author"]
        return "file" if author == "owner" else author

    def near(self, stamp: Stamp | None) -> dict[int, float]:
        """Returns how close the rows within three minutes of the time are to it.

        Only rows of its day count if the window has that day and any of them is near.
        """
        if stamp is None:
            return {}
        days = sorted({m["event_at"].astimezone(self.zone).date() for m in self.messages})
        on_day = self._near(stamp, [stamp.day]) if stamp.day in days and stamp.day else {}
        return on_day or self._near(stamp, days)

    def _near(self, stamp: Stamp, days: Iterable[date]) -> dict[int, float]:
        times = [
            datetime(day.year, day.month, day.day, stamp.hour, stamp.minute, tzinfo=self.zone)
            for day in days
        ]
        closeness: dict[int, float] = {}
        for row, message in enumerate(self.messages):
            minutes = min(abs((message["event_at"] - at) // timedelta(minutes=1)) for at in times)
            if minutes <= NEAR_MINUTES:
                closeness[row] = 1 - FADING * minutes
        return closeness


Closeness = Mapping[int, float]
"""Rows near a time, each with how close it is: 1 in the very minute."""
