"""Tier 3: REVIEW.md, where a person ticks, strikes, edits or leaves what the rules could not decide.

    - [x] `p-…` text     approves (with the text as it stands there)
    - [-] `p-…` text     rejects; so does deleting the line
    - [ ] `p-…` other    rewords; it still waits

What a person decided is read by comparing the file with what we last wrote. A file whose last line is not ours (half saved),
or that lost more than half of its items, decides nothing and is asked about. Lines that are not ours stay where they were,
relative to the section they stood in.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TITLE = "# Pending Memory Proposals"
HELP = "_Mark [x] to approve, delete the line or mark [-] to reject, edit the text before approving, or leave it to expire._"
_ITEM = re.compile(r"^\s*[-*]\s+\[(?P<mark>[ xX-]?)\]\s+`(?P<id>p-\d{8}-\d{3,})`\s*(?P<text>.*?)\s*$")
_HEADING = re.compile(r"^## Proposed for: (?P<section>.+?)\s*$")
_LAST_LINE = re.compile(r"^_Last updated: .+ \| \d+ proposals? pending_$")
_TRAILER = re.compile(r"\s*— _[^_]*_$")


@dataclass(frozen=True)
class Item:
    """One proposal as it stands in the file."""

    proposal_id: str
    mark: str
    text: str


@dataclass(frozen=True)
class Reading:
    """What a person decided, by proposal, and what was odd about the file."""

    approved: dict[str, str] = field(default_factory=dict)
    """Proposal → text."""
    rejected: tuple[str, ...] = ()
    edited: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    is_undecided: bool = False
    """The file cannot be trusted as it is, so nothing was read from it."""


def render_review(pending: Sequence[Mapping[str, Any]], *, updated: str, notes: Iterable[str] = ()) -> str:
    """Returns REVIEW.md for the pending decisions (with `proposal_id`, `section`, `text`, `why`), hand-written notes first."""
    lines = [TITLE, "", HELP, ""]
    if kept := list(notes):
        lines += [*kept, ""]
    sections: dict[str, list[Mapping[str, Any]]] = {}
    for row in pending:
        sections.setdefault(row["section"], []).append(row)
    for section, rows in sections.items():
        lines += [f"## Proposed for: {section}", *(_render_item(row) for row in rows), ""]
    count = len(pending)
    lines.append(f"_Last updated: {updated} | {count} proposal{'' if count == 1 else 's'} pending_")
    return "\n".join(lines) + "\n"


def read_review(ours: str | None, now_there: str | None) -> Reading:
    """Returns what the difference between the file we wrote and the file that is there decides."""
    if ours is None or now_there is None or _plain(ours) == _plain(now_there):
        gone = ("REVIEW.md is gone; nothing was decided by that.",) if ours and now_there is None else ()
        return Reading(warnings=gone)
    written, found = read_items(ours), read_items(now_there)
    if problem := _why_unreadable(now_there, written, found):
        return Reading(warnings=(problem,), is_undecided=True)
    approved, rejected, edited = {}, [], {}
    for proposal_id, before in written.items():
        item = found.get(proposal_id)
        if item is None or item.mark == "-":
            rejected.append(proposal_id)
        elif item.mark in "xX" and item.mark:
            approved[proposal_id] = item.text or before.text
        elif item.text != before.text and item.text:
            edited[proposal_id] = item.text
    unknown = tuple(f"REVIEW.md names {id}, which was not waiting there; it was ignored." for id in found if id not in written)
    return Reading(approved, tuple(rejected), edited, unknown)


def read_items(content: str) -> dict[str, Item]:
    """Returns the proposals in the file by id; of a doubled line the first counts."""
    items: dict[str, Item] = {}
    for line in _plain(content).split("\n"):
        if found := _ITEM.match(line):
            item = Item(found["id"], found["mark"].strip(), _TRAILER.sub("", found["text"]).strip())
            items.setdefault(item.proposal_id, item)
    return items


def hand_written(content: str) -> list[str]:
    """Returns the lines that a person added, without the blank ones around them."""
    ours = (TITLE, HELP)
    lines = [
        line.rstrip()
        for line in _plain(content).split("\n")
        if line.strip() not in ours and not (_ITEM.match(line) or _HEADING.match(line) or _LAST_LINE.match(line.strip()))
    ]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    return text.split("\n") if text else []


def _render_item(row: Mapping[str, Any]) -> str:
    why = f" — _{row['why'].replace('_', ' ')}_" if row.get("why") else ""
    return f"- [ ] `{row['proposal_id']}` {' '.join(row['text'].split())}{why}"


def _why_unreadable(content: str, written: Mapping[str, Item], found: Mapping[str, Item]) -> str | None:
    last = next((line.strip() for line in reversed(_plain(content).split("\n")) if line.strip()), "")
    if not _LAST_LINE.match(last):
        return "REVIEW.md ends without its last line, so it may be half saved; nothing in it was decided. Restore the line."
    missing = len([id for id in written if id not in found])
    if missing > 1 and missing * 2 > len(written):
        return (
            f"REVIEW.md lost {missing} of its {len(written)} proposals at once, which may be an accident; nothing in it was "
            "decided. Restore the lines, or reject them by name: `memory review reject ID …`."
        )
    return None


def _plain(content: str) -> str:
    return content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
