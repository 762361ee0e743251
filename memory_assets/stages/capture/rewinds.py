"""Finds turns that the person took back by rewinding the session.

Codex says how many turns a rollback undoes. In Claude Code and pi each record names the record
before it; a prompt after a rewind names one of an earlier turn than the latest. The turns between
are an abandoned branch. Only prompts show this, because calls that run side by side have one
parent, too. If both branches go on, as in two terminals, neither is abandoned. A summary of a
branch keeps it: its content is part of the conversation.
"""

from typing import Any

from memory_assets.harnesses.normal_form import Parsed

PROMPTS = frozenset({"user", "message/user", "response_item/message/user"})
"""Types of records with a prompt that begins a turn; a queued one belongs to the running turn."""

REMEMBERED_RECORDS = 8
"""Last records of an earlier turn that are remembered: a prompt after a rewind follows one of them.
"""

_BEFORE_ALL = -1
"""Number of the turn of records before the first prompt."""


class TwoBranchesError(Exception):
    """A session goes on in a branch that a prompt seemed to have left."""


class Rewinds:
    """The turns of one file, numbered from 0, and those that are part of the conversation."""

    def __init__(self, state: dict[str, Any], generation: int, *, is_off: bool) -> None:
        self._generation = generation
        self._is_off = is_off
        self._lines: list[int] = state.setdefault("lines", [])
        """The line of each turn's prompt."""
        self._path: list[int] = state.setdefault("path", [_BEFORE_ALL])
        """The turns of the conversation."""
        self._turns: dict[str, int] = state.setdefault("turns", {})
        """Id of a record → its turn, for prompts by the id of the message, too."""
        self._records: list[str] = state.setdefault("records", [])
        """Ids of the records of the latest turn."""

    def read(self, line: int, parsed: Parsed, message_id: str | None) -> list[tuple[int, int, int]]:
        """Returns what the record takes back, as generation, first and last line; at most one.

        Raises `TwoBranchesError`.
        """
        if self._is_off:
            return []
        first_lines: list[int] = []
        turn = self._path[-1]
        if parsed.undone_turns:
            first_lines = self._return_to(max(len(self._path) - 1 - parsed.undone_turns, 0))
        elif not parsed.is_user_turn or parsed.record_type not in PROMPTS:
            turn = self._turn_before(parsed)
            self._check(turn if parsed.author == "assistant" else self._path[-1])
        elif message_id in self._turns:
            # A resumed session may repeat its records with new ids.
            turn = self._turns[message_id]
        elif message_id:
            turn_before = self._turn_before_prompt(parsed)
            self._check(turn_before)
            first_lines = self._return_to(self._path.index(turn_before))
            turn = self._begin(line, message_id)
        if parsed.native_id:
            self._turns[parsed.native_id] = turn
            self._records.append(parsed.native_id)
        return [(self._generation, first_line, line - 1) for first_line in first_lines]

    def _check(self, turn: int) -> None:
        if turn not in self._path:
            raise TwoBranchesError

    def _turn_before(self, parsed: Parsed) -> int:
        """Returns the turn of the record before this one; the latest if that is not known."""
        latest = self._path[-1]
        if parsed.boundary or parsed.kind == "summary":
            self._turns[_root_of(parsed)] = latest
            return latest
        return self._turns.get(parsed.parent_id or "", latest)

    def _turn_before_prompt(self, parsed: Parsed) -> int:
        """Returns the turn that the prompt follows: at a root, that before the session's first."""
        if parsed.parent_id == "":
            return self._turns.setdefault(_root_of(parsed), self._path[-1])
        return self._turn_before(parsed)

    def _begin(self, line: int, message_id: str) -> int:
        """Adds a turn and returns its number."""
        for record in self._records[:-REMEMBERED_RECORDS]:
            self._turns.pop(record, None)
        self._records.clear()
        turn = len(self._lines)
        self._lines.append(line)
        self._path.append(turn)
        self._turns[message_id] = turn
        return turn

    def _return_to(self, place: int) -> list[int]:
        """Ends the path at the place; returns the line of the first turn after it, if any."""
        dropped = self._path[place + 1 :]
        del self._path[place + 1 :]
        return [self._lines[turn] for turn in dropped[:1]]


def _root_of(parsed: Parsed) -> str:
    """Returns the id under which the turn before a session's first record is remembered."""
    return f"before {parsed.parent_session_id}"
