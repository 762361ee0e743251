"""Two machines of one person exchange archive and ledger over ssh, and have one memory after each other's turn.

The server is OpenSSH's own, on the loopback interface; its commands run as a second machine with a home of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from memory_assets.extras.sharing.ssh import exchange
from memory_assets.stages.capture.intake import Machine
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.extras.sharing.ssh_server import (
    HOST,
    SshServer,
    memory_command,
    ssh_server,
)
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.sessions import dialogue, lines, transcript

URL = f"ssh://{HOST}"


@dataclass
class Computer:
    """A machine with a home, transcripts and a store."""

    home: Path

    @property
    def data(self) -> Path:
        return self.home / "memory"

    @property
    def store(self) -> Store:
        return open_store(read_settings(data=self.data, owner="Mira", people={"mira": "Mira"}))

    def write(self, session: str, turns: int = 3, *, folder: str = "/home/mira/shop") -> Path:
        path = transcript(self.home / "transcripts", session)
        records = [{**record, "cwd": folder} for record in dialogue(session, turns)]
        path.write_bytes(lines(*records))
        return path

    def take_in(self) -> None:
        capture(self.store, self.home / "transcripts", machine=Machine(Path("/home/mira")))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with ssh_server(tmp_path_factory.mktemp("ssh") / "server") as running:
        yield running


@pytest.fixture
def laptop(tmp_path: Path, server: SshServer, monkeypatch: pytest.MonkeyPatch) -> Computer:
    monkeypatch.setenv("MEMORY_PUSH_SSH", server.client)
    monkeypatch.setenv(
        "MEMORY_PUSH_COMMAND", memory_command(tmp_path / "desktop" / "memory", tmp_path / "desktop")
    )
    return Computer(tmp_path / "laptop")


@pytest.fixture
def desktop(tmp_path: Path) -> Computer:
    computer = Computer(tmp_path / "desktop")
    _ = computer.store
    return computer


def contents(computer: Computer) -> dict[str, bytes]:
    """What the archive of the machine has, by session."""
    archive = computer.store.archive
    return {
        ranges[0].conversation_id: archive.read(ranges[0].source_id, 0, 0, ranges[-1].byte_to)
        for ranges in archive.sources().values()
    }


def test_what_each_machine_captured_is_on_both_after_a_push_and_a_pull(
    laptop: Computer, desktop: Computer
):
    laptop.write("one")
    laptop.take_in()
    desktop.write("two")
    desktop.take_in()
    pushed = exchange(laptop.store, URL)
    assert (len(pushed.sessions), pushed.pieces, pushed.warnings) == (1, 1, ())
    pulled = exchange(laptop.store, URL, is_pull=True)
    assert (len(pulled.sessions), pulled.pieces) == (1, 1)
    assert contents(laptop) == contents(desktop)
    assert contents(laptop).keys() == {"one", "two"}
