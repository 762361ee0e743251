"""How fast transcripts are read and masked, against bare orjson on the same lines and the other steps of capture."""

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

import orjson

from memory_assets.harnesses.readers import open_reader
from memory_assets.schema.vocabulary import Harness
from memory_assets.stages.capture.discover import find_transcripts
from memory_assets.stages.capture.index import index_sources
from memory_assets.store.settings import Settings
from memory_assets.store.store import open_store
from memory_assets.text.masking.redact import mask
from memory_assets_tests.bench.row import Row, best_of, seconds_of
from memory_assets_tests.bench.transcripts import folder
from memory_assets_tests.stages.capture.pipeline import derive, intake

ROUNDS = 3
CHUNK = 8_000_000


def reading(small: bool = False) -> list[Row]:
    """Returns how much longer our readers take than parsing every line with orjson."""
    sessions = _sessions(small)
    size = sum(len(line) for _, _, lines in sessions for line in lines) / 1e6
    bare, ours = best_of(ROUNDS, lambda: _parse(sessions), lambda: _read(sessions))
    return [
        Row(
            "reading: MB/s of our readers / bare orjson",
            bare / ours,
            f"{size / ours:.0f} MB/s against {size / bare:.0f} MB/s, {size:.0f} MB",
        )
    ]


def masking(small: bool = False) -> list[Row]:
    """Returns how much longer masking takes than parsing every line with orjson, and than the slowest other step of capture."""
    sessions = _sessions(small)
    lines = b"".join(line + b"\n" for _, _, each in sessions for line in each)
    chunks = list(_chunks(lines))
    found = sum(mask(chunk)[1] for chunk in chunks)
    bare, ours = best_of(
        ROUNDS, lambda: _parse(sessions), lambda: [mask(chunk) for chunk in chunks]
    )
    steps = _seconds_of_capture(small)
    masked = steps.pop("masking")
    slowest = max(steps, key=lambda step: steps[step])
    return [
        Row(
            "masking: MB/s of masking / bare orjson",
            bare / ours,
            f"{len(lines) / 1e6 / ours:.0f} MB/s against {len(lines) / 1e6 / bare:.0f} MB/s, {found} masked",
        ),
        Row(
            "masking: seconds / the slowest other step of capture",
            masked / steps[slowest],
            f"{masked:.1f} s; "
            + ", ".join(f"{step} {seconds:.1f} s" for step, seconds in steps.items()),
            limit=1.0,
        ),
    ]


def _seconds_of_capture(small: bool) -> dict[str, float]:
    """Returns how long each step of capture takes on all transcripts, in stores that are thrown away."""
    with tempfile.TemporaryDirectory(prefix="bench-steps-") as home:
        bare, store = (
            open_store(Settings(data=Path(home) / name, timezone="UTC", owner="ann"))
            for name in ("bare", "masked")
        )
        archiving = seconds_of(lambda: intake(bare, folder(small), mask=_as_they_are))
        return {
            "masking": seconds_of(lambda: intake(store, folder(small))) - archiving,
            "archiving": archiving,
            "indexing": seconds_of(lambda: index_sources(store.archive, store.tables)),
            "windows, messages and sessions": seconds_of(lambda: derive(store)),
        }


def _as_they_are(chunks: Sequence[bytes]) -> list[tuple[bytes, int]]:
    return [(chunk, 0) for chunk in chunks]


def _sessions(small: bool) -> list[tuple[Harness, Path, list[bytes]]]:
    return [
        (file.harness, file.path, file.path.read_bytes().splitlines())
        for file in find_transcripts([folder(small)])
        if not file.compression
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
