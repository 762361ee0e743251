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
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import yaml

from memory_assets.extras.library.records import ADR_STATUSES
from memory_assets.text.masking.redact import mask_text

IN_FORCE = frozenset({"accepted", "shipped"})
LONGEST_FRONT_MATTER = 20_000
LONGEST_TITLE = 200
LONGEST_PART = 500
"""Characters of a decision or its context."""

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
class AdrFile:
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
    problems: tuple[str, ...] = ()

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
        return (self.title, *filter(None, re.split(r"(?<=[.!?])\s+", self.decision)))


def number_of(name: str) -> int | None:
    """Returns the number of the record in a file of this name; None for other files, such as a
    README.
    """
    match = _FILE.fullmatch(name)
    return int(match[1]) if match else None


def read_folder(texts: Mapping[str, str]) -> list[AdrFile]:
    """Returns the records in the files (name → text) of one folder, by number, with their
    problems.
    """
    records = [parse_adr(name, texts[name]) for name in texts if number_of(name) is not None]
    records.sort(key=lambda record: (record.number, record.name))
    by_number: dict[int, list[AdrFile]] = defaultdict(list)
    for record in records:
        by_number[record.number].append(record)
    replaced = {
        number for record in records if record.status in IN_FORCE for number in record.supersedes
    }
    return [
        replace(
            record,
            problems=(*record.problems, *_problems(record, by_number)),
            is_in_force=record.status in IN_FORCE
            and not record.superseded_by
            and record.number not in replaced,
        )
        for record in records
    ]


def parse_adr(name: str, text: str) -> AdrFile:
    """Returns the record in the file, with the problems that it has by itself; secrets are
    masked.
    """
    text = mask_text(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\x00", ""))[0]
    fields, body, problem = _front_matter(text)
    plain = _FENCED.sub(lambda match: "\n" * match.group().count("\n"), body)
    sections = dict(_sections(plain))
    heading = _HEADING.search(plain)
    title = _plain(heading[2]) if heading else name.removesuffix(".md")
    above = text[: len(text) - len(body)].count("\n")
    lines = [line for line in sections.get("status", "").split("\n") if line.strip()]
    supersedes = _related(fields, "supersedes", lines, "supersedes")
    superseded_by = _related(fields, "superseded-by", lines, "superseded")
    status, problems = _status(_stated(fields, lines))
    return AdrFile(
        number=number_of(name) or 0,
        name=name,
        title=_cut(_TITLE_NUMBER.sub("", title), LONGEST_TITLE),
        status=status,
        decided_on=_date(fields.get("date", ""), body),
        decision=_cut(_first(sections, _DECISIONS), LONGEST_PART),
        context=_cut(_first(sections, _CONTEXTS), LONGEST_PART),
        line=above + plain[: heading.start()].count("\n") if heading else 0,
        supersedes=supersedes,
        superseded_by=superseded_by,
        problems=(*problem, *problems),
    )


def _front_matter(text: str) -> tuple[Mapping[str, Any], str, tuple[str, ...]]:
    """Returns the fields in front of the text, the text after them, and a problem where they cannot
    be read.
    """
    match = _FRONT_MATTER.match(text[:LONGEST_FRONT_MATTER])
    if match is None:
        return {}, text, ()
    body = text[match.end() :]
    try:
        # All values are text: 0021 is no octal number.
        fields = yaml.load(match[1], Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}, body, ("front matter cannot be read: it is not YAML",)
    if not isinstance(fields, dict):
        return {}, body, ("front matter cannot be read: it has no fields",)
    return {str(name).lower(): value for name, value in fields.items()}, body, ()


def _related(
    fields: Mapping[str, Any], field: str, lines: Iterable[str], relation: str
) -> tuple[int, ...]:
    """Returns the numbers of the records that the field names, then those that lines of the section
    "Status" name.
    """
    numbers = _numbers(fields.get(field, fields.get(field.replace("-", "_"), "")))
    for match in filter(None, map(_RELATION.match, lines)):
        numbers += _numbers(match[2]) if match[1].lower() == relation else []
    return tuple(dict.fromkeys(numbers))


def _stated(fields: Mapping[str, Any], lines: Sequence[str]) -> str:
    """Returns the status as it is written: that of the front matter, else of the section
    "Status", where another record may supersede a decision without a word for it.
    """
    stated = fields.get("status")
    if isinstance(stated, str) and stated.strip():
        return stated
    relations = [match for match in map(_RELATION.match, lines) if match]
    is_superseded = any(
        match[1].lower() == "superseded" and _numbers(match[2]) for match in relations
    )
    stated = next((line for line in lines if not _RELATION.match(line)), "")
    if is_superseded and (not stated or stated.strip().lower() in IN_FORCE):
        return "superseded"
    return stated


def _status(stated: str) -> tuple[str, tuple[str, ...]]:
    """Returns the status, and what is wrong with it."""
    words = _plain(stated).strip(" .*_").lower()
    if not words:
        return "", ("has no status",)
    if words in ADR_STATUSES:
        return words, ()
    named = f"status '{_cut(words, 60)}'"
    if " " not in words:
        return "", (f"{named} is none of {', '.join(ADR_STATUSES)}",)
    return "", (f"{named} has several words; use one, and name other records in superseded-by",)


def _problems(record: AdrFile, by_number: Mapping[int, Sequence[AdrFile]]) -> Iterator[str]:
    """Yields what is wrong between the record and the others of its folder."""
    others = [other.name for other in by_number[record.number] if other is not record]
    if others:
        yield f"number {record.number:04d} is used again by {', '.join(others)}"
    yield from _wrong_numbers("supersedes", record.supersedes, record, by_number)
    yield from _wrong_numbers("superseded-by", record.superseded_by, record, by_number)
    if record.status in IN_FORCE:
        for number in record.supersedes:
            others = [other for other in by_number.get(number, ()) if other is not record]
            if any(other.status in IN_FORCE for other in others):
                yield f"supersedes {number:04d}, whose status is not superseded"
    if record.status == "superseded" and not record.superseded_by:
        yield "is superseded, and superseded-by is missing"


def _wrong_numbers(
    field: str,
    numbers: Iterable[int],
    record: AdrFile,
    by_number: Mapping[int, Sequence[AdrFile]],
) -> Iterator[str]:
    for number in numbers:
        if number not in by_number:
            yield f"{field} names {number:04d}, which does not exist"
        elif number == record.number:
            yield f"{field} names the record itself"


def _sections(body: str) -> Iterator[tuple[str, str]]:
    """Yields each heading, in lower case, with the text below it; of equal headings the first
    counts.
    """
    headings = list(_HEADING.finditer(body))
    ends = [*(heading.start() for heading in headings), len(body)][1:]
    for heading, end in reversed([*zip(headings, ends, strict=True)]):
        yield heading[2].lower().strip(), body[heading.end() : end].strip("\n")


def _first(sections: Mapping[str, str], names: Iterable[str]) -> str:
    """Returns the first paragraph of the first of these sections that has one."""
    for name in names:
        text = sections.get(name, "").strip()
        if text:
            return _plain(re.split(r"\n\s*\n", text, maxsplit=1)[0])
    return ""


def _numbers(value: Any) -> list[int]:
    """Returns the number that each item names: `0021`, `ADR-0021`, or a link to its file."""
    items = value.split(",") if isinstance(value, str) else value
    texts = (
        [item for item in items[:50] if isinstance(item, str)] if isinstance(items, list) else []
    )
    numbers = (_NUMBER.search(_LINK.sub(r"\1", text)) for text in texts)
    return [int(number[0]) for number in numbers if number]


def _date(stated: Any, body: str) -> date | None:
    dated = _DATED.search(body)
    text = dated[1] if dated else ""
    if isinstance(stated, str) and stated:
        text = stated[:10]
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _plain(text: str) -> str:
    return " ".join(_LINK.sub(r"\1", text).replace("**", "").split())


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
