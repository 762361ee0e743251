"""Writes a database as OpenCode does, with the columns that matter, and with the tables that nobody may read."""

import json
import sqlite3
from pathlib import Path
from typing import Any

START_MS = 1_785_747_600_000
TOKEN = "token-of-the-account"
_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA wal_autocheckpoint = 0;
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
  time_created INTEGER, time_updated INTEGER, revert TEXT);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
  data TEXT);
CREATE TABLE account (id TEXT, access_token TEXT);
CREATE TABLE credential (id TEXT, value TEXT);
CREATE TABLE control_account (email TEXT, access_token TEXT);
CREATE TABLE session_share (session_id TEXT, secret TEXT);
"""


class Written:
    """The database, open as in a client that runs."""

    def __init__(self, path: Path, folder: str = "/home/mira/tides") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._folder = folder
        self._now = START_MS
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.executescript(_SCHEMA)
        for table in ("account", "credential", "control_account", "session_share"):
            self.connection.execute(f"INSERT INTO {table} VALUES (?, ?)", ("a", TOKEN))

    def later(self) -> int:
        """A second later."""
        self._now += 1000
        return self._now

    def session(self, id: str, parent: str | None = None, folder: str = "") -> None:
        now = self.later()
        row = (id, parent, folder or self._folder, "Tides", "1.18.33", now, now, None)
        self.connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def message(self, id: str, session: str, role: str, **fields: Any) -> None:
        now = self.later()
        times = {"created": now} if role == "user" else {"created": now, "completed": now + 500}
        data = {"role": role, "time": times, "modelID": "m", **fields}
        row = (id, session, now, now, json.dumps(data))
        self.connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)

    def part(self, id: str, message: str, **data: Any) -> None:
        """Adds the part, or replaces it."""
        now = self.later()
        query = "SELECT session_id FROM message WHERE id = ?"
        (session,) = self.connection.execute(query, (message,)).fetchone()
        row = (id, message, session, now, now, json.dumps(data))
        self.connection.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
        self.touch(session)

    def touch(self, session: str, revert: Any = None) -> None:
        values = (self.later(), json.dumps(revert) if revert else None, session)
        query = "UPDATE session SET time_updated = ?, revert = ? WHERE id = ?"
        self.connection.execute(query, values)

    def turn(self, number: int, session: str, prompt: str, answer: str) -> None:
        """Adds a prompt and its answer."""
        asked = f"msg_{number:03}a"
        answered = f"msg_{number:03}b"
        self.message(asked, session, "user", summary={"diffs": []})
        self.part(f"prt_{number:03}a", asked, type="text", text=prompt)
        self.message(answered, session, "assistant")
        start = self.later()
        self.part(f"prt_{number:03}b", answered, type="step-start")
        times = {"start": start, "end": start + 1}
        self.part(f"prt_{number:03}c", answered, type="text", text=answer, time=times)

    def fork(self, session: str, copy: str) -> None:
        """Copies the session under new ids, with the times in its data."""
        self.session(copy)
        select = "SELECT * FROM message WHERE session_id = ? ORDER BY id"
        for number, (id, _, created, _, data) in enumerate(
            self.connection.execute(select, (session,)).fetchall()
        ):
            now = self.later()
            row = (f"msg_f{number:02}", copy, created, now, data)
            self.connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
            parts = "SELECT id, data FROM part WHERE message_id = ? ORDER BY id"
            for part_id, part in self.connection.execute(parts, (id,)).fetchall():
                self.part(f"prt_f{part_id}", f"msg_f{number:02}", **json.loads(part))
