"""Finds a store's transcripts: all in the folders of the settings, else recent ones in the harnesses' usual places.

Also what looks like a transcript and is not taken in, and what is ignored on purpose, for `memory up`, `status` and `doctor`.

The first run reads the usual places back to `since_days` ago. `since.json` keeps that moment, so that later runs skip no
transcript, and `--since` moves it further back.
"""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_assets.errors import SettingsError, TranscriptError
from memory_assets.services.ignoring import read_ignore_rules
from memory_assets.stages.capture.discover import FoundFiles, LeftOut, TranscriptFile, find_files, usual_places
from memory_assets.stages.capture.intake import Machine, masked_paths
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.files import write_json

SINCE_FILE = "since.json"


def find_sources(settings: Settings) -> list[TranscriptFile]:
    """Returns the transcripts to read; raises `TranscriptError` where a folder of the settings cannot be read."""
    return _find(settings).transcripts


def find_left_out(store: Store) -> list[LeftOut]:
    """Returns the files that look like transcripts and are not taken in, sorted by path, then the older ones as one entry."""
    try:
        found = _find(store.settings)
    except TranscriptError as error:
        return [LeftOut(store.settings.sources, str(error))]
    failed = store.archive.unreadable()
    unread = (
        [LeftOut(path, failed[path]) for path in masked_paths(found.transcripts).values() if path in failed] if failed else []
    )
    left_out = sorted([*found.left_out, *unread], key=lambda one: one.path)
    if found.older:
        since = f"{read_since(store.settings).astimezone(store.settings.zone):%Y-%m-%d}"
        reason = f"not changed since {since}; `memory ingest --since all` takes all in"
        left_out.append(LeftOut(f"{found.older:,} older transcript{'s' * (found.older > 1)}", reason))
    return left_out


def find_ignored(settings: Settings) -> list[LeftOut]:
    """Returns the transcripts that are left out on purpose, sorted by path: see `ignoring`."""
    try:
        return _find(settings).ignored
    except TranscriptError:
        return []


def _find(settings: Settings) -> FoundFiles:
    folders = settings.source_folders()
    found = find_files(folders) if folders else find_files(places(), since=read_since(settings))
    rules = read_ignore_rules(settings)
    reasons = {file: reason for file in found.transcripts if (reason := rules.reason_for(file))}
    if not reasons:
        return found
    ignored = [LeftOut(str(file.path), reason) for file, reason in reasons.items()]
    return replace(found, transcripts=[file for file in found.transcripts if file not in reasons], ignored=ignored)


def this_machine() -> Machine:
    """Returns what says that a transcript is of this machine's owner."""
    return Machine(Path.home(), tuple(places()))


def places() -> list[Path]:
    """Returns the harnesses' usual places on this machine that exist."""
    return usual_places(Path.home(), os.environ)


def read_since(settings: Settings) -> datetime:
    """Returns from when on the usual places are read; stores the default at the first call that finds a store."""
    path = settings.data / SINCE_FILE
    if path.is_file():
        return datetime.fromisoformat(json.loads(path.read_text())["since"])
    since = settings.clock() - timedelta(days=settings.since_days)
    if settings.data.is_dir():
        write_json(path, {"since": since.isoformat()})
    return since


def widen_since(settings: Settings, text: str) -> datetime:
    """Moves the moment back to `--since` (`30d`, `2026-05-01` or `all`) and returns it; it never moves forward."""
    wanted = parse_since(text, settings)
    path = settings.data / SINCE_FILE
    if path.is_file():
        wanted = min(wanted, read_since(settings))
    write_json(path, {"since": wanted.isoformat()})
    return wanted


def parse_since(text: str, settings: Settings) -> datetime:
    """Returns the moment for `30d`, `2026-05-01` or `all`; raises `SettingsError` for anything else."""
    text = text.strip().lower()
    if text == "all":
        return datetime(1970, 1, 1, tzinfo=UTC)
    if text.endswith("d") and text[:-1].isdigit():
        return settings.clock() - timedelta(days=int(text[:-1]))
    try:
        return datetime.fromisoformat(text).replace(tzinfo=settings.zone).astimezone(UTC)
    except ValueError:
        raise SettingsError(f"Cannot read --since {text!r}; use days (30d), a date (2026-05-01) or 'all'.") from None
