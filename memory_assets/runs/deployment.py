"""Dagster's configuration for a deployment: SQLite in the store's folder, or a PostgreSQL server.

    local      runs and events in SQLite, in the store's folder
    postgres   runs, events, schedules and sensors in a PostgreSQL server

The file names an environment variable and holds no address and no password.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from memory_assets.errors import SettingsError
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder, text_of, write_atomically

Deployment = Literal["local", "postgres"]

POSTGRES_URL = "DAGSTER_POSTGRES_URL"
CELERY_URL = "DAGSTER_CELERY_URL"
VARIABLES: Mapping[Deployment, tuple[str, ...]] = {"local": (), "postgres": (POSTGRES_URL,)}
"""Environment variables that each process of the deployment needs."""

EVENT_LOG = "# Keeps the event log open"
"""The line of dagster.yaml where the event log on SQLite begins, which a file with another storage
lacks.
"""

BEFORE = ".before"
"""Ending of a file's copy from before it was replaced."""


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
    """Returns Dagster's configuration for the deployment; with `write` it replaces the present one,
    which is kept beside it.
    """
    store = Store(settings, settings.data)
    content = dagster_yaml(deployment)
    path = store.dagster_home / "dagster.yaml"
    if not write:
        return DagsterConfiguration(
            deployment, path, content, _diff(path, content), VARIABLES[deployment]
        )
    if not (store.root / "VERSION").is_file():
        raise SettingsError(
            f"There is no memory in {store.root} to configure. Run `memory up` first."
        )
    with store.lock():
        diff = _diff(path, content)
        before = path.with_name(path.name + BEFORE) if path.is_file() else None
        if diff:
            make_folder(path.parent)
            if before:
                write_atomically(before, path.read_bytes())
            write_atomically(path.resolve(), content.encode())
    return DagsterConfiguration(
        deployment, path, content, diff, VARIABLES[deployment], True, before if diff else None
    )


def dagster_yaml(deployment: Deployment) -> str:
    """Returns Dagster's configuration for the deployment."""
    text = _read("dagster.yaml")
    if deployment == "local":
        return text
    return text[: text.index(EVENT_LOG)] + _read("postgres.yaml")


def missing_variables(home: Path, environment: Mapping[str, str]) -> list[str]:
    """Returns the environment variables with addresses that the home's dagster.yaml names and this
    process lacks.
    """
    named = re.findall(
        rf"^\s*env:\s*({POSTGRES_URL})\s*$", text_of(home / "dagster.yaml"), re.MULTILINE
    )
    return [name for name in dict.fromkeys(named) if not environment.get(name)]


def _read(name: str) -> str:
    return files("memory_assets.runs").joinpath(name).read_text("utf-8")


def _diff(path: Path, content: str) -> str:
    lines = (text.splitlines(keepends=True) for text in (text_of(path), content))
    return "".join(difflib.unified_diff(*lines, fromfile=str(path), tofile=f"{path} (new)"))
