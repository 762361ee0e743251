"""A small world for triage: one archived transcript, the tables made from it, a ledger and a workspace under git."""

import hashlib
import json
import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.stages.embed.notes import LEDGER, note_id
from memory_assets.stages.reflect.proposals import NUMBERED
from memory_assets.stages.triage.promote import new_file
from memory_assets.stages.triage.run import REVIEW_MD, Triage, TriageRules, read_settled_review
from memory_assets.store.archive import Archive, Range, range_id
from memory_assets.store.ledger import CORRECTED, Ledger
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets_tests.factories import START, frame_of_part, message, row

DAY = date(2026, 8, 3)
PROJECT_MD, BEGUN = "projects/tidewatch.md", "Begin the project's file"
SECTIONS = ("mira", "Hard Rules", "System Architecture", "Patterns")
NUMBERED_AT = datetime(2026, 8, 4, 6, 0, tzinfo=UTC)


@dataclass
class Clock:
    """A clock that stands still until somebody moves it."""

    now: datetime = NUMBERED_AT

    def __call__(self) -> datetime:
        return self.now


@dataclass
class World:
    """Everything a triage touches, below one folder."""

    root: Path
    clock: Clock = field(default_factory=Clock)
    texts: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, list[str]] = field(default_factory=dict)
    known: dict[str, dict] = field(default_factory=dict)
    typed: dict[str, list[str]] = field(default_factory=dict)
    """The messages that say it, one for each of its first sessions, where they hold more than the proposal's text."""
    replaced: dict[str, dict] = field(default_factory=dict)
    """The memory that replaced a proposal's, by proposal."""

    def __post_init__(self) -> None:
        self.tables, self.archive = (
            ParquetTables(self.root / "tables"),
            Archive(self.root / "resources"),
        )
        self.workspace = GitWorkspace(self.root / "workspace")
        self.workspace.prepare()
        if not self.memory_md.parent.exists():
            self.memory_md.parent.mkdir()
            self.memory_md.write_bytes(new_file(PROJECT_MD))
            self.workspace.commit_content(BEGUN, {PROJECT_MD: new_file(PROJECT_MD)})
        self.reopen()

    def reopen(self) -> None:
        """Reads the ledger anew, as another process would."""
        self.ledger = Ledger(self.root / "ledger", self.clock)

    @property
    def rules(self) -> TriageRules:
        return TriageRules(self.clock.now, "mira", 7, SECTIONS, frozenset({"mira", "hard rules"}))

    @property
    def steps(self) -> Triage:
        return Triage(self.workspace, self.ledger, self.tables, self.archive, self.rules)

    @property
    def memory_md(self) -> Path:
        """The file of the project of all proposals that name no other one."""
        return self.workspace.root / PROJECT_MD

    @property
    def review_md(self) -> Path:
        return self.workspace.root / REVIEW_MD

    def propose(
        self,
        *texts: str,
        sessions: int = 1,
        section: str = "Hard Rules",
        messages: Sequence[str] = (),
        **changes,
    ) -> list[str]:
        """Adds a proposal for each text, said in so many sessions (in `messages`, else in its own words), and returns their ids."""
        ids = []
        for text in texts:
            number = len(self.texts) + 1
            ids.append(f"p-20260803-{number:03d}")
            self.texts[ids[-1]] = text
            self.sessions[ids[-1]] = [f"s{number}-{n}" for n in range(sessions)]
            self.known[ids[-1]] = {"section": section, **changes}
            self.typed[ids[-1]] = list(messages)
            self.ledger.append(
                NUMBERED, ids[-1], {"key": f"m{number}", "day": str(DAY)}, actor="reflector"
            )
        self.write_tables()
        return ids

    def run(self, command: str) -> None:
        """Lets the owner type a shell command in a session of the day before."""
        self._write(
            "messages",
            str(DAY - timedelta(days=1)),
            [message(f"! {command}", 0, is_user_turn=False)],
        )

    def confirm(self, proposal_id: str) -> None:
        """Lets one more session say the same."""
        self.sessions[proposal_id].append(f"{proposal_id}-again-{len(self.sessions[proposal_id])}")
        self.write_tables()

    def replace(self, proposal_id: str, text: str, *, is_correction: bool = False) -> None:
        """Lets a newer memory say something else instead; as a correction, the owner says so outright."""
        behind = [observed_id(proposal_id, session) for session in self.sessions[proposal_id]]
        said = {
            "session": None,
            "category": "operations",
            "priority": "high",
            "sentiment": "neutral",
            "scope": "project",
        }
        said |= {
            "text": text,
            "project": "tidewatch",
            "person": "mira",
            "taxonomy": "1",
            "observation_ids": behind,
        }
        noted = (
            self.ledger.append(CORRECTED, behind[0], said, actor="mira") if is_correction else None
        )
        newer = note_id(noted) if noted else str(uuid.uuid5(uuid.NAMESPACE_URL, text))
        sessions = [LEDGER] if noted else ["later"]
        self.known[proposal_id] |= {"state": "superseded"}
        self.replaced[proposal_id] = row(
            "memories",
            id=newer,
            text=text,
            observation_ids=[newer],
            session_ids=sessions,
            state="active",
            author="owner",
        )
        self.write_memories()

    def contradict(self, proposal_id: str) -> None:
        """Lets more speak against a proposal's memory than for it."""
        self.known[proposal_id] |= {"contradicted_count": 1}
        self.write_memories()

    def write_tables(self) -> None:
        """Writes the archive and the tables that belong to the proposals."""
        said = [
            (id, session, turn)
            for id, sessions in self.sessions.items()
            for session, turn in self._turns(id, sessions)
        ]
        lines = [
            json.dumps(_line(turn, session, n)).encode() + b"\n"
            for n, (_, session, turn) in enumerate(said)
        ]
        content = b"".join(lines)
        at = 0
        messages, observations, source = [], [], f"source-{len(said)}"
        for n, ((id, session, turn), line) in enumerate(zip(said, lines, strict=True)):
            places = {
                "line": n,
                "byte_from": at,
                "byte_to": at + len(line),
                "resource_id": range_id(source, 0, 0),
            }
            messages.append(message(turn, n, session_id=session, **places))
            observations.append(
                _observation(
                    observed_id(id, session), self.texts[id], session, messages[-1]["message_id"], n
                )
            )
            at += len(line)
        self.archive.append(_range(source, content), content)
        self._write("messages", DAY.isoformat(), messages)
        self._write("observations", DAY.isoformat(), observations)
        self.write_memories()
        self._write(
            "reflections",
            DAY.isoformat(),
            [row("reflections", reflection_id="r1", day=DAY, project="tidewatch")],
        )
        self._write("proposals", DAY.isoformat(), [self._proposal(id) for id in self.texts])

    def _turns(self, id: str, sessions: Sequence[str]) -> list[tuple[str, str]]:
        """Returns the sessions of a proposal, each with the message that says it."""
        turns = [*self.typed.get(id, ()), *[self.texts[id]] * len(sessions)]
        return list(zip(sessions, turns, strict=False))

    def write_memories(self) -> None:
        """Writes the memories as they are known."""
        self._write(
            "memories", "all", [*(self._memory(id) for id in self.texts), *self.replaced.values()]
        )

    def hear(self, meanwhile: Callable[[float], None] = lambda _: None):
        """Reads REVIEW.md as the pipeline does; `meanwhile` happens between its two looks."""
        seen = read_settled_review(self.workspace, meanwhile)
        return self.steps.apply_review_edits(seen)

    def decide(self) -> dict[str, tuple[str, str]]:
        """Amends, decides, keeps the tables and returns state and reason by proposal."""
        self.tables.write("amendments", "all", self.steps.amend())
        decisions = self.steps.decide_all()
        self.tables.write("decisions", "all", decisions)
        return {row["proposal_id"]: (row["state"], row["reason"]) for row in decisions.to_dicts()}

    def write(self, files: Collection[str] | None = None) -> list[str]:
        """Writes MEMORY.md and the files of projects, or only the named ones."""
        return self.steps.write_memory(files)

    def ask(self) -> bool:
        """Writes REVIEW.md."""
        return self.steps.write_review()

    def triage(self) -> dict[str, tuple[str, str]]:
        """One whole triage."""
        self.hear()
        states = self.decide()
        self.write()
        self.ask()
        return states

    def tick(self, proposal_id: str, mark: str = "x") -> None:
        """Marks a proposal in REVIEW.md, as an editor would that keeps line endings."""
        content, box = self.review_md.read_bytes(), f"- [ ] `{proposal_id}`".encode()
        assert box in content
        self.review_md.write_bytes(content.replace(box, f"- [{mark}] `{proposal_id}`".encode()))

    def standing(self) -> dict[str, str]:
        """The state of each entry, by its text."""
        return dict(self.steps.list_entries().select("text", "state").iter_rows())

    def entries(self) -> list[str]:
        """The entries of the project's file."""
        return [line for line in self.memory_md.read_text().splitlines() if line.startswith("- (")]

    def promoted(self) -> list[str]:
        """The proposals whose line is recorded in the ledger."""
        return [event.target for event in self.ledger.events(["entry.promoted"])]

    def commits(self, path: str = PROJECT_MD) -> list[tuple[str, str]]:
        """Author and subject of each commit of the file, oldest first."""
        return [
            (one.author, one.message.split("\n")[0])
            for one in reversed(self.workspace.history(path))
        ]

    def later(self, *, is_worked_on: bool = True, **delta: float) -> None:
        """Moves the clock; the project has a session on each new day if it is worked on."""
        first = self.clock.now.date()
        self.clock.now += timedelta(**delta)
        for number in range(1, (self.clock.now.date() - first).days + 1) if is_worked_on else ():
            day = first + timedelta(days=number)
            session = row("sessions", session_id=f"s-{day}", day=day, project="tidewatch")
            self._write("sessions", day.isoformat(), [session])

    def _write(self, table: str, part: str, rows: list[dict]) -> None:
        self.tables.write(table, part, frame_of_part(table, part, *rows))

    def _memory(self, id: str) -> dict:
        observed = [observed_id(id, session) for session in self.sessions[id]]
        plain = {
            "observation_ids": observed,
            "session_ids": self.sessions[id],
            "confidence": 0.9,
            "state": "active",
            "author": "owner",
        }
        known = {
            name: value
            for name, value in self.known[id].items()
            if name in ("confidence", "author", "state", "contradicted_count")
        }
        known |= {"superseded_by": self.replaced[id]["id"]} if id in self.replaced else {}
        return row("memories", id=observed[0], text=self.texts[id], **{**plain, **known})

    def _proposal(self, id: str) -> dict:
        first = self.sessions[id][0]
        plain = {
            "observation_ids": [observed_id(id, first)],
            "session_ids": [first],
            "confidence": 0.9,
            "author": "owner",
            "person": "mira",
            "project": "tidewatch",
            "category": "rules-conventions",
        }
        known = {
            name: value
            for name, value in self.known[id].items()
            if name not in ("state", "contradicted_count")
        }
        return row(
            "proposals",
            proposal_id=id,
            day=DAY,
            text=self.texts[id],
            event_on=DAY,
            memory_id=observed_id(id, first),
            reflection_id="r1",
            **{**plain, **known},
        )


def observed_id(proposal_id: str, session: str) -> str:
    """The id of what the session said of the proposal."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{proposal_id}/{session}"))


def _line(text: str, session: str, number: int) -> dict:
    at = (START + timedelta(minutes=number)).isoformat().replace("+00:00", "Z")
    said = {"role": "user", "content": f"No. {text}"}
    return {
        "type": "user",
        "uuid": f"u{number}",
        "sessionId": session,
        "timestamp": at,
        "cwd": "/home/mira/tidewatch",
        "message": said,
    }


def _observation(id: str, text: str, session: str, message_id: str, number: int) -> dict:
    return row(
        "observations", id=id, text=text, quote=text, session_id=session, message_ids=[message_id], lines=[number], day=DAY, gate="allow",
        kind="fact", event_at=START + timedelta(minutes=number), segment_id=f"seg-{number}", window_id="w1",
    )  # fmt: skip


def _range(source: str, content: bytes) -> Range:
    return Range(
        id=range_id(source, 0, 0), source_id=source, harness="claude_code", path="/home/mira/.claude/projects/tidewatch/s1.jsonl", generation=0,
        byte_from=0, byte_to=len(content), line_from=0, line_to=content.count(b"\n"), sha256=hashlib.sha256(content).hexdigest(), raw_hmac="",
        content_at=None, content_until=None, conversation_id="s1", created_at=START, masked_count=0, masking_version="1",
    )  # fmt: skip
