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
from itertools import chain
from typing import Any, ClassVar, Literal

import polars as pl

from memory_assets.errors import TranscriptError, UnknownIdError
from memory_assets.harnesses.readers import open_reader
from memory_assets.schema.protocols import Row
from memory_assets.stages.capture.session_ids import replay_command
from memory_assets.stages.embed.notes import note_id
from memory_assets.stages.embed.present import overlay
from memory_assets.stages.triage.auto import PUBLISHED
from memory_assets.stages.triage.current import read_proposals
from memory_assets.stages.triage.decisions import STATE_BY, reason_of, since_reopened, winner_of
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
        behind = [step.to_dict() for step in self.behind]
        return {"kind": self.kind, "id": self.id, **self.facts, "behind": behind}

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
        has_end = any(self.root.find("record", "note", "file"))
        if not has_end and any(self.root.find("observation", "proposal", "memory")):
            return False
        records = [step.facts for step in self.records]
        quoted = {facts["quote"] for facts in records if facts["quote"]}
        held = {facts["quote"] for facts in records if facts["holds_quote"]}
        return quoted <= held and all(facts["is_unchanged"] for facts in records)

    def to_dict(self) -> dict[str, Any]:
        """Returns the explanation as plain values."""
        verdict = {"target": self.target, "is_verified": self.is_verified}
        return verdict | self.root.to_dict()


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
            number = _find_line(target, lines)
            if number:
                return self._line(path, number, lines[number - 1], workspace)
        return None

    def _line(self, path: str, number: int, text: str, workspace: Workspace) -> ProvenanceStep:
        commit = workspace.commit_of_line(path, number)
        line = _essence(text)
        of_line = (e for e in self._promotions() if _essence(e.payload["line"]) == line)
        promoted = list(filter(self._stands, of_line))
        facts = {
            "line": number,
            "text": text,
            "is_hand_written": not promoted and (commit is None or not commit.is_ours),
            "is_committed": commit is not None,
        }
        behind = [self._promoted(event) for event in promoted[-1:]]
        if commit:
            about = {"author": commit.author, "at": commit.at.isoformat()}
            about["message"] = commit.message
            behind.insert(0, ProvenanceStep("commit", commit.id, about))
        return ProvenanceStep("entry", f"{path}:{number}", facts, tuple(behind))

    def proposal(self, target: str) -> ProvenanceStep | None:
        for event in self.events:
            is_written = event.kind in (PROMOTED, PATCHED) and event.target == target
            if is_written and self._stands(event):
                return self._promoted(event)
        rows = self.tables.read("friction").filter(proposal_id=target).to_dicts()
        rows = rows or read_proposals(self.tables).filter(proposal_id=target).to_dicts()
        if not rows:
            return None
        proposal = rows[0]
        decisions = self.tables.scan("decisions").filter(proposal_id=target)
        states = decisions.select("state", "reason").collect().to_dicts()
        facts = {name: proposal[name] for name in ("section", "text")}
        facts |= states[0] if states else {}
        facts |= self._decision(target)
        about = ("entry", "kind", "title", "target", "old", "new", "severity")
        facts |= {name: proposal[name] for name in about if proposal.get(name)}
        grounds = self._grounds(gather_evidence(proposal, self.tables, self.archive))
        return ProvenanceStep("proposal", target, facts, grounds)

    def memory(self, target: str) -> ProvenanceStep | None:
        observed = self._with_id("observations", target)
        if not observed:
            return None
        holds = pl.col("observation_ids").list.contains(observed[0]["id"])
        memories = self._memories.filter(holds).to_dicts()
        ids = memories[0]["observation_ids"] if memories else [observed[0]["id"]]
        about = {"memory_id": ids[0], "reflection_id": "", "observation_ids": ids}
        proposal = {**about, "session_ids": []}
        evidence = gather_evidence(proposal, self.tables, self.archive)
        names = ("text", "state", "confidence", "category", "merged_count")
        facts = {name: memories[0][name] for name in names} if memories else {}
        if memories and memories[0]["tags"]:
            facts["tags"] = ", ".join(memories[0]["tags"])
        facts |= self._replacement(ids[0])
        return ProvenanceStep("memory", ids[0], facts, self._observations(evidence))

    def note(self, target: str) -> ProvenanceStep | None:
        """Returns a note, which ends at its line in the ledger, with what it corrected."""
        prefix = _id_prefix(target)
        notes = self._notes
        event = next((notes[id] for id in notes if prefix and id.startswith(prefix)), None)
        if event is None:
            return None
        facts = {
            "text": event.payload["text"],
            "told_by": event.actor,
            "told_at": event.at.isoformat(),
            "event": event.id,
        }
        if event.payload["session"]:
            facts["session"] = event.payload["session"]
        facts |= self._replacement(note_id(event))
        earlier = event.target if event.kind == CORRECTED else None
        corrected = earlier and (self.memory(earlier) or self.note(earlier))
        behind = (corrected,) if corrected else ()
        return ProvenanceStep("note", note_id(event), facts, behind)

    def _replacement(self, id: str) -> dict[str, str]:
        """Returns what replaced the memory of an observation or a note, and when."""
        older = self._memories.filter(pl.col("observation_ids").list.contains(id))
        present = self._memories.filter(pl.col("state") != "forgotten")
        newer = older.select(id="superseded_by").join(present, on="id")
        day = pl.col("event_at").dt.date().cast(pl.String)
        facts = newer.select(replaced_by="id", replaced_on=day, newer="text").to_dicts()
        return facts[0] if facts else {}

    def file(self, target: str) -> ProvenanceStep | None:
        """Returns a memory of a harness, which ends at the lines of its file."""
        rows = self._with_id("harness_memories", target)
        if not rows:
            return None
        row = rows[0]
        facts = {
            "text": row["text"],
            "harness": row["observer"],
            "project": row["project"],
            "lines": ", ".join(str(line + 1) for line in row["lines"]),
            "changed_at": row["event_at"].isoformat(),
        }
        return ProvenanceStep("file", row["path"], facts)

    def _with_id(self, table: str, target: str) -> list[dict[str, Any]]:
        """Returns the rows whose id begins with the target."""
        prefix = _id_prefix(target)
        starts = pl.col("id").str.replace_all("-", "").str.starts_with(prefix)
        rows = self.tables.scan(table).filter(starts)
        return rows.collect().to_dicts() if prefix else []

    def _promotions(self) -> list[Event]:
        return [event for event in self.events if event.kind == PROMOTED]

    def _stands(self, promoted: Event) -> bool:
        """Returns whether nobody took the proposal back after this promotion."""
        of_proposal = [event for event in self.events if event.target == promoted.target]
        return promoted in since_reopened(of_proposal)

    def _promoted(self, promoted: Event) -> ProvenanceStep:
        edit = promoted.payload
        facts = {
            "section": edit["section"],
            "promoted_at": promoted.at.isoformat(),
            "decided_by": promoted.actor,
        }
        facts |= {name: edit[name] for name in ("target", "patch") if name in edit}
        facts |= self._decision(promoted.target)
        if "replaces" in edit:
            facts["replaces"] = edit["replaces"]
        behind = (*self._grounds(edit), *self._replaced(promoted))
        return ProvenanceStep("proposal", promoted.target, facts, behind)

    def _decision(self, proposal_id: str) -> dict[str, str]:
        """Returns who decided a proposal, when and why; nothing while it waits."""
        decided = winner_of([event for event in self.events if event.target == proposal_id])
        if decided is None:
            return {}
        return {
            "state": decided.payload.get("state") or STATE_BY[decided.kind],
            "decided_by": decided.actor,
            "decided_at": decided.at.isoformat(),
            "decision": decided.kind,
            "reason": reason_of(decided),
        }

    def _replaced(self, promoted: Event) -> Iterator[ProvenanceStep]:
        """Yields the line that a promotion replaced, with the promotion that it came from."""
        line = promoted.payload.get("replaces")
        of_line = (event for event in self._promotions() if event.payload["line"] == line)
        earlier = [event for event in of_line if event.moment < promoted.moment]
        if line and earlier:
            yield ProvenanceStep("entry", line, {}, (self._promoted(earlier[-1]),))

    def _grounds(self, payload: Row) -> tuple[ProvenanceStep, ...]:
        """Returns what a proposal rests on: a reflection, or, for a change of a line, observations
        and notes.
        """
        observations = self._observations(payload)
        id = payload["reflection_id"]
        if id:
            reflections = self.tables.scan("reflections").filter(reflection_id=id)
            rows = reflections.select("day", "project").collect().iter_rows()
            facts = next(({"day": str(day), "project": name} for day, name in rows), {})
            return (ProvenanceStep("reflection", id, facts, observations),)
        if PUBLISHED in payload["session_ids"]:
            return (ProvenanceStep("file", PUBLISHED),)
        notes = (self.note(id) for id in payload["observation_ids"])
        return (*observations, *(note for note in notes if note))

    def _observations(self, payload: Row) -> tuple[ProvenanceStep, ...]:
        """Returns the observations of the evidence, after the messages that were not observed."""
        by_id: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for record in payload["evidence"]:
            by_id[record["observation_id"]].append(record)
        steps = []
        for record in by_id.pop("", ()):
            about = (record["message_id"], {"session": record["session_id"]})
            steps.append(ProvenanceStep("message", *about, (self._record(record),)))
        for id, records in by_id.items():
            first = records[0]
            session = first["session_id"]
            facts = {"shown_as": first["shown_as"], "session": session, "quote": first["quote"]}
            facts |= self._replay(session, first["message_id"])
            about = (first["segment_id"], {"window": first["window_id"]})
            segment = ProvenanceStep("segment", *about, tuple(map(self._record, records)))
            steps.append(ProvenanceStep("observation", id, facts, (segment,)))
        return tuple(steps)

    def _replay(self, session: str, message: str) -> dict[str, str]:
        """Returns the command that shows the turn of the session in which the message was said."""
        has_message = pl.col("message_ids").list.contains(message)
        scans = [self.tables.scan(name) for name in ("checkpoints", "checkpoints_open")]
        rows = [scan.filter(has_message, session_id=session).select("turn") for scan in scans]
        turns = pl.concat(rows).collect()["turn"]
        return {"replay": replay_command(session, self._sessions, turns[0])} if turns.len() else {}

    @cached_property
    def _memories(self) -> pl.DataFrame:
        return overlay(self.tables.read("memories"), self.events)

    @cached_property
    def _notes(self) -> dict[str, Event]:
        notes = (event for event in self.events if event.kind in (NOTED, CORRECTED))
        return {note_id(event).replace("-", ""): event for event in notes}

    @cached_property
    def _sessions(self) -> list[str]:
        windows = self.tables.scan("windows").select("session_id")
        return windows.unique().collect()["session_id"].to_list()

    def _record(self, record: Row) -> ProvenanceStep:
        place = [record[name] for name in ("source_id", "generation", "byte_from", "byte_to")]
        try:
            content = self.archive.read(*place)
        except TranscriptError:
            content = b""
        decoded = open_reader(record["harness"], record["path"]).read(content).text
        is_same = hashlib.sha256(content).hexdigest() == record["sha256"]
        copied = ("path", "line", "byte_from", "byte_to", "sha256", "quote")
        facts = {
            "message": record["message_id"],
            **{name: record[name] for name in copied},
            "is_unchanged": is_same and self.archive.verify(record["resource_id"]),
            "holds_quote": squeezed(record["quote"]) in squeezed(decoded),
        }
        return ProvenanceStep("record", record["resource_id"], facts)


def _find_line(target: str, lines: Sequence[str]) -> int | None:
    if target.isdigit() and 1 <= int(target) <= len(lines) and lines[int(target) - 1].strip():
        return int(target)
    wanted = _essence(target)
    essences = {n: _essence(line) for n, line in enumerate(lines, 1) if line.strip()}
    exact = (n for n, essence in essences.items() if essence == wanted)
    inside = (n for n, essence in essences.items() if len(wanted) >= 8 and wanted in essence)
    return next(chain(exact, inside), None)


def _essence(line: str) -> str:
    entries = read_entries(line)
    return normal(entries[0].text if entries else line)


def _id_prefix(target: str) -> str:
    """Returns the hex digits with which an id begins; empty if the target is no id."""
    prefix = target.removeprefix("mem_").replace("-", "").lower()
    return prefix if len(prefix) >= 6 and set(prefix) <= set("0123456789abcdef") else ""
