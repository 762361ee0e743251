"""Paths: the checkout, the data folder, `memory.toml`, and the current store.

The settings and the commands that harnesses call at every session start both use this module, so
that they find the same store. Paths are strings: importing `pathlib` alone would take a third of a
command's start.

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
SAMPLE = "sample"
"""Folder of the bundled sample's store, below the data folder."""

APPLICATION_FOLDERS = {
    "data": ("LOCALAPPDATA", "Local", "XDG_DATA_HOME", os.path.join(".local", "share")),
    "settings": ("APPDATA", "Roaming", "XDG_CONFIG_HOME", ".config"),
}
"""Variable and folder on Windows, variable and folder elsewhere."""


def application_folder(
    kind: str, platform: str, environ: "Mapping[str, str]", home: "str | Path"
) -> str:
    """Returns the platform's folder for a user's application data (`data`) or settings
    (`settings`).
    """
    windows, roaming, xdg, usual = APPLICATION_FOLDERS[kind]
    if platform == "win32":
        return environ.get(windows) or os.path.join(home, "AppData", roaming)
    if platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    folder = (environ.get(xdg) or "").strip()
    # The XDG specification ignores relative folders.
    return folder if os.path.isabs(folder) else os.path.join(home, usual)


def default_data() -> str:
    """Returns the data folder: `data/store` in a checkout, else the platform's folder for
    application data.
    """
    if all(
        os.path.isfile(os.path.join(CHECKOUT, name))
        for name in ("pyproject.toml", "workspace.yaml")
    ):
        return os.path.join(CHECKOUT, "data", "store")
    return os.path.join(
        application_folder("data", sys.platform, os.environ, _home()), "memory_assets"
    )


def user_settings_file(environ: "Mapping[str, str]" = os.environ) -> str:
    """Returns the path of `memory.toml` in the user's configuration folder, whether or not it
    exists.
    """
    return os.path.join(
        application_folder("settings", sys.platform, environ, _home()),
        "memory_assets",
        SETTINGS_FILE,
    )


def data_settings_file(environ: "Mapping[str, str]" = os.environ) -> str:
    """Returns the path of `memory.toml` in the data folder, whether or not it exists."""
    return os.path.join(find_data(environ), SETTINGS_FILE)


def settings_files(environ: "Mapping[str, str]" = os.environ) -> list[str]:
    """Returns each `memory.toml` that applies, in order of precedence: the user's, then the data
    folder's.
    """
    files = [
        file
        for file in (user_settings_file(environ), data_settings_file(environ))
        if os.path.isfile(file)
    ]
    return files[:1] if len(files) == 2 and os.path.samefile(*files) else files


def ignored_settings_file(environ: "Mapping[str, str]" = os.environ) -> str | None:
    """Returns the `memory.toml` in the working folder, which is not read; None if there is none, or
    it applies anyway.
    """
    try:
        file = os.path.join(os.getcwd(), SETTINGS_FILE)
        is_read = not os.path.isfile(file) or any(
            os.path.samefile(file, read) for read in settings_files(environ)
        )
    except OSError:
        return None  # the working folder was deleted
    return None if is_read else file


def find_data(environ: "Mapping[str, str]" = os.environ) -> str:
    """Returns the data folder: from the environment, else from the user's `memory.toml`, else the
    default.
    """
    named = os.path.expanduser(
        environ.get("MEMORY_DATA") or _data_in(user_settings_file(environ)) or default_data()
    )
    return named if os.path.isabs(named) else os.path.join(os.getcwd(), named)


def present_root(data: str) -> str:
    """Returns the current store: the main one if it exists, else the sample's if it exists, else
    the main one.
    """
    sample = os.path.join(data, SAMPLE)
    if os.path.isfile(os.path.join(data, "VERSION")) or not os.path.isfile(
        os.path.join(sample, "VERSION")
    ):
        return data
    return sample


def _home() -> str:
    """Returns the user's home, never a folder below the working one: an unknown home stays `~`."""
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

        named = tomllib.loads(content.decode()).get("data")
    except (ValueError, OSError):
        return None  # reading the settings reports the error; a session start must not fail
    if named and isinstance(named, str):
        return os.path.join(os.path.dirname(file), os.path.expanduser(named))
    return None
