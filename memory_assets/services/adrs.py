"""Finds and reads the architecture decision records of projects; writes none.

They are in `docs/adr`, `docs/decisions` and `docs/architecture/decisions` of the repositories in
which the owner had sessions, and in the folders of the setting `adr_folders`. Links are not
followed.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.schema.frames import frame_of, hash_of
from memory_assets.schema.tables import version_of
from memory_assets.services.sources.ignoring import read_ignore_rules
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.embed.conflicts import find_conflict
from memory_assets.stages.embed.harness_memories import EARLIEST, row_of_document
from memory_assets.stages.embed.present import read_present
from memory_assets.stages.library.adr_contradiction import AdrContradiction
from memory_assets.stages.library.adrs import Adr, number_of, read_folder
from memory_assets.store.projects import find_repository, project_of
from memory_assets.store.store import Store
from memory_assets.text.terms import text_terms

PLACES = ("docs/adr", "docs/decisions", "docs/architecture/decisions")
"""Folders of a repository that are searched."""

LARGEST_FILE, MOST_FILES = 500_000, 2_000
"""Bytes of a record, and records of a folder; what is larger is no decision."""

ADR = "adr"
"""The harness and the session of memories that come from a record."""

COMMON_TERMS = 2
"""Terms that a decision and a memory need in common to be compared."""


@dataclass(frozen=True)
class AdrFolder:
    """A folder of decision records."""

    path: Path
    project: str
    files: tuple[tuple[str, int, int], ...]
    """Name, size and time of each record."""


@dataclass(frozen=True)
class AdrRow:
    """A decision record as the library lists it."""

    path: str
    project: str
    number: int
    title: str
    status: str
    is_in_force: bool
    supersedes: tuple[int, ...]
    superseded_by: tuple[int, ...]
    problems: tuple[str, ...]


def find_folders(store: Store) -> list[AdrFolder]:
    """Returns the folders with decision records: those of the settings, then those of projects."""
    named = [
        (folder, project_of(find_repository(str(folder), str(Path.home())), str(folder)))
        for folder in _named(store)
    ]
    own = [
        (root / place, project)
        for root, project in _repositories(store)
        for place in PLACES
        if _is_inside(root, place)
    ]
    rules = read_ignore_rules(store.settings)
    found: dict[Path, AdrFolder] = {}
    for path, project in (*named, *own):
        if (
            path not in found
            and (files := tuple(_files(path)))
            and not rules.ignores(path / files[0][0], "")
        ):
            found[path] = AdrFolder(path, project, files)
    return list(found.values())


def searched_folders(store: Store) -> list[Path]:
    """Returns the folders that are searched, whether or not they exist."""
    return [*_named(store), *(root / place for root, _ in _repositories(store) for place in PLACES)]


def inputs_of(store: Store) -> str:
    """Returns the hash of the table's inputs: its settings, size and time of the files, and their
    projects.
    """
    facts = (f"{one.path}:{one.project}:{one.files}" for one in find_folders(store))
    return hash_of(version_of("adrs"), store.settings.owner, store.settings.adr_folders, *facts)


def read_adrs(store: Store) -> list[tuple[AdrFolder, Adr]]:
    """Returns the present records with their folders, without unreadable ones and those that
    contain forgotten words.
    """
    tombstones, found = tombstones_of(store), []
    for folder in find_folders(store):
        texts = {
            name: text
            for name, _, _ in folder.files
            if (text := _text(folder.path / name)) is not None
        }
        kept = {name: text for name, text in texts.items() if not tombstones.holds(text.encode())}
        found += [(folder, one) for one in read_folder(kept)]
    return found


def list_adrs(store: Store) -> list[AdrRow]:
    """Returns the present records, by folder and number."""
    columns = [name for name in AdrRow.__dataclass_fields__ if name not in ("path", "project")]
    return [
        AdrRow(
            str(folder.path / one.name),
            folder.project,
            **{name: getattr(one, name) for name in columns},
        )
        for folder, one in read_adrs(store)
    ]


def table_of(store: Store) -> pl.DataFrame:
    """Returns the table `adrs`."""
    columns = (
        "number title status decided_on decision context line supersedes superseded_by "
        "is_in_force problems text".split()
    )
    rows = (
        {
            **{name: getattr(one, name) for name in columns},
            **_place(folder, one),
            "statements": list(one.statements),
            "status": one.status or None,
        }
        for folder, one in read_adrs(store)
    )
    return frame_of(
        "adrs",
        ({**row, **{k: list(v) for k, v in row.items() if isinstance(v, tuple)}} for row in rows),
    )


def remembered(store: Store) -> list[dict[str, Any]]:
    """Returns the decisions in force as observations without a session, like the memories of
    harnesses.
    """
    rows = store.tables.read("adrs").filter("is_in_force")
    return [_observation(store, row) for row in rows.iter_rows(named=True)]


def conflicts_of(adrs: pl.DataFrame, memories: pl.DataFrame) -> pl.DataFrame:
    """Returns the table `adr_conflicts`: active memories that contradict a decision in force of
    their project.
    """
    is_said = ~pl.col("session_ids").list.contains(ADR)
    facts = memories.filter((pl.col("state") == "active") & (pl.col("kind") == "fact") & is_said)
    known = [(row, frozenset(text_terms(row["text"]))) for row in facts.iter_rows(named=True)]
    rows = []
    for adr in adrs.filter("is_in_force").iter_rows(named=True):
        statements = [(one, frozenset(text_terms(one))) for one in adr["statements"]]
        near = (
            (row, terms)
            for row, terms in known
            if row["project"] in (adr["project"], "") or row["scope"] != "project"
        )
        rows += [one for row, terms in near if (one := _conflict(adr, statements, row, terms))]
    return frame_of("adr_conflicts", rows).sort("adr_id", "memory_id")


def read_contradictions(store: Store) -> tuple[AdrContradiction, ...]:
    """Returns the contradictions as of the last build of memories, without memories that were
    corrected or forgotten since.
    """
    rows = store.tables.read("adr_conflicts", columns=list(AdrContradiction.__dataclass_fields__))
    if rows.is_empty():
        return ()
    active = read_present(store.tables, store.ledger).filter(state="active")["id"].implode()
    return tuple(
        AdrContradiction(**row)
        for row in rows.filter(pl.col("memory_id").is_in(active)).iter_rows(named=True)
    )


def _conflict(
    adr: Mapping[str, Any],
    statements: Sequence[tuple[str, frozenset[str]]],
    memory: Mapping[str, Any],
    terms: frozenset[str],
) -> dict[str, Any] | None:
    for statement, own in statements:
        if len(own & terms) >= COMMON_TERMS and (
            reason := find_conflict(statement, memory["text"])
            or find_conflict(memory["text"], statement)
        ):
            about = {
                "number": adr["number"],
                "path": adr["path"],
                "project": adr["project"],
                "statement": statement,
            }
            return {
                "adr_id": adr["id"],
                "memory_id": memory["id"],
                **about,
                "text": memory["text"],
                "reason": reason,
            }
    return None


def _observation(store: Store, row: Mapping[str, Any]) -> dict[str, Any]:
    now, zone = store.settings.clock(), store.settings.zone
    decided = row["decided_on"] and datetime.combine(row["decided_on"], time(12), UTC)
    at = min(
        max(decided or datetime.fromtimestamp(row["changed_at"].timestamp(), UTC), EARLIEST), now
    )
    about = {
        "project": row["project"],
        "person": store.settings.owner,
        "event_at": at,
        "day": at.astimezone(zone).date(),
    }
    return (
        row_of_document(ADR, row["path"], row["text"], [row["line"]])
        | about
        | {"category": "system-architecture"}
    )


def _place(folder: AdrFolder, one: Adr) -> dict[str, Any]:
    path = str(folder.path / one.name)
    changed = next(time_ns for name, _, time_ns in folder.files if name == one.name)
    changed_at = datetime.fromtimestamp(changed / 1e9, UTC)
    return {"id": hash_of(path), "path": path, "project": folder.project, "changed_at": changed_at}


def _named(store: Store) -> list[Path]:
    return [
        Path(part).expanduser()
        for part in store.settings.adr_folders.split(os.pathsep)
        if part.strip()
    ]


def _repositories(store: Store) -> Iterator[tuple[Path, str]]:
    """Yields the root of each project's repository on this machine, where the owner's latest
    session was.
    """
    windows = store.tables.read("windows", columns=["folder", "project", "person", "ended_at"])
    own = windows.filter((pl.col("person") == store.settings.owner) & (pl.col("folder") != ""))
    latest = (
        own.group_by("project", "folder")
        .agg(pl.col("ended_at").max())
        .sort("ended_at", "folder", descending=True)
    )
    seen: set[str] = set()
    for project, folder, _ in latest.iter_rows():
        if project not in seen and (root := _root_of(Path(folder))):
            seen.add(project)
            yield root, project


def _root_of(folder: Path) -> Path | None:
    """Returns the root of the repository that the folder is in; None for a relative one, the home
    folder and those above.
    """
    home = Path.home()
    try:
        above = (
            one for one in (folder, *folder.parents) if one != home and one not in home.parents
        )
        return (
            next((one for one in above if (one / ".git").exists()), None)
            if folder.is_absolute()
            else None
        )
    except (OSError, ValueError):
        return None


def _is_inside(root: Path, place: str) -> bool:
    """Returns whether no part of the place is a link: a repository must not have other folders
    read.
    """
    parts = Path(place).parts
    return not any((root.joinpath(*parts[: count + 1])).is_symlink() for count in range(len(parts)))


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
    try:
        names = sorted(name for name in os.listdir(folder) if number_of(name) is not None)[
            :MOST_FILES
        ]
    except OSError:
        return
    for name in names:
        path = folder / name
        if (
            path.is_file()
            and not path.is_symlink()
            and (stat := path.stat()).st_size <= LARGEST_FILE
        ):
            yield name, stat.st_size, stat.st_mtime_ns


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None  # deleted or made unreadable since it was listed
