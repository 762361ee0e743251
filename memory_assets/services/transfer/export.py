"""Exports everything into a folder that people and programs can read, and makes a store from such a
folder.

    manifest.json          versions, and the hash of each file
    README.md              what is in the folder
    memory.toml            the settings, without secrets and without paths of this machine
    workspace/             Markdown and its git history
    tables/NAME.parquet    every table; an import builds the tables from the other files instead
    resources/ ledger/ answers/ library/ spool/ logs/    as in the store (docs/store.md)
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from memory_assets.errors import StoreError
from memory_assets.schema import frames as schemas
from memory_assets.schema.progress import track
from memory_assets.schema.tables import table_names
from memory_assets.services.transfer import contents
from memory_assets.services.transfer.contents import MANIFEST, Manifest, hash_of, is_safe
from memory_assets.services.transfer.exported_settings import render_settings
from memory_assets.services.transfer.place import Placed, place_store, write_below
from memory_assets.store.places import SETTINGS_FILE
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.files import bytes_of, make_folder

TABLES = "tables"
README = """# An export of memory_assets

Made on {day} by release {release}. `memory data import FOLDER` makes a store from this folder.

- `workspace/`: MEMORY.md, REVIEW.md, lessons, summaries, timeline, daily logs, with their git history
- `tables/`: every table as one Parquet file; an import builds them again from the other files
- `resources/`: the archived transcripts, secrets masked; `ledger/`: what people and agents said and did
- `library/`: texts of documents; `answers/`: answers of models
- `memory.toml`: the settings; `manifest.json`: the hash of each file

It holds everything that the store holds: keep it as private. `memory forget` does not reach it.
"""  # noqa: E501
OF_RUNS = frozenset({"telemetry", "events"})
"""Tables about runs themselves: each run adds rows to them."""


@dataclass(frozen=True)
class Exported:
    """A folder with everything."""

    path: Path
    files: int
    tables: int
    rows: int
    left_out: tuple[str, ...]
    """Settings that are not in it: paths of this machine, and values that contain a secret."""


def export_all(store: Store, target: Path) -> Exported:
    """Writes everything into a new folder, which gets its name when it is complete.

    Waits for the store's lock. Raises `StoreError` where the folder exists and is not empty, or
    cannot be written.
    """
    path = target.expanduser().absolute()
    if path.is_relative_to(store.root):
        raise StoreError(
            f"An export belongs outside of the data folder; {path} is inside. Name another folder."
        )
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise StoreError(f"{path} exists and is not an empty folder. Name another one.")
    try:
        with store.lock(), _folder_beside(path) as folder:
            manifest, left_out = _write_all(store, folder)
    except OSError as error:
        raise StoreError(
            f"Cannot export to {path}: {error.strerror or error}. Free space, or name "
            "another folder; nothing was written."
        ) from error
    rows = manifest.rows
    return Exported(path, len(manifest.files), len(rows), sum(rows.values()), left_out)


def import_all(path: Path, settings: Settings) -> Placed:
    """Makes the store of the settings from an exported folder; the tables are built by the next
    run.

    Raises `StoreError` where a file is missing or has changed, or where there is a store already;
    then nothing is changed.
    """
    path = path.expanduser().absolute()
    manifest = read_export(path)
    with place_store(settings, manifest, path) as folder:
        for name, expected_hash in track(manifest.files.items(), "Reading the export"):
            content = _read_checked(path, name, expected_hash)
            if not name.startswith(f"{TABLES}/") and is_safe(name):
                write_below(folder, name, content)
    return Placed.of(settings, manifest, _warnings(folder.parent, settings))


def read_export(path: Path) -> Manifest:
    """Returns the manifest of the exported folder; raises `StoreError` if there is none."""
    if not (path / MANIFEST).is_file():
        raise StoreError(
            f"{path} is not an export of memory_assets: it has no {MANIFEST}. `memory data "
            "export --all` writes one."
        )
    return contents.parse_manifest((path / MANIFEST).read_bytes(), path)


def changed_tables(store: Store, path: Path) -> list[str]:
    """Returns the tables of the store whose rows differ from the exported ones; tables about runs
    are not compared.
    """
    import polars as pl

    tables = []
    for table in read_export(path).rows:
        if table in OF_RUNS or table not in table_names():
            continue
        exported = pl.read_parquet(path / TABLES / f"{table}.parquet", hive_partitioning=False)
        if not exported.equals(store.tables.read(table).sort(schemas.key_of(table))):
            tables.append(table)
    return tables


@contextmanager
def _folder_beside(path: Path) -> Iterator[Path]:
    """Yields a folder beside the path, then renames it to the path. Removes the folders that killed
    exports left.
    """
    parent = make_folder(path.parent)
    for leftover in parent.glob(f".{path.name}.*.tmp"):
        shutil.rmtree(leftover, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".tmp", dir=parent))
    try:
        yield folder
        if path.is_dir():
            path.rmdir()  # empty, or this fails
        folder.rename(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write_all(store: Store, folder: Path) -> tuple[Manifest, tuple[str, ...]]:
    manifest = contents.manifest_of(store)
    files = contents.files_to_transfer(store)
    hashes: dict[str, str] = {}

    def add(name: str, content: bytes) -> None:
        write_below(folder, name, content)
        hashes[name] = hash_of(content)

    for name, content in track(files, "Exporting files"):
        if name not in contents.OF_MACHINE:
            add(name, content)
    settings, left_out = render_settings(store.settings)
    add(SETTINGS_FILE, settings)
    readme = README.format(day=f"{manifest.made_at:%Y-%m-%d}", release=manifest.release)
    add("README.md", readme.encode())
    rows = {}
    for table in track(table_names(), "Exporting tables"):
        file = make_folder(folder / TABLES) / f"{table}.parquet"
        frame = store.tables.read(table).sort(schemas.key_of(table))
        frame.write_parquet(file)
        file.chmod(0o600)
        hashes[f"{TABLES}/{file.name}"] = hash_of(file.read_bytes())
        rows[table] = frame.height
    manifest = replace(manifest, files=hashes, rows=rows)
    write_below(folder, MANIFEST, manifest.to_json())
    return manifest, left_out


def _read_checked(path: Path, name: str, expected_hash: str) -> bytes:
    """Returns the content of an exported file; raises `StoreError` where it is missing or has
    changed.
    """
    is_expected = name == "README.md" or is_safe(name) or is_safe(name, allowed=(TABLES,))
    if not is_expected:
        raise StoreError(
            f"The export {path} is damaged: {name} is not a file of an export. Nothing was "
            "imported."
        )
    content = bytes_of(path / name)
    if content is None or hash_of(content) != expected_hash:
        fault = "is missing" if content is None else "has changed since it was exported"
        raise StoreError(
            f"The export {path} is damaged: {name} {fault}. Nothing was imported; export "
            "again, or use another copy."
        )
    return content


def _warnings(root: Path, previous: Settings) -> tuple[str, ...]:
    """Returns a warning where the imported settings name a model and the previous ones none."""
    from memory_assets.store.settings import read_file

    file = root / SETTINGS_FILE
    values = read_file(str(file)) if file.is_file() else {}
    names = (values.get("model"), values.get("reflector_model"))
    models = sorted({str(name) for name in names if name})
    if not models or previous.uses_models:
        return ()
    return (
        f"The imported settings name {' and '.join(models)}: sessions may be sent there. "
        "`memory model use rules` ends that.",
    )
