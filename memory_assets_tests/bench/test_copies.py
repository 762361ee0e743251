"""Copies are counted once each, and a transcript without copies would not shrink."""

import json
from pathlib import Path

from memory_assets_tests.bench.copies import filled, measure, read

TOOLS = {
    "tools": [{"name": f"tool-{n}", "description": f"It does {n * n} things."} for n in range(40)]
}


def session(number: int) -> bytes:
    records = [
        {"type": "user", "sessionId": f"s{number}", "message": {"content": f"point {number}"}},
        {
            "type": "attachment",
            "sessionId": f"s{number}",
            "attachment": {"type": "prompt_snapshot", "prompt": TOOLS},
        },
        {"type": "api-request-shape", "sessionId": f"s{number}", "shape": TOOLS},
    ]
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in records)


def test_a_copy_in_many_sessions_would_be_stored_once(tmp_path: Path):
    for number in range(10):
        (tmp_path / f"{number}.jsonl").write_bytes(session(number))
    found = measure(read(tmp_path))
    assert found.copies > 0.9 * found.raw
    assert found.without < found.stored_once < 0.6 * found.stored
    assert "with each copy once" in str(found)


def test_sessions_are_filled_with_copies_to_the_share_and_keep_their_own_lines(tmp_path: Path):
    recorded, others = tmp_path / "recorded", tmp_path / "others"
    recorded.mkdir()
    others.mkdir()
    (recorded / "a.jsonl").write_bytes(session(1))
    own = [b'{"type":"user","message":"%d"}\n' % n for n in range(2_000)] + [b"torn\n"]
    (others / "b.jsonl").write_bytes(b"".join(own))
    (lines,) = filled(others, recorded)
    assert [line for line in lines if line in own] == own
    found = measure(iter([lines]))
    assert 0.76 < found.copies / found.raw < 0.8
    assert measure(iter([own])).stored_once == measure(iter([own])).stored
