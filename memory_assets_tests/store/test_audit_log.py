"""The log of calls: one line each for its owner alone, in files that rotate; a log that cannot be written stops nothing."""

import json
import stat

from pytest import MonkeyPatch

from memory_assets.store import audit_log
from memory_assets.store.audit_log import AuditLog, Call
from memory_assets.store.settings import read_settings
from memory_assets_tests.factories import START

CALL = Call("3fa94c01", "Ada", "laptop", "recall", 200, 12)


def test_a_call_is_one_line_that_its_owner_alone_can_read():
    log = AuditLog(read_settings().data, lambda: START)
    log(CALL)
    log(CALL)
    first, second = map(json.loads, log.path.read_text().splitlines())
    assert first == second
    assert list(first) == ["at", "token", "person", "name", "verb", "status", "ms"]
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700


def test_a_long_log_is_renamed_and_older_ones_go(monkeypatch: MonkeyPatch):
    monkeypatch.setattr(audit_log, "MOST_BYTES", 400)
    log = AuditLog(read_settings().data, lambda: START)
    for _ in range(40):
        log(CALL)
    names = sorted(path.name for path in log.path.parent.iterdir())
    assert names == ["audit.jsonl", *(f"audit.jsonl.{number}" for number in range(1, 5))]
    assert all(
        path.stat().st_size <= 400 and stat.S_IMODE(path.stat().st_mode) == 0o600
        for path in log.path.parent.iterdir()
    )


def test_a_log_that_cannot_be_written_stops_nothing():
    log = AuditLog(read_settings().data, lambda: START)
    log.path.mkdir()
    log(CALL)
    assert log.path.is_dir()
