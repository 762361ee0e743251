"""Finds and reads the Markdown files in which harnesses keep their own memories; writes none.

They are of the project whose transcripts lie in the folder above, or else of no project. They are
searched where the transcripts come from: below the folders of the settings, else in the
usual places.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import polars as pl

from memory_assets.harnesses.declaration import ReadHarness
from memory_assets.harnesses.harness_list import READ
from memory_assets.schema.extras import extras, further_sources
from memory_assets.schema.frames import hash_of
from memory_assets.schema.protocols import PartInfo
from memory_assets.schema.vocabulary import Harness
from memory_assets.services.sources.ignoring import read_ignore_rules
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.stages.embed.harness_memories import (
    READER_VERSION,
    MemoryFile,
    frame_of,
    rows_of,
)
from memory_assets.store.places import home_folder
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.files import is_utf8

LARGEST_FILE = 1_000_000
"""Bytes; larger files are not memories."""

_NOT_IN_SLUG = re.compile(r"[^A-Za-z0-9]")
"""Characters that become `-` in a slug, the name that Claude Code makes of a project's path for the
folder of its transcripts.
"""

_WORKTREE_IN_SLUG = re.compile(r"--(?:[a-z]+-)?worktrees?-")
"""What separates the project from the name of the worktree in a slug, such as
`--claude-worktrees-` for `/.claude/worktrees/`.
"""


def find_memory_files(settings: Settings) -> list[MemoryFile]:
    """Returns the files, sorted by path."""
    if not settings.harness_memories:
        return []
    all_files = chain.from_iterable(
        _files(harness, home) for harness in READ for home in _homes(harness, settings)
    )
    # The same file may be below several folders of the settings.
    files = {file.path: file for file in all_files}.values()
    rules = read_ignore_rules(settings)
    files = sorted(files, key=lambda file: file.path)
    return [file for file in files if not rules.ignores(file.path, file.sessions)]


def searched_folders(settings: Settings) -> list[Path]:
    """Returns the folders that are searched, whether or not they exist."""
    return [
        home / harness.memories.folders.partition("/")[0]
        for harness in READ
        if harness.memories
        for home in _homes(harness, settings)
    ]


def read_memory_files(store: Store) -> pl.DataFrame:
    """Returns the table `harness_memories` from the present files and the documents of optional
    capabilities, without forgotten words.

    Unreadable files are skipped.
    """
    settings = store.settings
    tombstones = tombstones_of(store)
    rows = []
    files = find_memory_files(settings)
    projects = projects_of(store, files)
    for file in files:
        try:
            text = file.path.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue  # deleted or made unreadable since it was listed
        about = {"project": projects[file.sessions], "person": settings.owner}
        rows += rows_of(file, text, **about, now=settings.clock(), zone=settings.zone)
    for extra in extras():
        # The declaration names a function that returns the facts in documents of one kind.
        for function in extra.documented.values():
            rows += extra.load(function)(store)
    return frame_of([row for row in rows if not tombstones.holds(row["text"].encode())])


def memory_file_inputs(store: Store) -> str:
    """Returns the hash of the inputs of `harness_memories`: size and time of the files, their
    projects, and the documents.
    """
    files = find_memory_files(store.settings)
    projects = projects_of(store, files)
    facts = (f"{file.path}:{file.size}:{file.mtime_ns}:{projects[file.sessions]}" for file in files)
    documents = (part.fingerprint for part in documented_parts(store))
    settings = (store.settings.owner, store.settings.timezone)
    return hash_of(READER_VERSION, *settings, *facts, *documents)


def documented_parts(store: Store) -> list[PartInfo]:
    """Returns the partitions of the tables from which optional capabilities take the facts in their
    documents; partitions without rows are left out.
    """
    parts: list[PartInfo] = []
    for table in further_sources("harness_memories"):
        parts += store.tables.parts(table).values()
    return [part for part in parts if part.rows]


def projects_of(store: Store, files: Sequence[MemoryFile]) -> dict[str, str]:
    """Returns the project of each folder of transcripts that has memory files.

    It is the project of the latest session in the folder, else the project with which the folder's
    name ends. For files without such a folder, the folder `""`, the project is `""`.
    """
    if not files:
        return {}
    windows = store.tables.read("windows", columns=["path", "project", "ended_at", "harness"])
    projects = windows["project"].unique().to_list()
    project_of_folder = {
        file.sessions: _project_in(Path(file.sessions).name, projects) for file in files
    }
    rows = windows.sort("ended_at").select("path", "project")
    for path, project in rows.iter_rows():
        folder = str(Path(path).parent)
        if folder in project_of_folder:
            project_of_folder[folder] = project
    return project_of_folder


def _project_in(slug: str, projects: Iterable[str]) -> str:
    """Returns the project to whose folder, or worktree, Claude Code gives this slug; the slug if no
    project fits.
    """
    main = _WORKTREE_IN_SLUG.split(slug)[0]
    return max(
        (project for project in projects if main.endswith(f"-{_NOT_IN_SLUG.sub('-', project)}")),
        key=len,
        default=slug,
    )


def _homes(harness: ReadHarness, settings: Settings) -> list[Path]:
    """Returns where the harness may keep its files: a folder of the settings may be its home or
    contain it.
    """
    homes: list[Path] = []
    for folder in settings.source_folders():
        # Variables name the homes of this machine's user, not those in a folder of the settings.
        homes += [folder, harness.settings.find(folder, environ={})]
    return homes or [harness.settings.find(Path(home_folder()), os.environ)]


def _files(harness: ReadHarness, home: Path) -> Iterator[MemoryFile]:
    memories = harness.memories
    for folder in home.glob(memories.folders) if memories else ():
        parent = folder.parent
        if memories and not (memories.is_beside_sessions and parent.is_symlink()):
            sessions = str(parent) if memories.is_beside_sessions else ""
            yield from _markdown(harness.name, folder, memories.deepest, sessions)


def _markdown(
    harness: Harness, memory_folder: Path, deepest: int, sessions: str
) -> Iterator[MemoryFile]:
    """Yields the Markdown files of the memory folder and of `deepest` levels below it.

    Links to folders are not followed.
    """
    for root, folders, files in os.walk(memory_folder):
        depth = len(Path(root).relative_to(memory_folder).parts)
        # `os.walk` goes on with the folders that stay in this list.
        folders[:] = folders if depth < deepest else []
        for path in (Path(root, name) for name in files if name.endswith(".md")):
            stat = path.stat() if is_utf8(path) and path.is_file() else None
            if stat and stat.st_size <= LARGEST_FILE:
                yield MemoryFile(harness, path, sessions, stat.st_size, stat.st_mtime_ns)
