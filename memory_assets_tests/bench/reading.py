"""How fast transcripts are read and masked, against bare orjson on the same lines."""

import contextlib
from pathlib import Path

import orjson

from memory_assets.capture.discover import find_transcripts
from memory_assets.capture.readers import open_reader
from memory_assets.capture.redact import mask
from memory_assets.records import Harness
from memory_assets_tests.bench.row import Row, best_of
from memory_assets_tests.bench.transcripts import folder

ROUNDS = 3
CHUNK = 8_000_000


def reading() -> list[Row]:
    """Returns how much longer our readers take than parsing every line with orjson."""
    sessions = _sessions()
    size = sum(len(line) for _, _, lines in sessions for line in lines) / 1e6
    bare, ours = best_of(ROUNDS, lambda: _parse(sessions), lambda: _read(sessions))
    return [
        Row(
            "reading: MB/s of our readers / bare orjson",
            bare / ours,
            f"{size / ours:.0f} MB/s against {size / bare:.0f} MB/s, {size:.0f} MB",
        )
    ]


def masking() -> list[Row]:
    """Returns how much longer masking takes than parsing every line with orjson."""
    sessions = _sessions()
    lines = b"".join(line + b"\n" for _, _, each in sessions for line in each)
    chunks = list(_chunks(lines))
    found = sum(mask(chunk)[1] for chunk in chunks)
    bare, ours = best_of(ROUNDS, lambda: _parse(sessions), lambda: [mask(chunk) for chunk in chunks])
    return [
        Row(
            "masking: MB/s of masking / bare orjson",
            bare / ours,
            f"{len(lines) / 1e6 / ours:.0f} MB/s against {len(lines) / 1e6 / bare:.0f} MB/s, {found} masked",
        )
    ]


def _sessions() -> list[tuple[Harness, Path, list[bytes]]]:
    return [
        (file.harness, file.path, file.path.read_bytes().splitlines())
        for file in find_transcripts([folder()])
        if not file.compressed
    ]


def _parse(sessions: list[tuple[Harness, Path, list[bytes]]]) -> None:
    for _, _, lines in sessions:
        for line in lines:
            with contextlib.suppress(orjson.JSONDecodeError):
                orjson.loads(line)


def _read(sessions: list[tuple[Harness, Path, list[bytes]]]) -> None:
    for harness, path, lines in sessions:
        reader = open_reader(harness, str(path))
        for line in lines:
            reader.read(line)


def _chunks(lines: bytes) -> list[bytes]:
    chunks, start = [], 0
    while start < len(lines):
        end = lines.rfind(b"\n", start, start + CHUNK) + 1 or len(lines)
        chunks.append(lines[start:end])
        start = end
    return chunks
