"""Installs hooks and our server of tools in the settings of harnesses, and removes them again.

Only our own part of a file is changed. The change of each file is planned first, so that it can be
shown without being made. The record `hooks.json` in the data folder has hashes of the files and the
places of our insertions, but no settings. Uninstalling restores a file byte for byte if nobody has
edited it since, and else removes only our part.
"""

import difflib
import json
import os
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from stat import S_IMODE
from typing import Any

from memory_assets.errors import HooksError, NotOursError
from memory_assets.harnesses.hook_parts import HookPart, OwnFile
from memory_assets.harnesses.hooks import HarnessSettings
from memory_assets.harnesses.json_text import Insertion, apply
from memory_assets.schema.vocabulary import HARNESS_TITLES
from memory_assets.text.files import replace_if_same, write_atomically, write_json
from memory_assets.text.words import text_hash

RECORD = "hooks.json"

INSTALLED, CURRENT, REMOVED, ABSENT = "installed", "already installed", "removed", "not installed"
OUTDATED, LEFT, ELSEWHERE, FAILED = "outdated", "left as it is", "not on this machine", "failed"


@dataclass(frozen=True)
class InstallRecord:
    """How a file was changed when hooks were installed; a row of `hooks.json`."""

    before: str | None
    """Hash of the file before the change; None if there was no file."""
    after: str
    """Hash of the file after the change."""
    inserted: list[list[int]]
    """Start and end of each insertion, in characters of the file after the change."""
    kept: list[str]
    """Containers that the file had before; they are not removed, even if they become empty."""
    new_folders: int = 0
    """How many folders above the file were created, too."""


@dataclass(frozen=True)
class HookChange:
    """The planned or completed change of one file."""

    harness: str
    path: Path
    state: str
    note: str = ""
    before: str | None = field(default=None, repr=False)
    """Text of the file before the change; None if there is no file."""
    after: str | None = field(default=None, repr=False)
    """Text of the file after the change; None if the file is deleted."""
    record: InstallRecord | None = field(default=None, repr=False)
    """What is recorded of an installation; None if hooks are removed."""
    beside: Path | None = None
    """Where a copy of our file goes that the owner had edited."""

    @property
    def is_change(self) -> bool:
        """Whether the file changes."""
        return self.before != self.after

    @property
    def has_failed(self) -> bool:
        """Whether the file could not be read or written."""
        return self.state == FAILED

    @property
    def is_elsewhere(self) -> bool:
        """Whether the harness is not on this machine."""
        return self.state == ELSEWHERE

    @property
    def is_incomplete(self) -> bool:
        """Whether installing would add something."""
        return self.state in (ABSENT, OUTDATED)

    @property
    def needs_attention(self) -> bool:
        """Whether the file has our part, but not as installing would write it."""
        return self.state in (LEFT, OUTDATED)

    def diff(self) -> str:
        """Returns the change as a unified diff."""
        old_lines = (self.before or "").splitlines(keepends=True)
        new_lines = (self.after or "").splitlines(keepends=True)
        lines = difflib.unified_diff(old_lines, new_lines, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """Returns the change as JSON answers show it."""
        names = ("harness", "path", "state", "note", "is_change")
        return {
            **{name: getattr(self, name) for name in names},
            "diff": self.diff() if self.is_change else "",
            "beside": self.beside,
        }


def plan_install(harnesses: Sequence[HarnessSettings], store: Path) -> list[HookChange]:
    """Returns how installing would change each file.

    A harness that is not on this machine gets one row of the state `ELSEWHERE`.
    """
    return _plan(_plan_adding, harnesses, store)


def plan_uninstall(harnesses: Sequence[HarnessSettings], store: Path) -> list[HookChange]:
    """Returns how uninstalling would change each file; what belongs to another store stays."""

    def plan_removing(
        harness: HarnessSettings, part: HookPart, text: str | None, record: InstallRecord | None
    ) -> HookChange:
        owner = Path(part.store_in(text or "") or store)
        if owner.resolve() == store.resolve() or not owner.is_dir():
            return _plan_removing(harness, part, text, record)
        command = shlex.join(["memory", "hooks", "uninstall", "--store", str(owner)])
        note = f"It belongs to the store {owner}; `{command}` removes it."
        return HookChange(harness.name, part.path, LEFT, note, text, text)

    return _plan(plan_removing, harnesses, store)


def status(harnesses: Sequence[HarnessSettings], store: Path) -> list[HookChange]:
    """Returns the state of each file."""
    return _plan(_state_of, harnesses, store)


def carry_out(changes: Sequence[HookChange], store: Path) -> list[HookChange]:
    """Writes the changes and returns them; one that fails gets the state `FAILED` and a note."""
    return [_carry_out(change, store) if change.is_change else change for change in changes]


def _plan(
    plan: Callable[..., HookChange], harnesses: Sequence[HarnessSettings], store: Path
) -> list[HookChange]:
    """Returns the change that `plan` makes of each part of each harness."""
    changes = list[HookChange]()
    for harness in harnesses:
        if not harness.is_here:
            title = HARNESS_TITLES[harness.name]
            note = f"{title} has no settings here, and `{harness.program}` is not on PATH."
            changes.append(HookChange(harness.name, harness.home, ELSEWHERE, note))
            continue
        for part in harness.parts:
            try:
                text = _read(part.path)
                change = plan(harness, part, text, _record_of(part, text or "", store))
                changes.append(replace(change, note=change.note or _note(part, change)))
            except HooksError as error:
                state = LEFT if isinstance(error, NotOursError) else FAILED
                changes.append(HookChange(harness.name, part.path, state, str(error)))
    return changes


def _plan_adding(
    harness: HarnessSettings, part: HookPart, text_before: str | None, record: InstallRecord | None
) -> HookChange:
    is_current = part.is_current(text_before or "")
    if is_current:
        return HookChange(harness.name, part.path, CURRENT, before=text_before, after=text_before)
    original = text_before
    if text_before and is_current is not None:
        original = _without(part, text_before, record)
    text = original or ""
    insertions = part.add(text)
    after = apply(text, insertions)
    recorded_folders = record.new_folders if record else 0
    new_record = InstallRecord(
        before=None if original is None else text_hash(original),
        after=text_hash(after),
        inserted=_spans(insertions),
        kept=part.kept(text),
        new_folders=_count_missing(part.path.parent) or recorded_folders,
    )
    return HookChange(harness.name, part.path, INSTALLED, "", text_before, after, new_record)


def _plan_removing(
    harness: HarnessSettings, part: HookPart, text_before: str | None, record: InstallRecord | None
) -> HookChange:
    is_current = part.is_current(text_before or "")
    if text_before is None or is_current is None:
        return HookChange(harness.name, part.path, ABSENT)
    is_as_recorded = record is not None and record.after == text_hash(text_before)
    is_edited = isinstance(part, OwnFile) and not (is_current or is_as_recorded)
    beside = part.path.with_name(f"{part.path.name}.edited") if is_edited else None
    note = f"You had edited it; it is kept as {beside}." if beside else ""
    after = _without(part, text_before, record)
    return HookChange(harness.name, part.path, REMOVED, note, text_before, after, beside=beside)


def _state_of(
    harness: HarnessSettings, part: HookPart, text_before: str | None, record: InstallRecord | None
) -> HookChange:
    states = {
        None: (ABSENT, "`memory hooks install` adds it."),
        False: (OUTDATED, "It calls another command or store; `memory hooks install` updates it."),
        True: (INSTALLED, ""),
    }
    state, note = states[part.is_current(text_before or "")]
    return HookChange(harness.name, part.path, state, note, text_before, text_before)


def _note(part: HookPart, change: HookChange) -> str:
    """Returns what a person should know about a part that is, or will be, installed."""
    if change.state not in (INSTALLED, CURRENT):
        return ""
    beside = _read(part.beside) if part.beside else None
    return part.note(change.after or "", beside or "")


def find_chosen(harnesses: Sequence[HarnessSettings], event: str) -> frozenset[str]:
    """Returns the names of the harnesses in which we have a hook at the optional event.

    Settings that cannot be read are skipped.
    """
    names = set()
    for harness in harnesses:
        for part in harness.parts:
            with suppress(HooksError):
                if event in part.optional_events(_read(part.path) or ""):
                    names.add(harness.name)
    return frozenset(names)


def _without(part: HookPart, text: str, record: InstallRecord | None) -> str | None:
    """Returns the file without our part; None if nothing is left of it, so that it is deleted.

    If nobody edited the file since installing, the result is exactly the file before.
    """
    if record and record.after == text_hash(text):
        for start, end in sorted(record.inserted, reverse=True):
            text = text[:start] + text[end:]
        return None if record.before is None else text
    remainder = part.remove(text, record.kept if record else ())
    is_ours = isinstance(part, OwnFile) or (record is not None and record.before is None)
    return None if is_ours and remainder.strip() in ("", "{}") else remainder


def _carry_out(change: HookChange, store: Path) -> HookChange:
    path = Path(os.path.realpath(change.path))  # a link is not replaced by a file
    try:
        if change.record:
            # Recorded before it is written, so that a change of a killed process is known.
            _write_record(store, change)
        if change.beside and change.before is not None:
            write_atomically(change.beside, change.before.encode())
        if change.after is None:
            path.unlink()
            record = _read_records(store).get(str(change.path))
            _remove_empty(path.parent, record.new_folders if record else 0)
        elif not _replace(path, change.before, change.after):
            raise HooksError("another program changed it at the same time; try again")
        if not change.record:
            _write_record(store, change)
    except (OSError, HooksError) as error:
        note = f"Cannot write {change.path}: {error}."
        return HookChange(change.harness, change.path, FAILED, note)
    return change


def _count_missing(folder: Path) -> int:
    """Returns the number of folders to create so that the folder exists."""
    return 0 if folder.is_dir() else 1 + _count_missing(folder.parent)


def _remove_empty(folder: Path, count: int) -> None:
    """Removes the folder and its parents, at most `count` folders, up to one that is not empty."""
    if count and not any(folder.iterdir()):
        folder.rmdir()
        _remove_empty(folder.parent, count - 1)


def _replace(path: Path, text_before: str | None, after: str) -> bool:
    """Replaces the file, with its permissions, if it still has the text before.

    Returns whether it was replaced.
    """
    mode = S_IMODE(path.stat().st_mode) if path.is_file() else 0o600
    expected = None if text_before is None else text_before.encode()
    return replace_if_same(path, expected, after.encode(), mode)


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        message = f"Cannot read {path}: it is not UTF-8. Fix the file, then try again."
        raise HooksError(message) from error
    except OSError as error:
        raise HooksError(f"Cannot read {path}: {error.strerror or error}.") from error


def _spans(insertions: Sequence[Insertion]) -> list[list[int]]:
    """Returns start and end of each inserted text, in the text that has all of them."""
    spans = []
    inserted_chars = 0
    for place, text in sorted(insertions):
        start = place + inserted_chars
        spans.append([start, start + len(text)])
        inserted_chars += len(text)
    return spans


def _record_of(part: HookPart, text: str, store: Path) -> InstallRecord | None:
    """Returns the record of the part's installation.

    A part that was installed for another store is recorded in that store.
    """
    installed_store = part.store_in(text)
    path = str(part.path)
    record = _read_records(Path(installed_store)).get(path) if installed_store else None
    return record or _read_records(store).get(path)


def _read_records(store: Path) -> dict[str, InstallRecord]:
    try:
        records = json.loads((store / RECORD).read_text("utf-8"))
        return {path: InstallRecord(**_in_current_form(fields)) for path, fields in records.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # without the record, our part is found by its text


def _in_current_form(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a record; earlier releases recorded at most one new folder."""
    current = {name: value for name, value in fields.items() if name != "is_folder_new"}
    return {"new_folders": int(fields.get("is_folder_new", 0)), **current}


def _write_record(store: Path, change: HookChange) -> None:
    """Records the change of the file; removes the file's record if our part was removed."""
    records = {path: asdict(record) for path, record in _read_records(store).items()}
    records.pop(str(change.path), None)
    if change.record is not None:
        records[str(change.path)] = asdict(change.record)
    write_json(store / RECORD, records)
