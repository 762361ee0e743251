"""Notes that an ingest found nothing to do, so that the next one need not look at everything
(`store.unchanged`).
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path

from memory_assets.harnesses.homes import transcript_places, unread_places
from memory_assets.runs.due import time_of
from memory_assets.schema.extras import gather
from memory_assets.schema.tables import JOBS
from memory_assets.services.health.housekeeping import next_time
from memory_assets.services.review.open_triage import tasks_of
from memory_assets.services.settings.which_store import is_sample
from memory_assets.services.sources import harness_files
from memory_assets.services.sources.ignoring import ignore_paths
from memory_assets.stages.capture.intake import QUIET
from memory_assets.store.places import data_settings_file, user_settings_file
from memory_assets.store.store import Store
from memory_assets.store.unchanged import NOTE_FILE, fingerprint
from memory_assets.text.files import write_json


@dataclass(frozen=True)
class Look:
    """What an ingest is about to look at, as it was before."""

    watched: tuple[str, ...]
    fingerprint: str
    at: datetime

    @classmethod
    def begin(cls, store: Store) -> "Look":
        """Notes the state before the look."""
        watched = tuple(dict.fromkeys(map(str, _watched(store))))
        return cls(watched, fingerprint(str(store.root), watched), store.settings.clock())

    def end(self, store: Store) -> None:
        """Keeps that nothing was to do, unless something changed meanwhile or may change without a
        file of this machine.
        """
        until = self.at if _is_remote(store) else _valid_until(store, self.at)
        if until <= self.at or fingerprint(str(store.root), self.watched) != self.fingerprint:
            return
        span = {"from": self.at.timestamp(), "until": until.timestamp()}
        note = {**span, "watched": self.watched, "fingerprint": self.fingerprint}
        write_json(store.root / NOTE_FILE, note)


def _watched(store: Store) -> Iterator[Path]:
    """Yields the files and folders outside the store that an ingest reads, present or not."""
    settings = store.settings
    home = Path.home()
    yield from (Path(user_settings_file()), Path(data_settings_file()), *ignore_paths())
    everywhere = (*transcript_places(home, os.environ), *unread_places(home, os.environ))
    yield from settings.source_folders() or everywhere
    if settings.harness_memories:
        yield from harness_files.searched_folders(settings)
    yield from gather("watched", store)
    yield from filter(None, (settings.taxonomy, settings.observer_prompt))


def _is_remote(store: Store) -> bool:
    """Returns whether an ingest asks other machines, or may take in other transcripts than those of
    the store.
    """
    settings = store.settings
    return is_sample(settings) or settings.needs_servers or tasks_of(store) is not None


def _valid_until(store: Store, now: datetime) -> datetime:
    """Returns when the clock next makes something due: a new day, a job, an open session, a
    proposal, housekeeping.
    """
    settings = store.settings
    read = store.tables.read
    tomorrow = datetime.combine(settings.today() + timedelta(days=1), time(), settings.zone)
    windows = read("windows", columns=["status", "ended_at"]).filter(status="open")
    waiting = read("decisions", columns=["state", "expires_at"]).filter(state="pending")
    idle = timedelta(minutes=settings.idle_minutes)
    moments = [tomorrow, next_time(store), *waiting["expires_at"].drop_nulls()]
    moments += filter(None, (time_of(store, job.name) for job in JOBS.values() if job.also))
    moments += [ended + idle for ended in windows["ended_at"]]
    # A transcript without its last line's end.
    moments += [info.written_at + QUIET for info in store.tables.parts("records").values()]
    return min(moment for moment in moments if moment > now)
