"""What the owner typed in a window: without pasted material, without what they quote of others.

A question asserts nothing, so its words count as typed, not as stated. A polite request ("could you
…?") is an order.
"""

import re

from memory_assets.english.asking import only_asks
from memory_assets.stages.distill.authorship import typed_paragraphs
from memory_assets.stages.distill.grounding.window_index import Closeness, WindowIndex
from memory_assets.text.words import stems_of

ASSENT_WORDS = 12
"""A longer turn says itself what it is about."""

PROPOSAL_CHARS = 2_000
"""The end of the assistant's message that a short assent of the owner is about."""

FEWEST_SHARED = 2
"""Least number of stems that a sentence has in common with a fact that it may be about."""

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+|\\n")
_REPORTED = re.compile(
    r"(?i)(?<=\b(?:says|said):)[^\n]+|(?<=\bwrote:)[^\n]+"
    r"|[\"“](?:always|never|do not|don't|you must|from now on|ignore)\b[^\"”\n]*[\"”]"
)
"""Reported speech, and orders between quotation marks."""

_ASSENT = re.compile(
    r"(?i)^\W*(?:ok(?:ay)?|yes|yeah|yep|sure|agreed?|right|exactly|perfect|please do|do it"
    r"|go (?:ahead|for it|with)|sounds good|let'?s (?:do|go)"
    r"|i (?:agree|like (?:it|that|\d|[a-d]\b))|(?:do |option |use )?(?:\d|[a-d])\b(?=\W|$))"
)


def split_sentences(text: str) -> list[str]:
    """Returns the sentences and lines of the text."""
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]


class OwnersWords:
    """The owner's turns of a window, by row."""

    def __init__(self, window: WindowIndex) -> None:
        self._window = window
        self.texts: dict[int, str] = {}
        self.sentences: list[tuple[int, str]] = []
        self.stated: dict[int, frozenset[str]] = {}
        """The stems of the sentences of each turn that are no questions."""
        for row, message in enumerate(window.messages):
            if message["author"] == "owner" and message["is_user_turn"]:
                typed = [_REPORTED.sub(" ", part) for part in typed_paragraphs(message["text"])]
                sentences = split_sentences("\n".join(typed))
                asserted = (text for text in sentences if not only_asks(text))
                self.texts[row] = " ".join(typed)
                self.sentences += [(row, sentence) for sentence in sentences]
                self.stated[row] = frozenset[str]().union(*map(stems_of, asserted))
        self.all_stems = frozenset[str]().union(*map(stems_of, self.texts.values()))

    def turns_near(self, near: Closeness) -> list[int]:
        """Returns the turns near a time, the last one before it included."""
        nearby = {row for row in near if row in self.texts}
        earlier = [row for row in self.texts if near and row < min(near)]
        return sorted({*nearby, *earlier[-1:]})

    def proposal(self, row: int, wanted: frozenset[str]) -> list[str]:
        """Returns the sentences about the fact that the assistant proposed before the owner's
        assent; none if the turn is no short assent.
        """
        text = self.texts[row]
        is_short = len(text.split()) <= ASSENT_WORDS
        if not is_short or not _ASSENT.match(text) or text.rstrip().endswith("?"):
            return []
        answers = (m for m in reversed(self._window.messages[:row]) if m["kind"] == "text")
        answer = next((m["text"] for m in answers if m["author"] == "assistant"), "")
        sentences = split_sentences(answer[-PROPOSAL_CHARS:])
        return [part for part in sentences if len(wanted & stems_of(part)) >= FEWEST_SHARED]
