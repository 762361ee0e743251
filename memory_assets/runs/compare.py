"""Compares two versions of what was observed, and of what is remembered: what was added, what was lost, what changed.

Takes frames of the tables `observations` and `memories`; gives changes. Only what the gate allows counts, and what stands: a
fact that is held now is lost, and one that was held is added. Rows are the same by their stable id; facts that rest on the
same messages and say it otherwise are one fact reworded, and so are memories that hold such facts.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

import polars as pl

STANDING = ("active", "stale", "archived", "cold")
"""States of memories that count."""

SHOWN = ("text", "category", "priority", "confidence")
"""What is compared of rows that are the same."""

Kind = Literal["added", "lost", "changed"]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """One fact or memory that differs."""

    kind: Kind
    id: str
    """The one that is there now, or was."""
    day: str
    text: str
    category: str
    priority: str
    why: str
    """What was said of it before and is now, or what differs."""
    was_id: str | None = None
    was_text: str | None = None


@dataclass(frozen=True)
class Comparison:
    """How many there were and are, and what differs."""

    before: int
    after: int
    changes: tuple[Change, ...]

    def count(self, kind: Kind) -> int:
        """Returns how many were added, lost or changed."""
        return sum(change.kind == kind for change in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Returns it for programs."""
        counts = {kind: self.count(kind) for kind in ("added", "lost", "changed")}
        return {"before": self.before, "after": self.after, **counts, "changes": self.changes}


def compare_observations(before: pl.DataFrame, after: pl.DataFrame) -> Comparison:
    """Returns how the allowed facts differ."""
    allowed = (pl.col("kind") == "fact") & (pl.col("gate") == "allow")
    old, new = _by_id(before.filter(allowed)), _by_id(after.filter(allowed))
    return _compare(old, new, reworded(before, after), held_before=_why_held(before), held_now=_why_held(after))


def compare_memories(before: pl.DataFrame, after: pl.DataFrame, pairs: Mapping[str, str]) -> Comparison:
    """Returns how the memories that stand differ; `pairs` are observations that are worded anew, old → new."""
    stands = pl.col("state").is_in(STANDING)
    facts = pl.col("kind") == "fact"
    old, new = _by_id(before.filter(stands & facts)), _by_id(after.filter(stands & facts))
    states = (dict(frame.select("id", "state").iter_rows()) for frame in (before, after))
    held_before, held_now = ({id: state for id, state in one.items() if state not in STANDING} for one in states)
    home = {observation: row["id"] for row in new.values() for observation in row["observation_ids"]}
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
    return _compare(old, new, same, held_before=held_before, held_now=held_now)


def reworded(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, str]:
    """Returns facts that say of the same messages what others said before, old → new; the most alike go together."""
    gone = before.filter(pl.col("kind") == "fact").join(after, on="id", how="anti")
    come = after.filter(pl.col("kind") == "fact").join(before, on="id", how="anti")
    scored = sorted(_alike(gone, come), reverse=True)
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    for _, old, new in scored:
        if old not in pairs and new not in taken:
            pairs[old] = new
            taken.add(new)
    return pairs


def _alike(gone: pl.DataFrame, come: pl.DataFrame) -> Iterable[tuple[float, str, str]]:
    by_window: dict[str, list[Row]] = {}
    for row in come.iter_rows(named=True):
        by_window.setdefault(row["window_id"], []).append(row)
    for old in gone.iter_rows(named=True):
        for new in by_window.get(old["window_id"], ()):
            ours, theirs = set(old["message_ids"]), set(new["message_ids"])
            if ours & theirs:
                words = SequenceMatcher(None, old["text"].lower().split(), new["text"].lower().split()).ratio()
                yield len(ours & theirs) / len(ours | theirs) + words, old["id"], new["id"]


def _compare(
    old: Mapping[str, Row], new: Mapping[str, Row], pairs: Mapping[str, str], *, held_before: Mapping[str, str],
    held_now: Mapping[str, str],
) -> Comparison:  # fmt: skip
    same = {**{id: id for id in old if id in new}, **{a: b for a, b in pairs.items() if a in old and b in new}}
    found = [_changed(old[a], new[b]) for a, b in same.items()]
    found += [_one("lost", row, _lost(id, held_now, pairs)) for id, row in old.items() if id not in same]
    come = _without(new, same.values())
    back = {new_id: old_id for old_id, new_id in pairs.items()}
    found += [_one("added", row, _added(id, held_before, back)) for id, row in come.items()]
    changes = sorted((one for one in found if one), key=lambda one: (one.day, one.text, one.id))
    return Comparison(len(old), len(new), tuple(changes))


def _changed(old: Row, new: Row) -> Change | None:
    differs = [name for name in SHOWN if _shown(old[name]) != _shown(new[name])]
    if not differs:
        return None
    told = (name if name == "text" else f"{name} {_shown(old[name])} → {_shown(new[name])}" for name in differs)
    return _one("changed", new, ", ".join(told), old)


def _one(kind: Kind, row: Row, why: str, old: Row | None = None) -> Change:
    was = {"was_id": old["id"], "was_text": old["text"]} if old else {}
    day = row["event_at"].date().isoformat()
    return Change(kind, row["id"], day, row["text"], row["category"], row["priority"], why, **was)


def _lost(id: str, held_now: Mapping[str, str], pairs: Mapping[str, str]) -> str:
    now = held_now.get(id) or held_now.get(pairs.get(id, ""))
    return f"now {now}" if now else "nothing says it any more"


def _added(id: str, held_before: Mapping[str, str], back: Mapping[str, str]) -> str:
    was = held_before.get(id) or held_before.get(back.get(id, ""))
    return f"was {was}" if was else "nothing said it before"


def _why_held(observations: pl.DataFrame) -> dict[str, str]:
    rows = observations.filter(pl.col("gate") != "allow").select("id", "gate_reason").iter_rows()
    return {id: f"held: {reason}" for id, reason in rows}


def _shown(value: object) -> object:
    return round(value, 2) if isinstance(value, float) else value


def _by_id(frame: pl.DataFrame) -> dict[str, Row]:
    return {row["id"]: row for row in frame.iter_rows(named=True)}


def _without(rows: Mapping[str, Row], ids: Collection[str]) -> dict[str, Row]:
    known = set(ids)
    return {id: row for id, row in rows.items() if id not in known}
