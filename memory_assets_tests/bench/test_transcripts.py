"""Generated transcripts repeat byte for byte, and are read like real ones."""

from datetime import timedelta
from pathlib import Path

from memory_assets.harnesses.readers import open_reader
from memory_assets_tests.bench.transcripts import START, write_session

NAME = "0b0e4a60-5f3a-4a0e-9a53-6f6a3c2d1e0f.jsonl"


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    one, same, other = (
        write_session(tmp_path / str(number) / NAME, 200_000, seed).read_bytes()
        for number, seed in enumerate((1, 1, 2))
    )
    assert one == same != other
    assert 200_000 <= len(one) < 300_000


def test_every_generated_line_is_a_message_of_a_session_in_time_order(tmp_path: Path) -> None:
    path = write_session(tmp_path / NAME, 200_000, 3)
    reader = open_reader("claude_code", str(path))
    parsed = [reader.read(line) for line in path.read_bytes().splitlines()]
    times = [each.event_at for each in parsed if each.event_at]
    assert {each.status for each in parsed} == {"message"}
    assert {each.kind for each in parsed} == {"text", "tool_call", "tool_result"}
    assert times == sorted(times)
    assert times[0] - START < timedelta(minutes=1)
