"""Where things lie: the checkout, the data folder, `memory.toml`, and which of two stores is the present one.

The commands that harnesses call at every session start come through here, and so do the settings, so that both find the same
store. What those commands need is told in plain text and imports nothing: `pathlib` alone would cost them a third of a start.
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
    return environ.get("XDG_DATA_HOME", "").strip() or os.path.join(home, ".local", "share")


def settings_file(environ: "Mapping[str, str]" = os.environ) -> str | None:
    """Returns the `memory.toml` that applies: the working folder's, else the data folder's."""
    for folder in (os.getcwd(), os.path.expanduser(environ.get("MEMORY_DATA") or _default())):
        if os.path.isfile(file := os.path.join(folder, SETTINGS_FILE)):
            return file
    return None


def find_data(environ: "Mapping[str, str]" = os.environ) -> str:
    """Returns the data folder as the settings would: from the environment, else from `memory.toml`, else the default."""
    named = environ.get("MEMORY_DATA") or _data_in(settings_file(environ)) or _default()
    return os.path.join(os.getcwd(), os.path.expanduser(named))


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
    return os.path.join(application_data(sys.platform, os.environ, os.path.expanduser("~")), "memory_assets")


def _data_in(file: str | None) -> str | None:
    if file is None:
        return None
    import tomllib

    try:
        with open(file, "rb") as opened:
            return tomllib.load(opened).get("data")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError):
        return None  # the settings say what is wrong with it; a session start must not fail over it
