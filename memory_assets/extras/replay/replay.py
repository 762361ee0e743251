"""Reads a session's turns, and the state of the session at the end of each.

The turns come from `checkpoints`, and of an open session from `checkpoints_open`; their texts from
`messages`, what was learnt from `observations`, what was recalled from the ledger. Memories that
the session was given are read from the archive, because messages do not keep them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from itertools import chain
from typing import Any

import orjson
import polars as pl

from memory_assets.errors import UnknownIdError
from memory_assets.extras.replay.questions import find_questions
from memory_assets.extras.replay.results import (
    InjectedMemory,
    LearntFact,
    LinkedSession,
    RecalledInSession,
    SessionReplay,
    TurnMessage,
    TurnReplay,
    TurnSummary,
)
from memory_assets.harnesses.human_words import find_memories
from memory_assets.stages.capture.messages import NAME_CHARS
from memory_assets.stages.capture.session_ids import find_session, replay_command
from memory_assets.store.ledger import RECALLED, Event
from memory_assets.store.store import Store
from memory_assets.text.sentences import CALL
from memory_assets.text.short_ids import short_id
from memory_assets.text.words import shortened, squeezed

SAID_CHARS = 400
"""Characters of a turn's first words in the list of turns."""

INJECTED_BY = frozenset({"owner", "injected"})
"""Authors of messages in which a harness gives memories; anybody else only quotes them."""

_MARK = re.compile(
    rb"# Memory briefing|<memory-briefing|_observations|<observation-group|\((?:confidence\b"
    rb"|\d?\.\d+, \d+d|said, \d+d)"
)
"""What a line of a transcript contains if there may be memories in it."""

Place = tuple[int, int]
"""Generation and line."""


class Replay:
    """One session of a store, named by its id or the beginning of it; raises `UnknownIdError` if
    there is none.
    """

    def __init__(self, store: Store, session: str) -> None:
        self.store = store
        ids = ["session_id", "parent_session_id", "user_turn_count", "started_at"]
        self._known = store.tables.scan("windows").select(ids).sort("started_at").collect()
        self.ids = self._known["session_id"].unique(maintain_order=True).to_list()
        self.id = find_session(session.strip(), self.ids)
        is_own = pl.col("session_id") == self.id
        self.windows = (
            store.tables.scan("windows").filter(is_own).sort("started_at", "line_from").collect()
        )
        self.checkpoints = self._read_checkpoints()
        self.is_open = "open" in self.windows["status"]

    def session(self) -> SessionReplay:
        """Returns the session with the list of its turns."""
        first, last = (self.windows.row(number, named=True) for number in (0, -1))
        turns = tuple(self._summaries())
        said = next((one.said for one in turns if one.turn), "")
        return SessionReplay(
            session_id=self.id,
            **{name: last[name] for name in ("harness", "project", "folder", "person", "path")},
            name=last["title"] or shortened(said, NAME_CHARS) or self.id,
            started_at=first["started_at"],
            ended_at=self.windows["ended_at"].max(),  # pyright: ignore[reportArgumentType]
            is_open=self.is_open,
            linked=self.linked,
            turns=turns,
            warnings=self._warnings(),
        )

    def turn(self, turn: str) -> TurnReplay:
        """Returns the state at the turn: a number, or `last`; raises `UnknownIdError` if the
        session has no such turn.
        """
        return next(self.turns([self.number_of(turn)]))

    def number_of(self, turn: str) -> int:
        """Returns the number of the turn that the text names."""
        numbers = self.checkpoints["turn"].to_list()
        if turn.strip().lower() == "last" and numbers:
            return numbers[-1]
        if turn.strip().isdecimal() and len(turn) < 10 and int(turn) in numbers:
            return int(turn)
        if not numbers:
            raise UnknownIdError(
                f"The turns of session {self.id} are not built yet. Run `memory ingest`."
            )
        there = (
            f"turns {numbers[0]} to {numbers[-1]}"
            if len(numbers) > 1
            else f"turn {numbers[0]} only"
        )
        raise UnknownIdError(
            f"Session {self.id} has no turn {turn[:20]!r}; it has {there}. "
            f"`{replay_command(self.id, self.ids)}` lists them; "
            "`--turn last` shows the last one."
        )

    def turns(self, numbers: Sequence[int]) -> Iterator[TurnReplay]:
        """Yields the state at each of the turns, in order; their messages are read together."""
        rows = self.checkpoints.filter(pl.col("turn").is_in(list(numbers))).to_dicts()
        wanted = [id for row in rows for id in row["message_ids"]]
        messages, facts = self._messages(wanted), self._facts(wanted)
        injected = list(self._injected(rows[-1])) if rows else []
        for row in rows:
            yield self._turn(row, messages, facts, injected)

    def _turn(
        self,
        row: Mapping[str, Any],
        messages: Mapping[str, TurnMessage],
        facts: Sequence[tuple[frozenset[str], LearntFact]],
        injected: Sequence[tuple[Place, str]],
    ) -> TurnReplay:
        before, after = self._neighbours(row["turn"])
        since = (before["generation"], before["line_to"]) if before else (-1, -1)
        until = (row["generation"], row["line_to"])
        ends = after["started_at"] if after else None
        said = set(row["message_ids"])
        found = [messages[id] for id in row["message_ids"] if id in messages]
        began = [
            one for one in self.linked if one.started_at and row["started_at"] <= one.started_at
        ]
        names = (
            "turn",
            "started_at",
            "ended_at",
            "folder",
            "branch",
            "model",
            "version",
            "line_from",
            "line_to",
            "is_compacted",
        )
        first, numbers = self.windows.row(0, named=True), self.checkpoints["turn"]
        return TurnReplay(
            session_id=self.id,
            **{name: first[name] for name in ("harness", "project", "path")},
            **{name: row[name] for name in names},
            turns=(numbers[0], numbers[-1]),
            is_open=self.is_open and after is None,
            messages=tuple(found),
            files_read=tuple(row["files_read"]),
            files_modified=tuple(row["files_modified"]),
            injected=tuple(
                InjectedMemory(place[1], place <= since, text)
                for place, text in injected
                if place <= until
            ),
            recalled=tuple(
                RecalledInSession(
                    one.at,
                    one.at < row["started_at"],
                    self.questions.get(one.target, ""),
                    {
                        short_id(id): self.recalled_texts.get(id, "")
                        for id in one.payload["memory_ids"]
                    },
                )
                for one in self.recalls
                if ends is None or one.at < ends
            ),
            learnt=tuple(fact for evidence, fact in facts if not said.isdisjoint(evidence)),
            linked=tuple(
                one for one in began if ends is None or (one.started_at and one.started_at < ends)
            ),
            warnings=self._warnings(len(row["message_ids"]) - len(found)),
        )

    def _read_checkpoints(self) -> pl.DataFrame:
        """Returns the turns in order; one that is going on in an open window is newer than its part
        in closed ones.
        """
        days = [day.isoformat() for day in self.windows["day"].drop_nulls().unique()]
        is_own = pl.col("session_id") == self.id
        closed = self.store.tables.scan("checkpoints", days).filter(is_own).collect()
        still = self.store.tables.scan("checkpoints_open").filter(is_own).collect()
        return (
            pl.concat([still, closed])
            .unique("turn", keep="first", maintain_order=True)
            .sort("turn")
        )

    def _neighbours(self, turn: int) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Returns the turns before and after the turn."""
        place = int(self.checkpoints["turn"].search_sorted(turn))
        before = self.checkpoints.row(place - 1, named=True) if place else None
        return before, self.checkpoints.row(
            place + 1, named=True
        ) if place + 1 < self.checkpoints.height else None

    def _summaries(self) -> Iterator[TurnSummary]:
        firsts = self.checkpoints["message_ids"].list.first()
        said = {
            id: one.text for id, one in self._messages(firsts.to_list(), chars=SAID_CHARS).items()
        }
        last = self.checkpoints.height - 1
        for number, row in enumerate(self.checkpoints.iter_rows(named=True)):
            yield TurnSummary(
                **{
                    name: row[name]
                    for name in ("turn", "started_at", "ended_at", "result_count", "is_compacted")
                },
                said=shortened(squeezed(said.get(row["message_ids"][0], "")), SAID_CHARS),
                message_count=len(row["message_ids"]),
                files_modified=tuple(row["files_modified"]),
                is_open=self.is_open and number == last,
            )

    def _messages(self, ids: Sequence[str], chars: int | None = None) -> dict[str, TurnMessage]:
        """Returns the messages by id, of their text only the first characters where a number is
        given.
        """
        names = [
            "message_id",
            "author",
            "kind",
            "tool_name",
            "is_error",
            "text_chars",
            "image_count",
            "model",
            "line",
        ]
        text = pl.col("text") if chars is None else pl.col("text").str.slice(0, 2 * chars)
        tables, is_own = self.store.tables, pl.col("session_id") == self.id
        scans = (tables.scan("messages", self._days(ids)), tables.scan("messages_open"))
        is_wanted = is_own & pl.col("message_id").is_in(list(ids))
        found = pl.concat(
            [one.filter(is_wanted).select(*names, text, at="event_at").collect() for one in scans]
        )
        return {row["message_id"]: TurnMessage(**row) for row in found.iter_rows(named=True)}

    def _days(self, ids: Sequence[str]) -> list[str]:
        """Returns the days of the closed windows that have the messages."""
        wanted = set(ids)
        pairs = self.windows.select("day", "message_ids").iter_rows()
        return sorted(
            {
                day.isoformat()
                for day, own in pairs
                if isinstance(day, date) and not wanted.isdisjoint(own)
            }
        )

    def _facts(self, ids: Sequence[str]) -> list[tuple[frozenset[str], LearntFact]]:
        """Returns what was learnt from the messages, each with the ids of its evidence."""
        wanted = pl.col("message_ids").list.eval(pl.element().is_in(list(ids))).list.any()
        scan = self.store.tables.scan("observations", self._days(ids)).filter(
            pl.col("session_id") == self.id
        )
        rows = scan.filter(wanted).sort("event_at", "id").collect().iter_rows(named=True)
        names = ("id", "text", "category", "priority", "gate", "quote")
        return [
            (
                frozenset(row["message_ids"]),
                LearntFact(
                    **{name: row[name] for name in names},
                    command=f"memory explain {short_id(row['id'])}",
                ),
            )
            for row in rows
        ]

    def _injected(self, last: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
        """Yields the memories that the transcript has up to the turn, each with its place."""
        source, generation = last["source_id"], last["generation"]
        records = self.store.tables.scan("records", [source]).filter(generation=generation)
        quoting = (
            records.filter(~pl.col("author").is_in(list(INJECTED_BY)))
            .select("line")
            .collect()["line"]
        )
        skipped = frozenset(quoting.to_list())
        for line in self.store.archive.lines(source, generation):
            if line.number > last["line_to"]:
                return
            if line.number not in skipped and _MARK.search(line.content):
                for text in dict.fromkeys(
                    one for part in _strings(line.content) for one in find_memories(part)
                ):
                    yield (generation, line.number), text

    @cached_property
    def recalls(self) -> list[Event]:
        """The recalls that the session asked for, or that were made at its prompts."""
        return [
            one
            for one in self.store.ledger.events([RECALLED])
            if one.payload.get("session") == self.id
        ]

    @cached_property
    def questions(self) -> Mapping[str, str]:
        """Words of the questions of these recalls, by their hash in the ledger."""
        hashes = {one.target for one in self.recalls}
        if not hashes:
            return {}
        days = [day.isoformat() for day in self.windows["day"].drop_nulls().unique()]
        scans = (self.store.tables.scan("messages", days), self.store.tables.scan("messages_open"))
        asks = (pl.col("author") == "owner") | pl.col("text").str.contains(CALL, literal=True)
        said = [
            scan.filter(asks, session_id=self.id).select("text").collect()["text"] for scan in scans
        ]
        return find_questions(chain.from_iterable(said), hashes, self.store.key)

    @cached_property
    def recalled_texts(self) -> dict[str, str]:
        """Present text of each recalled memory, by id."""
        ids = {id for one in self.recalls for id in one.payload["memory_ids"]}
        rows = (
            self.store.tables.scan("memories")
            .filter(pl.col("id").is_in(list(ids)))
            .select("id", "text")
            .collect()
        )
        return dict(rows.iter_rows())

    @cached_property
    def linked(self) -> tuple[LinkedSession, ...]:
        """The session's parent, its sub-agents and its forks."""
        return tuple(self._read_linked())

    def _read_linked(self) -> Iterator[LinkedSession]:
        parents = [
            one
            for one in self.windows["parent_session_id"].drop_nulls().unique()
            if one in self.ids
        ]
        for id in parents[:1]:
            yield LinkedSession(id, "parent", None, replay_command(id, self.ids))
        children = self._known.filter(pl.col("parent_session_id") == self.id).group_by(
            "session_id", maintain_order=True
        )
        for id, at, turns in children.agg(
            pl.min("started_at"), pl.sum("user_turn_count")
        ).iter_rows():
            yield LinkedSession(
                id, "fork" if turns else "sub-agent", at, replay_command(id, self.ids)
            )

    def _warnings(self, missing: int = 0) -> tuple[str, ...]:
        if self.checkpoints.is_empty():
            return (f"The turns of session {self.id} are not built yet. Run `memory ingest`.",)
        return (
            (f"{missing:,} messages of the turn are not built yet. Run `memory ingest`.",)
            if missing
            else ()
        )


def _strings(line: bytes) -> Iterator[str]:
    """Yields the strings of a JSON line."""
    try:
        waiting = [orjson.loads(line)]
    except orjson.JSONDecodeError:
        return
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict | list):
            waiting += reversed(list(one.values()) if isinstance(one, dict) else one)
