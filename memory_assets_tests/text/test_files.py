"""Files: a reader never meets half of one; a torn line spoils only itself; everything is the owner's alone."""

import json
import os
import stat
from pathlib import Path

import pytest

from memory_assets.errors import StoreError
from memory_assets.text.checksums import is_intact, with_checksum
from memory_assets.text.files import (
    append_line,
    overwrite_records,
    path_within,
    write_atomically,
    write_json,
)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "folder" / "file"
    write_atomically(path, b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_folders_and_files_are_the_owners_alone(tmp_path: Path):
    write_json(tmp_path / "a" / "b" / "c.json", {"x": 1})
    append_line(tmp_path / "a" / "log.jsonl", b"{}")
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "a").rglob("*")}
    assert modes == {"b": 0o700, "c.json": 0o600, "log.jsonl": 0o600}
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700


def test_overwriting_changes_the_file_itself_and_keeps_its_length(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"a" * 5_000 + b"secret" + b"b" * 5_000)
    number = path.stat().st_ino
    assert overwrite_records(path, lambda raw: raw.replace(b"secret", b"******"))
    assert path.read_bytes() == b"a" * 5_000 + b"******" + b"b" * 5_000
    assert path.stat().st_ino == number
    assert not overwrite_records(path, lambda raw: raw)
    with pytest.raises(ValueError, match="would change its length from 10006 to 1"):
        overwrite_records(path, lambda _: b"x")


class FileOfKilled:
    """A file whose process ends after some writes."""

    def __init__(self, file, writes: int) -> None:
        self.file, self.writes = file, writes

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str):
        return getattr(self.file, name)

    def write(self, content: bytes) -> int:
        if not self.writes:
            raise KeyboardInterrupt
        self.writes -= 1
        return self.file.write(content)


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_change_that_was_cut_short_is_completed_with_its_checksum(
    tmp_path: Path, monkeypatch, writes: int
):
    path = tmp_path / "log.jsonl"
    append_line(path, with_checksum(json.dumps({"text": "secret" + "x" * 8_000}).encode()))

    def change(raw: bytes) -> bytes:
        return raw.replace(b"secret", b"******")

    opened = Path.open
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", lambda self, mode: FileOfKilled(opened(self, mode), writes))
        if writes < 2:
            with pytest.raises(KeyboardInterrupt):
                overwrite_records(path, change)
        else:
            overwrite_records(path, change)
    overwrite_records(path, change)
    assert b"secret" not in path.read_bytes()
    assert is_intact(path.read_bytes().rstrip())


def test_what_is_appended_while_a_file_is_overwritten_is_kept(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    append_line(path, b"secret")

    def change(raw: bytes) -> bytes:
        append_line(path, b"another")
        return raw.replace(b"secret", b"******")

    overwrite_records(path, change)
    assert path.read_bytes() == b"******\nanother\n"


def test_a_link_out_of_a_folder_is_refused_and_one_inside_is_followed(tmp_path: Path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    (tmp_path / "secret.md").write_text("Mine.")
    (folder / "MEMORY.md").symlink_to(tmp_path / "secret.md")
    (folder / "real.md").write_text("Use uv.")
    (folder / "alias.md").symlink_to("real.md")
    assert path_within(folder, "alias.md").read_text() == "Use uv."
    assert path_within(folder, "missing.md") == folder / "missing.md"
    with pytest.raises(StoreError, match=r"secret\.md, outside of .*: the link is not followed"):
        path_within(folder, "MEMORY.md")
