"""Tier 3: REVIEW.md, where a person approves, rejects, rewords or leaves what the rules could not
decide.

    - [x] `p-…` **text**     approves, with the text as edited
    - [-] `p-…` **text**     rejects; so does deleting the line
    - [ ] `p-…` **other**    rewords; it is still pending

Items are grouped by the project that their line is for. One may also ask to replace a line of
MEMORY.md, or, under its own heading, to retire it. Recurring problems (`f-…`), and a sample of what
rules refused, have their own headings, too. Memories that contradict a decision record are shown
below, and decided elsewhere.

Decisions are read by comparing the file with its last committed version. A file without its last
line (half saved), or one that lost more than half of what is pending, decides nothing and is asked
about; a line that names a proposal but cannot be parsed decides nothing either. Lines that a person
added stay in their section.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import chain

from memory_assets.schema.protocols import Row
from memory_assets.stages.friction.review import DETAIL, HEADINGS
from memory_assets.stages.triage import contradictions
from memory_assets.stages.triage.memory_md import read_entries
from memory_assets.text.words import counted, squeezed

TITLE = "# Pending Memory Proposals"
HELP = (
    "_Mark [x] to approve, delete the line to reject, or edit the text before approving._",
    "_A mark of [-] rejects, too; what is left alone expires._",
)
_ITEM = re.compile(
    r"^\s*[-*+]\s+\[\s*(?P<mark>[xX-]?)\s*\]\s+`(?P<id>[fp]-\d{8}-\d{3,})`\s*(?P<text>.*?)\s*$"
)
_ID = re.compile(r"\b[fp]-\d{8}-\d{3,}\b")
RETIRE = "Proposed to retire"
PERHAPS_RULES = "Perhaps rules"
"""Heading of what the owner may have meant as a rule; it is never promoted without a person."""

REFUSED = "Refused by rules: [x] keeps one after all, [-] confirms"
_HEADING = re.compile(
    rf"^## (?P<section>Proposed for: .+?|{RETIRE}|{re.escape(REFUSED)}|{PERHAPS_RULES}"
    rf"|{HEADINGS.pattern}|{contradictions.HEADING})\s*$"
)
_REVIEWED = re.compile(r"^_Reviewed by Reflector on .+\. Approve, edit, or reject each item\._$")
_LAST_LINE = re.compile(
    r"^_Last updated: .+ \| (?:[\d,]+ of )?[\d,]+ (?:proposals? pending|pending proposals shown)_$"
)
TOO_LONG = "_Too long: {}._"
_TOO_LONG = re.compile(r"^_Too long: .+\._$")
_WHY = re.compile(r"\s*— _(?>`[^`]*`|[^_])*_$")
_CODE_OR_UNDERSCORE = re.compile(r"(`[^`]*`)|_")
_BOLD = re.compile(r"^\*\*(.+?)\*\*(.*)$")

HALF_SAVED = (
    "REVIEW.md ends without its last line, so it may be half saved; nothing in it was decided. "
    "Restore the line."
)

GONE = "REVIEW.md is gone; nothing was decided by that."
LOST = (
    "REVIEW.md lost {lost} of its {shown} proposals at once, which may be an accident; nothing in "
    "it was decided. `memory review` asks whether you meant it."
)

Notes = Mapping[str, Sequence[str]]
"""Lines written by hand, by the heading above them ("" at the top)."""


@dataclass(frozen=True)
class ReviewItem:
    """One proposal as it is in the file."""

    mark: str
    text: str


@dataclass
class ReviewDecisions:
    """What a person decided, by proposal, and the warnings about the file."""

    approved: dict[str, str | None] = field(default_factory=dict)
    """Proposal → its new text, None if it was not changed."""
    rejected: list[str] = field(default_factory=list)
    edited: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    is_undecided: bool = False
    """The file may be damaged, so nothing was read from it."""
    lost: tuple[str, ...] = ()
    """The missing proposals, if they are too many to be meant."""


def render_review(
    pending: Sequence[Row],
    *,
    updated: str,
    notes: Notes | None = None,
    count: int | None = None,
    contradicted: Sequence[Row] = (),
    warnings: Sequence[str] = (),
) -> str:
    """Returns REVIEW.md for the shown decisions (`proposal_id`, `section`, `text`, `entry`, `why`),
    with the notes.

    They are grouped by their `place`. A recurring problem or a refusal has its own `heading`, and
    `details` that follow its item. `count` is the number of all pending proposals, by default of
    those shown; `contradicted` are rows of `adr_conflicts`, `warnings` name too long files.
    """
    sections: dict[str, list[str]] = {}
    for row in sorted(pending, key=lambda row: (not row["text"], "heading" in row)):
        section = sections.setdefault(row.get("heading") or heading_of(row), [])
        section += [_render_item(row), *row.get("details", ())]
    if contradicted:
        sections[contradictions.HEADING] = [*contradictions.render_contradictions(contradicted)]
    reviewed = f"_Reviewed by Reflector on {updated[:10]}. Approve, edit, or reject each item._"
    lines = [TITLE, "", reviewed, *HELP, *map(TOO_LONG.format, warnings), ""]
    lines += _render_sections(sections, dict(notes or {}))
    asked = sum(row.get("heading") != REFUSED for row in pending)
    total = asked if count is None else count
    some = f"{counted(total, 'proposal')} pending"
    if asked < total:
        some = f"{asked:,} of {total:,} pending proposals shown"
    return "\n".join([*lines, f"_Last updated: {updated} | {some}_"]) + "\n"


def _render_sections(sections: Mapping[str, Sequence[str]], notes: Notes) -> Iterator[str]:
    """Yields the lines of the sections, each with its notes; notes without a section come first."""
    for section, written in notes.items():
        if section not in sections:
            yield from (*written, "")
    for section, items in sections.items():
        yield from (f"## {section}", *items)
        if section in notes:
            yield from ("", *notes[section])
        yield ""


def read_review(
    ours: str | None,
    there: str | None,
    waiting: Mapping[str, str] | None = None,
    late: Collection[str] = (),
) -> ReviewDecisions:
    """Returns what the difference between our file and the present file decides.

    `waiting` holds the text of each pending proposal (by default: all that we wrote); `late` names
    those that only rules or expiry decided: a mark still overrules that, a missing line does not.
    """
    if ours is None or there is None:
        return ReviewDecisions(warnings=[GONE] if ours else [])
    if _plain(ours) == _plain(there):
        return ReviewDecisions()
    if not _is_whole(there):
        return ReviewDecisions(warnings=[HALF_SAVED], is_undecided=True)
    items = parse_items(ours)
    return _read_changes({id: of_id[0] for id, of_id in items.items()}, there, waiting, late)


def _read_changes(
    written: Mapping[str, ReviewItem],
    there: str,
    waiting: Mapping[str, str] | None,
    late: Collection[str],
) -> ReviewDecisions:
    if waiting is None:
        waiting = {id: item.text for id, item in written.items()}
    named = _named(there)
    missing = [id for id in written if id not in named]
    if _is_accident(missing, written, waiting):
        warning = LOST.format(lost=len(missing), shown=len(written))
        lost = tuple(id for id in missing if id in waiting)
        return ReviewDecisions(warnings=[warning], is_undecided=True, lost=lost)
    result = ReviewDecisions()
    comparison = _Comparison(written, waiting, late, result)
    items_now = parse_items(there)
    for id, items in items_now.items():
        comparison.add(id, items)
    for id in written:
        if id in waiting and id not in items_now:
            comparison.add_missing(id, is_named=id in named)
    result.rejected.sort()
    return result


def _is_accident(missing: Sequence[str], written: Sized, waiting: Container[str]) -> bool:
    """Returns whether more than half of the proposals disappeared, pending ones among them."""
    is_most = len(missing) > 1 and len(missing) * 2 > len(written)
    return is_most and any(id in waiting for id in missing)


def put_back(ours: str, there: str, lost: Collection[str]) -> str:
    """Returns the present file with the lines of the lost proposals restored above its last
    line.
    """
    back = []
    is_lost = False
    for line in _plain(ours).split("\n"):
        item = _ITEM.match(line)
        if item:
            is_lost = item["id"] in lost
        if is_lost and (item or DETAIL.match(line)):
            back.append(line)
    lines = there.splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if _LAST_LINE.match(line.strip()))
    ending = "\r\n" if lines[0].endswith("\r\n") else lines[0][-1]
    return "".join([*lines[:last], *(line + ending for line in (*back, "")), *lines[last:]])


def read_notes(content: str) -> dict[str, list[str]]:
    """Returns the lines that a person added, by section, without surrounding blank lines."""
    section = ""
    lines_of: dict[str, list[str]] = defaultdict(list)
    for line in _plain(content).split("\n"):
        heading = _HEADING.match(line)
        if heading:
            section = heading["section"]
        elif not _is_ours(line):
            lines_of[section].append(line)
    notes = {}
    for section, lines in lines_of.items():
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
        if text.strip():
            notes[section] = text.split("\n")
    return notes


def match_format(text: str, like: str) -> str:
    """Returns the text with the line endings and the byte order mark of the other one."""
    ended = text.replace("\n", "\r\n") if like.count("\r\n") * 2 > like.count("\n") else text
    return "\ufeff" + ended if like.startswith("\ufeff") else ended


@dataclass(frozen=True)
class _Comparison:
    """Collects what a person decided, item by item."""

    written: Mapping[str, ReviewItem]
    waiting: Mapping[str, str]
    late: Collection[str]
    result: ReviewDecisions

    def add(self, id: str, items: Sequence[ReviewItem]) -> None:
        """Adds the items of a proposal as they are in the file."""
        marks = {item.mark for item in items if item.mark}
        if id not in self.waiting and id not in self.late:
            self._warn_of_decided(id, is_marked=bool(marks))
        elif len(marks) > 1:
            self.result.warnings.append(f"REVIEW.md marks {id} both ways; it was not decided.")
        elif marks == {"-"}:
            self.result.rejected.append(id)
        else:
            marked = [item for item in items if item.mark] or items
            self._read_text(id, marked[0].text, is_approved=bool(marks))

    def add_missing(self, id: str, *, is_named: bool) -> None:
        """Adds a proposal that has no item any more; its number may be in a damaged line."""
        if is_named:
            problem = f"The line of {id} in REVIEW.md cannot be read; it was not decided."
            self.result.warnings.append(f"{problem} Begin it with `- [x] `, say.")
        else:
            self.result.rejected.append(id)

    def _read_text(self, id: str, text: str, *, is_approved: bool) -> None:
        shown = squeezed(self.waiting.get(id, text))
        last_text = self.written[id].text if id in self.written else shown
        if is_approved:
            self.result.approved[id] = text if text not in ("", last_text) else None
        elif id in self.waiting and text not in ("", last_text, shown):
            self.result.edited[id] = text

    def _warn_of_decided(self, id: str, *, is_marked: bool) -> None:
        if id not in self.written or (is_marked and not self.written[id].mark):
            problem = f"REVIEW.md names {id}, which does not wait for a decision"
            self.result.warnings.append(f"{problem}; it was ignored.")


def parse_items(content: str) -> dict[str, list[ReviewItem]]:
    """Returns the items of the file by proposal, duplicates included."""
    items: dict[str, list[ReviewItem]] = defaultdict(list)
    for item in filter(None, map(_ITEM.match, _plain(content).split("\n"))):
        items[item["id"]].append(ReviewItem(item["mark"].lower(), _text_of(item["text"])))
    return items


def _named(content: str) -> set[str]:
    """Returns the proposals that the file names, but for quotations of memories and records."""
    lines = _plain(content).split("\n")
    ours = (line for line in lines if not contradictions.LINE.match(line))
    return set(chain.from_iterable(map(_ID.findall, ours)))


def _text_of(rest: str) -> str:
    """Returns the proposed text of an item, without its reason and bold marks."""
    text = _WHY.sub("", rest).strip()
    bold = _BOLD.match(text)
    return squeezed(bold[1] + bold[2] if bold and "**" not in bold[2] else text)


def shown_text(row: Row) -> str:
    """Returns the text that represents a decision: that of the new line, or of the line to
    retire.
    """
    return row["text"] or read_entries(row["entry"])[0].text


def heading_of(row: Row) -> str:
    """Returns the heading of a decision: the project that its line is for, else its section."""
    return f"Proposed for: {row.get('place') or row['section']}" if row["text"] else RETIRE


def instead_of(row: Row) -> str:
    """Returns which line the text would replace, in words; empty for a new line."""
    if not row["text"] or not row["entry"]:
        return ""
    return f"instead of “{read_entries(row['entry'])[0].text}”"


def _render_item(row: Row) -> str:
    text = squeezed(shown_text(row))
    instead = "" if "details" in row else instead_of(row)
    section = row["section"] if "place" in row else ""
    reasons = "; ".join(filter(None, (section, instead, row["why"])))
    plain = _CODE_OR_UNDERSCORE.sub(lambda match: match[1] or " ", reasons)
    why = f" — _{plain}_" if reasons else ""
    return f"- [ ] `{row['proposal_id']}` {text if '*' in text else f'**{text}**'}{why}"


def _is_whole(content: str) -> bool:
    lines = _plain(content).split("\n")
    lasts = [number for number, line in enumerate(lines) if _LAST_LINE.match(line.strip())]
    return bool(lasts) and not any(map(_ITEM.match, lines[lasts[-1] :]))


_OURS = (_ITEM, _HEADING, _REVIEWED, _TOO_LONG, _LAST_LINE)


def _is_ours(line: str) -> bool:
    text = line.strip()
    ours = any(pattern.match(text) for pattern in _OURS)
    is_detail = any(pattern.match(line) for pattern in (DETAIL, contradictions.LINE))
    return ours or is_detail or text in (TITLE, *HELP)


def _plain(content: str) -> str:
    return content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
