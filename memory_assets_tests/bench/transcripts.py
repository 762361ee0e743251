"""Transcripts to measure on: the real ones, or a few of them, else the sample; and generated ones of any size.

`write_session` makes a Claude Code transcript of a given size from a seed: user turns, answers, tool calls and results with
code, numbers and escapes, a few seconds apart, with nights between, so that it is cut into windows of many days.
"""

import atexit
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random

from memory_assets.stages.capture.sample import lay_out, sample_root

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = REPOSITORY.parent / "shared" / "data"
LABELS = SHARED / "gold"
RECORDED = SHARED / "recorded"
FEW = 2
"""Sessions of the small folder."""
START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
NOUNS = [
    "server",
    "client",
    "parser",
    "cache",
    "queue",
    "table",
    "index",
    "worker",
    "session",
    "bucket",
    "ledger",
    "token",
    "branch",
    "schema",
    "window",
    "report",
]
VERBS = [
    "reads",
    "writes",
    "splits",
    "merges",
    "retries",
    "drops",
    "sorts",
    "checks",
    "renames",
    "loads",
]
CODE = 'def {noun}(value: int) -> str:\n\treturn f"{verb} {{value}}"  # {noun} \\n {number}\n'


@cache
def folder(small: bool = False) -> Path:
    """Returns the folder with the transcripts to measure on; a small one has the shortest sessions that are labelled."""
    if (SHARED / "unpack").is_file():
        unpacked = subprocess.run(
            [str(SHARED / "unpack")], check=True, capture_output=True, text=True
        ).stdout.strip()
        return _few(Path(unpacked)) if small else Path(unpacked)
    return lay_out(sample_root(), _temporary("bench-sample-"), datetime.now(UTC))


def _few(whole: Path) -> Path:
    few, labelled = _temporary("bench-few-"), {path.stem for path in LABELS.glob("*.json")}
    found = [
        path
        for path in whole.rglob("*.jsonl")
        if any(path.stem.endswith(session) for session in labelled)
    ]
    for path in sorted(found, key=lambda path: path.stat().st_size)[:FEW]:
        copy = few / path.relative_to(whole)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    return few


def _temporary(prefix: str) -> Path:
    made = Path(tempfile.mkdtemp(prefix=prefix))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def described(small: bool = False) -> str:
    """Returns what is measured on, in words."""
    sizes = [path.stat().st_size for path in folder(small).rglob("*.jsonl")]
    kind = (
        "real"
        if (SHARED / "unpack").is_file()
        else "the bundled sample (the real ones are not on this machine)"
    )
    return f"{kind}, {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB in {folder(small)}"


def write_session(path: Path, size: int, seed: int, *, start: datetime = START) -> Path:
    """Writes a transcript of at least `size` bytes and returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    random, written = Random(seed), 0
    with path.open("wb") as file:
        for line in lines(random, path.stem, start):
            file.write(line)
            written += len(line)
            if written >= size:
                return path
    return path


def lines(random: Random, session: str, start: datetime) -> Iterator[bytes]:
    """Yields the lines of a session without end."""
    results = [
        _result(random, size) for size in (300, 1_200, 4_000, 9_000, 30_000) for _ in range(40)
    ]
    at, parent, number = start, None, 0
    while True:
        for kind in ("user", "assistant", "call", "result", "call", "result", "assistant"):
            number += 1
            at += timedelta(seconds=random.randint(4, 40)) if number % 2_000 else timedelta(hours=9)
            uuid = f"{random.getrandbits(128):032x}"
            yield _record(kind, random, results, session, number, uuid, parent, at)
            parent = uuid


def sentence(random: Random) -> str:
    """Returns a sentence of the kind that sessions are full of."""
    noun, other, verb = random.choice(NOUNS), random.choice(NOUNS), random.choice(VERBS)
    return f"The {noun} of the {other} {verb} {random.randrange(10_000)} rows, so use port {random.randrange(1_024, 65_536)}."


def _result(random: Random, size: int) -> str:
    text = ""
    while len(text) < size:
        text += CODE.format(
            noun=random.choice(NOUNS), verb=random.choice(VERBS), number=random.random()
        )
    return text


def _record(
    kind: str,
    random: Random,
    results: list[str],
    session: str,
    number: int,
    uuid: str,
    parent: str | None,
    at: datetime,
) -> bytes:
    call = f"toolu_{number - (kind == 'result'):020d}"
    role = "user" if kind in ("user", "result") else "assistant"
    content: object = {
        "user": " ".join(sentence(random) for _ in range(2)),
        "assistant": [{"type": "text", "text": " ".join(sentence(random) for _ in range(6))}],
        "call": [
            {
                "type": "tool_use",
                "id": call,
                "name": "Bash",
                "input": {"command": f"grep -n {random.choice(NOUNS)} src"},
            }
        ],
        "result": [
            {
                "type": "tool_result",
                "tool_use_id": call,
                "content": random.choice(results) + str(number),
            }
        ],
    }[kind]
    record = {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/ann/work/shop",
        "sessionId": session,
        "version": "2.1.0",
        "gitBranch": "main",
        "type": role,
        "message": {
            "role": role,
            "content": content,
            **({"id": f"msg_{number:024d}"} if role == "assistant" else {}),
        },
        "uuid": uuid,
        "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"
