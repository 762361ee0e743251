"""The JSON envelope of answers in every interface: `{v, ok, data, warnings}`, and `error` with its
message on failure.
"""

import errno
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import orjson

from memory_assets.errors import MemoryAssetsError, causes_of
from memory_assets.text.visible import visible_json

VERSION = 1
"""Version of the envelope."""

USE_ANOTHER_DISK = "Make it writable, or set MEMORY_DATA to a folder of another one"
CHECK_THE_DISK = "Check the disk (`memory doctor --deep` reads every stored byte)"
DISK_ERRORS = {
    errno.ENOSPC: ("The disk is full", "Free space"),
    errno.EDQUOT: ("The quota of the disk is used up", "Free space"),
    errno.EROFS: ("The disk is read-only", USE_ANOTHER_DISK),
    errno.EACCES: ("A file may not be used", "Fix its permissions"),
    errno.EPERM: ("A file may not be used", "Fix its permissions"),
    errno.EIO: ("The disk reports an error", CHECK_THE_DISK),
    errno.ELOOP: ("A link is not followed", "Replace it by the file itself, or delete it"),
}
"""Number of an error of the disk → what happened, and what to do."""

NO_HOME = "Could not determine home directory"
"""Beginning of pathlib's message about a user without HOME and without an entry of passwd."""

JSON_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


def envelope_of(data: Any, warnings: Sequence[str] = (), *, ok: bool = True) -> dict[str, Any]:
    """Returns the envelope of an answer."""
    return {"v": VERSION, "ok": ok, "data": data, "warnings": list(warnings)}


def warnings_of(answer: Any) -> Sequence[str]:
    """Returns the warnings about an answer of the facade."""
    return getattr(answer, "warnings", None) or getattr(answer, "notes", ())


def failure_envelope(error: BaseException, message: str | None = None) -> dict[str, Any]:
    """Returns the envelope of a failure, with the type and the message of its cause."""
    cause = {"type": type(cause_of(error)).__name__, "message": message or message_of(error)}
    return envelope_of(None, ok=False) | {"error": cause}


def cause_of(error: BaseException) -> BaseException:
    """Returns the first error in the chain of causes that is the package's own or the disk's.

    Without one, returns the error itself. Dagster wraps the errors of steps into its own.
    """
    return next((cause for cause in causes_of(error) if _is_own(cause)), error)


def _is_own(error: BaseException) -> bool:
    return isinstance(error, MemoryAssetsError) or disk_error(error) in DISK_ERRORS


def disk_error(error: BaseException) -> int | None:
    """Returns the number of the error of the disk; for a link to nothing that of a link that is not
    followed. What is missing without a link is no error of the disk.
    """
    if not isinstance(error, OSError):
        return None
    is_link = isinstance(error.filename, str) and Path(error.filename).is_symlink()
    is_lost = isinstance(error, FileNotFoundError | FileExistsError) and is_link
    return errno.ELOOP if is_lost else error.errno


def message_of(error: BaseException) -> str:
    """Returns the message for people, about the cause of the error."""
    cause = cause_of(error)
    if isinstance(cause, MemoryAssetsError):
        return str(cause)
    number = disk_error(cause)
    if number in DISK_ERRORS:
        problem, remedy = DISK_ERRORS[number]
        again = "then run the same command again; it continues where it stopped"
        return f"{problem}: {cause}. {remedy}, {again}."
    if type(cause).__name__ == "DagsterAssetCheckFailedError":
        return (
            f"{' '.join(str(cause).split())}. Its page in the UI of `memory up` lists what failed."
        )
    if str(error).startswith(NO_HOME):
        return "The home folder of this user is not known. Set HOME to a folder, and run it again."
    bug = f"{type(error).__name__}: {error}. This is a bug in memory_assets"
    return f"{bug}; --debug shows where it happened."


def to_json(value: Any) -> bytes:
    """Returns the value as one line of JSON.

    Characters that control a terminal and tags that a model may obey are made visible.
    """
    return visible_json(orjson.dumps(value, default=_plain, option=JSON_OPTIONS).decode()).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.name != "warnings"]
        return {name: getattr(value, name) for name in names if not name.startswith("_")}
    raise TypeError(f"{type(value).__name__} has no JSON form")
