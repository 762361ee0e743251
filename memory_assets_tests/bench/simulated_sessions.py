"""Writes realistic sessions of any number: their shape is that of real ones, their words are made up or from the sample.

A turn is a fact in a developer's words (`synthetic`), or words of the bundled sample; replies and results are of the sample, cut
or repeated to the length that the shape says. Of so many sessions as there are real ones, each has the counts of another one.
Everything is drawn from a seed.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from memory_assets.stages.capture.sample import sample_root
from memory_assets_tests.bench.session_shapes import COUNTS, draw
from memory_assets_tests.bench.synthetic import WORDS_OF_TOPIC, fill_pattern, made_word

FIRST = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
DAYS = 180
"""What the sessions span."""

FACT_SHARE = 0.3
"""Of the turns: rules and statements, as the labelled sessions have them."""

STATED = (
    "Always check {path} before you change the {a} of the {b}.",
    "Never restart the {a} while the {b} writes to {path}.",
    "The {a} of the {b} listens on port {port}.",
    "We decided to move the {a} from {b} to {c} because the {d} needs it.",
    "I prefer {a} over {b} in the {c}.",
    "From now on run `{flag}` before every release of the {a}.",
    "The {a} team owns {path}.",
)
READ_SHARE = 0.2
"""Of the calls: files that are read; the others are commands."""

TOPICS = 400
ERRANDS = (
    "now the same for {name}",
    "please look at {path} and fix the {a}",
    "why does {name} fail with {version}?",
    "ok, go on",
)


NAMES = {"user": "turn", "assistant": "reply", "call": "call", "result": "result"}
"""Kind of record → its name in the shapes."""


@dataclass(frozen=True)
class Material:
    """What texts are made of: words of each topic, and lines of the sample."""

    topics: Sequence[Sequence[str]]
    lines: Sequence[str]


def material(random: Random) -> Material:
    """Returns the words of the topics, and the lines that the sessions of the sample have."""
    words = [[made_word(random) for _ in range(WORDS_OF_TOPIC)] for _ in range(TOPICS)]
    records = (
        json.loads(line)
        for path in sorted(sample_root().rglob("*.jsonl"))
        for line in path.read_bytes().splitlines()
    )
    lines = (line for record in records for text in _strings(record) for line in text.splitlines())
    return Material(
        words, list(dict.fromkeys(line for line in lines if len(line) > 20 and " " in line))
    )


def _strings(value: object) -> Iterator[str]:
    """Yields the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def write_sessions(folder: Path, count: int, seed: int) -> int:
    """Writes that many sessions below the folder and returns their bytes."""
    random, written = Random(seed), 0
    made = material(random)
    project, left, counts = 0, 0, list[tuple[int, int, int]]()
    for number in range(count):
        counts = counts or random.sample(COUNTS, len(COUNTS))
        if left <= 0:
            project, left = project + 1, max(int(draw(random, "sessions of a project")), 1)
        left -= 1
        start = FIRST + timedelta(seconds=random.uniform(0, DAYS * 86_400))
        name = f"{number:08x}-{random.getrandbits(16):04x}-4{random.getrandbits(12):03x}-8{random.getrandbits(12):03x}-{number:012x}"
        content = b"".join(
            _lines(random, made, counts.pop(), name, f"/home/ann/work/project-{project}", start)
        )
        path = folder / "projects" / f"-home-ann-work-project-{project}" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written += len(content)
    return written


def _lines(
    random: Random,
    made: Material,
    counts: tuple[int, int, int],
    session: str,
    cwd: str,
    start: datetime,
) -> Iterator[bytes]:
    """Yields the records of a session of so many turns, calls and replies."""
    at = start
    topic = random.choice(made.topics)
    for number, (kind, call) in enumerate(_kinds(random, *counts), start=1):
        at += timedelta(seconds=draw(random, "seconds to the next message"))
        yield _record(kind, call, _text(random, made, topic, kind), session, number, cwd, at)


def _kinds(random: Random, turns: int, calls: int, replies: int) -> Iterator[tuple[str, str]]:
    """Yields what each record is, and the tool of calls and their results; a session begins with a turn."""
    steps = ["user"] * max(turns - 1, 0) + ["call"] * calls + ["assistant"] * replies
    for step in ["user", *random.sample(steps, len(steps))]:
        tool = "" if step != "call" else "Read" if random.random() < READ_SHARE else "Bash"
        yield step, tool
        if step == "call":
            yield "result", tool


def _text(random: Random, made: Material, topic: Sequence[str], kind: str) -> str:
    said = ""
    if kind == "user":
        patterns = STATED if random.random() < FACT_SHARE else ERRANDS
        said = fill_pattern(random, patterns, topic)
    elif kind == "call":
        said = fill_pattern(random, ("{path}",), topic)
    size = int(draw(random, f"characters of a {NAMES[kind]}")) - len(said)
    return f"{said} {_words(random, made, size)}".strip() or "ok"


def _words(random: Random, made: Material, size: int) -> str:
    """Returns lines of the sample of about that length."""
    found: list[str] = []
    while size > 0:
        found.append(random.choice(made.lines)[:size])
        size -= len(found[-1]) + 1
    return "\n".join(found)


def _record(
    kind: str, tool: str, text: str, session: str, number: int, cwd: str, at: datetime
) -> bytes:
    role = "user" if kind in ("user", "result") else "assistant"
    call = f"toolu_{session[:8]}{number - (kind == 'result'):08d}"
    content: object = {
        "user": text,
        "assistant": [{"type": "text", "text": text}],
        "call": [{"type": "tool_use", "id": call, "name": tool, "input": _input(tool, text)}],
        "result": [{"type": "tool_result", "tool_use_id": call, "content": text}],
    }[kind]
    record = {
        "type": role,
        "uuid": f"{session}-{number}",
        "sessionId": session,
        "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "cwd": cwd,
        "gitBranch": "main",
        "version": "2.1.150",
        "userType": "external",
        "isSidechain": False,
        "message": {
            "role": role,
            "content": content,
            **({"id": f"msg_{session}_{number}"} if role == "assistant" else {}),
        },
    }
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _input(tool: str, text: str) -> dict[str, str]:
    """Returns what the tool is called with."""
    return {"file_path": text.partition(" ")[0]} if tool == "Read" else {"command": text}
