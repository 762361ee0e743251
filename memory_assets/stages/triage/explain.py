"""Follows a line of MEMORY.md, a proposal, a memory or an observation back to archived records, and verifies each again.

A line that was written by hand ends at its commit. The chain of a promoted line comes from the ledger, where its evidence
was kept with the promotion, so it holds whatever became of the tables since. A note ends at its line in the ledger, what a
harness remembers by itself at the lines of its file.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from memory_assets.errors import TranscriptError, UnknownIdError
from memory_assets.schema.protocols import Tables
from memory_assets.stages.capture.formats.readers import open_reader
from memory_assets.stages.embed.notes import note_id
from memory_assets.stages.triage.decisions import winner_of
from memory_assets.stages.triage.evidence import gather_evidence
from memory_assets.stages.triage.memory_md import normal, read_entries
from memory_assets.stages.triage.patches import PATCHED
from memory_assets.stages.triage.projects import memory_files
from memory_assets.stages.triage.promote import PROMOTED
from memory_assets.stages.triage.standing import read_proposals
from memory_assets.store.archive import Archive
from memory_assets.store.ledger import CORRECTED, NOTED, Event, Ledger


class History(Protocol):
    """What explaining needs of the repository."""

    root: Path

    def commit_of_line(self, path: str, number: int) -> Any: ...  # noqa: D102


@dataclass(frozen=True)
class Step:
    """One link of the chain: what it is, its id, what is known of it, and what lies behind it."""

    kind: str
    id: str
    facts: dict[str, Any] = field(default_factory=dict)
    behind: tuple["Step", ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns the step and all behind it as plain values."""
        return {"kind": self.kind, "id": self.id, **self.facts, "behind": [step.to_dict() for step in self.behind]}


@dataclass(frozen=True)
class Explanation:
    """Where something comes from."""

    target: str
    root: Step

    @property
    def records(self) -> list[Step]:
        """The archived records at the end of the chain."""
        return list(_steps(self.root, "record"))

    @property
    def is_verified(self) -> bool:
        """Whether every record still has its hash and every quote stands in the records it was taken from.

        What ends at a commit, a note or a file has no records to verify; what was learnt from a session must have some.
        """
        if not any(_steps(self.root, "record", "note", "file")) and any(_steps(self.root, "observation", "proposal", "memory")):
            return False
        quoted = {step.facts["quote"] for step in self.records if step.facts["quote"]}
        held = {step.facts["quote"] for step in self.records if step.facts["holds_quote"]}
        return all(step.facts["is_unchanged"] for step in self.records) and quoted <= held

    def to_dict(self) -> dict[str, Any]:
        """Returns the explanation as plain values."""
        return {"target": self.target, "is_verified": self.is_verified, **self.root.to_dict()}


def explain(target: str, *, tables: Tables, ledger: Ledger, archive: Archive, workspace: History) -> Explanation:
    """Returns the chain behind the target; raises `UnknownIdError` where nothing is known by that name."""
    target = target.strip()
    events = ledger.events()
    entry = _entry_step(target, events, tables, archive, workspace)
    step = entry or _proposal_step(target, events, tables, archive) or _memory_step(target, tables, archive)
    step = step or _note_step(target, events, tables, archive) or _file_step(target, tables)
    if step is None:
        raise UnknownIdError(
            f"Nothing is known as '{target[:80]}'. Give a line of MEMORY.md, a proposal (p-YYYYMMDD-NNN), or an id (mem_…)."
        )
    return Explanation(target, step)


def _entry_step(target: str, events: Sequence[Event], tables: Tables, archive: Archive, workspace: History) -> Step | None:
    found = ((path, _find_line(target, lines), lines) for path, lines in _files(workspace.root))
    path, number, lines = next((one for one in found if one[1] is not None), ("", None, []))
    if number is None:
        return None
    commit, promoted = workspace.commit_of_line(path, number), _promotion_of(lines[number - 1], events)
    is_by_hand = promoted is None and (commit is None or not commit.is_ours)
    facts = {"line": number, "text": lines[number - 1], "is_hand_written": is_by_hand, "is_committed": commit is not None}
    behind = [_commit_step(commit)] if commit else []
    if promoted is not None:
        behind.append(_promoted_step(promoted, events, tables, archive))
    return Step("entry", f"{path}:{number}", facts, tuple(behind))


def _files(root: Path) -> Iterator[tuple[str, list[str]]]:
    """Yields MEMORY.md and the files of projects with their lines."""
    for path in memory_files(root):
        content = (root / path).read_bytes().decode("utf-8", "replace") if (root / path).is_file() else ""
        yield path, content.replace("\r\n", "\n").split("\n")


def _commit_step(commit: Any) -> Step:
    return Step("commit", commit.id, {"author": commit.author, "at": commit.at.isoformat(), "message": commit.message})


def _find_line(target: str, lines: Sequence[str]) -> int | None:
    if target.isdigit() and 1 <= int(target) <= len(lines) and lines[int(target) - 1].strip():
        return int(target)
    wanted = _essence(target)
    exact = [number for number, line in enumerate(lines, 1) if line.strip() and _essence(line) == wanted]
    inside = [number for number, line in enumerate(lines, 1) if len(wanted) >= 8 and wanted in _essence(line)]
    return next(iter(exact or inside), None)


def _essence(line: str) -> str:
    entries = read_entries(line)
    return normal(entries[0].text if entries else line)


def _promotion_of(line: str, events: Sequence[Event]) -> Event | None:
    """Returns the last promotion that wrote these words."""
    wanted = _essence(line)
    return next((e for e in reversed(events) if e.kind == PROMOTED and _essence(e.payload["line"]) == wanted), None)


def _promoted_step(promoted: Event, events: Sequence[Event], tables: Tables, archive: Archive) -> Step:
    decided = winner_of([event for event in events if event.target == promoted.target])
    facts = {"section": promoted.payload["section"], "decided_by": promoted.actor, "promoted_at": promoted.at.isoformat()}
    facts |= {name: promoted.payload[name] for name in ("target", "patch") if name in promoted.payload}
    if decided is not None:
        facts |= {"decision": decided.kind, "reason": decided.payload.get("reason", "approved by a person")}
    behind = _grounds(promoted.payload, events, tables, archive)
    if replaced := promoted.payload.get("replaces"):
        facts |= {"replaces": replaced}
        behind += _replaced_steps(replaced, promoted, events, tables, archive)
    return Step("proposal", promoted.target, facts, behind)


def _replaced_steps(line: str, by: Event, events: Sequence[Event], tables: Tables, archive: Archive) -> tuple[Step, ...]:
    """Returns the entry that stood there before, with what lies behind it."""
    earlier = [e for e in events if e.kind == PROMOTED and e.payload["line"] == line and e.moment < by.moment]
    return tuple(Step("entry", line, {}, (_promoted_step(one, events, tables, archive),)) for one in earlier[-1:])


def _grounds(payload: dict[str, Any], events: Sequence[Event], tables: Tables, archive: Archive) -> tuple[Step, ...]:
    """Returns what a proposal rests on: a reflection, or, of what changes a line, observations and notes."""
    if payload["reflection_id"]:
        return (_reflection_step(payload, tables, archive),)
    notes = (_note_step(id, events, tables, archive) for id in payload["observation_ids"])
    return (*_observation_steps(payload, archive), *(note for note in notes if note))


def _proposal_step(target: str, events: Sequence[Event], tables: Tables, archive: Archive) -> Step | None:
    promoted = next((e for e in events if e.kind in (PROMOTED, PATCHED) and e.target == target), None)
    if promoted is not None:
        return _promoted_step(promoted, events, tables, archive)
    found = read_proposals(tables).filter(pl.col("proposal_id") == target).to_dicts()
    found = tables.read("friction").filter(pl.col("proposal_id") == target).to_dicts() or found
    if not found:
        return None
    state = tables.scan("decisions").filter(pl.col("proposal_id") == target).collect().to_dicts()
    facts = {
        "section": found[0]["section"],
        "text": found[0]["text"],
        **({"state": state[0]["state"], "reason": state[0]["reason"]} if state else {}),
    }
    about = ("entry", "kind", "title", "target", "old", "new", "severity")
    facts |= {name: found[0][name] for name in about if found[0].get(name)}
    return Step("proposal", target, facts, _grounds(gather_evidence(found[0], tables, archive), events, tables, archive))


def _memory_step(target: str, tables: Tables, archive: Archive) -> Step | None:
    prefix = target.removeprefix("mem_").replace("-", "").lower()
    if len(prefix) < 6 or not all(ch in "0123456789abcdef" for ch in prefix):
        return None
    plain = pl.col("id").str.replace_all("-", "")
    observed = tables.scan("observations").filter(plain.str.starts_with(prefix)).collect().to_dicts()
    if not observed:
        return None
    memories = tables.scan("memories").filter(pl.col("observation_ids").list.contains(observed[0]["id"])).collect().to_dicts()
    ids = memories[0]["observation_ids"] if memories else [observed[0]["id"]]
    asked = {"memory_id": ids[0], "reflection_id": "", "observation_ids": ids, "session_ids": []}
    facts = {key: memories[0][key] for key in ("text", "state", "confidence", "category", "merged_count")} if memories else {}
    return Step("memory", ids[0], facts, _observation_steps(gather_evidence(asked, tables, archive), archive))


def _note_step(target: str, events: Sequence[Event], tables: Tables, archive: Archive) -> Step | None:
    """Returns what was told outright, which ends at its line in the ledger, and what it corrected."""
    prefix = target.removeprefix("mem_").replace("-", "").lower()
    told = [event for event in events if event.kind in (NOTED, CORRECTED) and len(prefix) >= 6]
    event = next((one for one in told if note_id(one).replace("-", "").startswith(prefix)), None)
    if event is None:
        return None
    payload = event.payload
    facts = {"text": payload["text"], "told_by": event.actor, "told_at": event.at.isoformat(), "event": event.id}
    if payload["session"]:
        facts["session"] = payload["session"]
    before = event.target if event.kind == CORRECTED else None
    corrected = before and (_memory_step(before, tables, archive) or _note_step(before, events, tables, archive))
    return Step("note", note_id(event), facts, (corrected,) if corrected else ())


def _file_step(target: str, tables: Tables) -> Step | None:
    """Returns what a harness remembers by itself, which ends at the lines of its file."""
    prefix = target.removeprefix("mem_").replace("-", "").lower()
    starts = pl.col("id").str.replace_all("-", "").str.starts_with(prefix)
    found = tables.scan("harness_memories").filter(starts).collect().to_dicts() if len(prefix) >= 6 else []
    if not found:
        return None
    told = {"text": found[0]["text"], "harness": found[0]["observer"], "project": found[0]["project"]}
    lines = ", ".join(str(line + 1) for line in found[0]["lines"])
    return Step("file", found[0]["path"], {**told, "lines": lines, "changed_at": found[0]["event_at"].isoformat()})


def _reflection_step(payload: dict[str, Any], tables: Tables, archive: Archive) -> Step:
    found = (
        tables.scan("reflections")
        .filter(pl.col("reflection_id") == payload["reflection_id"])
        .select("day", "project")
        .collect()
        .to_dicts()
    )
    facts = {"day": str(found[0]["day"]), "project": found[0]["project"]} if found else {}
    return Step("reflection", payload["reflection_id"], facts, _observation_steps(payload, archive))


def _observation_steps(payload: dict[str, Any], archive: Archive) -> tuple[Step, ...]:
    found: dict[str, list[dict[str, Any]]] = {}
    for record in payload["evidence"]:
        if record["observation_id"]:
            found.setdefault(record["observation_id"], []).append(record)
    messages = (record for record in payload["evidence"] if not record["observation_id"])
    seen = tuple(
        Step("message", one["message_id"], {"session": one["session_id"]}, (_record_step(one, archive),)) for one in messages
    )
    return seen + tuple(
        Step(
            "observation",
            observation_id,
            {"shown_as": records[0]["shown_as"], "session": records[0]["session_id"], "quote": records[0]["quote"]},
            (
                Step(
                    "segment",
                    records[0]["segment_id"],
                    {"window": records[0]["window_id"]},
                    tuple(_record_step(r, archive) for r in records),
                ),
            ),
        )
        for observation_id, records in found.items()
    )


def _record_step(record: dict[str, Any], archive: Archive) -> Step:
    try:
        content = archive.read(record["source_id"], record["generation"], record["byte_from"], record["byte_to"])
    except TranscriptError:
        content = b""
    decoded = open_reader(record["harness"], record["path"]).read(content).text
    facts = {
        "message": record["message_id"],
        "path": record["path"],
        "line": record["line"],
        "byte_from": record["byte_from"],
        "byte_to": record["byte_to"],
        "sha256": record["sha256"],
        "quote": record["quote"],
        "is_unchanged": hashlib.sha256(content).hexdigest() == record["sha256"] and archive.verify(record["resource_id"]),
        "holds_quote": _squeezed(record["quote"]) in _squeezed(decoded),
    }
    return Step("record", record["resource_id"], facts)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _steps(step: Step, *kinds: str) -> Iterator[Step]:
    if step.kind in kinds:
        yield step
    for inner in step.behind:
        yield from _steps(inner, *kinds)
