"""Compares two versions of the tables `observations` and `memories`: which rows were added, lost or
changed.

Only allowed observations and current memories are compared: a fact that is held now is lost, and
one that was held before is added. Rows are matched by their stable id; facts with other words for
the same messages are one reworded fact, and so are the memories with such facts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.schema.records import VALID_STATES

"""States of memories that are compared."""

COMPARED = ("text", "category", "priority", "confidence")
"""Columns of matched rows that are compared."""

Kind = Literal["added", "lost", "changed"]


@dataclass(frozen=True)
class RowChange:
    """One fact or memory that differs."""

    kind: Kind
    id: str
    """Of the present row, or of the lost one."""
    day: str
    text: str
    category: str
    priority: str
    why: str
    """The columns that differ, or why it was added or lost."""
    was_id: str | None = None
    was_text: str | None = None


@dataclass(frozen=True)
class Comparison:
    """The numbers of rows before and after, and the changes."""

    before: int
    after: int
    changes: tuple[RowChange, ...]

    def count(self, kind: Kind) -> int:
        """Returns the number of changes of the kind."""
        return sum(change.kind == kind for change in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Returns it for programs."""
        counts = {kind: self.count(kind) for kind in ("added", "lost", "changed")}
        return {"before": self.before, "after": self.after, **counts, "changes": self.changes}


def compare_observations(before: pl.DataFrame, after: pl.DataFrame) -> Comparison:
    """Returns the differences of the allowed facts."""
    old, new = (_by_id(frame.filter(kind="fact", gate="allow")) for frame in (before, after))
    return _compare(old, new, reworded(before, after), held_reasons(before), held_reasons(after))


def compare_memories(
    before: pl.DataFrame,
    after: pl.DataFrame,
    pairs: Mapping[str, str],
    reasons: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
) -> Comparison:
    """Returns the differences of the current memories; `pairs` are reworded observations, old →
    new.

    `reasons` say why observations were and are held (`held_reasons`).
    """
    is_current = pl.col("state").is_in(VALID_STATES)
    old, new = (_by_id(frame.filter(is_current, kind="fact")) for frame in (before, after))
    held_before, held_now = (
        {
            id: why.get(id, state) if state == "held" else state
            for id, state in rows.select("id", "state").iter_rows()
        }
        for rows, why in zip(
            (frame.filter(~is_current) for frame in (before, after)), reasons, strict=True
        )
    )
    home = {
        observation: row["id"] for row in new.values() for observation in row["observation_ids"]
    }
    same: dict[str, str] = {}
    for id, row in old.items():
        homes = (home.get(one) or home.get(pairs.get(one, "")) for one in row["observation_ids"])
        found = next((one for one in homes if one), None)
        if id in new or found is None:
            continue
        if found in old or found in same.values():
            held_now[id] = "part of another memory"
        else:
            same[id] = found
    return _compare(old, new, same, held_before, held_now)


def reworded(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, str]:
    """Returns facts that rest on the same messages with other words, old → new; the most similar
    are paired.
    """
    gone = before.filter(kind="fact").join(after, on="id", how="anti")
    come = after.filter(kind="fact").join(before, on="id", how="anti")
    back: dict[str, str] = {}
    pairs: dict[str, str] = {}
    for _, old, new in sorted(_similarities(gone, come), reverse=True):
        if old not in pairs and new not in back:
            pairs[old], back[new] = new, old
    return pairs


def _similarities(gone: pl.DataFrame, come: pl.DataFrame) -> Iterable[tuple[float, str, str]]:
    by_window: dict[str, list[Row]] = {}
    for row in come.iter_rows(named=True):
        by_window.setdefault(row["window_id"], []).append(row)
    for old in gone.iter_rows(named=True):
        for new in by_window.get(old["window_id"], ()):
            ours, theirs = set(old["message_ids"]), set(new["message_ids"])
            if ours & theirs:
                words = SequenceMatcher(
                    None, old["text"].lower().split(), new["text"].lower().split()
                ).ratio()
                yield len(ours & theirs) / len(ours | theirs) + words, old["id"], new["id"]


def _compare(
    old: Mapping[str, Row],
    new: Mapping[str, Row],
    pairs: Mapping[str, str],
    held_before: Mapping[str, str],
    held_now: Mapping[str, str],
) -> Comparison:
    same = {id: id for id in old if id in new} | {
        a: b for a, b in pairs.items() if a in old and b in new
    }
    back = {after: before for before, after in pairs.items()}
    changes = [change for a, b in same.items() if (change := _changed(old[a], new[b]))]
    for id in old.keys() - same.keys():
        now = held_now.get(id) or held_now.get(pairs.get(id, ""))
        changes.append(
            _change("lost", old[id], f"now {now}" if now else "nothing says it any more")
        )
    for id in new.keys() - same.values():
        was = held_before.get(id) or held_before.get(back.get(id, ""))
        changes.append(_change("added", new[id], f"was {was}" if was else "nothing said it before"))
    return Comparison(
        len(old), len(new), tuple(sorted(changes, key=lambda one: (one.day, one.text, one.id)))
    )


def _changed(old: Row, new: Row) -> RowChange | None:
    pairs = {name: (_rounded(old[name]), _rounded(new[name])) for name in COMPARED}
    why = [
        name if name == "text" else f"{name} {a} → {b}" for name, (a, b) in pairs.items() if a != b
    ]
    return _change("changed", new, ", ".join(why), old) if why else None


def _change(kind: Kind, row: Row, why: str, old: Row | None = None) -> RowChange:
    was = {"was_id": old["id"], "was_text": old["text"]} if old else {}
    day = row["event_at"].date().isoformat()
    return RowChange(
        kind, row["id"], day, row["text"], row["category"], row["priority"], why, **was
    )


def held_reasons(observations: pl.DataFrame) -> dict[str, str]:
    """Returns why each observation that is not allowed is held."""
    rows = observations.filter(pl.col("gate") != "allow").select("id", "gate_reason").iter_rows()
    return {id: f"held: {reason}" for id, reason in rows}


def _rounded(value: object) -> object:
    return round(value, 2) if isinstance(value, float) else value


def _by_id(frame: pl.DataFrame) -> dict[str, Row]:
    return {row["id"]: row for row in frame.iter_rows(named=True)}
