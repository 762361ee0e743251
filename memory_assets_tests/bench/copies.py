"""How much smaller the archive would be if it stored the copies in Claude Code's transcripts once each.

    python -m memory_assets_tests.bench.copies RECORDED          the transcripts of a recent Claude Code as they are
    python -m memory_assets_tests.bench.copies RECORDED OTHERS   OTHERS, filled with the copies of RECORDED to 79 % of their bytes

Copies are values of the records that Claude Code writes of its requests and of attachments: prompts, tools, lists of skills.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import zstandard

LEAST = 512
"""Bytes of a value that is stored by its content; a shorter one costs as much as its name."""

SHARE = 0.79
"""Copies among the bytes of interactive sessions of Claude Code 2.1.330."""


@dataclass(frozen=True)
class Sizes:
    """Bytes of some transcripts, with one compressed range each."""

    raw: int
    copies: int
    stored: int
    """As the archive stores them."""
    stored_once: int
    """With each distinct copy compressed once, apart from the ranges."""
    without: int
    """Without any copies: no way to store them takes less."""

    def __str__(self) -> str:
        saved, most = (1 - one / self.stored for one in (self.stored_once, self.without))
        figures = f"{self.raw:,} bytes, {self.copies / self.raw:.0%} of them copies; stored as {self.stored:,}"
        return f"{figures}; with each copy once {self.stored_once:,} ({saved:.1%} less; the bound is {most:.1%})"


def measure(transcripts: Iterator[list[bytes]]) -> Sizes:
    """Returns the sizes of the transcripts, given as lines."""
    raw = copies = stored = rest = without = 0
    distinct: dict[bytes, int] = {}
    for lines in transcripts:
        left = []
        for line in lines:
            found = [value for value in _values(line) if value in line]
            copies += len(line) if is_copy(line) else 0
            for value in found:
                distinct.setdefault(value, len(distinct))
                line = line.replace(value, f'"{distinct[value]:064d}"'.encode())
            left.append(line)
        raw += sum(map(len, lines))
        stored += _compressed(lines)
        rest += _compressed(left)
        without += _compressed([line for line in lines if not is_copy(line)])
    return Sizes(
        raw, copies, stored, rest + sum(_compressed([value]) for value in distinct), without
    )


def is_copy(line: bytes) -> bool:
    """Returns whether the record is about a request, or an attachment."""
    kind = _record(line).get("type")
    return isinstance(kind, str) and (kind == "attachment" or kind.startswith("api-request"))


def filled(others: Path, recorded: Path) -> Iterator[list[bytes]]:
    """Yields the other transcripts, with the copies of a recorded one in equal distances."""
    copies = ([line for line in lines if is_copy(line)] for lines in read(recorded))
    pools = cycle([pool for pool in copies if sum(map(len, pool)) >= LEAST])
    for own, pool in zip(read(others), pools, strict=False):
        wanted = sum(map(len, own)) * SHARE / (1 - SHARE)
        added: list[bytes] = []
        for line in cycle(pool):
            if (wanted := wanted - len(line)) < 0:
                break
            added.append(line)
        per_line = len(added) / max(len(own), 1)
        parts = (
            [line, *added[int(n * per_line) : int((n + 1) * per_line)]]
            for n, line in enumerate(own)
        )
        yield [line for part in parts for line in part]


def read(folder: Path) -> Iterator[list[bytes]]:
    """Yields the lines of each transcript below the folder."""
    for path in sorted(folder.rglob("*.jsonl")):
        yield path.read_bytes().splitlines(keepends=True)


def _values(line: bytes) -> Iterator[bytes]:
    if is_copy(line):
        record = _record(line)
        attachment = record.get("attachment")
        inner = attachment.values() if isinstance(attachment, dict) else ()
        for value in (record.get("shape"), record.get("message"), record.get("rendered"), *inner):
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
                errors="surrogatepass"
            )
            if len(text) >= LEAST:
                yield text


def _record(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _compressed(lines: list[bytes]) -> int:
    return len(zstandard.ZstdCompressor(level=3).compress(b"".join(lines)))


if __name__ == "__main__":
    folders = [Path(name) for name in sys.argv[1:]]
    if len(folders) not in (1, 2):
        raise SystemExit(__doc__)
    print(measure(filled(folders[1], folders[0]) if len(folders) == 2 else read(folders[0])))
