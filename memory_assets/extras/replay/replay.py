"""Reads a session's turns, and the state of the session at the end of each.

The turns come from `checkpoints` (of an open session also from `checkpoints_open`), their texts
from `messages`, facts from `observations`, and recalls from the ledger. Memories that a harness put
into the context are read from the archive, because `messages` does not have them.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import orjson
import polars as pl

from memory_assets.errors import UnknownIdError
from memory_assets.extras.replay import results
from memory_assets.harnesses.human_words import find_memories
from memory_assets.harnesses.tool_calls import calls_in
from memory_assets.schema.protocols import Row
from memory_assets.stages.capture.messages import NAME_CHARS
from memory_assets.stages.capture.session_ids import find_session, replay_command
from memory_assets.stages.recall.log import hash_of_question
from memory_assets.store.ledger import RECALLED, Event
from memory_assets.store.store import Store
from memory_assets.text.sentences import CALL
from memory_assets.text.short_ids import short_id
from memory_assets.text.words import shortened, squeezed

SAID_CHARS = 400
"""Characters of a turn's first message in the list of turns."""

INJECTED_BY = frozenset({"owner", "injected"})
"""Authors of messages that a harness puts memories into; other authors only quote memories."""

_MARK = re.compile(
    rb"# Memory briefing|<memory-briefing|_observations|<observation-group|\((?:confidence\b"
    rb"|\d?\.\d+, \d+d|said, \d+d)"
)
"""A line of a transcript without a match has no memories, and is not parsed."""

_QUOTED = re.compile(r"""(["'])(.+?)\1""", re.DOTALL)
"""A text in quotation marks, as in a shell command."""

Place = tuple[int, int]
"""Generation and line of a record in a transcript."""

TURN_FIELDS = (
    "turn", "started_at", "ended_at", "folder", "branch", "model", "version", "line_from",
    "line_to", "is_compacted",
)  # fmt: skip
MESSAGE_FIELDS = (
    "message_id", "author", "kind", "tool_name", "is_error", "text_chars", "image_count", "model",
    "line",
)  # fmt: skip

NOT_BUILT = "The turns of session {} are not built yet. Run `memory ingest`."
END_OF_TIME = datetime.max.replace(tzinfo=UTC)


class Replay:
    """One session of a store, with its turns."""

    def __init__(self, store: Store, session: str) -> None:
        """Opens the session of this id, or beginning of an id; raises `UnknownIdError`."""
        self.store = store
        windows = store.tables.scan("windows")
        columns = ["session_id", "parent_session_id", "user_turn_count", "started_at"]
        self._all_windows = windows.select(columns).sort("started_at").collect()
        self.ids = self._all_windows["session_id"].unique(maintain_order=True).to_list()
        self.id = find_session(session.strip(), self.ids)
        of_session = windows.filter(session_id=self.id)
        self.windows = of_session.sort("started_at", "line_from").collect()
        days = self.windows["day"].drop_nulls().unique().sort()
        self._days = [day.isoformat() for day in days]
        # A turn that began in a closed window and goes on in the open one has a row in both tables:
        # the last one, of the open window, is complete.
        turns = self._scan("checkpoints").collect().unique("turn", keep="last", maintain_order=True)
        self.checkpoints = turns.sort("turn")
        self.is_open = "open" in self.windows["status"]

    def session(self) -> results.SessionReplay:
        """Returns the session with the list of its turns."""
        first_window = self.windows.row(0, named=True)
        last_window = self.windows.row(-1, named=True)
        turns = tuple(self._summaries())
        first_words = next((turn.said for turn in turns if turn.turn > 0), "")
        return results.SessionReplay(
            session_id=self.id,
            **_picked(last_window, "harness", "project", "folder", "person", "path"),
            name=last_window["title"] or shortened(first_words, NAME_CHARS) or self.id,
            started_at=first_window["started_at"],
            ended_at=self.windows["ended_at"].max(),  # pyright: ignore[reportArgumentType]
            is_open=self.is_open,
            linked=self.linked,
            turns=turns,
            warnings=self._warnings(),
        )

    def turn(self, turn: str) -> results.TurnReplay:
        """Returns the state at the turn, a number or `last`; raises `UnknownIdError` for others."""
        return next(self.turns([self.number_of(turn)]))

    def number_of(self, turn: str) -> int:
        """Returns the number of the turn (`last`: the last one); raises `UnknownIdError`."""
        numbers = self.checkpoints["turn"].to_list()
        if not numbers:
            raise UnknownIdError(NOT_BUILT.format(self.id))
        if turn.strip().lower() == "last":
            return numbers[-1]
        if turn.strip().isdecimal() and len(turn) < 10 and int(turn) in numbers:
            return int(turn)
        turns = f"turns {numbers[0]} to {numbers[-1]}"
        if len(numbers) == 1:
            turns = f"turn {numbers[0]} only"
        raise UnknownIdError(
            f"Session {self.id} has no turn {turn[:20]!r}; it has {turns}. "
            f"`{replay_command(self.id, self.ids)}` lists them; `--turn last` shows the last one."
        )

    def turns(self, numbers: Collection[int]) -> Iterator[results.TurnReplay]:
        """Yields the state at each of the turns in order; reads the messages of all at once."""
        rows = self.checkpoints.filter(pl.col("turn").is_in(numbers)).to_dicts()
        message_ids = [id for row in rows for id in row["message_ids"]]
        messages = self._messages(message_ids)
        facts = self._facts(message_ids)
        injected = list(self._injected(rows[-1])) if rows else []
        for row in rows:
            yield self._turn(row, messages, facts, injected)

    def _turn(
        self,
        row: Row,
        messages: Mapping[str, results.TurnMessage],
        facts: Sequence[tuple[frozenset[str], results.LearntFact]],
        injected: Sequence[tuple[Place, str]],
    ) -> results.TurnReplay:
        turns = self.checkpoints
        later_turns = turns.filter(pl.col("turn") > row["turn"])
        next_start = next(iter(later_turns["started_at"]), END_OF_TIME)
        message_ids = row["message_ids"]
        present = tuple(messages[id] for id in message_ids if id in messages)
        first_window = self.windows.row(0, named=True)
        return results.TurnReplay(
            session_id=self.id,
            **_picked(first_window, "harness", "project", "path"),
            **_picked(row, *TURN_FIELDS),
            turns=(turns["turn"][0], turns["turn"][-1]),
            is_open=self.is_open and later_turns.is_empty(),
            messages=present,
            files_read=tuple(row["files_read"]),
            files_modified=tuple(row["files_modified"]),
            injected=tuple(self._injected_until(row, injected)),
            recalled=tuple(self._recalled_until(next_start, row["started_at"])),
            learnt=tuple(fact for ids, fact in facts if not ids.isdisjoint(message_ids)),
            linked=tuple(self._begun_between(row["started_at"], next_start)),
            warnings=self._warnings(len(message_ids) - len(present)),
        )

    def _injected_until(
        self, row: Row, injected: Sequence[tuple[Place, str]]
    ) -> Iterator[results.InjectedMemory]:
        """Yields the memories that were put into the context up to the turn's end."""
        earlier_turns = self.checkpoints.filter(pl.col("turn") < row["turn"])
        places = earlier_turns.select("generation", "line_to")
        previous_end: Place = (-1, -1) if places.is_empty() else places.row(-1)
        for place, text in injected:
            if place <= (row["generation"], row["line_to"]):
                yield results.InjectedMemory(place[1], place <= previous_end, text)

    def _recalled_until(
        self, end: datetime, start: datetime
    ) -> Iterator[results.RecalledInSession]:
        """Yields the recalls of the session before `end`; `start` is the turn's start."""
        for recall in self.recalls:
            if recall.at < end:
                texts = self.recalled_texts
                memories = {short_id(id): texts.get(id, "") for id in recall.payload["memory_ids"]}
                question = self.questions.get(recall.target, "")
                yield results.RecalledInSession(recall.at, recall.at < start, question, memories)

    def _begun_between(self, start: datetime, end: datetime) -> Iterator[results.LinkedSession]:
        for session in self.linked:
            if session.started_at and start <= session.started_at < end:
                yield session

    def _scan(self, table: str) -> pl.LazyFrame:
        """Returns the session's rows in the table of closed windows, then in that of open ones."""
        tables = self.store.tables
        closed = tables.scan(table, self._days)
        return pl.concat([closed, tables.scan(f"{table}_open")]).filter(session_id=self.id)

    def _summaries(self) -> Iterator[results.TurnSummary]:
        first_ids = self.checkpoints["message_ids"].list.first().to_list()
        messages = self._messages(first_ids, chars=SAID_CHARS)
        last = self.checkpoints.height - 1
        for number, row in enumerate(self.checkpoints.iter_rows(named=True)):
            message = messages.get(row["message_ids"][0])
            words = squeezed(message.text) if message else ""
            yield results.TurnSummary(
                **_picked(row, "turn", "started_at", "ended_at", "result_count", "is_compacted"),
                said=shortened(words, SAID_CHARS),
                message_count=len(row["message_ids"]),
                files_modified=tuple(row["files_modified"]),
                is_open=self.is_open and number == last,
            )

    def _messages(
        self, ids: Sequence[str], chars: int | None = None
    ) -> dict[str, results.TurnMessage]:
        """Returns the messages by id; with `chars`, no more of the texts than that many characters
        need.
        """
        text = pl.col("text")
        if chars is not None:
            text = text.str.slice(0, 2 * chars)  # white space is squeezed later
        messages = self._scan("messages").filter(pl.col("message_id").is_in(ids))
        rows = messages.select(*MESSAGE_FIELDS, text, at="event_at").collect()
        return {row["message_id"]: results.TurnMessage(**row) for row in rows.iter_rows(named=True)}

    def _facts(self, ids: Sequence[str]) -> list[tuple[frozenset[str], results.LearntFact]]:
        """Returns the facts that rest on the messages, each with the ids of all its messages."""
        is_evidence = pl.col("message_ids").list.eval(pl.element().is_in(ids)).list.any()
        scan = self.store.tables.scan("observations", self._days).filter(session_id=self.id)
        facts = []
        for row in scan.filter(is_evidence).sort("event_at", "id").collect().to_dicts():
            fields = _picked(row, "id", "text", "category", "priority", "gate", "quote")
            fact = results.LearntFact(**fields, command=f"memory explain {short_id(row['id'])}")
            facts.append((frozenset(row["message_ids"]), fact))
        return facts

    def _injected(self, last: Row) -> Iterator[tuple[Place, str]]:
        """Yields the place and text of memories in the transcript, up to the end of the turn."""
        source = last["source_id"]
        generation = last["generation"]
        records = self.store.tables.scan("records", [source]).filter(generation=generation)
        quoting = records.filter(~pl.col("author").is_in(INJECTED_BY)).select("line").collect()
        skipped = frozenset(quoting["line"].to_list())
        for line in self.store.archive.lines(source, generation):
            if line.number > last["line_to"]:
                return
            if line.number not in skipped and _MARK.search(line.content):
                texts = (text for part in _strings(line.content) for text in find_memories(part))
                for text in dict.fromkeys(texts):
                    yield (generation, line.number), text

    @cached_property
    def recalls(self) -> list[Event]:
        """Events of the recalls that the session asked for, or that its hooks made at prompts."""
        recalls = self.store.ledger.events([RECALLED])
        return [event for event in recalls if event.payload.get("session") == self.id]

    @cached_property
    def questions(self) -> Mapping[str, str]:
        """Hash of a recall's question in the ledger → the question's words, as far as found."""
        hashes = {event.target for event in self.recalls}
        if not hashes:
            return {}
        is_asking = (pl.col("author") == "owner") | pl.col("text").str.contains(CALL, literal=True)
        messages = self._scan("messages").filter(is_asking).select("text").collect()
        return find_questions(messages["text"], hashes, self.store.key)

    @cached_property
    def recalled_texts(self) -> dict[str, str]:
        """Id of a recalled memory → its present text."""
        ids = {id for event in self.recalls for id in event.payload["memory_ids"]}
        memories = self.store.tables.scan("memories").select("id", "text")
        return dict(memories.filter(pl.col("id").is_in(ids)).collect().iter_rows())

    @cached_property
    def linked(self) -> tuple[results.LinkedSession, ...]:
        """The session's parent, its sub-agents and its forks."""
        return tuple(self._read_linked())

    def _read_linked(self) -> Iterator[results.LinkedSession]:
        parents = self.windows["parent_session_id"].drop_nulls().unique()
        present_parents = [parent for parent in parents if parent in self.ids]
        if present_parents:
            id = present_parents[0]
            yield results.LinkedSession(id, "parent", None, replay_command(id, self.ids))
        children = self._all_windows.filter(parent_session_id=self.id)
        by_session = children.group_by("session_id", maintain_order=True)
        sums = by_session.agg(pl.min("started_at"), pl.sum("user_turn_count"))
        for id, at, turns in sums.iter_rows():
            relation = "fork" if turns else "sub-agent"
            yield results.LinkedSession(id, relation, at, replay_command(id, self.ids))

    def _warnings(self, missing: int = 0) -> tuple[str, ...]:
        if self.checkpoints.is_empty():
            return (NOT_BUILT.format(self.id),)
        if missing:
            return (f"{missing:,} messages of the turn are not built yet. Run `memory ingest`.",)
        return ()


def find_questions(texts: Iterable[str], hashes: Collection[str], key: bytes) -> dict[str, str]:
    """Returns the question of each hash, as far as the texts of prompts and tool calls have it.

    The ledger keeps only keyed hashes of questions. A question that masking changed is not found.
    """
    questions: dict[str, str] = {}
    for text in texts:
        for words in _candidates(text):
            hashed = hash_of_question(words, key)
            if hashed in hashes:
                questions.setdefault(hashed, words)
        if len(questions) == len(hashes):
            break
    return questions


def _candidates(text: str) -> Iterator[str]:
    """Yields the texts that a recall may have asked: the prompt, as its hook sends it, the texts
    among the arguments of tools, and quotations in those.
    """
    yield squeezed(text)
    for _, call in calls_in(text):
        try:
            arguments = json.loads(call)
        except ValueError:  # cut, or the arguments of a tool that takes plain text
            arguments = call
        values = arguments.values() if isinstance(arguments, dict) else [arguments]
        for value in values:
            if isinstance(value, str):
                yield value
                yield from (quoted for _, quoted in _QUOTED.findall(value))


def _strings(line: bytes) -> Iterator[str]:
    """Yields all strings in the values of a JSON line, in order; none if it is not JSON."""
    try:
        waiting = [orjson.loads(line)]
    except orjson.JSONDecodeError:
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)


def _picked(row: Row, *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}
