"""Where things lie: the checkout, the data folder, `memory.toml`, and which of two stores is the present one.

Standard library only: the commands that harnesses call at every session start come through here, and so do the settings,
so that both find the same store.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
SETTINGS_FILE = "memory.toml"
SAMPLE = "sample"
"""Folder, below the data folder, of the store that shows the bundled sample."""


def default_data() -> Path:
    """Returns the data folder: `data/store` in a checkout, else the platform's folder for application data."""
    if (CHECKOUT / "pyproject.toml").is_file() and (CHECKOUT / "workspace.yaml").is_file():
        return CHECKOUT / "data" / "store"
    return application_data(sys.platform, os.environ, Path.home()) / "memory_assets"


def application_data(platform: str, environ: Mapping[str, str], home: Path) -> Path:
    """Returns where the platform keeps a user's application data."""
    if platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if platform == "darwin":
        return home / "Library" / "Application Support"
    return Path(environ.get("XDG_DATA_HOME", "").strip() or home / ".local" / "share")


def settings_file(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Returns the `memory.toml` that applies: the working folder's, else the data folder's."""
    for folder in (Path.cwd(), Path(environ.get("MEMORY_DATA") or default_data()).expanduser()):
        if (folder / SETTINGS_FILE).is_file():
            return folder / SETTINGS_FILE
    return None


def data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Returns the data folder as the settings would: from the environment, else from `memory.toml`, else the default."""
    named = environ.get("MEMORY_DATA") or _data_in(settings_file(environ)) or default_data()
    return Path(named).expanduser().absolute()


def store_root(data: Path) -> Path:
    """Returns the present store: the main one once it exists, else the sample's once that exists, else the main one to be."""
    if (data / "VERSION").is_file() or not (data / SAMPLE / "VERSION").is_file():
        return data
    return data / SAMPLE


def _data_in(file: Path | None) -> str | None:
    if file is None:
        return None
    import tomllib

    try:
        return tomllib.loads(file.read_text("utf-8")).get("data")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError):
        return None  # the settings say what is wrong with it; a session start must not fail over it
