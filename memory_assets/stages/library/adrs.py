"""Reads architecture decision records (ADRs): number, title, status, supersession and decision,
with what is wrong with them.

Takes the Markdown files of one folder, as MADR writes them (front matter) or Nygard (a section
"Status"). A decision is in force if its status is accepted or shipped and no other one supersedes
it. Problems are named and change nothing. The text is a document, not a statement of the owner: it
makes no rule.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import yaml

from memory_assets.schema.vocabulary import ADR_STATUSES
from memory_assets.text.masking.redact import mask_text

IN_FORCE = frozenset({"accepted", "shipped"})
LONGEST_FRONT_MATTER = 20_000
LONGEST_TITLE, LONGEST_PART = 200, 500
"""Characters of a title, and of a decision or its context."""

_FILE = re.compile(r"(?:adr[-_ ]?)?(\d{1,6})(?:[-_. ].*)?\.md", re.I)
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.S)
_HEADING = re.compile(r"(?m)^(#{1,6})[ \t]+(.+?)[ \t]*#*$")
_TITLE_NUMBER = re.compile(r"^(?:adr[-\s]*)?\d+\s*[.:–—-]\s*", re.I)
_NUMBER = re.compile(r"\d{1,6}")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_FENCED = re.compile(r"```.*?(?:```|$)|<!--.*?(?:-->|$)", re.S)
_RELATION = re.compile(r"(?i)^\W*(supersede[sd])(?:[ \t]+by)?\b:?[ \t]*(.*)$")
_DATED = re.compile(r"(?im)^\W*date:?\W*(\d{4}-\d{2}-\d{2})")
_DECISIONS = ("decision outcome", "decision")
_CONTEXTS = ("context and problem statement", "context", "problem", "issue")


@dataclass(frozen=True)
class Adr:
    """One decision record."""

    number: int
    name: str
    """The name of its file."""
    title: str
    status: str
    """One of the six statuses; empty where it has none of them."""
    decided_on: date | None = None
    decision: str = ""
    context: str = ""
    line: int = 0
    """The line of its title, from 0."""
    supersedes: tuple[int, ...] = ()
    superseded_by: tuple[int, ...] = ()
    is_in_force: bool = False
    problems: tuple[str, ...] = field(default=())

    @property
    def text(self) -> str:
        """What is recalled of it: title, status, decision and context."""
        on = f" on {self.decided_on}" if self.decided_on else ""
        because = f" Context: {self.context}" if self.context else ""
        heading = f"ADR-{self.number:04d} {self.title} ({self.status}{on})."
        return f"{heading} {self.decision}{because}".strip()

    @property
    def statements(self) -> tuple[str, ...]:
        """What it decides, a sentence each."""
        return (self.title, *(one for one in re.split(r"(?<=[.!?])\s+", self.decision) if one))


def number_of(name: str) -> int | None:
    """Returns the number of the record in a file of this name; None for other files, such as a
    README.
    """
    found = _FILE.fullmatch(name)
    return int(found[1]) if found else None


def read_folder(texts: Mapping[str, str]) -> list[Adr]:
    """Returns the records in the files (name → text) of one folder, by number, with their
    problems.
    """
    parsed = [
        parse_adr(name, text) for name, text in sorted(texts.items()) if number_of(name) is not None
    ]
    by_number: dict[int, list[Adr]] = defaultdict(list)
    for one in parsed:
        by_number[one.number].append(one)
    replaced = {number for one in parsed if one.status in IN_FORCE for number in one.supersedes}
    found = [
        replace(
            one,
            problems=(*one.problems, *_problems(one, by_number)),
            is_in_force=one.status in IN_FORCE
            and not one.superseded_by
            and one.number not in replaced,
        )
        for one in parsed
    ]
    return sorted(found, key=lambda one: (one.number, one.name))


def parse_adr(name: str, text: str) -> Adr:
    """Returns the record in the file, with the problems that it has by itself; secrets are
    masked.
    """
    text = mask_text(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\x00", ""))[0]
    fields, body, problem = _front_matter(text)
    plain = _FENCED.sub(lambda found: "\n" * found.group().count("\n"), body)
    sections = dict(_sections(plain))
    heading = _HEADING.search(plain)
    title = _plain(heading[2]) if heading else name.removesuffix(".md")
    above = text[: len(text) - len(body)].count("\n")
    status, problems, relations = _status(fields, sections)
    by_field = {
        key: _numbers(fields.get(key, fields.get(key.replace("-", "_"), "")))
        for key in ("supersedes", "superseded-by")
    }
    return Adr(
        number=number_of(name) or 0,
        name=name,
        title=_cut(_TITLE_NUMBER.sub("", title), LONGEST_TITLE),
        status=status,
        decided_on=_date(fields.get("date", ""), body),
        decision=_cut(_first(sections, _DECISIONS), LONGEST_PART),
        context=_cut(_first(sections, _CONTEXTS), LONGEST_PART),
        line=above + plain[: heading.start()].count("\n") if heading else 0,
        supersedes=tuple(dict.fromkeys([*by_field["supersedes"], *relations["supersedes"]])),
        superseded_by=tuple(dict.fromkeys([*by_field["superseded-by"], *relations["superseded"]])),
        problems=(*problem, *problems),
    )


def _front_matter(text: str) -> tuple[Mapping[str, Any], str, tuple[str, ...]]:
    """Returns the fields in front of the text, the text after them, and a problem where they cannot
    be read.
    """
    found = _FRONT_MATTER.match(text[:LONGEST_FRONT_MATTER])
    if found is None:
        return {}, text, ()
    body = text[found.end() :]
    try:
        # All values are text: 0021 is no octal number.
        fields = yaml.load(found[1], Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}, body, ("front matter cannot be read: it is not YAML",)
    if not isinstance(fields, dict):
        return {}, body, ("front matter cannot be read: it has no fields",)
    return {str(name).lower(): value for name, value in fields.items()}, body, ()


def _status(
    fields: Mapping[str, Any], sections: Mapping[str, str]
) -> tuple[str, tuple[str, ...], Mapping[str, Sequence[int]]]:
    """Returns the status, what is wrong with it, and the numbers that a section "Status" relates
    the record to.
    """
    relations: dict[str, list[int]] = {"supersedes": [], "superseded": []}
    lines = [line for line in sections.get("status", "").split("\n") if line.strip()]
    for found in filter(None, map(_RELATION.match, lines)):
        relations[found[1].lower()] += _numbers(found[2])
    stated = fields.get("status")
    if not isinstance(stated, str) or not stated.strip():
        rest = [line for line in lines if not _RELATION.match(line)]
        stated = rest[0] if rest else "superseded" if relations["superseded"] else ""
        stated = (
            "superseded"
            if relations["superseded"] and stated.strip().lower() in IN_FORCE
            else stated
        )
    words = _plain(stated).strip(" .*_").lower()
    if not words:
        return "", ("has no status",), relations
    if words in ADR_STATUSES:
        return words, (), relations
    named = f"status '{_cut(words, 60)}'"
    if len(words.split()) == 1:
        return "", (f"{named} is none of {', '.join(ADR_STATUSES)}",), relations
    return (
        "",
        (f"{named} has several words; use one, and name other records in superseded-by",),
        relations,
    )


def _problems(one: Adr, by_number: Mapping[int, Sequence[Adr]]) -> Iterator[str]:
    """Yields what is wrong between the record and the others of its folder."""
    others = [other.name for other in by_number[one.number] if other.name != one.name]
    if others:
        yield f"number {one.number:04d} is used again by {', '.join(others)}"
    for what, numbers in (("supersedes", one.supersedes), ("superseded-by", one.superseded_by)):
        for number in numbers:
            if number not in by_number:
                yield f"{what} names {number:04d}, which does not exist"
            elif number == one.number:
                yield f"{what} names the record itself"
    for number in one.supersedes if one.status in IN_FORCE else ():
        if any(
            other.status in IN_FORCE
            for other in by_number.get(number, ())
            if other.name != one.name
        ):
            yield f"supersedes {number:04d}, whose status is not superseded"
    if one.status == "superseded" and not one.superseded_by:
        yield "is superseded, and superseded-by is missing"


def _sections(body: str) -> Iterator[tuple[str, str]]:
    """Yields each heading, in lower case, with the text below it; of equal headings the first
    counts.
    """
    found = list(_HEADING.finditer(body))
    ends = [*(one.start() for one in found), len(body)][1:]
    for one, end in reversed([*zip(found, ends, strict=True)]):
        yield one[2].lower().strip(), body[one.end() : end].strip("\n")


def _first(sections: Mapping[str, str], names: Iterable[str]) -> str:
    """Returns the first paragraph of the first of these sections that has one."""
    for name in names:
        paragraphs = [one for one in re.split(r"\n\s*\n", sections.get(name, "")) if one.strip()]
        if paragraphs:
            return _plain(paragraphs[0])
    return ""


def _numbers(value: Any) -> list[int]:
    """Returns the number that each item names: `0021`, `ADR-0021`, or a link to its file."""
    items = (
        value
        if isinstance(value, list)
        else str(value).split(",")
        if isinstance(value, str)
        else []
    )
    found = (_NUMBER.search(_LINK.sub(r"\1", item)) for item in items[:50] if isinstance(item, str))
    return [int(one[0]) for one in found if one]


def _date(stated: Any, body: str) -> date | None:
    dated = _DATED.search(body)
    text = stated[:10] if isinstance(stated, str) and stated else dated[1] if dated else ""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _plain(text: str) -> str:
    return " ".join(_LINK.sub(r"\1", text).replace("**", "").split())


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
