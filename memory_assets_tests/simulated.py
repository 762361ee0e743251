"""Runs of jobs at a simulated time, without Dagster's machinery: the same tables in the same order, and what follows a failure."""

import os
from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

from memory_assets.runs.days import Stretch
from memory_assets.runs.due import due_runs
from memory_assets.runs.materialise import materialise
from memory_assets.runs.scopes import keys_of
from memory_assets.schema.tables import DYNAMIC, JOBS, WHOLE, Table, built_together, tables_in
from memory_assets.schema.vocabulary import Category
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.sessions import lines, transcript

SAID = (
    "We decided to use Postgres for the orders of shop {n}, because it has transactions.",
    "Always run `make lint-{n}` before a commit.",
    "Staging {n} listens on port 54{n:02d}.",
    "I prefer short commit messages in repository {n}.",
    "Never push to main of shop {n}.",
    "That was all for round {n}, thank you.",
)


def write_session(folder: Path, number: int, at: datetime) -> Path:
    """Writes a transcript of six turns that ended at the moment; the file has that time, too."""
    begin, session = (
        at - timedelta(minutes=len(SAID)),
        f"0a{number:06d}-1111-4222-8333-444455556666",
    )
    records = []
    for turn, text in enumerate(SAID):
        for step, (kind, content) in enumerate(
            (("user", text.format(n=number)), ("assistant", "Understood, it is done."))
        ):
            said: Any = content if kind == "user" else [{"type": "text", "text": content}]
            moment = (
                (begin + timedelta(minutes=turn, seconds=30 * step))
                .isoformat()
                .replace("+00:00", "Z")
            )
            records.append(
                {"type": kind, "uuid": f"{session}-{turn}-{step}", "sessionId": session, "timestamp": moment,
                 "cwd": "/home/mira/shop", "version": "2.1.150", "userType": "external", "isSidechain": False,
                 "message": {"role": kind, "content": said, "id": f"msg_{session}_{turn}_{step}"}}
            )  # fmt: skip
    path = transcript(folder, session)
    path.write_bytes(lines(*records))
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def store_at(now: datetime, **settings: Any) -> Store:
    """Opens the store of the test at the moment."""
    return open_store(read_settings(now=now, **settings))


def at_moment(store: Store, now: datetime) -> Store:
    """The same store at another moment."""
    return Store(store.settings.model_copy(update={"now": now}), store.root)


def advance(store: Store, broken: Collection[str] = ()) -> list[str]:
    """Runs every job that is due, as `memory ingest` does; tables in `broken` fail. Returns the jobs."""
    ran = []
    for job in JOBS.values():
        for due in due_runs(store, job.name):
            run(store, job.name, due.stretch, broken)
            ran.append(job.name)
    return ran


def run(
    store: Store, job: str, stretch: Stretch | None = None, broken: Collection[str] = ()
) -> None:
    """Builds the tables of the job; those in `broken`, and what is made from them, are left out, as after a failed step."""
    failed = set(broken)
    for tables in built_together(tables_in(job)):
        names = {table.name for table in tables}
        if names & failed or any(
            source in failed for table in tables for source in table.made_from
        ):
            failed |= names
        else:
            materialise(store, tables, _partitions(store, tables[-1], stretch))


def _partitions(store: Store, table: Table, stretch: Stretch | None) -> list[str]:
    if table.grain == "category":
        return list(get_args(Category))
    if table.grain in DYNAMIC:
        return keys_of(store, table.grain)
    if not table.is_partitioned:
        return [WHOLE]
    assert stretch is not None
    is_first = {
        "day": lambda _: True,
        "week": lambda day: day.weekday() == 0,
        "month": lambda day: day.day == 1,
    }[table.grain]
    return [day.isoformat() for day in stretch.days() if is_first(day)]


def moment(day: date, hour: int = 0, minute: int = 0) -> datetime:
    """A moment in UTC."""
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
