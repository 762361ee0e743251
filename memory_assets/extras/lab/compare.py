"""Compares two versions of the tables `observations` and `memories`: which rows were added, lost or
changed.

Only allowed observations and current memories are compared: a fact that is held now counts as lost,
a fact that was held before as added. Rows are matched by id. Two facts with different words that
rest on the same messages are one reworded fact, and their memories are one memory.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Literal

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import VALID_STATES

COMPARED = ("text", "category", "priority", "confidence")
"""Columns of matched rows that are compared."""

Kind = Literal["added", "lost", "changed"]


@dataclass(frozen=True)
class RowChange:
    """A fact or memory that was added, lost or changed."""

    kind: Kind
    id: str
    """Id of the present row; of a lost one, of the past row."""
    day: str
    text: str
    category: str
    priority: str
    why: str
    """The columns that differ, or the reason why the row was added or lost."""
    was_id: str | None = None
    was_text: str | None = None


@dataclass(frozen=True)
class _Version:
    """The past or the present rows of a table."""

    rows: Mapping[str, Row]
    """The rows that are compared, by id."""
    excluded: Mapping[str, str]
    """Id of a row that is not compared → the reason."""

    def reason_of(self, id: str, pairs: Mapping[str, str]) -> str | None:
        """Returns why the row, or the row that `pairs` names for it, is not compared."""
        return self.excluded.get(id) or self.excluded.get(pairs.get(id, ""))


@dataclass(frozen=True)
class Comparison:
    """The number of compared rows before and after, and the changes."""

    before: int
    after: int
    changes: tuple[RowChange, ...]

    def count(self, kind: Kind) -> int:
        """Returns the number of changes of the kind."""
        return sum(change.kind == kind for change in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Returns the comparison for JSON."""
        counts = {kind: self.count(kind) for kind in ("added", "lost", "changed")}
        return {"before": self.before, "after": self.after, **counts, "changes": self.changes}


def compare_observations(past: pl.DataFrame, present: pl.DataFrame) -> Comparison:
    """Returns the differences of the allowed facts."""
    return _compare(_allowed(past), _allowed(present), reworded(past, present))


def _allowed(observations: pl.DataFrame) -> _Version:
    facts = observations.filter(kind="fact", gate="allow")
    return _Version(_by_id(facts), held_reasons(observations))


def compare_memories(
    past: pl.DataFrame,
    present: pl.DataFrame,
    pairs: Mapping[str, str],
    reasons: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
) -> Comparison:
    """Returns the differences of the current memories.

    `pairs` are the reworded observations, past id → present id. `reasons` say why observations were
    held in the past and are held now (`held_reasons`).
    """
    old = _current(past, reasons[0])
    new = _current(present, reasons[1])
    memory_of = {id: row["id"] for row in new.rows.values() for id in row["observation_ids"]}
    same: dict[str, str] = {}
    absorbed: dict[str, str] = {}
    for id, row in old.rows.items():
        successor = _successor(row, memory_of, pairs)
        if id in new.rows or successor is None:
            continue
        if successor in old.rows or successor in same.values():
            absorbed[id] = "part of another memory"
        else:
            same[id] = successor
    return _compare(old, replace(new, excluded={**new.excluded, **absorbed}), same)


def _current(memories: pl.DataFrame, held: Mapping[str, str]) -> _Version:
    is_current = pl.col("state").is_in(VALID_STATES)
    others = memories.filter(~is_current).select("id", "state")
    excluded = dict(others.iter_rows())
    excluded |= {id: held[id] for id, state in excluded.items() if state == "held" and id in held}
    return _Version(_by_id(memories.filter(is_current, kind="fact")), excluded)


def _successor(memory: Row, memory_of: Mapping[str, str], pairs: Mapping[str, str]) -> str | None:
    """Returns the present memory with one of the memory's observations, or with its rewording."""
    for id in memory["observation_ids"]:
        successor = memory_of.get(id) or memory_of.get(pairs.get(id, ""))
        if successor:
            return successor
    return None


def reworded(past: pl.DataFrame, present: pl.DataFrame) -> dict[str, str]:
    """Returns the facts that rest on the same messages in other words, past id → present id.

    Each fact is in one pair at most; the most similar facts are paired first.
    """
    lost = past.filter(kind="fact").join(present, on="id", how="anti")
    added = present.filter(kind="fact").join(past, on="id", how="anti")
    pairs: dict[str, str] = {}
    for _, old, new in sorted(_similarities(lost, added), reverse=True):
        if old not in pairs and new not in pairs.values():
            pairs[old] = new
    return pairs


def _similarities(lost: pl.DataFrame, added: pl.DataFrame) -> Iterator[tuple[float, str, str]]:
    """Yields the similarity and both ids of each two facts that have a message in common."""
    for old in lost.iter_rows(named=True):
        for new in added.filter(window_id=old["window_id"]).iter_rows(named=True):
            old_ids = set(old["message_ids"])
            new_ids = set(new["message_ids"])
            if old_ids & new_ids:
                texts = (old["text"].lower().split(), new["text"].lower().split())
                likeness = SequenceMatcher(None, *texts).ratio()
                overlap = len(old_ids & new_ids) / len(old_ids | new_ids)
                yield overlap + likeness, old["id"], new["id"]


def _compare(old: _Version, new: _Version, pairs: Mapping[str, str]) -> Comparison:
    same = {id: id for id in old.rows if id in new.rows}
    same |= {
        past: present for past, present in pairs.items() if past in old.rows and present in new.rows
    }
    changes = list(_changes(old, new, same))
    for id in old.rows.keys() - same.keys():
        reason = new.reason_of(id, pairs)
        why = f"now {reason}" if reason else "nothing says it any more"
        changes.append(_change("lost", old.rows[id], why))
    originals = {present: past for past, present in pairs.items()}
    for id in new.rows.keys() - same.values():
        reason = old.reason_of(id, originals)
        why = f"was {reason}" if reason else "nothing said it before"
        changes.append(_change("added", new.rows[id], why))
    changes.sort(key=lambda change: (change.day, change.text, change.id))
    return Comparison(len(old.rows), len(new.rows), tuple(changes))


def _changes(old: _Version, new: _Version, same: Mapping[str, str]) -> Iterator[RowChange]:
    for old_id, new_id in same.items():
        past = old.rows[old_id]
        present = new.rows[new_id]
        differences = (_difference(name, past[name], present[name]) for name in COMPARED)
        why = ", ".join(filter(None, differences))
        if why:
            yield _change("changed", present, why, past)


def _difference(name: str, past: object, present: object) -> str:
    """Returns the column and both values, for `text` the column alone; empty if both are equal."""
    if isinstance(past, float) and isinstance(present, float):
        past = round(past, 2)
        present = round(present, 2)
    if past == present:
        return ""
    return name if name == "text" else f"{name} {past} → {present}"


def _change(kind: Kind, row: Row, why: str, old: Row | None = None) -> RowChange:
    old_fields = {"was_id": old["id"], "was_text": old["text"]} if old else {}
    day = row["event_at"].date().isoformat()
    fields = {name: row[name] for name in ("id", "text", "category", "priority")}
    return RowChange(kind, day=day, why=why, **fields, **old_fields)


def held_reasons(observations: pl.DataFrame) -> dict[str, str]:
    """Returns, by id, why each observation that is not allowed is held."""
    rows = observations.filter(pl.col("gate") != "allow").select("id", "gate_reason").iter_rows()
    return {id: f"held: {reason}" for id, reason in rows}


def _by_id(frame: pl.DataFrame) -> dict[str, Row]:
    return {row["id"]: row for row in frame.iter_rows(named=True)}
