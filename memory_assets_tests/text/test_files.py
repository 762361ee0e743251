"""Files: a reader never meets half of one; a torn line spoils only itself; everything is the owner's alone."""

import json
import os
import stat
from pathlib import Path

import pytest

from memory_assets.text.checksums import is_intact, with_checksum
from memory_assets.text.files import (
    append_line,
    make_folder,
    overwrite_records,
    text_of,
    write_atomically,
    write_json,
    write_where_changed,
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


def test_a_folder_that_exists_is_left_as_it_is(tmp_path: Path):
    tmp_path.chmod(0o750)
    make_folder(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750


def test_a_file_that_says_the_same_is_left_alone(tmp_path: Path):
    path = tmp_path / "new" / "page.md"
    assert not write_where_changed(path, "") and not path.exists()
    assert write_where_changed(path, "Grüße") and text_of(path) == "Grüße"
    written = path.stat().st_ino
    assert not write_where_changed(path, "Grüße") and path.stat().st_ino == written
    path.write_bytes(b"Gr\xfc\xdfe")
    assert text_of(path) == "Gr\ufffd\ufffde"
    assert (
        write_where_changed(path, "Gr\ufffd\ufffde")
        and path.read_text("utf-8") == "Gr\ufffd\ufffde"
    )


def test_json_is_written_the_same_whatever_the_order(tmp_path: Path):
    write_json(tmp_path / "a", {"b": 1, "a": "ä"})
    write_json(tmp_path / "b", {"a": "ä", "b": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert json.loads((tmp_path / "a").read_bytes()) == {"a": "ä", "b": 1}


def test_a_torn_line_is_closed_before_the_next_is_appended(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    append_line(path, b'{"n":1}')
    path.write_bytes(path.read_bytes() + b'{"n":2,"te')
    append_line(path, b'{"n":3}\n')
    assert path.read_bytes() == b'{"n":1}\n{"n":2,"te\n{"n":3}\n'


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
