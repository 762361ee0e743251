"""The log of steps: one line each, files of a megabyte, the oldest deleted; nothing that happens to it fails a step."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_assets.store import telemetry
from memory_assets.store.telemetry import FILE, FOLDER, StepEvent, log_step, read_steps

STEP = StepEvent(
    datetime(2026, 8, 3, 9, tzinfo=UTC), "distill", "observations", True, 12.5, counts={"rows": 3}
)


def test_what_is_logged_is_read_with_its_level(tmp_path: Path):
    failed = replace(STEP, success=False, problem="TableError", counts={})
    log_step(tmp_path, STEP)
    log_step(tmp_path, failed)
    good, bad = read_steps(tmp_path)
    assert (good["at"], good["level"], good["counts"], good["duration_ms"]) == (
        STEP.at,
        "info",
        {"rows": 3},
        12.5,
    )
    assert (bad["level"], bad["success"], bad["problem"]) == ("error", False, "TableError")
    assert good["event_id"] != bad["event_id"]


def test_half_a_line_costs_no_other(tmp_path: Path):
    log_step(tmp_path, STEP)
    with (tmp_path / FOLDER / FILE).open("ab") as file:
        file.write(b'{"at": "2026-08-03T09:0\n[]\n\xff\xfe\n')
    log_step(tmp_path, replace(STEP, action="memories"))
    assert [event["action"] for event in read_steps(tmp_path)] == ["observations", "memories"]


def test_full_files_are_numbered_and_the_oldest_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(telemetry, "MOST_BYTES", 400)
    monkeypatch.setattr(telemetry, "MOST_FILES", 3)
    for number in range(20):
        log_step(tmp_path, replace(STEP, counts={"rows": number}))
    files = sorted(path.name for path in (tmp_path / FOLDER).glob("*.jsonl"))
    rows = [event["counts"]["rows"] for event in read_steps(tmp_path)]
    assert len(files) <= 3
    assert rows == list(range(rows[0], 20))
    assert len(rows) > 3


def test_a_log_that_cannot_be_written_fails_no_step(tmp_path: Path):
    (tmp_path / FOLDER).write_text("a file where the folder should be")
    log_step(tmp_path, STEP)
    assert list(read_steps(tmp_path)) == []


def test_only_its_owner_can_read_the_log(tmp_path: Path):
    log_step(tmp_path, STEP)
    path = tmp_path / FOLDER / FILE
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert json.loads(path.read_bytes())["component"] == "distill"
