"""The slog: only appended to, by any number of processes; what is no entry is named and left out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memory_assets.store.slog import Entry, Slog, parse_entry

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
