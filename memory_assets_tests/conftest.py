"""Fixtures that many tests share: a store in a temporary folder, a fixed clock, and the real data where it exists."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.once import TEST_ALL, built_once
from memory_assets_tests.stages.capture.pipeline import capture

# How fast examples are drawn says how busy the machine is, not whether the law holds.
settings.register_profile(
    "any machine",
    max_examples=100 if TEST_ALL else 50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = REPOSITORY.parent / "shared" / "data"
NOW = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out files without a slow test where only these are wanted: importing all of them takes half a minute."""
    if config.option.markexpr == "slow" and collection_path.suffix == ".py":
        return "mark.slow" not in collection_path.read_text(encoding="utf-8") or None
    return None


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads this machine's settings, transcripts or store, or talks to a service that is not its own."""
    for name in [name for name in os.environ if name.startswith("MEMORY_")]:
        monkeypatch.delenv(name)
    homes = (
        "CLAUDE_CONFIG_DIR CODEX_HOME PI_CODING_AGENT_DIR PI_CODING_AGENT_SESSION_DIR DAGSTER_HOME"
    )
    for name in (*homes.split(), "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("APPDATA", str(home / "AppData" / "Roaming"))
    monkeypatch.setenv("MEMORY_DATA", str(tmp_path / "store"))
    monkeypatch.setenv("MEMORY_TIMEZONE", "UTC")
    monkeypatch.setenv("MEMORY_NOW", NOW.isoformat())
    monkeypatch.setenv("MEMORY_TODOIST_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(
        os, "fsync", lambda _: None
    )  # tests kill processes, but nobody cuts the power


@pytest.fixture(scope="session")
def real_transcripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the 149 real transcripts; tests that need them are skipped where they do not exist."""
    if not (SHARED / "unpack").is_file():
        pytest.skip(f"no real transcripts: {SHARED} does not exist on this machine")
    cached = os.environ.get("REAL_TRANSCRIPTS")
    command = [str(SHARED / "unpack"), *([cached] if cached else [])]

    def unpack(folder: Path) -> None:
        (folder / "path").write_bytes(
            subprocess.run(command, check=True, capture_output=True).stdout
        )

    return Path(
        (built_once(tmp_path_factory, "real-transcripts", unpack) / "path").read_text().strip()
    )


@pytest.fixture(scope="session")
def captured_transcripts(real_transcripts: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store that has captured the real transcripts, with messages and sessions; for reading only."""

    def opened(folder: Path) -> Store:
        return open_store(read_settings(data=folder, timezone="UTC", owner="soph", now=NOW))

    built = built_once(
        tmp_path_factory,
        "captured-transcripts",
        lambda folder: capture(opened(folder / "store"), real_transcripts),
    )
    return opened(built / "store")
