"""Writes the two files that settings are read from."""

from pathlib import Path

from memory_assets.store.places import data_settings_file, user_settings_file


def user_settings(text: str) -> Path:
    """Writes the `memory.toml` of the user's configuration folder and returns its path."""
    return _written(Path(user_settings_file()), text)


def data_settings(text: str) -> Path:
    """Writes the `memory.toml` of the data folder and returns its path."""
    return _written(Path(data_settings_file()), text)


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path
