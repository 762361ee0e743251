"""Links to nothing in the place of the store's own files: commands and doctor name them, and call none a bug of ours."""

import shutil
from pathlib import Path

import pytest

from memory_assets.interfaces.cli import app as cli
from memory_assets.interfaces.envelope import message_of
from memory_assets_tests.small_store import FACT, small_store

NEEDED_BY = {
    "lock": ("ingest",),
    "ledger/2026-08.jsonl": ("remember", "Tea at four."),
    "ledger": ("recall", FACT),
    "workspace": ("status",),
}


@pytest.mark.parametrize("place", NEEDED_BY)
def test_a_link_to_nothing_is_named_by_what_needs_it_and_by_doctor(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = small_store().root / place
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(tmp_path / "nowhere")
    for words in (NEEDED_BY[place], ("doctor",)):
        assert cli.main(words) == 1
        text = "".join(capsys.readouterr())
        assert place in text
        assert "bug in memory_assets" not in text
    assert not (tmp_path / "nowhere").exists()


def test_a_file_that_is_missing_without_a_link_is_no_error_of_the_disk(tmp_path: Path):
    with pytest.raises(FileNotFoundError) as missing:
        (tmp_path / "nowhere").read_bytes()
    assert "bug in memory_assets" in message_of(missing.value)
