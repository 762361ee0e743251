"""Backups that are made while `memory ingest` works restore to stores that are whole."""

import subprocess
import time
from pathlib import Path

import pytest

from memory_assets.services.transfer.backup import back_up, restore
from memory_assets.store.store import open_store
from memory_assets_tests.once import TEST_ALL
from memory_assets_tests.services.transfer.stores import settings_at
from memory_assets_tests.stages.capture.sessions import dialogue, lines, transcript
from memory_assets_tests.story import open_at, start

BACKUPS = 8


@pytest.mark.slow
@pytest.mark.skipif(
    not TEST_ALL,
    reason="three whole runs; `test_backup.py` holds that a backup waits for the writer",
)
def test_backups_under_a_running_ingest_restore_to_whole_stores(tmp_path: Path):
    sources = tmp_path / "sources"
    for number in range(3):
        transcript(sources, f"0a0000{number:02}-1111-4222-8333-444455556666").write_bytes(
            lines(*dialogue(f"0a0000{number:02}-1111-4222-8333-444455556666", 8))
        )
    working = start("ingest", tmp_path / "store", sources)
    while (
        not (tmp_path / "store" / "resources" / "catalog.jsonl").is_file()
        and working.poll() is None
    ):
        time.sleep(0.1)
    made: list[Path] = []
    while working.poll() is None and len(made) < BACKUPS:
        made.append(
            back_up(open_at(tmp_path / "store", sources), tmp_path / f"{len(made)}.tar.zst").path
        )
        time.sleep(0.5)
    out, errors = working.communicate(timeout=300)
    assert working.returncode == 0, errors + out
    assert len(made) > 1
    for number, path in enumerate(made):
        found = open_store(
            settings_at(restore(path, settings_at(tmp_path / f"again-{number}")).root)
        )
        ranges = [entry.id for entries in found.archive.sources().values() for entry in entries]
        assert ranges and all(found.archive.verify(one) for one in ranges)
        assert found.ledger.damaged() == [] and found.archive.damaged_lines() == []
        if (found.workspace / ".git").is_dir():
            assert (
                subprocess.run(
                    ["git", "-C", str(found.workspace), "fsck", "--strict"], check=False
                ).returncode
                == 0
            )
