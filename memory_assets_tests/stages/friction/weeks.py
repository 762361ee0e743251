"""Synthetic weeks: transcripts of sessions with planted frictions, written as the harnesses would and taken in for real.

A week is a text: what it is about, `planted:` lines (kind | end of the target's path | words that the change holds | sessions
that are its evidence), the MEMORY.md it begins with, and its sessions, each under `=== name harness project days-ago` in the
turns of `transcripts`. The weeks of `held/` were written before any detector was, those of `later/` before the detectors were
last changed; nothing is tuned on either.
"""

import os
import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path

from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.files import write_atomically
from memory_assets_tests.conftest import NOW
from memory_assets_tests.stages.friction.transcripts import Session, read_turns

HERE = Path(__file__).parent / "weeks"
TODAY = NOW.date()
YESTERDAY = TODAY - timedelta(days=1)
_SESSION = re.compile(r"^=== (\S+) (\S+) (\S+) (\d+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Planted:
    """A friction that is there to be found."""

    kind: str
    target: str
    """How the path of its target ends."""
    words: tuple[str, ...]
    """What its change tells."""
    sessions: frozenset[str]


@dataclass(frozen=True)
class SyntheticWeek:
    """One week as it was written."""

    name: str
    planted: tuple[Planted, ...]
    memory_md: str
    sessions: dict[str, Session]

    def session_names(self) -> dict[str, str]:
        """The name of each session by its id."""
        return {session.id: name for name, session in self.sessions.items()}


@cache
def weeks(part: str) -> tuple[SyntheticWeek, ...]:
    """The weeks of `dev`, `held` or `later`."""
    return tuple(read_week(path) for path in sorted((HERE / part).glob("*.txt")))


def week_named(name: str) -> SyntheticWeek:
    """One week of any part."""
    (path,) = HERE.glob(f"*/{name}.txt")
    return read_week(path)


def read_week(path: Path) -> SyntheticWeek:
    """The week that the file holds."""
    head, *rest = _SESSION.split(path.read_text("utf-8"))
    planted = tuple(_planted(line) for line in head.splitlines() if line.startswith("planted: "))
    memory = head.partition("\nmemory:\n")[2].strip()
    parts = (rest[at : at + 5] for at in range(0, len(rest), 5))
    sessions = {
        name: Session(
            f"{path.stem}-{name}",
            harness,
            project,
            read_turns(body, TODAY - timedelta(days=int(days_ago))),
        )
        for name, harness, project, days_ago, body in parts
    }
    return SyntheticWeek(path.stem, planted, f"# MEMORY\n\n{memory}\n", sessions)


def lay_out_week(week: SyntheticWeek, into: Path) -> Path:
    """Writes the transcripts of the week below the folder and returns it."""
    for session in week.sessions.values():
        path, ended_at = into / session.path, session.turns[-1].at.timestamp()
        write_atomically(path, session.content)
        os.utime(path, (ended_at, ended_at))
    return into


def store_of(week: SyntheticWeek, root: Path, **settings: object) -> Store:
    """A store that took the week's transcripts in, with its MEMORY.md; friction has not looked at it yet."""
    from memory_assets.runs import launch

    folder = lay_out_week(week, root / "transcripts")
    given = {"friction_sessions": 0, **settings}
    store = open_store(
        read_settings(
            data=root / "store", sources=str(folder), owner="mira", timezone="UTC", now=NOW, **given
        )
    )
    write_atomically(store.workspace / "MEMORY.md", week.memory_md.encode())
    launch.ingest(store, reflect=False)
    return store


def captured(week: SyntheticWeek, root: Path) -> Store:
    """A store that captured the week's transcripts and learnt nothing of them: detectors read what was said."""
    from memory_assets_tests.stages.capture.pipeline import capture

    folder = lay_out_week(week, root / "transcripts")
    store = open_store(
        read_settings(
            data=root / "store", sources=str(folder), owner="mira", timezone="UTC", now=NOW
        )
    )
    capture(store, folder)
    return store


def _planted(line: str) -> Planted:
    kind, target, words, sessions = (
        part.strip() for part in line.removeprefix("planted: ").split("|")
    )
    return Planted(
        kind, target, tuple(word.strip() for word in words.split(",")), frozenset(sessions.split())
    )
