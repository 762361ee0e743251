"""Traces a line of MEMORY.md, a proposal, a memory or an observation back to archived records, and
verifies each record.

A line written by hand ends at its commit. The chain of a promoted line comes from the ledger, which
keeps its evidence with the promotion, so it does not depend on the tables. A note ends at its line
in the ledger, a memory of a harness at the lines of its file.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import polars as pl

from memory_assets.errors import TranscriptError, UnknownIdError
from memory_assets.harnesses.readers import open_reader
from memory_assets.schema.protocols import Row
from memory_assets.stages.capture.session_ids import replay_command
from memory_assets.stages.embed.notes import note_id
from memory_assets.stages.triage.current import read_proposals
from memory_assets.stages.triage.decisions import winner_of
from memory_assets.stages.triage.evidence import gather_evidence
from memory_assets.stages.triage.memory_md import normal, read_entries
from memory_assets.stages.triage.patches import PATCHED
from memory_assets.stages.triage.projects import memory_files
from memory_assets.stages.triage.promote import PROMOTED, Workspace, read_memory
from memory_assets.store.archive import Archive
from memory_assets.store.ledger import CORRECTED, NOTED, Event, Ledger
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.text.words import squeezed


@dataclass(frozen=True)
class ProvenanceStep:
    """One link of the chain: its kind, id and facts, and the links it rests on."""

    kind: str
    id: str
    facts: dict[str, Any] = field(default_factory=dict)
    behind: tuple["ProvenanceStep", ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns the step and all behind it as plain values."""
        return {
            "kind": self.kind,
            "id": self.id,
            **self.facts,
            "behind": [step.to_dict() for step in self.behind],
        }

    def find(self, *kinds: str) -> Iterator["ProvenanceStep"]:
        """Yields the steps of these kinds, itself included."""
        if self.kind in kinds:
            yield self
        for step in self.behind:
            yield from step.find(*kinds)


@dataclass(frozen=True)
class Explanation:
    """Where something comes from."""

    has_origin: ClassVar[Literal[True]] = True
    """Tells it from the reason why nothing is remembered."""

    target: str
    root: ProvenanceStep

    @property
    def records(self) -> list[ProvenanceStep]:
        """The archived records at the end of the chain."""
        return list(self.root.find("record"))

    @property
    def is_verified(self) -> bool:
        """Whether every record still has its hash and every quote is in the records it was taken
        from.

        A commit, a note or a file has no records to verify; what comes from a session must have
        some.
        """
        if not any(self.root.find("record", "note", "file")) and any(
            self.root.find("observation", "proposal", "memory")
        ):
            return False
        quoted = {step.facts["quote"] for step in self.records if step.facts["quote"]}
        held = {step.facts["quote"] for step in self.records if step.facts["holds_quote"]}
        return all(step.facts["is_unchanged"] for step in self.records) and quoted <= held

    def to_dict(self) -> dict[str, Any]:
        """Returns the explanation as plain values."""
        return {"target": self.target, "is_verified": self.is_verified, **self.root.to_dict()}


def explain(
    target: str, *, tables: ParquetTables, ledger: Ledger, archive: Archive, workspace: Workspace
) -> Explanation:
    """Returns the chain behind the target; raises `UnknownIdError` for an unknown one."""
    target = target.strip()
    tracer = _Tracer(tables, archive, ledger.events())
    step = tracer.entry(target, workspace) or tracer.proposal(target)
    step = step or tracer.memory(target) or tracer.note(target) or tracer.file(target)
    if step is None:
        raise UnknownIdError(
            f"Nothing is known as '{target[:80]}'. Give a line of MEMORY.md, a proposal "
            "(p-YYYYMMDD-NNN), or an id (mem_…)."
        )
    return Explanation(target, step)


@dataclass(frozen=True)
class _Tracer:
    tables: ParquetTables
    archive: Archive
    events: Sequence[Event]

    def entry(self, target: str, workspace: Workspace) -> ProvenanceStep | None:
        for path in memory_files(workspace.root):
            lines = read_memory(workspace, path).replace("\r\n", "\n").split("\n")
            if number := _find_line(target, lines):
                text, commit = lines[number - 1], workspace.commit_of_line(path, number)
                promoted = [
                    one
                    for one in self._promotions()
                    if _essence(one.payload["line"]) == _essence(text)
                ]
                is_by_hand = not promoted and (commit is None or not commit.is_ours)
                facts = {
                    "line": number,
                    "text": text,
                    "is_hand_written": is_by_hand,
                    "is_committed": commit is not None,
                }
                behind = [self._promoted(one) for one in promoted[-1:]]
                if commit:
                    made = {
                        "author": commit.author,
                        "at": commit.at.isoformat(),
                        "message": commit.message,
                    }
                    behind.insert(0, ProvenanceStep("commit", commit.id, made))
                return ProvenanceStep("entry", f"{path}:{number}", facts, tuple(behind))
        return None

    def proposal(self, target: str) -> ProvenanceStep | None:
        promoted = next(
            (e for e in self.events if e.kind in (PROMOTED, PATCHED) and e.target == target), None
        )
        if promoted is not None:
            return self._promoted(promoted)
        is_it = pl.col("proposal_id") == target
        found = (
            self.tables.read("friction").filter(is_it).to_dicts()
            or read_proposals(self.tables).filter(is_it).to_dicts()
        )
        if not found:
            return None
        state = (
            self.tables.scan("decisions")
            .filter(is_it)
            .select("state", "reason")
            .collect()
            .to_dicts()
        )
        facts = {name: found[0][name] for name in ("section", "text")} | (state[0] if state else {})
        about = ("entry", "kind", "title", "target", "old", "new", "severity")
        facts |= {name: found[0][name] for name in about if found[0].get(name)}
        return ProvenanceStep(
            "proposal",
            target,
            facts,
            self._grounds(gather_evidence(found[0], self.tables, self.archive)),
        )

    def memory(self, target: str) -> ProvenanceStep | None:
        observed = self._with_id("observations", target)
        if not observed:
            return None
        holds = pl.col("observation_ids").list.contains(observed[0]["id"])
        memories = self.tables.scan("memories").filter(holds).collect().to_dicts()
        ids = memories[0]["observation_ids"] if memories else [observed[0]["id"]]
        asked = {
            "memory_id": ids[0],
            "reflection_id": "",
            "observation_ids": ids,
            "session_ids": [],
        }
        names = ("text", "state", "confidence", "category", "merged_count")
        facts = {name: memories[0][name] for name in names} if memories else {}
        if memories and memories[0]["tags"]:
            facts["tags"] = ", ".join(memories[0]["tags"])
        return ProvenanceStep(
            "memory",
            ids[0],
            facts,
            self._observations(gather_evidence(asked, self.tables, self.archive)),
        )

    def note(self, target: str) -> ProvenanceStep | None:
        """Returns a note, which ends at its line in the ledger, with what it corrected."""
        prefix = _id_prefix(target)
        notes = (event for event in self.events if event.kind in (NOTED, CORRECTED) and prefix)
        event = next(
            (one for one in notes if note_id(one).replace("-", "").startswith(prefix)), None
        )
        if event is None:
            return None
        text, session = event.payload["text"], event.payload["session"]
        facts = {
            "text": text,
            "told_by": event.actor,
            "told_at": event.at.isoformat(),
            "event": event.id,
        }
        before = event.target if event.kind == CORRECTED else None
        corrected = before and (self.memory(before) or self.note(before))
        facts |= {"session": session} if session else {}
        return ProvenanceStep("note", note_id(event), facts, (corrected,) if corrected else ())

    def file(self, target: str) -> ProvenanceStep | None:
        """Returns a memory of a harness, which ends at the lines of its file."""
        found = self._with_id("harness_memories", target)
        if not found:
            return None
        row, lines = found[0], ", ".join(str(line + 1) for line in found[0]["lines"])
        facts = {
            "text": row["text"],
            "harness": row["observer"],
            "project": row["project"],
            "lines": lines,
        }
        return ProvenanceStep(
            "file", row["path"], {**facts, "changed_at": row["event_at"].isoformat()}
        )

    def _with_id(self, table: str, target: str) -> list[dict[str, Any]]:
        """Returns the rows whose id begins with the target."""
        starts = pl.col("id").str.replace_all("-", "").str.starts_with(prefix := _id_prefix(target))
        return self.tables.scan(table).filter(starts).collect().to_dicts() if prefix else []

    def _promotions(self) -> list[Event]:
        return [event for event in self.events if event.kind == PROMOTED]

    def _promoted(self, promoted: Event) -> ProvenanceStep:
        said = promoted.payload
        decided = winner_of([event for event in self.events if event.target == promoted.target])
        facts = {
            "section": said["section"],
            "decided_by": promoted.actor,
            "promoted_at": promoted.at.isoformat(),
        }
        facts |= {name: said[name] for name in ("target", "patch") if name in said}
        if decided is not None:
            facts |= {
                "decision": decided.kind,
                "reason": decided.payload.get("reason", "approved by a person"),
            }
        behind = self._grounds(said)
        if line := said.get("replaces"):
            facts |= {"replaces": line}
            earlier = [
                one
                for one in self._promotions()
                if one.payload["line"] == line and one.moment < promoted.moment
            ]
            behind += tuple(
                ProvenanceStep("entry", line, {}, (self._promoted(one),)) for one in earlier[-1:]
            )
        return ProvenanceStep("proposal", promoted.target, facts, behind)

    def _grounds(self, payload: Row) -> tuple[ProvenanceStep, ...]:
        """Returns what a proposal rests on: a reflection, or, for a change of a line, observations
        and notes.
        """
        observations = self._observations(payload)
        if id := payload["reflection_id"]:
            found = (
                self.tables.scan("reflections")
                .filter(pl.col("reflection_id") == id)
                .select("day", "project")
                .collect()
            )
            facts = [{"day": str(day), "project": project} for day, project in found.iter_rows()]
            return (ProvenanceStep("reflection", id, facts[0] if facts else {}, observations),)
        notes = (self.note(id) for id in payload["observation_ids"])
        return (*observations, *(note for note in notes if note))

    def _observations(self, payload: Row) -> tuple[ProvenanceStep, ...]:
        """Returns the observations of the evidence, after the messages that were not observed."""
        by_id: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for record in payload["evidence"]:
            by_id[record["observation_id"]].append(record)
        steps = [
            ProvenanceStep(
                "message", one["message_id"], {"session": one["session_id"]}, (self._record(one),)
            )
            for one in by_id.pop("", ())
        ]
        for id, records in by_id.items():
            first = records[0]
            facts = {
                "shown_as": first["shown_as"],
                "session": first["session_id"],
                "quote": first["quote"],
            }
            facts |= self._replay(first["session_id"], first["message_id"])
            held = tuple(self._record(record) for record in records)
            segment = ProvenanceStep(
                "segment", first["segment_id"], {"window": first["window_id"]}, held
            )
            steps.append(ProvenanceStep("observation", id, facts, (segment,)))
        return tuple(steps)

    def _replay(self, session: str, message: str) -> dict[str, str]:
        """Returns the command that shows the turn of the session in which the message was said."""
        is_said = (pl.col("session_id") == session) & pl.col("message_ids").list.contains(message)
        scans = [
            self.tables.scan(name).filter(is_said).select("turn")
            for name in ("checkpoints", "checkpoints_open")
        ]
        turns = pl.concat(scans).collect()["turn"]
        return {"replay": replay_command(session, self._sessions, turns[0])} if turns.len() else {}

    @cached_property
    def _sessions(self) -> list[str]:
        return (
            self.tables.scan("windows")
            .select("session_id")
            .unique()
            .collect()["session_id"]
            .to_list()
        )

    def _record(self, record: Row) -> ProvenanceStep:
        try:
            content = self.archive.read(
                record["source_id"], record["generation"], record["byte_from"], record["byte_to"]
            )
        except TranscriptError:
            content = b""
        decoded = open_reader(record["harness"], record["path"]).read(content).text
        is_unchanged = hashlib.sha256(content).hexdigest() == record[
            "sha256"
        ] and self.archive.verify(record["resource_id"])
        facts = {
            "message": record["message_id"],
            **{
                name: record[name]
                for name in ("path", "line", "byte_from", "byte_to", "sha256", "quote")
            },
            "is_unchanged": is_unchanged,
            "holds_quote": squeezed(record["quote"]) in squeezed(decoded),
        }
        return ProvenanceStep("record", record["resource_id"], facts)


def _find_line(target: str, lines: Sequence[str]) -> int | None:
    if target.isdigit() and 1 <= int(target) <= len(lines) and lines[int(target) - 1].strip():
        return int(target)
    wanted = _essence(target)
    exact = [
        number for number, line in enumerate(lines, 1) if line.strip() and _essence(line) == wanted
    ]
    inside = [
        number
        for number, line in enumerate(lines, 1)
        if len(wanted) >= 8 and wanted in _essence(line)
    ]
    return next(iter(exact or inside), None)


def _essence(line: str) -> str:
    entries = read_entries(line)
    return normal(entries[0].text if entries else line)


def _id_prefix(target: str) -> str:
    """Returns the hex digits with which an id begins; empty if the target is no id."""
    prefix = target.removeprefix("mem_").replace("-", "").lower()
    return prefix if len(prefix) >= 6 and set(prefix) <= set("0123456789abcdef") else ""
