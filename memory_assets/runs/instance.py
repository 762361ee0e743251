"""The store's Dagster instance: its home with dagster.yaml, and opening it."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import filelock

from memory_assets.adapters.optional_packages import install_command
from memory_assets.errors import StoreError, causes_of
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, text_of, write_atomically
from memory_assets.text.masking.redact import mask_text

if TYPE_CHECKING:
    import dagster as dg


CODE_LOCATION = "memory_assets.definitions"
"""The module that the UI loads; it shows the module under the same name."""

EVENT_LOG = "# Keeps the event log open"
"""Start of the part of dagster.yaml that keeps the event log in SQLite."""


@cache
def local_configuration() -> str:
    """Returns Dagster's configuration with SQLite in the store's folder."""
    return files("memory_assets.runs").joinpath("dagster.yaml").read_text("utf-8")


@contextmanager
def open_instance(store: Store) -> Iterator["dg.DagsterInstance"]:
    """Opens the store's Dagster instance; makes its home first if needed.

    A lock keeps two processes from making the same home. Raises `StoreError` if a server that
    dagster.yaml names cannot be used.
    """
    home = make_folder(store.dagster_home)
    with filelock.FileLock(home / "opening.lock", mode=0o600):
        make_home(store)
        instance = _open(home)
    with instance:
        yield instance


def _open(home: Path) -> "dg.DagsterInstance":
    import dagster as dg

    file = home / "dagster.yaml"
    lacking = _missing_variables(text_of(file))
    if lacking:
        raise StoreError(
            f"{file} needs {' and '.join(lacking)} in the environment: the address of a server, "
            f"see `memory docs scaling`. Set it, or delete {file} to go back to files."
        )
    previous = {name: value for name, value in os.environ.items() if name == "DAGSTER_HOME"}
    os.environ["DAGSTER_HOME"] = str(home)  # read by the configuration of the event log
    try:
        return dg.DagsterInstance.from_config(str(home))
    except Exception as error:
        if not re.search(r"^storage\s*:", text_of(file), re.M):
            raise
        *_, cause = causes_of(error)
        lines = [*str(cause).strip().splitlines(), type(cause).__name__]
        reason, _ = mask_text(lines[0])
        raise StoreError(
            f"Cannot use the storage that {file} names: {reason}. Start the server, or fix "
            f"DAGSTER_POSTGRES_URL; for missing packages run `{install_command('scaling')}`."
        ) from error
    finally:
        del os.environ["DAGSTER_HOME"]
        os.environ.update(previous)


def make_home(store: Store) -> Path:
    """Makes DAGSTER_HOME, the folder of the instance, with its configuration and database.

    Adds our event log to a dagster.yaml that is there already and names no storage.
    """
    home = make_folder(store.dagster_home)
    path = home / "dagster.yaml"
    content = local_configuration()
    if not path.is_file():
        import dagster as dg

        # Opening it makes the database.
        with dg.DagsterInstance.from_config(str(home)):
            pass
        write_atomically(path, content.encode())
        return home
    written = path.read_text("utf-8")
    storage = r"^(storage|(event_log|run|schedule)_storage|instance_class)\s*:"
    if not re.search(storage, written, re.M):
        present = written.rstrip("\n")
        event_log = content[content.index(EVENT_LOG) :]
        write_atomically(path, f"{present}\n\n{event_log}".encode())
    return home


def _missing_variables(configuration: str) -> list[str]:
    """Returns the environment variables that dagster.yaml names and this process lacks."""
    names = dict.fromkeys(re.findall(r"^\s*env:\s*(\w+)\s*$", configuration, re.MULTILINE))
    # `_open` sets DAGSTER_HOME itself.
    present = {"DAGSTER_HOME", *(name for name, value in os.environ.items() if value)}
    return [name for name in names if name not in present]
