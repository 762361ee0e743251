"""Finding transcripts: all three layouts below any folder, and nothing that is not one."""

import lzma
import os
import shutil
import socket
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_assets.errors import TranscriptError
from memory_assets.harnesses.homes import usual_places
from memory_assets.harnesses.readers import HEADER_LINES, open_reader, session_id_of
from memory_assets.schema.vocabulary import HARNESS_NAMES
from memory_assets.stages.capture.discover import find_files, find_transcripts, harness_of
from memory_assets.stages.capture.folders import DEEPEST
from memory_assets.text.files import UTF8_BOM
from memory_assets_tests.transcripts.reading import HERE, transcript


def names(files) -> list[str]:
    return [file.path.name for file in files]


def test_the_three_layouts_are_found_below_one_folder_and_a_journal_is_not():
    found = find_transcripts([HERE])
    assert {file.harness for file in found} == {"claude_code", "codex", "pi"}
    assert [str(file.path) for file in found] == sorted(str(file.path) for file in found)
    assert "agent-a1b2c3d4.jsonl" in names(found)
    assert not {"journal.jsonl", "history.jsonl"} & set(names(found))


def test_a_linked_folder_is_read_once(tmp_path: Path):
    (tmp_path / "inside").mkdir()
    shutil.copy(transcript("0a000001"), tmp_path / "inside")
    (tmp_path / "inside" / "loop").symlink_to(tmp_path / "inside", target_is_directory=True)
    (tmp_path / "root").symlink_to(tmp_path / "inside", target_is_directory=True)
    assert names(find_transcripts([tmp_path / "inside"])) == [transcript("0a000001").name]
    assert names(find_transcripts([tmp_path / "root"])) == [transcript("0a000001").name]
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "link").symlink_to(tmp_path / "inside", target_is_directory=True)
    assert [file.path.parent for file in find_transcripts([tmp_path])] == [tmp_path / "inside"]


@pytest.mark.parametrize(
    "name",
    ["copy of {}.jsonl", "{} (1).jsonl", "{}-backup.jsonl", "{}.jsonl.bak", "{}.jsonl~", "{}.JSONL", "{}.ndjson", "{}.bak", "{}.txt",
     "my-export.jsonl"],
)  # fmt: skip
@pytest.mark.parametrize("of", ["0a000001", "000000000001.jsonl", "11111111-1111"])
def test_a_copy_under_another_name_is_a_transcript_of_the_same_session(
    tmp_path: Path, name: str, of: str
):
    path = transcript(of)
    copy = Path(shutil.copy(path, tmp_path / name.format(path.stem)))
    (found,) = find_transcripts([tmp_path])
    assert (found.path, found.harness) == (copy, harness_of(path))
    first = found.first_lines(HEADER_LINES)
    assert session_id_of(found.harness, str(copy), first) == session_id_of(
        found.harness, str(path), first
    )


def test_a_byte_order_mark_and_a_broken_first_line_hide_nothing(tmp_path: Path):
    content = transcript("0a000001").read_bytes()
    (tmp_path / "mark.jsonl").write_bytes(UTF8_BOM + content)
    (tmp_path / "torn.jsonl").write_bytes(content[20:])
    assert names(find_transcripts([tmp_path])) == ["mark.jsonl", "torn.jsonl"]
    read = [
        open_reader("claude_code", "s").read(line).status
        for line in (tmp_path / "mark.jsonl").read_bytes().splitlines()
    ]
    assert "broken" not in read


def test_what_looks_like_a_transcript_and_is_not_taken_in_is_named_with_the_reason(tmp_path: Path):
    stem = transcript("0a000001").stem
    (tmp_path / f"{stem}.jsonl").touch()
    (tmp_path / "agent-0a1b2c3d.jsonl").write_text('{"loss": 0.3}\n' * 60)
    (tmp_path / f"old-{stem}.jsonl").write_text('{"type":"user","message":{"ro')
    (tmp_path / f"{stem}.jsonl.xz").write_bytes(lzma.compress(b"{}\n"))
    (tmp_path / f"rollout-2026-03-02T08-00-00-{stem}.jsonl.zst").write_bytes(
        b"\x28\xb5\x2f\xfd torn"
    )
    (tmp_path / f"{stem}-gone.jsonl").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / f"{stem}-fifo.jsonl")
    (tmp_path / "metrics.jsonl").write_text('{"loss": 0.3}\n')
    found = find_files([tmp_path])
    reasons = {Path(one.path).name.replace(stem, "ID"): one.reason for one in found.left_out}
    assert found.transcripts == []
    assert "cannot be read" in reasons.pop("rollout-2026-03-02T08-00-00-ID.jsonl.zst")
    assert reasons == {
        "ID.jsonl": "it is empty",
        "ID.jsonl.xz": "it is compressed with xz; unpack it",
        "ID-gone.jsonl": "it is a link that cannot be followed: No such file or directory",
        "ID-fifo.jsonl": "it is not a regular file",
        "agent-0a1b2c3d.jsonl": f"none of its first 50 lines is a record of {HARNESS_NAMES}",
        "old-ID.jsonl": "its first line is not complete yet",
    }


def test_a_named_pipe_and_a_socket_are_never_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Opening a pipe that nobody writes to would wait for ever."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    with socket.socket(socket.AF_UNIX) as one:
        monkeypatch.chdir(tmp_path)
        one.bind("socket.jsonl")
        assert find_files([tmp_path]).transcripts == []
    assert harness_of(tmp_path / "pipe.jsonl") is None


def test_what_cannot_be_recognised_is_named_whatever_its_name(tmp_path: Path):
    for name in ("pipe.jsonl", "tasks.db"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "unmounted").symlink_to(tmp_path / "nowhere")
    (tmp_path / "README.md").symlink_to(tmp_path / "nowhere")
    found = find_files([tmp_path])
    assert {Path(file.path).name: file.reason for file in found.left_out} == {
        "pipe.jsonl": "it is not a regular file",
        "tasks.db": "it is not a regular file",
        "unmounted": "it is a link that cannot be followed: No such file or directory",
    }
    assert found.transcripts == []


def test_links_that_lead_out_of_all_folders_are_not_followed_and_named(tmp_path: Path):
    sources, outside = tmp_path / "sources", tmp_path / "outside"
    beside = tmp_path / "beside"
    for folder in (sources, outside, beside):
        folder.mkdir()
        shutil.copy(transcript("0a000001"), folder / f"{folder.name}.jsonl")
    (sources / "everything").symlink_to(tmp_path)
    (sources / "copy.jsonl").symlink_to(outside / "outside.jsonl")
    (sources / "beside").symlink_to(beside)
    found = find_files([sources, beside])
    assert {*names(found.transcripts)} == {"beside.jsonl", "sources.jsonl"}
    assert {Path(file.path).name: file.reason.partition(",")[0] for file in found.left_out} == {
        "copy.jsonl": f"it is a link to {outside / 'outside.jsonl'}",
        "everything": f"it is a link to {tmp_path}",
    }


def test_a_path_that_is_not_utf_8_hides_no_other_and_is_named_as_it_can_be_shown(tmp_path: Path):
    shutil.copy(transcript("0a000001"), tmp_path / "good.jsonl")
    (tmp_path / os.fsdecode(b"caf\xe9\n")).mkdir()
    shutil.copy(transcript("0a000001"), tmp_path / os.fsdecode(b"caf\xe9\n") / "session.jsonl")
    found = find_files([tmp_path])
    assert names(found.transcripts) == ["good.jsonl"]
    (left_out,) = found.left_out
    assert left_out.path == f"{tmp_path}/caf\\xe9\ufffd/session.jsonl"
    assert left_out.reason == "its path is not UTF-8; rename it"


def test_a_path_that_is_too_long_for_the_system_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    name = "x" * 250
    folder = tmp_path.joinpath(*[name] * 4)
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    for _ in range(DEEPEST):
        os.mkdir(name)
        os.chdir(name)
    Path(f"{name[:200]}.jsonl").touch()
    Path(name).touch()
    (left_out,) = find_files([folder]).left_out
    assert left_out.reason == "it cannot be read: File name too long"


def test_files_untouched_since_are_left_out(tmp_path: Path):
    path = Path(shutil.copy(transcript("0a000001"), tmp_path))
    day = datetime(2026, 3, 2, tzinfo=UTC)
    unread = tmp_path / f"{path.stem}-empty.jsonl"
    unread.touch()
    for one in (path, unread):
        os.utime(one, (day.timestamp(), day.timestamp()))
    assert [one.path for one in find_files([tmp_path], since=day).left_out] == [str(unread)]
    assert names(find_transcripts([tmp_path], since=day)) == [path.name]
    found = find_files([tmp_path], since=day.replace(day=3))
    assert (found.transcripts, found.left_out, names(found.older)) == ([], [], [path.name])


def test_a_link_that_is_not_followed_is_named_however_long_ago_it_was_made(tmp_path: Path):
    sources = tmp_path / "sources"
    outside = tmp_path / "outside"
    for folder in (sources, outside):
        folder.mkdir()
    shutil.copy(transcript("0a000001"), outside)
    for name, target in (("project", outside), ("unmounted", tmp_path / "nowhere")):
        (sources / name).symlink_to(target)
        os.utime(sources / name, (0, 0), follow_symlinks=False)
    os.utime(outside, (0, 0))
    found = find_files([sources], since=datetime.now(UTC) - timedelta(days=14))
    assert [Path(one.path).name for one in found.left_out] == ["project", "unmounted"]


def test_a_link_of_another_kind_is_a_usual_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = Path(shutil.copy(transcript("0a000001"), tmp_path))

    def fail(_: Path) -> Path:
        raise ValueError("not a symbolic link")

    monkeypatch.setattr(Path, "readlink", fail)
    (tmp_path / "online").mkdir()
    assert names(find_transcripts([tmp_path])) == [path.name]


def test_a_file_that_is_named_itself_and_is_no_transcript_is_named_with_the_reason(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("Milk, eggs.\n")
    with closing(sqlite3.connect(tmp_path / "contacts.db")) as database:
        database.execute("CREATE TABLE people (name TEXT)")
    found = find_files([tmp_path / "notes.txt", tmp_path / "contacts.db", Path(os.devnull)])
    assert {Path(file.path).name: file.reason for file in found.left_out} == {
        "notes.txt": f"its only line is not a record of {HARNESS_NAMES}",
        "contacts.db": "it is an SQLite file without the tables of a harness",
        "null": "it is not a regular file",
    }
    assert find_files([tmp_path]).left_out == []


def test_a_named_folder_that_does_not_exist_is_an_error_that_names_it(tmp_path: Path):
    with pytest.raises(TranscriptError, match=r"missing does not exist\. Correct or remove it"):
        find_transcripts([tmp_path, tmp_path / "missing"])


def test_the_usual_places_follow_the_environment_as_far_as_they_exist(tmp_path: Path):
    for folder in (
        ".claude/projects",
        ".codex/archived_sessions",
        "elsewhere/sessions",
        ".pi/agent/sessions",
    ):
        (tmp_path / folder).mkdir(parents=True)
    home = [
        tmp_path / ".claude/projects",
        tmp_path / ".codex/archived_sessions",
        tmp_path / ".pi/agent/sessions",
    ]
    assert usual_places(tmp_path, {}) == home
    moved = usual_places(
        tmp_path,
        {"CODEX_HOME": str(tmp_path / "elsewhere"), "CLAUDE_CONFIG_DIR": str(tmp_path / "none")},
    )
    assert moved == [tmp_path / "elsewhere/sessions", tmp_path / ".pi/agent/sessions"]
