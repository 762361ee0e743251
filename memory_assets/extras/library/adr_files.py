"""Parses architecture decision records (ADRs), and names what is wrong with them.

Takes the Markdown files of one folder, gives an `AdrFile` for each. Status and date stand in front
matter (the format of MADR) or in sections such as "Status" (that of Nygard). A decision is in force
if its status is accepted or shipped and no other record supersedes it. Problems are reported and
change nothing. Nothing in a record is taken for a statement or a rule of the owner.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import yaml

from memory_assets.extras.library.contents import FRONT_MATTER
from memory_assets.extras.library.records import ADR_STATUSES
from memory_assets.text.masking.redact import mask_text
from memory_assets.text.words import squeezed, truncated

IN_FORCE = frozenset({"accepted", "shipped"})
LONGEST_FRONT_MATTER = 20_000
"""Characters at the beginning of a file in which front matter is searched."""

LONGEST_TITLE = 200
LONGEST_PART = 500
"""Characters that are kept of a decision, and of its context."""

MOST_NUMBERS = 50
"""Records that one field may name; further ones are not read."""

_FILE = re.compile(r"(?:adr[-_ ]?)?(\d{1,6})(?:[-_. ].*)?\.md", re.I)
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
    """One of `ADR_STATUSES`; empty where the file has another status or none."""
    decided_on: date | None = None
    decision: str = ""
    context: str = ""
    line: int = 0
    """Line number of its title, from 0."""
    supersedes: tuple[int, ...] = ()
    superseded_by: tuple[int, ...] = ()
    is_in_force: bool = False
    problems: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text that can be recalled: title, status, decision and context."""
        on = f" on {self.decided_on}" if self.decided_on else ""
        because = f" Context: {self.context}" if self.context else ""
        heading = f"ADR-{self.number:04d} {self.title} ({self.status}{on})."
        return f"{heading} {self.decision}{because}".strip()

    @property
    def statements(self) -> tuple[str, ...]:
        """The title, then each sentence of the decision."""
        return (self.title, *filter(None, re.split(r"(?<=[.!?])\s+", self.decision)))


def number_of(name: str) -> int | None:
    """Returns the number in the name of a record's file; None for other files, such as a README."""
    match = _FILE.fullmatch(name)
    return int(match[1]) if match else None


def read_folder(texts: Mapping[str, str]) -> list[AdrFile]:
    """Returns the records in the files (name → text) of one folder, by number."""
    records = [parse_adr(name, texts[name]) for name in texts if number_of(name) is not None]
    records.sort(key=lambda record: (record.number, record.name))
    by_number: dict[int, list[AdrFile]] = defaultdict(list)
    for record in records:
        by_number[record.number].append(record)
    superseded = {
        number for record in records if record.status in IN_FORCE for number in record.supersedes
    }
    checked: list[AdrFile] = []
    for record in records:
        is_superseded = bool(record.superseded_by) or record.number in superseded
        is_in_force = record.status in IN_FORCE and not is_superseded
        problems = (*record.problems, *_problems(record, by_number))
        checked.append(replace(record, problems=problems, is_in_force=is_in_force))
    return checked


def parse_adr(name: str, text: str) -> AdrFile:
    """Returns the record in the file, its secrets masked, with the problems within the file."""
    text = mask_text(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\x00", ""))[0]
    fields, body, field_problems = _front_matter(text)
    # Code and comments are blanked, so that line numbers stay.
    prose = _FENCED.sub(lambda match: "\n" * match.group().count("\n"), body)
    sections = dict(_sections(prose))
    heading = _HEADING.search(prose)
    title = name.removesuffix(".md")
    line = 0
    if heading:
        title = _plain(heading[2])
        front_matter = text.removesuffix(body)
        line = front_matter.count("\n") + prose[: heading.start()].count("\n")
    lines = [line for line in sections.get("status", "").split("\n") if line.strip()]
    supersedes = _related(fields, "supersedes", lines, "supersedes")
    superseded_by = _related(fields, "superseded-by", lines, "superseded")
    status, status_problems = _status(_written_status(fields, lines))
    return AdrFile(
        number=number_of(name) or 0,
        name=name,
        title=truncated(_TITLE_NUMBER.sub("", title), LONGEST_TITLE),
        status=status,
        decided_on=_date(fields.get("date", ""), body),
        decision=truncated(_first_paragraph(sections, _DECISIONS), LONGEST_PART),
        context=truncated(_first_paragraph(sections, _CONTEXTS), LONGEST_PART),
        line=line,
        supersedes=supersedes,
        superseded_by=superseded_by,
        problems=(*field_problems, *status_problems),
    )


def _front_matter(text: str) -> tuple[Mapping[str, Any], str, tuple[str, ...]]:
    """Returns the fields in front of the text, the text after them, and problems of the fields."""
    match = FRONT_MATTER.match(text[:LONGEST_FRONT_MATTER])
    if match is None:
        return {}, text, ()
    body = text[match.end() :]
    try:
        # The base loader leaves all values as text, so that 0021 is not read as an octal number.
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
    "Status" name, such as "Superseded by ADR-12".
    """
    value = fields.get(field.replace("-", "_"), "")
    numbers = _numbers(fields.get(field, value))
    for match in filter(None, map(_RELATION.match, lines)):
        if match[1].lower() == relation:
            numbers += _numbers(match[2])
    return tuple(dict.fromkeys(numbers))


def _written_status(fields: Mapping[str, Any], lines: Sequence[str]) -> str:
    """Returns the status as the front matter has it, else the lines of the section "Status".

    A line there that names a superseding record overrides a status that is missing or in force.
    """
    status = fields.get("status")
    if isinstance(status, str) and status.strip():
        return status
    relations = [match for match in map(_RELATION.match, lines) if match]
    is_superseded = any(
        match[1].lower() == "superseded" and _numbers(match[2]) for match in relations
    )
    status = next((line for line in lines if not _RELATION.match(line)), "")
    if is_superseded and (not status or status.strip().lower() in IN_FORCE):
        return "superseded"
    return status


def _status(text: str) -> tuple[str, tuple[str, ...]]:
    """Returns the status that the text names, empty for none, and what is wrong with it."""
    words = _plain(text).strip(" .*_").lower()
    if not words:
        return "", ("has no status",)
    if words in ADR_STATUSES:
        return words, ()
    subject = f"status '{truncated(words, 60)}'"
    if " " not in words:
        return "", (f"{subject} is none of {', '.join(ADR_STATUSES)}",)
    return "", (f"{subject} has several words; use one, and name other records in superseded-by",)


def _problems(record: AdrFile, by_number: Mapping[int, Sequence[AdrFile]]) -> Iterator[str]:
    """Yields what is wrong between the record and the others of its folder."""
    names = [other.name for other in by_number[record.number] if other is not record]
    if names:
        yield f"number {record.number:04d} is used again by {', '.join(names)}"
    yield from _wrong_numbers("supersedes", record.supersedes, record, by_number)
    yield from _wrong_numbers("superseded-by", record.superseded_by, record, by_number)
    if record.status in IN_FORCE:
        for number in record.supersedes:
            others = [other for other in by_number.get(number, ()) if other is not record]
            if not IN_FORCE.isdisjoint(other.status for other in others):
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
    """Yields each heading, in lower case, with the text below it.

    The last heading comes first, so that a dictionary keeps the first one of equal headings.
    """
    end = len(body)
    for heading in reversed(list(_HEADING.finditer(body))):
        yield heading[2].lower().strip(), body[heading.end() : end].strip("\n")
        end = heading.start()


def _first_paragraph(sections: Mapping[str, str], names: Iterable[str]) -> str:
    """Returns the first paragraph of the first section with one of the names that has text."""
    for name in names:
        text = sections.get(name, "").strip()
        if text:
            return _plain(re.split(r"\n\s*\n", text, maxsplit=1)[0])
    return ""


def _numbers(value: Any) -> list[int]:
    """Returns the number that each item of a list, or of a text with commas, names.

    An item is `0021`, `ADR-0021`, or a link to the record's file.
    """
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list):
        return []
    texts = [item for item in items[:MOST_NUMBERS] if isinstance(item, str)]
    numbers = (_NUMBER.search(_LINK.sub(r"\1", text)) for text in texts)
    return [int(number[0]) for number in numbers if number]


def _date(field: Any, body: str) -> date | None:
    """Returns the date in the field of the front matter, else in a line such as "Date: 2026-08-01"
    of the body.
    """
    dated = _DATED.search(body)
    text = dated[1] if dated else ""
    if isinstance(field, str) and field:
        text = field[:10]
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _plain(text: str) -> str:
    """Returns the text on one line, without bold type and the addresses of links."""
    return squeezed(_LINK.sub(r"\1", text).replace("**", ""))
