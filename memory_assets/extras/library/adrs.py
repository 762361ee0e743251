"""Finds and reads the architecture decision records (ADRs) of projects; writes none.

Records are searched in `PLACES` of the repositories in which the owner had sessions, and in the
folders of the setting `adr_folders`. Symbolic links are not followed.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, time
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.extras.library.adr_files import AdrFile, number_of, read_folder
from memory_assets.schema.frames import frame_of, hash_of
from memory_assets.schema.tables import version_of
from memory_assets.services.sources.ignoring import read_ignore_rules
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.embed.conflicts import find_conflict
from memory_assets.stages.embed.harness_memories import row_of_document
from memory_assets.stages.embed.present import read_present
from memory_assets.stages.triage.contradictions import AdrContradiction
from memory_assets.store.places import home_folder
from memory_assets.store.projects import find_repository, project_of
from memory_assets.store.store import Store
from memory_assets.text.files import is_utf8
from memory_assets.text.terms import text_terms

PLACES = ("docs/adr", "docs/decisions", "docs/architecture/decisions")
"""Folders of a repository that are searched."""

LARGEST_FILE = 500_000
"""Bytes of a file; a larger one is not taken for a decision record."""

MOST_FILES = 2_000
"""Records of a folder that are read."""

ADR = "adr"
"""Stands for harness and session in memories that come from a record."""

COMMON_TERMS = 2
"""Terms that a decision and a memory need in common to be compared."""


@dataclass(frozen=True)
class AdrFolder:
    """A folder of decision records."""

    path: Path
    project: str
    files: tuple[tuple[str, int, int], ...]
    """Name, size in bytes and time of the last change (ns) of each record."""


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
    """Returns the folders with decision records: those of the setting, then those of projects."""
    rules = read_ignore_rules(store.settings)
    folders: dict[Path, AdrFolder] = {}
    for path, project in chain(_configured_folders(store), _project_folders(store)):
        files = tuple(_files(path)) if path not in folders else ()
        if files and not rules.ignores(path / files[0][0], ""):
            folders[path] = AdrFolder(path, project, files)
    return list(folders.values())


def searched_folders(store: Store) -> list[Path]:
    """Returns the folders that are searched, whether or not they exist."""
    roots = [root for root, _ in _repositories(store)]
    return [*_configured_paths(store), *(root / place for root in roots for place in PLACES)]


def inputs_of(store: Store) -> str:
    """Returns the hash of settings and files that the table `adrs` depends on."""
    facts = (f"{folder.path}:{folder.project}:{folder.files}" for folder in find_folders(store))
    return hash_of(version_of("adrs"), store.settings.owner, _setting(store), *facts)


def read_adrs(store: Store) -> Iterator[tuple[AdrFolder, AdrFile]]:
    """Yields the present records with their folders.

    Files that cannot be read or that contain forgotten words are left out.
    """
    tombstones = tombstones_of(store)
    for folder in find_folders(store):
        texts = {name: _text(folder.path / name) for name, _, _ in folder.files}
        allowed = {
            name: text
            for name, text in texts.items()
            if text is not None and not tombstones.holds(text.encode())
        }
        for record in read_folder(allowed):
            yield folder, record


def list_adrs(store: Store) -> list[AdrRow]:
    """Returns the present records, by folder and number."""
    common = [name for name in AdrRow.__dataclass_fields__ if name not in ("path", "project")]
    rows = []
    for folder, record in read_adrs(store):
        fields = {name: getattr(record, name) for name in common}
        rows.append(AdrRow(str(folder.path / record.name), folder.project, **fields))
    return rows


def table_of(store: Store) -> pl.DataFrame:
    """Returns the table `adrs`."""
    return frame_of("adrs", (_row(folder, record) for folder, record in read_adrs(store)))


def _row(folder: AdrFolder, record: AdrFile) -> dict[str, Any]:
    path = str(folder.path / record.name)
    changed_ns = next(time_ns for name, _, time_ns in folder.files if name == record.name)
    row = asdict(record) | {"statements": record.statements, "text": record.text}
    lists = {name: list(value) for name, value in row.items() if isinstance(value, tuple)}
    return {
        **row,
        **lists,
        "id": hash_of(path),
        "path": path,
        "project": folder.project,
        "status": record.status or None,
        "changed_at": datetime.fromtimestamp(changed_ns / 1e9, UTC),
    }


def remembered(store: Store) -> Iterator[dict[str, Any]]:
    """Yields the decisions in force as observations without a session, like the memories of
    harnesses.

    A decision is dated at noon of its day, or when its file was last changed.
    """
    for row in store.tables.read("adrs").filter("is_in_force").iter_rows(named=True):
        at = row["changed_at"]
        if row["decided_on"]:
            at = datetime.combine(row["decided_on"], time(12), UTC)
        facts = {"project": row["project"], "at": at, "settings": store.settings}
        statement = row_of_document(ADR, row["path"], row["text"], row["line"], **facts)
        yield statement | {"category": "system-architecture"}


def conflicts_of(adrs: pl.DataFrame, memories: pl.DataFrame) -> pl.DataFrame:
    """Returns the table `adr_conflicts`: active memories that contradict a decision in force of
    their project.
    """
    is_from_adr = pl.col("session_ids").list.contains(ADR)
    facts = memories.filter(~is_from_adr, state="active", kind="fact").iter_rows(named=True)
    compared = [(row, frozenset(text_terms(row["text"]))) for row in facts]
    rows: list[dict[str, Any]] = []
    for adr in adrs.filter("is_in_force").iter_rows(named=True):
        terms_of = {text: frozenset(text_terms(text)) for text in adr["statements"]}
        for memory, terms in compared:
            if memory["project"] in (adr["project"], "") or memory["scope"] != "project":
                near = [text for text in terms_of if len(terms_of[text] & terms) >= COMMON_TERMS]
                rows += _conflict(adr, near, memory)
    return frame_of("adr_conflicts", rows).sort("adr_id", "memory_id")


def _conflict(
    adr: Mapping[str, Any], statements: Iterable[str], memory: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Returns the conflict with the first of the statements that the memory contradicts, if any."""
    for statement in statements:
        text = memory["text"]
        reason = find_conflict(statement, text) or find_conflict(text, statement)
        if reason:
            about = {name: adr[name] for name in ("number", "path", "project")}
            ids = {"adr_id": adr["id"], "memory_id": memory["id"]}
            return [{**ids, **about, "statement": statement, "text": text, "reason": reason}]
    return []


def read_contradictions(store: Store) -> Iterator[AdrContradiction]:
    """Yields the contradictions that the last build of memories found.

    Memories that were corrected or forgotten since are left out.
    """
    rows = store.tables.read("adr_conflicts", columns=list(AdrContradiction.__dataclass_fields__))
    if rows.is_empty():
        return
    active = read_present(store.tables, store.ledger).filter(state="active")["id"].implode()
    for row in rows.filter(pl.col("memory_id").is_in(active)).iter_rows(named=True):
        yield AdrContradiction(**row)


def _setting(store: Store) -> str:
    return vars(store.settings)["adr_folders"]


def _configured_paths(store: Store) -> list[Path]:
    parts = _setting(store).split(os.pathsep)
    return [Path(part).expanduser() for part in parts if part.strip()]


def _configured_folders(store: Store) -> Iterator[tuple[Path, str]]:
    """Yields each folder of the setting with its project."""
    home = home_folder()
    for path in _configured_paths(store):
        yield path, project_of(find_repository(str(path), home), str(path))


def _project_folders(store: Store) -> Iterator[tuple[Path, str]]:
    """Yields each of `PLACES` in the repository of each project, with the project."""
    for root, project in _repositories(store):
        yield from ((root / place, project) for place in PLACES if _is_inside(root, place))


def _repositories(store: Store) -> Iterator[tuple[Path, str]]:
    """Yields the root of each project's repository on this machine, and the project.

    Of several checkouts it is that of the owner's latest session.
    """
    windows = store.tables.read("windows", columns=["folder", "project", "person", "ended_at"])
    of_owner = windows.filter((pl.col("person") == store.settings.owner) & (pl.col("folder") != ""))
    latest = (
        of_owner.group_by("project", "folder")
        .agg(pl.col("ended_at").max())
        .sort("ended_at", "folder", descending=True)
    )
    roots: dict[str, Path] = {}
    for project, folder in latest.select("project", "folder").iter_rows():
        root = None if project in roots else _root_of(Path(folder))
        if root:
            roots[project] = root
            yield root, project


def _root_of(folder: Path) -> Path | None:
    """Returns the root of the repository that the folder is in.

    None without one, and where the root would be the home folder or a folder above it.
    """
    if not folder.is_absolute():
        return None
    home = Path(home_folder())
    for place in (folder, *folder.parents):
        try:
            if place not in (home, *home.parents) and (place / ".git").exists():
                return place
        except (OSError, ValueError):
            return None
    return None


def _is_inside(root: Path, place: str) -> bool:
    """Returns whether no part of the place is a symbolic link, which could lead elsewhere."""
    parts = Path(place).parts
    return not any(root.joinpath(*parts[:count]).is_symlink() for count in range(1, len(parts) + 1))


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Yields name, size and time of each file that may be a record."""
    try:
        names = sorted(name for name in os.listdir(folder) if number_of(name) is not None)
    except OSError:
        return
    for name in names[:MOST_FILES]:
        path = folder / name
        if is_utf8(path) and path.is_file() and not path.is_symlink():
            stat = path.stat()
            if stat.st_size <= LARGEST_FILE:
                yield name, stat.st_size, stat.st_mtime_ns


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None  # deleted or made unreadable since it was listed
