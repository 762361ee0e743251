"""Installs hooks into the settings of harnesses and takes them out again, touching nothing that is not ours.

What is to happen to each file is planned first, so that it can be shown without doing it. A record in the data folder
(`hooks.json`) holds hashes and places of what was inserted, never the settings themselves: a file that nobody edited since is
restored byte for byte; in one that somebody did, only our part is removed.
"""

import difflib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from stat import S_IMODE
from typing import Any

from memory_assets.errors import HooksError, NotOursError
from memory_assets.stages.deliver.harnesses import Harness
from memory_assets.stages.deliver.json_text import apply
from memory_assets.stages.deliver.parts import OwnFile, Part
from memory_assets.text.files import make_folder, replace_if_same, write_atomically, write_json

RECORD = "hooks.json"

INSTALLED, CURRENT, REMOVED, ABSENT = "installed", "already installed", "removed", "not installed"
OUTDATED, LEFT, ELSEWHERE, FAILED = "outdated", "left as it is", "not on this machine", "failed"


@dataclass(frozen=True)
class Made:
    """What was made of a file when hooks were installed."""

    before: str | None
    """Hash of the file as it was; None where there was none."""
    after: str
    inserted: list[list[int]]
    """Where each insertion begins and ends in the file as it became."""
    kept: list[str]
    """What was there already, and stays even if it holds nothing else."""
    is_folder_new: bool = False
    """The folder of the file was made, too."""


@dataclass(frozen=True)
class Change:
    """What is to become of one file, or has."""

    harness: str
    path: Path
    state: str
    note: str = ""
    before: bytes | None = field(default=None, repr=False)
    after: bytes | None = field(default=None, repr=False)
    made: Made | None = field(default=None, repr=False)
    beside: Path | None = None
    """Where what somebody wrote into a file of ours is kept."""

    @property
    def is_change(self) -> bool:
        """Whether anything is written."""
        return self.before != self.after

    def diff(self) -> str:
        """Returns the change as a unified diff."""
        old, new = ((one or b"").decode("utf-8", "replace").splitlines(keepends=True) for one in (self.before, self.after))
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """Returns it for programs."""
        told = {"harness": self.harness, "path": self.path, "state": self.state, "note": self.note}
        return {**told, "is_change": self.is_change, "diff": self.diff() if self.is_change else "", "beside": self.beside}


def plan_install(harnesses: Sequence[Harness], store: Path) -> list[Change]:
    """Returns what installing would do to each file; a harness that is not on this machine is left out."""
    record = _read_record(store)
    return [change for harness in harnesses for change in _each(harness, record, _plan_adding)]


def plan_uninstall(harnesses: Sequence[Harness], store: Path) -> list[Change]:
    """Returns what uninstalling would do to each file."""
    record = _read_record(store)
    return [change for harness in harnesses for change in _each(harness, record, _plan_removing)]


def status(harnesses: Sequence[Harness], store: Path) -> list[Change]:
    """Returns how each file stands."""
    record = _read_record(store)
    return [change for harness in harnesses for change in _each(harness, record, _look)]


def carry_out(changes: Sequence[Change], store: Path) -> list[Change]:
    """Writes the changes and returns them; one that cannot be written is told with the reason and stops no other."""
    return [_carry_out(change, store) if change.is_change else change for change in changes]


def _each(harness: Harness, record: Mapping[str, Made], plan: Any) -> list[Change]:
    if not harness.home.is_dir():
        return [Change(harness.name, harness.home, ELSEWHERE, f"{harness.title} has no settings here.")]
    found = []
    for part in harness.parts:
        try:
            found.append(plan(harness, part, _read(part.path), record.get(str(part.path))))
        except NotOursError as error:
            found.append(Change(harness.name, part.path, LEFT, str(error)))
        except HooksError as error:
            found.append(Change(harness.name, part.path, FAILED, str(error)))
    return found


def _plan_adding(harness: Harness, part: Part, before: bytes | None, made: Made | None) -> Change:
    text = _decode(before, part)
    if part.is_in(text) and part.is_current(text):
        return Change(harness.name, part.path, CURRENT, part.advice)
    base = _without(part, before, made) if part.is_in(text) else before
    insertions = part.add(_decode(base, part))
    after = apply(_decode(base, part), insertions).encode()
    now = Made(
        before=None if base is None else _hash(base),
        after=_hash(after),
        inserted=_spans(insertions),
        kept=part.kept(_decode(base, part)),
        is_folder_new=not part.path.parent.is_dir() or bool(made and made.is_folder_new),
    )
    return Change(harness.name, part.path, INSTALLED, part.advice, before, after, now)


def _plan_removing(harness: Harness, part: Part, before: bytes | None, made: Made | None) -> Change:
    if before is None or not part.is_in(_decode(before, part)):
        return Change(harness.name, part.path, ABSENT)
    is_as_made = part.is_current(_decode(before, part)) or (made is not None and made.after == _hash(before))
    is_edited = isinstance(part, OwnFile) and not is_as_made
    beside = part.path.with_name(f"{part.path.name}.edited") if is_edited else None
    note = f"You had edited it; it is kept as {beside}." if beside else ""
    return Change(harness.name, part.path, REMOVED, note, before, _without(part, before, made), beside=beside)


def _look(harness: Harness, part: Part, before: bytes | None, made: Made | None) -> Change:
    text = _decode(before, part)
    if not part.is_in(text):
        return Change(harness.name, part.path, ABSENT, "`memory hooks install` adds it.")
    if not part.is_current(text):
        return Change(harness.name, part.path, OUTDATED, "It calls another command or store; `memory hooks install` renews it.")
    return Change(harness.name, part.path, INSTALLED, part.advice)


def _without(part: Part, content: bytes | None, made: Made | None) -> bytes | None:
    """Returns the file without what is ours: as it was, where nobody edited it since."""
    if content is None:
        return None
    text = _decode(content, part)
    if made and made.after == _hash(content):
        for start, end in sorted(made.inserted, reverse=True):
            text = text[:start] + text[end:]
        return None if made.before is None else text.encode()
    left = part.remove(text, made.kept if made else ())
    is_ours = isinstance(part, OwnFile) or (made is not None and made.before is None)
    return None if is_ours and left.strip() in ("", "{}") else left.encode()


def _carry_out(change: Change, store: Path) -> Change:
    path = Path(os.path.realpath(change.path))  # through a link, which stays one
    try:
        if change.made:
            # Before it is done: noted afterwards, a killed process would have forgotten what it did.
            _keep_record(store, change)
        if change.beside and change.before is not None:
            write_atomically(change.beside, change.before)
        if change.after is None:
            path.unlink()
            _remove_folder(path.parent, _read_record(store).get(str(change.path)))
        elif not replace_if_same(path, change.before, change.after, _mode_of(path)):
            raise HooksError("somebody else wrote it at this moment, so try again")
        if not change.made:
            _keep_record(store, change)
    except (OSError, HooksError) as error:
        return Change(change.harness, change.path, FAILED, f"Cannot write {change.path}: {error}.")
    return change


def _remove_folder(folder: Path, made: Made | None) -> None:
    """Removes the folder where it was made for our file and holds nothing else."""
    if made and made.is_folder_new and not any(folder.iterdir()):
        folder.rmdir()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HooksError(f"Cannot read {path}: {error.strerror or error}.") from error


def _decode(content: bytes | None, part: Part) -> str:
    try:
        return (content or b"").decode()
    except UnicodeDecodeError as error:
        raise HooksError(f"Cannot read {part.path}: it is no UTF-8. Mend it, then try again.") from error


def _spans(insertions: Sequence[Any]) -> list[list[int]]:
    found, moved = [], 0
    for one in sorted(insertions, key=lambda one: one.at):
        found.append([one.at + moved, one.at + moved + len(one.text)])
        moved += len(one.text)
    return found


def _mode_of(path: Path) -> int:
    return S_IMODE(path.stat().st_mode) if path.is_file() else 0o600


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read_record(store: Path) -> dict[str, Made]:
    try:
        return {path: Made(**made) for path, made in json.loads((store / RECORD).read_text("utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # without it our part is found by what it says


def _keep_record(store: Path, change: Change) -> None:
    """Notes what is made of the file, or that nothing of ours is in it any more."""
    record = {path: asdict(made) for path, made in _read_record(store).items()}
    record.pop(str(change.path), None)
    if change.made is not None:
        record[str(change.path)] = asdict(change.made)
    make_folder(store)
    write_json(store / RECORD, record)
