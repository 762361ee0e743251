"""Checks the store's environment: folders and permissions, disk, git, the embedding model,
MEMORY.md, types of records.

Takes paths and moments, returns checks. `sums` checks the tables.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import polars as pl

from memory_assets.schema.protocols import TaskList
from memory_assets.services.health.housekeeping import GIGABYTE
from memory_assets.services.health.sums import REMEDY
from memory_assets.services.review.written_lines import WrittenLine, count_outdated
from memory_assets.stages.capture.discover import LeftOutFile
from memory_assets.stages.deliver import spool
from memory_assets.stages.deliver.inbox import ASIDE
from memory_assets.stages.maintain.checks import Check, judge

SPARE_BYTES = 1_000_000_000
"""A rebuild writes tables and indexes beside the old ones; a gigabyte holds both for several
hundred long sessions.
"""

MOST_UNKNOWN = 0.05
"""Share of unknown records in a file from which its harness has probably changed its format."""

RECORD_COLUMNS = ["source_id", "line", "record_type", "status", "version"]

SHOWN = 3
"""Paths or files named in a finding."""


def check_git() -> Check:
    """Checks that git can be run; MEMORY.md is kept in a repository."""
    promise = "git can be run, for the history of MEMORY.md"
    command = ["git", "--version"]
    try:
        result = subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        remedy = "Install git and make sure it is on PATH."
        return Check("git", promise, False, str(error), remedy)
    return Check("git", promise, True, result.stdout.strip().removeprefix("git version "))


def check_permissions(root: Path) -> Check:
    """Checks that only the owner can read the store."""
    promise = "the store is readable by its owner alone (folders 0700, files 0600)"
    if os.name != "posix":
        return Check("permissions", promise, True, "left to the platform")
    files = (path for path in _paths_below(root) if not path.is_symlink())
    paths = [path for path in files if stat.S_IMODE(path.stat().st_mode) & 0o077]
    first_paths = ", ".join(str(path.relative_to(root)) or "." for path in paths[:SHOWN])
    fault = f"{len(paths):,} open to others: {first_paths}" if paths else ""
    return judge("permissions", promise, fault, remedy=f"Run: chmod -R go-rwx '{root}'")


def check_links(root: Path) -> Check:
    """Names the links in the store that lead out of it or to nothing: they are not followed."""
    inside = root.resolve()
    links = [
        f"{path.relative_to(root)} (to {path.readlink()})"
        for path in _paths_below(root)
        if path.is_symlink() and not (path.exists() and path.resolve().is_relative_to(inside))
    ]
    remedy = "Replace each link by the file itself, or delete it."
    return judge("links", "no link leads out of the store", ", ".join(links[:SHOWN]), remedy=remedy)


def check_disk(root: Path, spare: int = SPARE_BYTES) -> Check:
    """Checks that the disk has room for a rebuild."""
    free = shutil.disk_usage(root).free
    promise = f"at least {spare / 1e9:.0f} GB free for a rebuild"
    room = f"{free / 1e9:.1f} GB free"
    fault = room if free < spare else ""
    return judge("disk", promise, fault, room, "Free space on the disk.")


def check_disk_use(sizes: Mapping[str, int], most_gb: float) -> Check:
    """Checks that the store is not above its cap; `sizes` are the bytes of each of its entries."""
    used = sum(sizes.values()) / GIGABYTE
    largest_names = sorted(sizes, key=lambda name: -sizes[name])[:SHOWN]
    largest = ", ".join(f"{name} {sizes[name] / GIGABYTE:.2f}" for name in largest_names)
    usage = f"{used:.2f} GB: {largest}"
    if not most_gb:
        promise = "the size of the store is not limited (disk_gb = 0)"
        return Check("disk use", promise, True, usage)
    promise = f"the store takes at most {most_gb:g} GB (setting disk_gb)"
    remedy = (
        "The history of runs and leftovers are removed within an hour, or by `memory "
        "ingest`. What remains is the memory: set "
        "disk_gb higher, or move the store to a larger disk (`memory data export --all`)."
    )
    return judge("disk use", promise, usage if used > most_gb else "", usage, remedy)


def check_model(name: str, version: Callable[[], str]) -> Check:
    """Checks that the embedding model can be used: `version` raises `ModelError` if it cannot."""
    promise = f"the weights of {name} are here and unchanged"
    return Check("embedding model", promise, True, f"sha256 {version()}…")


def check_model_names(problems: Sequence[str]) -> Check:
    """Checks that the configured models exist, as far as that is known without asking one."""
    promise = "the configured models are known"
    remedy = "`memory model` shows what this machine offers, and `memory model use` chooses it."
    return judge("models", promise, " ".join(problems), remedy=remedy, is_advice=True)


def check_text(path: Path) -> Check:
    """Checks that a file of the workspace can be read as text; it may not exist yet."""
    promise = f"{path.name} is readable text"
    try:
        size = len(path.read_text("utf-8"))
    except FileNotFoundError:
        return Check(path.name, promise, True, "not written yet")
    except (OSError, UnicodeDecodeError) as error:
        remedy = f"Fix {path}, or restore it with git in its folder."
        return Check(path.name, promise, False, str(error), remedy)
    return Check(path.name, promise, True, f"{size:,} characters")


def check_sizes(too_long: Sequence[str]) -> Check:
    """Names the files of entries that are too long for a session."""
    promise = "the files of entries are short enough for a session"
    fault = "; ".join(too_long)
    remedy = "REVIEW.md asks which lines to retire; remove others by hand."
    return judge("size of MEMORY.md", promise, fault, remedy=remedy, is_advice=True)


def check_lines(lines: Sequence[WrittenLine]) -> Check:
    """Names the lines of the files of entries that name what is gone from the repositories."""
    outdated = [
        f"{line.path}:{line.entry.number}{'' if line.promotion else ', by hand'}, "
        f"{line.gone_names.mark}"
        for line in lines
        if line.gone_names
    ]
    fault = f"{count_outdated(lines)}{render_lines(outdated)}" if outdated else ""
    remedy = "`memory review` asks about lines that were promoted; change those by hand yourself."
    promise = "the lines of MEMORY.md name what is there"
    return judge("names", promise, fault, remedy=remedy, is_advice=True)


def check_projection(name: str, corpus: str, expected: set[str], actual: set[str]) -> Check:
    """Checks that an index has exactly the expected ids of a corpus."""
    promise = f"the {name} index holds exactly the {corpus} that can be recalled"
    difference = f"{len(expected - actual):,} missing, {len(actual - expected):,} too many"
    fault = difference if expected != actual else ""
    return judge(f"{name} index", promise, fault, f"{len(actual):,} entries", REMEDY)


def check_spool(root: Path) -> Check:
    """Checks that events of harnesses are processed."""
    promise = "events that sessions send are taken in within hours"
    waiting = sum(end - start for start, end in spool.unread(str(root)).values())
    fault = spool.alarm(str(root)) or ""
    return judge("spool", promise, fault, f"{waiting:,} bytes wait", "Run `memory ingest`.")


def check_tasks(tasks: TaskList, now: datetime) -> Check:
    """Checks that the owner's task list answers; raises `TaskListError` where it does not."""
    waiting = sum(task.state == "open" for task in tasks.labelled(since=now))
    return Check("Todoist", "tasks can ask about proposals", True, f"{waiting:,} wait")


def check_dead_letters(root: Path) -> Check:
    """Checks that no invalid line of the spool is waiting to be read and deleted."""
    promise = "every line of the spool could be understood"
    aside = root / spool.FOLDER / ASIDE
    count = sum(1 for _ in aside.iterdir()) if aside.is_dir() else 0
    fault = f"{count:,} put aside" if count else ""
    remedy = f"`memory data show dead_letters` says why; delete what you have read in {aside}."
    return judge("dead letters", promise, fault, remedy=remedy)


def check_left_out(files: Sequence[LeftOutFile]) -> Check:
    """Checks that every file that looks like a transcript is taken in; lists the others, with the
    reason.
    """
    promise = "every file that looks like a transcript is taken in"
    fault = f"{len(files):,} not{_render_files(files)}" if files else ""
    remedy = "Fix, move or delete them."
    return judge("left out", promise, fault, remedy=remedy, is_advice=True)


def check_unread(lines: Sequence[str]) -> Check:
    """Checks that every session on this machine is read; the lines name those that are too old, and
    those of a harness without a reader.
    """
    promise = "every session on this machine is read"
    fault = f"these are not{render_lines(lines)}" if lines else ""
    return judge("not read", promise, fault, is_advice=True)


def check_ignored(files: Sequence[LeftOutFile]) -> Check:
    """Lists the transcripts that are left out on purpose, with the rule; this never fails."""
    promise = "transcripts left out on purpose are known"
    return Check("ignored", promise, True, f"{len(files):,}{_render_files(files)}")


def check_ignore_files(paths: Sequence[Path]) -> Check:
    """Checks that no project has a `.memoryignore`, which has no effect there."""
    promise = "every .memoryignore is in a place that is read"
    fault = f"{len(paths):,} not read{render_lines(map(str, paths[:SHOWN]))}" if paths else ""
    remedy = "Move its lines to ~/.memoryignore; a repository must not hide what happens in it."
    return judge("ignore files", promise, fault, remedy=remedy, is_advice=True)


def check_record_types(records: pl.DataFrame) -> Check:
    """Checks that the readers know most records of each file; else the harness has probably changed
    its format.

    `records` has `RECORD_COLUMNS`.
    """
    promise = f"at most {MOST_UNKNOWN:.0%} of a file's records are of an unknown type"
    is_unknown = pl.col("status") == "unknown"
    share = pl.col("unknown") / pl.col("lines")
    files = records.group_by("source_id").agg(
        is_unknown.sum().alias("unknown"),
        pl.len().alias("lines"),
        pl.col("version").drop_nulls().last(),
        pl.col("record_type").filter(is_unknown).unique().sort().alias("types"),
    )
    failed = files.filter(share > MOST_UNKNOWN).sort(share, "source_id", descending=[True, False])
    if failed.is_empty():
        return Check("record types", promise, True, f"{files.height:,} files")
    lines = [
        f"{row['source_id']}: {row['unknown']} of {row['lines']} ({', '.join(row['types'])}), "
        f"written by {row['version'] or 'an unknown version'}"
        for row in failed.head(SHOWN).iter_rows(named=True)
    ]
    remedy = (
        "The harness may have changed its format: upgrade memory_assets, or report the types "
        "and the version."
    )
    fault = f"{failed.height:,} of {files.height:,} files{render_lines(lines)}"
    return Check("record types", promise, False, fault, remedy, is_advice=True)


def render_lines(lines: Iterable[str]) -> str:
    """Returns the lines, indented, each after a newline: they follow a sentence."""
    return "".join(f"\n    {line}" for line in lines)


def _render_files(files: Sequence[LeftOutFile]) -> str:
    return render_lines(f"{file.path}: {file.reason}" for file in files)


def _paths_below(root: Path) -> list[Path]:
    paths = [root]
    for folder, names, files in os.walk(root):
        # Git sets the permissions of its objects; .git itself is closed.
        names[:] = [name for name in names if name != ".git"]
        paths += [Path(folder, name) for name in (*names, *files)]
    return paths
