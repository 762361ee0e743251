"""What a stranger runs into: a wrong setting, an unreadable folder, a full disk, a missing model, a corrupted index.

Each is told in one message that says what happened, where, and what to do; never by a traceback.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from memory_assets.interfaces.cli import app as cli
from memory_assets_tests.small_store import FACT, index, small_store

SMALL_DISK = 400_000
"""Bytes of a disk on which a store begins and its tables no longer fit."""


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main(words)
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def test_a_wrong_setting(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_IDLE_MINUTES", "soon")
    code, out, err = run(capsys, "ingest")
    assert (code, out) == (1, "")
    assert "MEMORY_IDLE_MINUTES" in err
    assert "got 'soon'" in err


def test_a_folder_of_transcripts_that_is_not_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_SOURCES", "/nowhere/sessions")
    code, out, err = run(capsys, "ingest")
    assert (code, out) == (1, "")
    assert "/nowhere/sessions" in err


@pytest.mark.skipif(
    sys.platform != "linux", reason="a small disk is made with mount, which this platform has not"
)
def test_a_full_disk(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    try:
        small_store()
        code, _, err = run(
            capsys, "data", "export", "observations", "-o", str(disk / "small.jsonl")
        )
        assert (code, err) == (0, "")
        (disk / "filler").write_bytes(
            b"\0" * (SMALL_DISK - len((disk / "small.jsonl").read_bytes()) - 8_192)
        )
        for number in range(8):
            code, _, err = run(
                capsys, "data", "export", "observations", "-o", str(disk / f"{number}.jsonl")
            )
        assert code == 1
        assert "No space left on device. Free space" in err
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_missing_model(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    index(small_store())
    monkeypatch.setenv("MEMORY_EMBEDDING_MODEL", "/nowhere/model")
    code, out, err = run(capsys, "recall", "how do we install packages")
    assert code == 0
    assert FACT in out
    assert "degraded: keyword" in out
    assert "There is no embedding model in '/nowhere/model'. Set MEMORY_EMBEDDING_MODEL" in err


def test_a_corrupted_vector_index(capsys: pytest.CaptureFixture[str]):
    store = small_store()
    index(store)
    for file in (store.root / "index" / "vectors").glob("0*/**/*"):
        if file.is_file():
            file.write_bytes(b"this is no array" * 100)
    code, out, err = run(capsys, "recall", "how do we install packages")
    assert code == 0
    assert FACT in out
    assert "degraded: keyword" in out
    assert "memory" in err
    code, out, _ = run(capsys, "doctor")
    assert code == 1
    assert "vector index" in out
