"""Checks that a window has the names, numbers and quoted words of a fact.

A model may paraphrase ordinary words. A name, a number or a quotation that the session does not
have is invented.
"""

import re
from functools import cached_property

from memory_assets.english.languages import language_of
from memory_assets.english.word_forms import NUMBERS
from memory_assets.stages.distill.grounding.window_index import WindowIndex
from memory_assets.stages.distill.items import names_in, numbers_in, quotations_in
from memory_assets.text.words import squeezed, stems_of

SAID = 0.8
"""Share of a quotation's words that one message must have."""

_NAME_PARTS = re.compile(r"[\s/()\[\]{}=,:;|\"'`…<>]+|\.{2,}")
_WORD_OF = {"1": "one"} | {number: word for word, number in NUMBERS.items()}


class ExactNames:
    """The text of a window, in which names are looked up."""

    def __init__(self, window: WindowIndex) -> None:
        self._window = window

    @cached_property
    def _text(self) -> str:
        return "\n".join(_folded(message["text"]) for message in self._window.messages)

    @cached_property
    def _language(self) -> str:
        return language_of("\n".join(self._window.speech()))

    def is_foreign(self, text: str) -> bool:
        """Returns whether the fact is in another language than the window, and has a name."""
        language = language_of(text)
        is_other = bool(language and self._language) and language != self._language
        return is_other and any(names_in(text))

    def missing_in(self, text: str) -> list[str]:
        """Returns the names, numbers and quotations of the fact that the window does not have."""
        names = [name for name in names_in(text) if not self._has(name)]
        numbers = [number for number in numbers_in(text) if not self._has_number(number)]
        quotations = [words for words in quotations_in(text) if not self._has_words(words)]
        return [*names, *numbers, *quotations]

    def _has(self, name: str) -> bool:
        """Returns whether the window has the name, or every part of it: commands are shortened,
        folders left out.
        """
        plain = _folded(name)
        parts = [part for part in _NAME_PARTS.split(plain) if len(part.strip(".-")) > 1]
        has_parts = bool(parts) and all(part.strip(".") in self._text for part in parts)
        return plain in self._text or has_parts

    def _has_number(self, number: str) -> bool:
        digits = re.escape(number) if len(number) < 4 else ",?".join(map(re.escape, number))
        word = _WORD_OF.get(number, digits)
        return re.search(rf"(?<![\d.]){digits}(?!\d|\.\d)|\b{word}\b", self._text) is not None

    def _has_words(self, words: str) -> bool:
        stems = stems_of(words)
        least = SAID * len(stems)
        is_said = any(len(stems & row) >= least for row in self._window.stems)
        return not stems or is_said or self._has(words)


def _folded(text: str) -> str:
    return squeezed(text).casefold().replace("’", "'")
