"""Dagster's configuration for a deployment: SQLite in the store's folder, or a PostgreSQL server.

    local      runs and events in SQLite, in the store's folder
    postgres   runs, events, schedules and sensors in a PostgreSQL server

The configuration names the environment variable that holds the server's address and password.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from memory_assets.errors import SettingsError
from memory_assets.runs.instance import EVENT_LOG, local_configuration
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, text_of, write_atomically

Deployment = Literal["local", "postgres"]

POSTGRES_URL = "DAGSTER_POSTGRES_URL"
CELERY_URL = "DAGSTER_CELERY_URL"
VARIABLES: Mapping[Deployment, tuple[str, ...]] = {"local": (), "postgres": (POSTGRES_URL,)}
"""Environment variables that each process of the deployment needs."""

COPY_SUFFIX = ".before"
"""Suffix of the copy of a file that is replaced."""


@dataclass(frozen=True)
class DagsterConfiguration:
    """The `dagster.yaml` of a deployment, and what its processes need."""

    deployment: Deployment
    path: Path
    content: str
    diff: str
    """What differs from the present file; empty if nothing does."""
    variables: tuple[str, ...]
    """Environment variables that each process needs."""
    is_written: bool = False
    before: Path | None = None
    """Where the replaced file was kept."""


def configure(
    settings: Settings, deployment: Deployment, *, write: bool = False
) -> DagsterConfiguration:
    """Returns Dagster's configuration for the deployment.

    With `write` it replaces the present file, after copying it. Raises `SettingsError` if there is
    no store.
    """
    store = Store(settings, settings.data)
    path = store.dagster_home / "dagster.yaml"
    content = dagster_yaml(deployment)
    variables = VARIABLES[deployment]
    if not write:
        return DagsterConfiguration(deployment, path, content, _diff(path, content), variables)
    if not (store.root / "VERSION").is_file():
        raise SettingsError(
            f"There is no memory in {store.root} to configure. Run `memory up` first."
        )
    copy = None
    with store.lock():
        diff = _diff(path, content)
        if diff:
            make_folder(path.parent)
            if path.is_file():
                copy = path.with_name(path.name + COPY_SUFFIX)
                write_atomically(copy, path.read_bytes())
            write_atomically(path.resolve(), content.encode())
    return DagsterConfiguration(deployment, path, content, diff, variables, True, copy)


def dagster_yaml(deployment: Deployment) -> str:
    """Returns the text of `dagster.yaml` for the deployment."""
    local = local_configuration()
    if deployment == "local":
        return local
    postgres = files("memory_assets.extras.scaling").joinpath("postgres.yaml").read_text("utf-8")
    return local[: local.index(EVENT_LOG)] + postgres


def _diff(path: Path, content: str) -> str:
    lines = (text.splitlines(keepends=True) for text in (text_of(path), content))
    return "".join(difflib.unified_diff(*lines, fromfile=str(path), tofile=f"{path} (new)"))
