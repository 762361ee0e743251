"""Notes that an ingest found nothing to do, so that the next one ends at once if nothing changes.

`store.unchanged` reads the note.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path

from memory_assets.harnesses.homes import home_variables, transcript_places, unread_places
from memory_assets.runs.due import next_time_of
from memory_assets.schema.extras import gather
from memory_assets.schema.tables import JOBS
from memory_assets.services.health.housekeeping import next_time
from memory_assets.services.review.open_triage import tasks_of
from memory_assets.services.settings.which_store import is_sample
from memory_assets.services.sources import harness_files
from memory_assets.services.sources.ignoring import ignore_paths
from memory_assets.services.sources.worktrees import read_worktrees
from memory_assets.stages.capture.intake import QUIET
from memory_assets.store.places import data_settings_file, home_folder, user_settings_file
from memory_assets.store.store import Store
from memory_assets.store.unchanged import NOTE_FILE, fingerprint
from memory_assets.text.files import write_json


@dataclass(frozen=True)
class Look:
    """The state of everything that an ingest reads, taken before the ingest."""

    watched: tuple[str, ...]
    """Files and folders outside the store."""
    fingerprint: str
    """Hash of their state, and of the store's."""
    at: datetime

    @classmethod
    def begin(cls, store: Store) -> "Look":
        """Returns the present state."""
        watched = tuple(dict.fromkeys(map(str, _watched(store))))
        return cls(watched, _fingerprint(store, watched), store.settings.clock())

    def end(self, store: Store) -> None:
        """Writes the note that nothing was to do, and until when that holds.

        Writes none if something changed since `begin`, or may change without a file of this
        machine.
        """
        if _reads_elsewhere(store):
            return
        until = _valid_until(store, self.at)
        if _fingerprint(store, self.watched) != self.fingerprint:
            return
        span = {"from": self.at.timestamp(), "until": until.timestamp()}
        inputs = {"watched": self.watched, "variables": home_variables()}
        write_json(store.root / NOTE_FILE, {**span, **inputs, "fingerprint": self.fingerprint})


def _fingerprint(store: Store, watched: Sequence[str]) -> str:
    return fingerprint(str(store.root), watched, home_variables())


def _watched(store: Store) -> Iterator[Path]:
    """Yields the files and folders outside the store that an ingest reads, present or not."""
    settings = store.settings
    home = Path(home_folder())
    yield from (Path(user_settings_file()), Path(data_settings_file()), *ignore_paths())
    everywhere = transcript_places(home, os.environ) + unread_places(home, os.environ)
    for place in settings.source_folders() or everywhere:
        yield from (place, Path(f"{place}-wal"))  # where a database has what is new
    if settings.harness_memories:
        yield from harness_files.searched_folders(settings)
    for worktree in read_worktrees(store).by_root.values():
        yield from (worktree.git / name for name in ("HEAD", "logs/HEAD", "packed-refs"))
    yield from (*gather("watched", store), *gather("edited_files", store))
    yield from filter(None, (settings.taxonomy, settings.observer_prompt))


def _reads_elsewhere(store: Store) -> bool:
    """Returns whether an ingest asks other machines, or may leave the sample for other sources."""
    settings = store.settings
    return is_sample(settings) or settings.needs_servers or tasks_of(store) is not None


def _valid_until(store: Store, now: datetime) -> datetime:
    """Returns the next moment at which something becomes due because of the time alone.

    That is a new day, a job, the end of an open session, an expiring proposal, or housekeeping.
    """
    settings = store.settings
    read = store.tables.read
    tomorrow = datetime.combine(settings.today() + timedelta(days=1), time(), settings.zone)
    windows = read("windows", columns=["status", "ended_at"]).filter(status="open")
    waiting = read("decisions", columns=["state", "expires_at"]).filter(state="pending")
    idle = timedelta(minutes=settings.idle_minutes)
    moments = [tomorrow, next_time(store), *waiting["expires_at"].drop_nulls()]
    jobs = [job.name for job in JOBS.values() if job.also]
    moments += filter(None, (next_time_of(store, name) for name in jobs))
    moments += [ended_at + idle for ended_at in windows["ended_at"]]
    # Then the last line of a transcript is read, even if it has no end.
    moments += [info.written_at + QUIET for info in store.tables.parts("records").values()]
    return min(moment for moment in moments if moment > now)
