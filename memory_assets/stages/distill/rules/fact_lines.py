"""Reads the lines of an answer that hold facts: a mark, a time and annotations in any order, then the text.

Takes lines; gives facts. What surrounds the lines is read elsewhere.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from memory_assets.schema.records import Priority
from memory_assets.stages.distill.model.parsed import ParsedFact

MARKS: dict[str, Priority] = {"🔴": "high", "🟡": "medium", "🟢": "low", "✅": "medium"}
_MARK = re.compile(r"[🔴🟡🟢✅]\ufe0f?")
_BULLET = re.compile(r"^\s*(?:[-*+•–]|\d{1,3}[.)])\s*(?=\S)")
_TIME = re.compile(
    r"^\W{0,2}\(?\[?(?:~|about )?([01]?\d|2[0-3]):([0-5]\d)(?:\s*[A-Z]{2,4})?[)\]]\s*[-:–—]?\s*|^\((?:early|late|mid"
    r"|near|middle)[^()]{0,40}\)\s*",
    re.I,
)
_NOTES = re.compile(r"^\s*\[([^\][]{0,200}=[^\][]{0,200})\]\s*")
_NOTE = re.compile(r"([\w-]+)\s*=\s*\"?([\w:.%/-]+)\"?")
_TAG = re.compile(r"<\s{0,3}/?\s{0,3}[^\W\d_][^<>]*>|<\s{0,3}/?\s{0,3}[^\W\d_][\w-]*\s*$|</?\s*$")
_GATES = {"allow": "allow", "hold": "hold", "discard": "discard"}


def is_marked(line: str) -> bool:
    """Says whether the line begins with a mark, behind a bullet or not."""
    return bool(_MARK.match(_BULLET.sub("", line).lstrip("*_ ")))


def is_bullet(line: str) -> bool:
    """Says whether the line is an item of a list."""
    return bool(_BULLET.match(line))


def is_fact(line: str) -> bool:
    """Says whether the line is an item, or has a mark near its beginning."""
    return bool(_BULLET.match(line) or _MARK.search(line[:8]))


def read_facts(lines: Sequence[str], holds_fact: Callable[[str], object]) -> tuple[ParsedFact, ...]:
    """Returns the facts of the lines that are one; a line that is none goes on with the fact before it."""
    texts: list[list[str]] = []
    for line in lines:
        bare = without_tags(line)
        if holds_fact(bare):
            texts.append([bare])
        elif texts and bare.strip() and line[:1].isspace() and not bare.lstrip().startswith("#"):
            texts[-1].append(bare.strip())
    found = dict.fromkeys(read_fact(" ".join(parts)) for parts in texts)
    return tuple(fact for fact in found if fact.text)


def read_fact(line: str) -> ParsedFact:
    """Returns one marked line as a fact: mark, time and annotations in any order, then the text."""
    text, priority, time, notes, is_done = _BULLET.sub("", line).strip(), None, None, {}, False
    for _ in range(6):
        before = text
        text = text.lstrip("*_ ")
        if mark := _MARK.match(text):
            symbol = mark[0][0]
            priority, is_done = priority or MARKS[symbol], is_done or symbol == "✅"
            text = text[mark.end() :].lstrip()
        if clock := _TIME.match(text):
            time = time or (f"{int(clock[1]):02d}:{clock[2]}" if clock[1] else None)
            text = text[clock.end() :].lstrip()
        if annotated := _NOTES.match(text):
            notes |= {key.lower(): value for key, value in _NOTE.findall(annotated[1])}
            text = text[annotated.end() :].lstrip()
        if text == before:
            break
    text = " ".join(encodable(text).replace("**", "").split())
    return ParsedFact(text, priority, time, *read_notes(notes), is_done)


def read_notes(notes: dict[str, str]) -> tuple[str | None, float | None, str | None]:
    """Returns verdict, confidence and category; what cannot be understood is as good as absent."""
    category = notes.get("category")
    return (
        _GATES.get(notes.get("gate", "").lower()),
        _share(notes.get("confidence")),
        re.sub(r"^[a-z]+:", "", category.lower()) if category else None,
    )


def _share(value: Any) -> float | None:
    """Returns a number between 0 and 1, a percentage divided; None for anything else."""
    try:
        number = float(str(value).rstrip("%"))
    except (TypeError, ValueError):
        return None
    number = number / 100 if 1 < number <= 100 else number
    return number if 0 <= number <= 1 else None


def without_tags(text: str) -> str:
    """Returns the text with a space for every tag."""
    return _TAG.sub(" ", text)


def encodable(text: str) -> str:
    """Returns the text without halves of characters: JSON can spell them, no file can hold them."""
    return text.encode("utf-8", "replace").decode("utf-8")
