"""A harness's folder, as a variable of the environment may name it."""

from pathlib import Path


def folder_named(value: str | None, usual: Path) -> Path:
    """Returns the folder that the variable names, else the usual one; it may not exist."""
    return type(usual)(value).expanduser() if value else usual
