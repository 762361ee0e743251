"""Joins several of our parts in one file to one part, so that they are added in one write."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from memory_assets.errors import NotOursError
from memory_assets.harnesses.hook_parts import HookPart
from memory_assets.harnesses.json_text import Insertion, apply


@dataclass(frozen=True, kw_only=True)
class JoinedParts(HookPart):
    """Parts of the same file; if one of them is missing or outdated, all are added again."""

    parts: tuple[HookPart, ...]

    def store_in(self, text: str) -> str | None:
        """Returns the store that the first part in the text is bound to."""
        return next(filter(None, (part.store_in(text) for part in self.parts)), None)

    def note(self, text: str, beside: str = "") -> str:
        """Returns the notes of all parts, and which place is taken."""
        notes = [part.note(text, beside) for part in self.parts]
        obstacles = (_obstacle_to(part, text) for part in self.parts)
        return " ".join(filter(None, (*notes, *obstacles)))

    def optional_events(self, text: str) -> Collection[str]:
        """Returns the optional events of all parts."""
        return list(chain.from_iterable(part.optional_events(text) for part in self.parts))

    def is_current(self, text: str) -> bool | None:
        """Returns whether all parts are as they would be added now; None if no part is there."""
        states = {part.is_current(text) for part in self.parts}
        if states == {None}:
            return None
        absent = [part for part in self.parts if part.is_current(text) is None]
        return False not in states and all(_obstacle_to(part, text) for part in absent)

    def add(self, text: str) -> list[Insertion]:
        """Returns the insertions of the parts, without one whose place is taken."""
        insertions: list[Insertion] = []
        for part in self.parts:
            with suppress(NotOursError):
                insertions = _joined(insertions, part.add(apply(text, insertions)))
        return insertions

    def remove(self, text: str, earlier_containers: Sequence[str] = ()) -> str:
        """Returns the text without the parts."""
        for part in self.parts:
            text = part.remove(text, earlier_containers)
        return text

    def kept(self, text: str) -> list[str]:
        """Returns the names of objects and lists that are there already."""
        return list(chain.from_iterable(part.kept(text) for part in self.parts))


def _obstacle_to(part: HookPart, text: str) -> str:
    """Returns why a part that is not in the text cannot be added; empty if it can, or is there."""
    if part.is_current(text) is None:
        try:
            part.add(text)
        except NotOursError as error:
            return str(error)
    return ""


def _joined(earlier: Sequence[Insertion], later: Sequence[Insertion]) -> list[Insertion]:
    """Returns insertions into the original text that equal the earlier and then the later ones.

    The later ones are for the text with the earlier ones, and may be inside of those.
    """
    joined = sorted(earlier)
    for at, text in sorted(later, reverse=True):
        shift = 0
        for index, insertion in enumerate(joined):
            start = insertion.at + shift
            if at < start:
                joined.insert(index, Insertion(at - shift, text))
                break
            if at <= start + len(insertion.text):
                inside = at - start
                merged = insertion.text[:inside] + text + insertion.text[inside:]
                joined[index] = Insertion(insertion.at, merged)
                break
            shift += len(insertion.text)
        else:
            joined.append(Insertion(at - shift, text))
    return joined
