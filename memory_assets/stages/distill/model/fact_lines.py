"""Parses lines that hold a fact: a mark, a time and annotations in any order, then the text."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from memory_assets.schema.records import Priority
from memory_assets.stages.distill.model.parsed import ParsedFact

MARKS: dict[str, Priority] = {"🔴": "high", "🟡": "medium", "🟢": "low", "✅": "medium"}
_MARK = re.compile(r"[🔴🟡🟢✅]\ufe0f?")
_BULLET = re.compile(r"^\s*(?:[-*+•–]|\d{1,3}[.)])\s*(?=\S)")
_TIME = re.compile(
    r"(?i)^\W{0,2}\(?\[?(?:~|about )?([01]?\d|2[0-3]):([0-5]\d)(?:\s*[A-Z]{2,4})?[)\]]\s*[-:–—]?\s*|^\((?:early|late|mid|near"
    r"|middle)[^()]{0,40}\)\s*"
)
_NOTES = re.compile(r"^\s*\[([^\][]{0,200}=[^\][]{0,200})\]\s*")
_NOTE = re.compile(r"([\w-]+)\s*=\s*\"?([\w:.%/-]+)\"?")
_TAG = re.compile(r"<\s{0,3}/?\s{0,3}[^\W\d_][^<>]*>|<\s{0,3}/?\s{0,3}[^\W\d_][\w-]*\s*$|</?\s*$")
_GATES = ("allow", "hold", "discard")


def is_marked(line: str) -> bool:
    """Returns whether the line begins with a mark, with or without a bullet."""
    return bool(_MARK.match(_BULLET.sub("", line).lstrip("*_ ")))


def is_bullet(line: str) -> bool:
    """Returns whether the line is an item of a list."""
    return bool(_BULLET.match(line))


def is_fact(line: str) -> bool:
    """Returns whether the line is an item of a list, or has a mark near its beginning."""
    return bool(_BULLET.match(line) or _MARK.search(line[:8]))


def parse_facts(lines: Sequence[str], holds_fact: Callable[[str], object]) -> tuple[ParsedFact, ...]:
    """Returns the facts of the lines that hold one; an indented line after a fact continues it."""
    texts: list[str] = []
    for line in lines:
        bare = without_tags(line)
        if holds_fact(bare):
            texts.append(bare)
        elif texts and bare.strip() and line[:1].isspace() and not bare.lstrip().startswith("#"):
            texts[-1] += f" {bare.strip()}"
    return tuple(fact for fact in dict.fromkeys(map(parse_fact, texts)) if fact.text)


def parse_fact(line: str) -> ParsedFact:
    """Returns the fact of one line: mark, time and annotations in any order, then the text."""
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
    return ParsedFact(text, priority, time, *parse_notes(notes), is_done)


def parse_notes(notes: dict[str, str]) -> tuple[str | None, float | None, str | None]:
    """Returns gate, confidence (0 to 1, from a share or a percentage) and category; None for values that are not valid."""
    gate, confidence, category = notes.get("gate", "").lower(), None, notes.get("category")
    with suppress(ValueError):
        number = float(notes.get("confidence", "").rstrip("%"))
        number = number / 100 if 1 < number <= 100 else number
        confidence = number if 0 <= number <= 1 else None
    return gate if gate in _GATES else None, confidence, re.sub(r"^[a-z]+:", "", category.lower()) if category else None


def without_tags(text: str) -> str:
    """Returns the text with a space in place of each tag."""
    return _TAG.sub(" ", text)


def encodable(text: str) -> str:
    """Returns the text without unpaired surrogates, which JSON can contain but files cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
