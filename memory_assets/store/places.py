"""Paths: the checkout, the data folder, `memory.toml`, and the current store.

The settings use this module, and so do the commands that harnesses call at every session start:
both find the same store. Paths are strings, because importing `pathlib` alone would take a third of
the start of such a command.

The working folder has no influence: it may be the clone of a stranger's repository, whose
`memory.toml` could send transcripts and keys to another server.
"""

import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SETTINGS_FILE = "memory.toml"
INSTANCE_FILE = "instance.json"
"""File of a store with the zone of its days."""

SAMPLE = "sample"
"""Folder of the bundled sample's store, below the data folder."""

APPLICATION_FOLDERS = {
    "data": ("LOCALAPPDATA", "Local", "XDG_DATA_HOME", os.path.join(".local", "share")),
    "settings": ("APPDATA", "Roaming", "XDG_CONFIG_HOME", ".config"),
}
"""Kind → variable and default folder on Windows, variable and default folder on other systems."""


def application_folder(
    kind: str, platform: str, environ: "Mapping[str, str]", home: "str | Path"
) -> str:
    """Returns the platform's folder for a user's application data (`data`) or settings
    (`settings`).
    """
    windows_variable, windows_folder, xdg_variable, xdg_folder = APPLICATION_FOLDERS[kind]
    if platform == "win32":
        return environ.get(windows_variable) or os.path.join(home, "AppData", windows_folder)
    if platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    folder = (environ.get(xdg_variable) or "").strip()
    # The XDG specification ignores relative folders.
    return folder if os.path.isabs(folder) else os.path.join(home, xdg_folder)


def default_data() -> str:
    """Returns the data folder: `data/store` in a checkout, else the platform's folder for
    application data.
    """
    files = ("pyproject.toml", "workspace.yaml")
    if all(os.path.isfile(os.path.join(CHECKOUT, name)) for name in files):
        return os.path.join(CHECKOUT, "data", "store")
    folder = application_folder("data", sys.platform, os.environ, home_folder())
    return os.path.join(folder, "memory_assets")


def user_settings_file(environ: "Mapping[str, str]" = os.environ) -> str:
    """Returns the path of `memory.toml` in the user's configuration folder, whether or not it
    exists.
    """
    folder = application_folder("settings", sys.platform, environ, home_folder())
    return os.path.join(folder, "memory_assets", SETTINGS_FILE)


def data_settings_file(environ: "Mapping[str, str]" = os.environ) -> str:
    """Returns the path of `memory.toml` in the data folder, whether or not it exists."""
    return os.path.join(find_data(environ), SETTINGS_FILE)


def settings_files(environ: "Mapping[str, str]" = os.environ) -> list[str]:
    """Returns each `memory.toml` that applies, in order of precedence: the user's, then the data
    folder's.
    """
    candidates = (user_settings_file(environ), data_settings_file(environ))
    files = [file for file in candidates if os.path.isfile(file)]
    return files[:1] if len(files) == 2 and os.path.samefile(*files) else files


def ignored_settings_file(environ: "Mapping[str, str]" = os.environ) -> str | None:
    """Returns the `memory.toml` in the working folder if it is not read; None if there is none, or
    it is one of `settings_files`.
    """
    try:
        file = os.path.join(os.getcwd(), SETTINGS_FILE)
        if not os.path.isfile(file):
            return None
        is_read = any(os.path.samefile(file, path) for path in settings_files(environ))
    except OSError:
        return None  # the working folder was deleted
    return None if is_read else file


def find_data(environ: "Mapping[str, str]" = os.environ) -> str:
    """Returns the data folder: from the environment, else from the user's `memory.toml`, else the
    default.
    """
    folder = environ.get("MEMORY_DATA") or _data_in(user_settings_file(environ))
    folder = os.path.expanduser(folder or default_data())
    return folder if os.path.isabs(folder) else os.path.join(os.getcwd(), folder)


def present_root(data: str) -> str:
    """Returns the folder of the current store: the sample's if only the sample exists, else
    `data`.
    """
    sample = os.path.join(data, SAMPLE)
    if os.path.isfile(os.path.join(data, "VERSION")):
        return data
    return sample if os.path.isfile(os.path.join(sample, "VERSION")) else data


def home_folder() -> str:
    """Returns the user's home as an absolute path. An unknown home is `/~`: it must not become a
    folder below the working folder.
    """
    return os.path.join(os.path.abspath(os.sep), os.path.expanduser("~"))


def _data_in(file: str) -> str | None:
    """Returns the data folder set in the file, relative to the file's folder; None if it sets
    none.
    """
    try:
        with open(file, "rb") as opened:
            content = opened.read()
        if b"data" not in content:
            return None
        import tomllib

        folder = tomllib.loads(content.decode()).get("data")
    except (ValueError, OSError):
        return None  # reading the settings reports the error; a session start must not fail
    if folder and isinstance(folder, str):
        return os.path.join(os.path.dirname(file), os.path.expanduser(folder))
    return None
