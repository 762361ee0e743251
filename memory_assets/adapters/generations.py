"""Generations: immutable folders of an index, and a pointer file that names the published one.

    index/vectors/current            the name of the published generation
    index/vectors/000012/            its files; never changed once published
    index/vectors.json               hash of each row that it was built from
    index/quarantine/vectors-…       unreadable generations

A writer copies the published generation (or starts empty), changes the copy, closes it, then
replaces the pointer. Readers open the generation in the pointer and reopen when it changes. The
next writer removes what a killed writer left unpublished.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from memory_assets.errors import IndexFailedError
from memory_assets.text.files import make_folder, write_atomically, write_json

T = TypeVar("T")

SUMS = "sums.json"
"""Size and hash of each array of a generation."""

KEPT = 2
"""Generations that are kept: the published one, and the one before it, which readers may still have
open.
"""


class Generations:
    """The generations of one index; each kind of index is a subclass."""

    FAILED = (
        "The index could not be read ({error}) and was moved to {aside}. Run `memory data "
        "rebuild --indexes` to rebuild it."
    )
    """The message for a generation that cannot be read."""

    is_remote = False
    """Whether the contents are on a server; only `faults(is_deep=True)` asks it."""

    def __init__(self, root: Path, name: str) -> None:
        self.folder = root / name
        self._note = root / f"{name}.json"
        self._quarantine = root / "quarantine"
        self._name = name

    def published(self) -> Path | None:
        """Returns the folder of the published generation, or None if there is none."""
        previous_name = None
        name = self._pointer()
        # A generation may be replaced and removed after its name was read: then it is read again.
        while name != previous_name:
            folder = self.folder / (name or "")
            if name and folder.is_dir() and self.is_readable(folder):
                return folder
            previous_name = name
            name = self._pointer()
        return None

    def is_readable(self, folder: Path) -> bool:
        """Returns whether this index can read the generation; if not, it counts as missing."""
        return True

    def _pointer(self) -> str | None:
        try:
            return (self.folder / "current").read_bytes().decode(errors="replace").strip()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        folder = self.published()
        return folder.name if folder else None

    def noted_rows(self, built_by: Sequence[str]) -> dict[str, str]:
        """Returns id → hash of the rows that the published generation was built from; empty if it
        was built by other versions than `built_by`, or nothing was noted of it.
        """
        try:
            note = json.loads(self._note.read_bytes()) if self._note.is_file() else {}
        except ValueError:
            return {}
        is_current = note.get("generation") == self.generation()
        return note["rows"] if is_current and note.get("built_by") == [*built_by] else {}

    def note_rows(self, built_by: Sequence[str], rows: Mapping[str, str]) -> None:
        """Stores the rows (id → hash) that the published generation was built from, and the
        versions of what built them.
        """
        note = {"generation": self.generation(), "built_by": built_by, "rows": rows}
        write_json(self._note, note)

    def rebuild_next(self) -> None:
        """Forgets the noted rows, so that the next update builds everything again."""
        self._note.unlink(missing_ok=True)

    def read_published(self, read: Callable[[Path], T], nothing: T) -> T:
        """Returns what `read` returns for the published generation, `nothing` where there is none.

        Reads again if another generation is published meanwhile.
        """
        folder = self.published()
        while folder is not None:
            with suppress(ReplacedError), self.quarantined_on_failure(folder):
                content = read(folder)
                # While a generation is being deleted, a server answers with its remaining rows.
                if folder.is_dir():
                    return content
            folder = self.published()
        return nothing

    @contextmanager
    def quarantined_on_failure(self, folder: Path | None) -> Iterator[None]:
        """Moves the generation to quarantine if the block fails, and raises `IndexFailedError`."""
        try:
            yield
        # chromadb raises its own, sqlite3's and its Rust core's errors, with no common base.
        except Exception as error:
            if folder is not None and self.published() != folder:
                # Another generation was published, and this one may have been removed.
                raise ReplacedError from error
            if not self.is_damage(error):
                raise
            self.close()
            if folder is None:
                raise
            raise IndexFailedError(
                self.FAILED.format(error=error, aside=self.quarantine(folder))
            ) from error

    def is_damage(self, error: Exception) -> bool:
        """Returns whether the error means that the generation is damaged, and not, say, that the
        disk is full.
        """
        return not isinstance(error, OSError) or isinstance(error, FileNotFoundError)

    def close(self) -> None:
        """Closes the open generation."""

    def faults(self, *, is_deep: bool = False) -> list[str]:
        """Returns the arrays of the published generation whose size differs from what was written,
        or with `is_deep` their hash.

        Empty where there is no generation, or an earlier release wrote it without sizes and hashes.
        """
        if (self.folder / "current").is_file() and self.published() is None:
            return ["current names no generation"]
        return self.read_published(lambda folder: list(_faults(folder, is_deep=is_deep)), [])

    @contextmanager
    def build(self, *, rebuild: bool) -> Iterator[Path]:
        """Yields a folder to change, and publishes it when the block succeeds.

        The folder is a copy of the published generation, or with `rebuild` empty.
        """
        published = self.published()
        base = None if rebuild else published
        folder = self.folder / f"{self._next_number():06d}"
        for existing in self._folders():
            # A killed writer left it without publishing it.
            if published is None or existing.name > published.name:
                shutil.rmtree(existing, ignore_errors=True)
        try:
            if base is None:
                make_folder(folder)
            else:
                shutil.copytree(base, folder)
            yield folder
            _write_sums(folder)
            write_atomically(self.folder / "current", folder.name.encode())
        except OSError as error:
            raise IndexFailedError(
                f"Cannot build the index in {folder}: {error.strerror or error}. Free space or fix "
                "the permissions, then run `memory data rebuild --indexes`; the tables are "
                "unchanged."
            ) from error
        for old in self._folders()[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)

    def keep_published_only(self) -> None:
        """Removes every other generation, even in quarantine or open in a reader, and the noted
        rows.
        """
        self.close()
        self.rebuild_next()
        published = self.published()
        for folder in (*self._folders(), *self._quarantine.glob(f"{self._name}-*")):
            if folder != published:
                shutil.rmtree(folder, ignore_errors=True)

    def remove(self) -> None:
        """Removes every generation."""
        (self.folder / "current").unlink(missing_ok=True)
        self.keep_published_only()

    def quarantine(self, failed: Path) -> Path | None:
        """Moves the failed generation aside and returns its new folder; None if it is no longer the
        published one.
        """
        folder = self.published()
        if folder not in (None, failed):
            return None
        (self.folder / "current").unlink(missing_ok=True)
        if folder is None:
            return None
        make_folder(self._quarantine)
        number = len(list(self._quarantine.iterdir()))
        aside = self._quarantine / f"{self._name}-{folder.name}-{number}"
        shutil.move(folder, aside)
        return aside

    def _next_number(self) -> int:
        # Numbers of quarantined generations (`vectors-000012-0`) are not reused.
        aside = self._quarantine.glob(f"{self._name}-*")
        names = [path.name.split("-")[-2] for path in aside]
        return max(map(int, [*names, *(path.name for path in self._folders())]), default=0) + 1

    def _folders(self) -> list[Path]:
        return sorted(
            folder for folder in self.folder.glob("*") if folder.is_dir() and folder.name.isdigit()
        )


def _write_sums(folder: Path) -> None:
    """Writes size and hash of every array of the generation into `sums.json`; not of Chroma's
    files, which Chroma changes when it opens them.
    """
    paths = sorted(folder.rglob("*.npy"))
    sums = {
        path.relative_to(folder).as_posix(): [path.stat().st_size, _hash_of(path)] for path in paths
    }
    write_json(folder / SUMS, sums)


def _faults(folder: Path, *, is_deep: bool) -> Iterator[str]:
    path = folder / SUMS
    if not path.is_file():
        return
    try:
        sums = json.loads(path.read_bytes())
    except ValueError:
        yield f"{SUMS} cannot be read"
        return
    for place, (size, hashed) in sums.items():
        file = folder / place
        has_size = file.is_file() and file.stat().st_size == size
        if not has_size or (is_deep and _hash_of(file) != hashed):
            yield place


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class ReplacedError(Exception):
    """Another generation was published while this one was read."""
