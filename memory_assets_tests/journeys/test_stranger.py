"""What a stranger runs into: a wrong setting, an unreadable folder, a full disk.

Each is told in one message that says what happened, where, and what to do; never by a traceback.
"""

from pathlib import Path

import pytest

from memory_assets.interfaces.cli import app as cli
from memory_assets_tests.small_disk import fill, small_disk
from memory_assets_tests.small_store import small_store


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main(words)
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


WRONG = [("MEMORY_IDLE_MINUTES", "soon"), ("MEMORY_SOURCES", "/nowhere/sessions")]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_wrong_setting(
    name: str, value: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(name, value)
    code, out, err = run(capsys, "ingest")
    assert (code, out) == (1, "")
    assert value in err


def test_a_full_disk(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    small_store()
    with small_disk(tmp_path / "disk", 400_000) as disk:
        code, _, err = run(
            capsys, "data", "export", "observations", "-o", str(disk / "small.jsonl")
        )
        assert (code, err) == (0, "")
        fill(disk)
        code, _, err = run(capsys, "data", "export", "observations", "-o", str(disk / "1.jsonl"))
        assert code == 1
        assert "No space left on device. Free space" in err


@pytest.mark.parametrize("words", [("recall", "uv", "--answer"), ("review",)])
def test_a_file_of_entries_that_links_out_of_the_workspace_is_named_and_not_read(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    store = small_store()
    target = tmp_path / "elsewhere.md"
    target.write_text("# MEMORY.md\n\n## Mine\n\n- Tabs, never spaces.\n")
    (store.workspace / "MEMORY.md").unlink()
    (store.workspace / "MEMORY.md").symlink_to(target)
    code, out, err = run(capsys, *words)
    assert "Tabs, never spaces." not in out
    assert code == 1
    assert f"leads to {target}, outside of" in err
