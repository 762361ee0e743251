"""Where things lie: the checkout, the data folder, `memory.toml`, and which of two stores is the present one.

The commands that harnesses call at every session start come through here, and so do the settings, so that both find the same
store. What those commands need is told in plain text and imports nothing: `pathlib` alone would cost them a third of a start.

The working folder decides about nothing: it may be the clone of a stranger's repository, whose `memory.toml` could send
transcripts and keys to another server.
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
"""Folder, below the data folder, of the store that shows the bundled sample."""


def default_data() -> "Path":
    """Returns the data folder: `data/store` in a checkout, else the platform's folder for application data."""
    from pathlib import Path

    return Path(_default())


def application_data(platform: str, environ: "Mapping[str, str]", home: "str | Path") -> str:
    """Returns where the platform keeps a user's application data."""
    if platform == "win32":
        return environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    if platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    return _absolute(environ.get("XDG_DATA_HOME")) or os.path.join(home, ".local", "share")


def application_settings(platform: str, environ: "Mapping[str, str]", home: "str | Path") -> str:
    """Returns where the platform keeps a user's settings."""
    if platform == "win32":
        return environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
    if platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    return _absolute(environ.get("XDG_CONFIG_HOME")) or os.path.join(home, ".config")


def user_settings_file(environ: "Mapping[str, str]" = os.environ) -> str:
    """Returns the `memory.toml` in the user's configuration folder, whether or not it is there."""
    return os.path.join(application_settings(sys.platform, environ, _home()), "memory_assets", SETTINGS_FILE)


def data_settings_file(environ: "Mapping[str, str]" = os.environ) -> str:
    """Returns the `memory.toml` in the data folder, whether or not it is there."""
    return os.path.join(find_data(environ), SETTINGS_FILE)


def settings_files(environ: "Mapping[str, str]" = os.environ) -> list[str]:
    """Returns each `memory.toml` that applies, the stronger first: the user's, then the data folder's."""
    found = [file for file in (user_settings_file(environ), data_settings_file(environ)) if os.path.isfile(file)]
    return found[:1] if len(found) == 2 and os.path.samefile(*found) else found


def ignored_settings_file(environ: "Mapping[str, str]" = os.environ) -> str | None:
    """Returns the `memory.toml` in the working folder, which is not read; None where there is none, or it applies anyway."""
    try:
        file = os.path.join(os.getcwd(), SETTINGS_FILE)
        is_read = not os.path.isfile(file) or any(os.path.samefile(file, read) for read in settings_files(environ))
    except OSError:
        return None  # the working folder is gone
    return None if is_read else file


def find_data(environ: "Mapping[str, str]" = os.environ) -> str:
    """Returns the data folder: from the environment, else from the user's `memory.toml`, else the default."""
    named = os.path.expanduser(environ.get("MEMORY_DATA") or _data_in(user_settings_file(environ)) or _default())
    return named if os.path.isabs(named) else os.path.join(os.getcwd(), named)


def present_root(data: str) -> str:
    """Returns the present store: the main one once it exists, else the sample's once that exists, else the main one to be."""
    sample = os.path.join(data, SAMPLE)
    if os.path.isfile(os.path.join(data, "VERSION")) or not os.path.isfile(os.path.join(sample, "VERSION")):
        return data
    return sample


def data_folder(environ: "Mapping[str, str]" = os.environ) -> "Path":
    """Returns the data folder as a path."""
    from pathlib import Path

    return Path(find_data(environ))


def harness_homes(home: "Path", environ: "Mapping[str, str]" = os.environ) -> "dict[str, Path]":
    """Returns the folder of each harness's settings, transcripts and memories, by its name, whether or not it is there."""

    def folder(variable: str, *usual: str) -> "Path":
        return type(home)(os.path.expanduser(environ.get(variable) or home.joinpath(*usual)))

    return {
        "claude_code": folder("CLAUDE_CONFIG_DIR", ".claude"),
        "codex": folder("CODEX_HOME", ".codex"),
        "pi": folder("PI_CODING_AGENT_DIR", ".pi", "agent"),
    }


def store_root(data: "Path") -> "Path":
    """Returns the present store as a path."""
    return type(data)(present_root(str(data)))


def _default() -> str:
    if all(os.path.isfile(os.path.join(CHECKOUT, name)) for name in ("pyproject.toml", "workspace.yaml")):
        return os.path.join(CHECKOUT, "data", "store")
    return os.path.join(application_data(sys.platform, os.environ, _home()), "memory_assets")


def _home() -> str:
    """Returns the user's home, never a folder below the working one: where nobody knows it, `~` stays as it is."""
    return os.path.join(os.path.abspath(os.sep), os.path.expanduser("~"))


def _absolute(folder: str | None) -> str | None:
    """Returns the folder; None for a relative one, which the XDG specification has ignored."""
    return folder.strip() if folder and os.path.isabs(folder.strip()) else None


def _data_in(file: str) -> str | None:
    """Returns the data folder that the file names, from the file's own folder on; None where it names none."""
    try:
        with open(file, "rb") as opened:
            content = opened.read()
        if b"data" not in content:
            return None
        import tomllib

        named = tomllib.loads(content.decode()).get("data")
    except (ValueError, OSError):
        return None  # the settings say what is wrong with it; a session start must not fail over it
    return os.path.join(os.path.dirname(file), os.path.expanduser(named)) if named and isinstance(named, str) else None
