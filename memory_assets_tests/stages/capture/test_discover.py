"""Finding transcripts: all three layouts below any folder, and nothing that is not one."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard

from memory_assets.errors import TranscriptError
from memory_assets.stages.capture.discover import find_transcripts, harness_of, usual_places
from memory_assets_tests.transcripts.reading import HERE, transcript


def names(files) -> list[str]:
    return [file.path.name for file in files]


def test_the_three_layouts_are_found_below_one_folder_and_a_journal_is_not():
    found = find_transcripts([HERE])
    assert {file.harness for file in found} == {"claude_code", "codex", "pi"}
    assert [str(file.path) for file in found] == sorted(str(file.path) for file in found)
    assert "agent-a1b2c3d4.jsonl" in names(found)
    assert not {"journal.jsonl", "history.jsonl"} & set(names(found))


def test_naming_a_folder_twice_or_a_file_in_it_finds_each_once():
    path = transcript("0a000001")
    assert names(find_transcripts([path.parent, path, path.parent])) == names(find_transcripts([path.parent]))


def test_a_plain_file_is_preferred_to_its_compressed_twin(tmp_path: Path):
    plain = shutil.copy(transcript("000000000001.jsonl"), tmp_path)
    packed = Path(f"{plain}.zst")
    packed.write_bytes(zstandard.compress(Path(plain).read_bytes()))
    assert [(file.path, file.compressed) for file in find_transcripts([tmp_path])] == [(Path(plain), False)]
    Path(plain).unlink()
    assert [(file.path, file.harness, file.compressed) for file in find_transcripts([tmp_path])] == [(packed, "codex", True)]


def test_a_linked_folder_is_passed_by_and_a_linked_root_is_not(tmp_path: Path):
    (tmp_path / "inside").mkdir()
    shutil.copy(transcript("0a000001"), tmp_path / "inside")
    (tmp_path / "inside" / "loop").symlink_to(tmp_path / "inside", target_is_directory=True)
    (tmp_path / "root").symlink_to(tmp_path / "inside", target_is_directory=True)
    assert names(find_transcripts([tmp_path / "inside"])) == [transcript("0a000001").name]
    assert names(find_transcripts([tmp_path / "root"])) == [transcript("0a000001").name]


def test_an_oddly_named_file_is_told_by_its_first_line(tmp_path: Path):
    for name in ("0a000008", "000000000004.jsonl", "22222222"):
        path = transcript(name)
        copy = tmp_path / f"copy-of-{name.removesuffix('.jsonl')}.jsonl"
        copy.write_bytes(path.read_bytes())
        assert harness_of(copy) == harness_of(path)
    (tmp_path / "metrics.jsonl").write_text('{"loss": 0.3}\n')
    assert "metrics.jsonl" not in names(find_transcripts([tmp_path]))


def test_files_untouched_since_are_left_out(tmp_path: Path):
    path = Path(shutil.copy(transcript("0a000001"), tmp_path))
    day = datetime(2026, 3, 2, tzinfo=UTC)
    os.utime(path, (day.timestamp(), day.timestamp()))
    assert names(find_transcripts([tmp_path], since=day)) == [path.name]
    assert find_transcripts([tmp_path], since=day.replace(day=3)) == []


def test_a_named_folder_that_does_not_exist_is_an_error_that_names_it(tmp_path: Path):
    with pytest.raises(TranscriptError, match=r"missing does not exist\. Correct or remove it"):
        find_transcripts([tmp_path, tmp_path / "missing"])


def test_the_usual_places_follow_the_environment_as_far_as_they_exist(tmp_path: Path):
    for folder in (".claude/projects", ".codex/archived_sessions", "elsewhere/sessions", ".pi/agent/sessions"):
        (tmp_path / folder).mkdir(parents=True)
    home = [tmp_path / ".claude/projects", tmp_path / ".codex/archived_sessions", tmp_path / ".pi/agent/sessions"]
    assert usual_places(tmp_path, {}) == home
    moved = usual_places(tmp_path, {"CODEX_HOME": str(tmp_path / "elsewhere"), "CLAUDE_CONFIG_DIR": str(tmp_path / "none")})
    assert moved == [tmp_path / "elsewhere/sessions", tmp_path / ".pi/agent/sessions"]


def test_all_149_real_files_are_found(real_transcripts: Path):
    assert len(find_transcripts([real_transcripts])) == 149
