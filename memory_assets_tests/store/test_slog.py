"""The slog: only appended to, by any number of processes; what is no entry is named and left out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memory_assets.store.slog import LOCK, Entry, Slog, parse_entry

ENTRY = Entry("2026-03-02T10:14:00.000Z", "deploy", "worker", "Published worker:1", "fix")
WRITER = """
import sys
from pathlib import Path
from memory_assets.store.slog import Entry, Slog

slog = Slog(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    slog.append([Entry("2026-03-02T10:14:00.000Z", "deploy", sys.argv[2], f"{number} " + "long words " * (number % 90))])
"""


@pytest.mark.slow
def test_two_processes_that_write_at_once_lose_and_tear_nothing(tmp_path: Path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name, "1000"])
        for name in ("caddy", "redis")
    ]
    assert [one.wait() for one in writers] == [0, 0]
    lines = (tmp_path / "workspace" / "slog.jsonl").read_bytes().splitlines()
    found = [json.loads(line) for line in lines]
    assert len(lines) == 2000
    for name in ("caddy", "redis"):
        assert [int(one["detail"].split()[0]) for one in found if one["tool"] == name] == [
            *range(1000)
        ]


def test_a_line_has_exactly_the_five_fields(tmp_path: Path):
    Slog(tmp_path).append([ENTRY])
    path = tmp_path / "workspace" / "slog.jsonl"
    assert list(json.loads(path.read_text())) == ["timestamp", "action", "tool", "detail", "reason"]
    assert [one.stat().st_mode & 0o777 for one in (path, tmp_path / LOCK)] == [0o600, 0o600]


def test_entries_are_by_time(tmp_path: Path):
    earlier = Entry("2026-03-01T00:00:00.000Z", "fix", "redis", "Restored the volume")
    Slog(tmp_path).append([ENTRY, earlier])
    assert Slog(tmp_path).entries() == [earlier, ENTRY]


def test_appending_what_is_there_adds_nothing(tmp_path: Path):
    slog = Slog(tmp_path)
    assert slog.append_new([ENTRY]) == [ENTRY]
    assert slog.append_new([ENTRY]) == []
    assert slog.entries() == [ENTRY]


def test_a_line_that_a_killed_process_left_is_no_entry_and_no_damage(tmp_path: Path):
    slog = Slog(tmp_path)
    slog.append([ENTRY])
    slog.path.write_bytes(slog.path.read_bytes() + b'{"timestamp": "2026-03-02T')
    assert slog.entries() == [ENTRY]
    slog.append([ENTRY])
    assert slog.entries() == [ENTRY, ENTRY]
    assert slog.damaged() == []


@pytest.mark.parametrize(
    "line",
    [
        b"[]", b"{}", b"not JSON", b'{"timestamp": 1, "action": "fix", "tool": "a", "detail": "b", "reason": ""}',
        b'{"timestamp": "today", "action": "fix", "tool": "a", "detail": "b", "reason": ""}',
        b'{"timestamp": "2026-03-02T10:14:00Z", "action": "ponder", "tool": "a", "detail": "b", "reason": ""}',
        b'{"timestamp": "2026-03-02T10:14:00Z", "action": "fix", "tool": "a", "detail": "b", "reason": "", "more": ""}',
    ],
)  # fmt: skip
def test_what_is_no_entry_is_named_with_its_line(tmp_path: Path, line: bytes):
    assert parse_entry(line) is None
    slog = Slog(tmp_path)
    slog.append([ENTRY])
    slog.path.write_bytes(line + b"\n" + slog.path.read_bytes())
    assert slog.damaged() == ["slog.jsonl, line 1"]
    assert slog.entries() == [ENTRY]
