"""Links in the place of the store's own files: every door refuses them in one line, and nothing behind them is read or written."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_assets.interfaces.cli import app as cli
from memory_assets.interfaces.envelope import message_of
from memory_assets.interfaces.mcp.protocol import Protocol
from memory_assets.stages.capture.sample import lay_out, sample_root
from memory_assets_tests.conftest import NOW
from memory_assets_tests.small_store import FACT, small_store

Door = Callable[[pytest.CaptureFixture[str]], tuple[int, str]]


def command(*words: str) -> Door:
    """The command line."""
    return lambda capsys: (cli.main(words), "".join(capsys.readouterr()))


def tool(_: object) -> tuple[int, str]:
    """An agent that asks over the Model Context Protocol."""
    call = {"name": "memory_recall", "arguments": {"question": FACT}}
    answer = Protocol().answer("tools/call", call)
    return int(answer["isError"]), answer["content"][0]["text"]


WRITERS = (command("up", "--no-ui"), command("doctor"))
EVERY_DOOR = (
    *WRITERS,
    command("recall", FACT),
    tool,
    command("data", "rebuild", "--reflections"),
)
TRANSCRIPT = (
    "sample/transcripts/claude/projects/-home-mira-code-notes-site/"
    "7a84f5a7-d0f1-49b4-8224-0dadc52c8e4c.jsonl"
)
PLACES = {
    "lock": WRITERS,  # readers do not need it
    "logs": EVERY_DOOR,
    "logs/service.log": EVERY_DOOR,
    "built/locks/writer": EVERY_DOOR,
    "resources": EVERY_DOOR,
    "resources/catalog.jsonl": EVERY_DOOR,
    "ledger": EVERY_DOOR,
    "ledger/2026-08.jsonl": EVERY_DOOR,
    "tables": EVERY_DOOR,
    "tables/memories": EVERY_DOOR,
    "tables/memories/data.parquet": (*WRITERS, command("recall", FACT), tool),
    "workspace": EVERY_DOOR,
    "workspace/MEMORY.md": EVERY_DOOR,
    "sample": WRITERS[:1],
    "sample/transcripts": WRITERS[:1],
    "sample/transcripts/claude": WRITERS[:1],
    "sample/transcripts/sample.json": WRITERS[:1],
    TRANSCRIPT: WRITERS[:1],
}
"""What may be a link → the doors that need it."""


def contents(target: Path) -> dict[Path, bytes | None]:
    """What is behind the link."""
    paths = [path for path in (target, *target.rglob("*")) if path.exists()]
    return {path: path.read_bytes() if path.is_file() else None for path in paths}


@pytest.mark.parametrize("is_there", [True, False], ids=["elsewhere", "nowhere"])
@pytest.mark.parametrize("place", PLACES)
def test_a_link_is_refused_at_every_door_and_nothing_behind_it_is_touched(
    place: str, is_there: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    root, target = tmp_path / "store", tmp_path / "target"
    if place.startswith("sample"):
        lay_out(sample_root(), root / "sample" / "transcripts", NOW)
    else:
        small_store()
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        path.rename(target)
    else:
        target.write_text("Theirs.")
    if not is_there:
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    path.symlink_to(target)
    before = contents(target)
    for door in PLACES[place]:
        code, text = door(capsys)
        assert code == 1
        assert place in text
        assert "bug in memory_assets" not in text
        assert "Traceback" not in text
    assert contents(target) == before


def test_a_file_that_is_missing_without_a_link_is_no_error_of_the_disk(tmp_path: Path):
    with pytest.raises(FileNotFoundError) as missing:
        (tmp_path / "nowhere").read_bytes()
    assert "bug in memory_assets" in message_of(missing.value)
