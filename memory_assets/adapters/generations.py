"""Generations: immutable folders of an index, and one small pointer file that names the published one.

    index/vectors/current            the name of the published generation
    index/vectors/000012/            its files; never changed once published
    index/quarantine/vectors-…       what could not be read, moved aside

A writer copies the published generation (or starts empty), changes the copy, closes it, then swaps the pointer; readers open
what the pointer names and move on when it changes. A killed writer leaves an unpublished folder, removed by the next one.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_assets.errors import IndexFailedError
from memory_assets.text.files import make_folder, write_atomically

KEPT = 2
"""Generations that stay: the published one, and the one before it for readers still at it."""


class Generations:
    """The generations of one index."""

    def __init__(self, root: Path, name: str) -> None:
        self.folder = root / name
        self._quarantine = root / "quarantine"
        self._name = name

    def published(self) -> Path | None:
        """Returns the folder of the published generation, or None where there is none."""
        try:
            folder = self.folder / (self.folder / "current").read_text().strip()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return folder if folder.is_dir() else None

    @contextmanager
    def build(self, *, rebuild: bool) -> Iterator[Path]:
        """Hands out a folder to change and publishes it when the block ends well."""
        base = None if rebuild else self.published()
        number = self._next_number()
        self._remove_unpublished()
        folder = self.folder / f"{number:06d}"
        make_folder(self.folder)
        try:
            if base is None:
                make_folder(folder)
            else:
                shutil.copytree(base, folder)
            yield folder
            write_atomically(self.folder / "current", folder.name.encode())
        except OSError as error:
            raise IndexFailedError(
                f"Cannot build the index in {folder}: {error.strerror or error}. Free space or mend permissions, then run "
                "`memory data rebuild --indexes`; the tables are untouched."
            ) from error
        self._remove_old()

    def keep_published_only(self) -> None:
        """Removes every other generation, those in quarantine included, whoever may still be reading them."""
        published = self.published()
        for folder in [
            folder for folder in (*self._folders(), *self._quarantine.glob(f"{self._name}-*")) if folder != published
        ]:
            shutil.rmtree(folder, ignore_errors=True)

    def quarantine(self, failed: Path | None = None) -> Path | None:
        """Moves the published generation aside and returns where it lies now.

        With `failed` given, only that one: a newer generation that was published meanwhile stays.
        """
        folder = self.published()
        if failed is not None and folder is not None and folder != failed:
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
        # Quarantined generations count too: a path that failed once is not used again.
        aside = self._quarantine.glob(f"{self._name}-*") if self._quarantine.is_dir() else ()
        used = [int(folder.name) for folder in self._folders()] + [int(path.name.split("-")[-2]) for path in aside]
        return max(used, default=0) + 1

    def _folders(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(f for f in self.folder.iterdir() if f.is_dir() and f.name.isdigit())

    def _remove_unpublished(self) -> None:
        published = self.published()
        for folder in self._folders():
            if published is None or folder.name > published.name:
                shutil.rmtree(folder, ignore_errors=True)

    def _remove_old(self) -> None:
        for folder in self._folders()[:-KEPT]:
            shutil.rmtree(folder, ignore_errors=True)
