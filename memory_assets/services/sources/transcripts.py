"""Finds a store's transcripts: all in the folders of the settings, else recent ones in the
harnesses' usual places.

For `memory up`, `ingest`, `status` and `doctor` it also finds files that look like transcripts and
are not taken in, transcripts that are ignored on purpose, files that cannot be read yet, and how
many sessions are too old to be distilled. The main store is filled as soon as it exists or there
are transcripts to read.

Transcripts in the usual places that last changed before `since_days` ago are captured and searched
by words, but not distilled. `since.json` keeps that moment of the first run, and `--since` moves it
further back.
"""

import json
import os
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from itertools import chain
from pathlib import Path

import zstandard

from memory_assets.errors import SettingsError, TranscriptError
from memory_assets.harnesses.homes import unread_places, usual_places
from memory_assets.harnesses.readers import HEADER_LINES, session_id_of
from memory_assets.services.settings.which_store import StoreChoice, is_sample, sample_settings
from memory_assets.services.sources.ignoring import read_ignore_rules
from memory_assets.stages.capture.discover import (
    FoundFiles,
    LeftOutFile,
    TranscriptFile,
    find_files,
)
from memory_assets.stages.capture.intake import Machine, masked_paths
from memory_assets.stages.capture.session_ids import session_of
from memory_assets.store.places import home_folder
from memory_assets.store.settings import Settings, read_settings
from memory_assets.store.store import Store
from memory_assets.text.files import write_json

SINCE_FILE = "since.json"
"""The file of the store that says from which moment on the usual places are read."""

EVER = datetime(1970, 1, 1, tzinfo=UTC)
"""The moment of `--since all`."""


def find_sources(settings: Settings) -> list[TranscriptFile]:
    """Returns the transcripts to read, also those that are too old to be distilled; raises
    `TranscriptError` where a folder of the settings cannot be read.
    """
    files = find_all(settings)
    return sorted([*files.transcripts, *files.older], key=lambda file: file.path)


def distilled_since(settings: Settings) -> datetime | None:
    """Returns the moment since when a transcript must have changed to be distilled; None where the
    settings name folders: then all are distilled.
    """
    return None if settings.source_folders() else read_since(settings)


def find_left_out(store: Store) -> list[LeftOutFile]:
    """Returns the files that look like transcripts and are not taken in, sorted by path."""
    try:
        files = find_all(store.settings)
    except TranscriptError as error:
        return [LeftOutFile(store.settings.sources, str(error))]
    failed = store.archive.unreadable()
    paths = masked_paths(files.transcripts).values() if failed else ()
    unread = [LeftOutFile(path, failed[path]) for path in paths if path in failed]
    return sorted([*files.left_out, *unread], key=lambda left_out: left_out.path)


def find_unread(store: Store) -> list[str]:
    """Returns the number of older sessions, and of the files of each harness without a reader, one
    line each. Nothing is wrong with these files.

    For the sample's store they are those of this machine.
    """
    settings = read_settings() if is_sample(store.settings) else store.settings
    try:
        files = find_all(settings)
    except TranscriptError:
        return []  # `find_left_out` has the reason
    older = _older_sessions(files, store)
    foreign = find_foreign(settings, files)
    if not older:
        return foreign
    age = _age(settings)
    sessions = f"sessions older than {age} are" if older > 1 else f"session older than {age} is"
    return [f"{older:,} {sessions} not distilled: `memory up --since all`", *foreign]


def find_foreign(settings: Settings, files: FoundFiles) -> list[str]:
    """Returns how many files of each harness without a reader there are, one line each."""
    counts = Counter(files.unread)
    if not settings.source_folders():
        candidates = unread_places(Path(home_folder()), os.environ)
        counts.update(find_files([place for place in candidates if place.exists()]).unread)
    return [
        f"{count:,} {'file' if count == 1 else 'files'} of {title}: not read yet"
        for title, count in sorted(counts.items())
    ]


def store_to_fill(settings: Settings) -> StoreChoice:
    """Returns the main store if it exists or there are transcripts to read, else the sample's."""
    folders = settings.source_folders()
    if folders:
        return StoreChoice(settings, "Transcripts from " + os.pathsep.join(map(str, folders)))
    files = find_all(settings)
    has_store = settings.shared_at or (settings.data / "VERSION").is_file()
    if has_store or files.transcripts or files.older:
        origin = ", ".join(map(str, places())) or "nowhere yet"
        return StoreChoice(settings, f"This machine's own transcripts, from {origin}")
    foreign = "; ".join(find_foreign(settings, files))
    reason = f"{foreign}. Until then" if foreign else "No transcripts on this machine yet"
    sample = sample_settings(settings)
    return StoreChoice(sample, f"{reason}: the bundled sample, in a store of its own")


def find_ignored(settings: Settings) -> list[LeftOutFile]:
    """Returns the transcripts that are left out on purpose, sorted by path: see `ignoring`."""
    try:
        return find_all(settings).ignored
    except TranscriptError:
        return []


def find_all(settings: Settings) -> FoundFiles:
    """Returns the files in the folders of the settings or, without any, in the usual places; raises
    `TranscriptError` where a folder of the settings cannot be read.
    """
    folders = settings.source_folders()
    since = distilled_since(settings)
    files = find_files(folders or places(), since=since)
    rules = read_ignore_rules(settings)
    reasons = rules.reasons_for((*files.transcripts, *files.older))
    ignored = [file for file in files.transcripts if file in reasons]
    return replace(
        files,
        transcripts=[file for file in files.transcripts if file not in reasons],
        older=[file for file in files.older if file not in reasons],
        ignored=[LeftOutFile(str(file.path), reasons[file]) for file in ignored],
    )


def _older_sessions(files: FoundFiles, store: Store) -> int:
    """Returns the number of sessions of older transcripts that are not distilled; sub-agents count
    as part of their session.
    """
    if not files.older:
        return 0
    older_sources = store.archive.sources_before(read_since(store.settings))
    distilled = (
        ranges for source, ranges in store.archive.sources().items() if source not in older_sources
    )
    sessions = {entry.conversation_id for entry in chain.from_iterable(distilled)}
    sessions.update(map(_conversation_of, files.transcripts))
    older_sessions = map(_conversation_of, files.older)
    return len({*map(session_of, older_sessions)} - {*map(session_of, sessions)})


def _conversation_of(file: TranscriptFile) -> str:
    try:
        lines = file.first_lines(HEADER_LINES)
    except (OSError, EOFError, zstandard.ZstdError):
        lines = []  # its name says enough
    return session_id_of(file.harness, str(file.path), lines)


def _age(settings: Settings) -> str:
    """Returns in words from when on the usual places are read: as a number of days before now, or
    as a date if `--since` named one.
    """
    since = read_since(settings).astimezone(settings.zone)
    now = settings.clock()
    days, remainder = divmod(now - since, timedelta(days=1))
    if since.time() == time() and remainder:
        return f"{since:%Y-%m-%d}"
    return "1 day" if days == 1 else f"{days:,} days"


def this_machine(settings: Settings) -> Machine:
    """Returns the folders of this machine, by which the owner's transcripts are recognised, and
    those that are left out.
    """
    ignores_folder = read_ignore_rules(settings).ignores_folder
    return Machine(Path(home_folder()), tuple(places()), ignores_folder)


def places() -> list[Path]:
    """Returns the harnesses' usual places on this machine that exist."""
    return usual_places(Path(home_folder()), os.environ)


def read_since(settings: Settings) -> datetime:
    """Returns from when on the usual places are read; the first call that finds a store writes the
    default to it, if the disk can be written.
    """
    path = settings.data / SINCE_FILE
    if path.is_file():
        return datetime.fromisoformat(json.loads(path.read_text())["since"])
    since = settings.clock() - timedelta(days=settings.since_days)
    if settings.data.is_dir():
        with suppress(OSError):
            write_json(path, {"since": since.isoformat()})
    return since


def widen_since(settings: Settings, text: str) -> datetime:
    """Moves the moment back to `--since` (`30d`, `2026-05-01` or `all`) and returns it; it never
    moves forward.
    """
    since = parse_since(text, settings)
    path = settings.data / SINCE_FILE
    if path.is_file():
        since = min(since, read_since(settings))
    write_json(path, {"since": since.isoformat()})
    return since


def parse_since(text: str, settings: Settings) -> datetime:
    """Returns the moment for `30d`, `2026-05-01` or `all`; raises `SettingsError` for anything
    else.
    """
    text = text.strip().lower()
    if text == "all":
        return EVER
    if text.endswith("d") and text[:-1].isdigit():
        return settings.clock() - timedelta(days=int(text[:-1]))
    try:
        return datetime.fromisoformat(text).replace(tzinfo=settings.zone).astimezone(UTC)
    except ValueError:
        raise SettingsError(
            f"Cannot read --since {text!r}; use days (30d), a date (2026-05-01) or 'all'."
        ) from None
