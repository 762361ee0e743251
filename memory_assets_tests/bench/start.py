"""How long whole commands take, from the start of their process, beside a bare interpreter.

Harnesses call brief, status, hooks and send at every session start and end, or at every prompt: their limit is a multiple of the
bare interpreter. The limit of help, version, feedback and recall is a time. The commands take turns with the bare interpreter,
whose site is the same, and the shortest time of each counts; compiled modules are written in a round before.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from memory_assets.services.health.status import keep_status
from memory_assets.services.search.corpus import open_embedder
from memory_assets.stages.deliver.events import ENDED
from memory_assets.stages.deliver.hook import TOOL_SECONDS
from memory_assets.store.settings import Settings
from memory_assets.store.sockets import SERVICE, ask
from memory_assets.store.store import open_store
from memory_assets.text.files import write_atomically
from memory_assets_tests.bench.row import Row, best_of, run
from memory_assets_tests.bench.synthetic import TOPICS, fill, make_topics, questions

MEMORIES = 2_500
SMALL = 20
"""Memories and topics of the small row."""

ROUNDS = 15
MOST_TIMES = 2.0
"""Of what harnesses call, over a bare interpreter."""
MOST_SECONDS = {"help": 0.4, "version": 0.4, "feedback": 0.4, "recall": 1.5}
"""Of what people and agents call."""

MOST_SERVED = 0.25
"""Seconds of a recall that the service answers, as a whole process."""

SESSION = "0a000001-1111-4222-8333-444455556666"
PAYLOAD = f'{{"session_id": "{SESSION}", "hook_event_name": "SessionEnd", "reason": "other"}}'
ENTRY = "import sys; from memory_assets.interfaces.entry import main; sys.exit(main())"


def start(small: bool = False) -> list[Row]:
    """Returns brief, status, an installed hook and send over a bare interpreter's start, and the seconds of what people call."""
    with tempfile.TemporaryDirectory(prefix="bench-start-") as folder:
        memories = SMALL if small else MEMORIES
        question, memory_id = _fill(Path(folder), memories, SMALL if small else TOPICS)
        left = {
            name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
        }
        environ = {**left, "MEMORY_DATA": folder, "MEMORY_TIMEZONE": "UTC"}
        commands = {
            "brief": ["brief"],
            "brief of a session": ["brief", "--session", SESSION],
            "status": ["status"],
            "hook at the end": ["hooks", "run", "claude_code", "SessionEnd", "--store", folder],
            "send": ["send", ENDED, "--session", "s1", "--data", '{"userMessageCount": 7}'],
            "help": ["--help"],
            "version": ["--version"],
            "feedback": ["data", "feedback", memory_id, "--used"],
            "recall": ["recall", question, "--probe"],
        }
        starts = [["-c", "pass"], *([*_memory(), *words] for words in commands.values())]
        works = [
            lambda words=words: run([sys.executable, *words], environ, PAYLOAD) for words in starts
        ]
        for work in works:
            work()
        bare, *times = best_of(1 if small else ROUNDS, *works)
        with _service(Path(folder), environ):
            works[-1]()
            call = {"tool": "Bash", "arguments": {"command": "uv run pytest"}, "session": SESSION}
            told_before = lambda: ask(folder, "before_tool", 5.0, folder=folder, **call)  # noqa: E731
            told_before()
            served, before_tool = best_of(1 if small else ROUNDS, works[-1], told_before)
    rows = [_row(name, seconds, bare) for name, seconds in zip(commands, times, strict=True)]
    told = f"{1_000 * served:.0f} ms, alone {1_000 * times[-1]:.0f} ms, bare interpreter {1_000 * bare:.0f} ms"
    return [
        *rows,
        Row("start: seconds of recall, by the service", served, told, limit=MOST_SERVED),
        Row(
            "start: seconds of a line before a tool",
            before_tool,
            "by the service",
            limit=TOOL_SECONDS,
        ),
    ]


@contextmanager
def _service(folder: Path, environ: dict[str, str]) -> Iterator[None]:
    """Runs the process of `memory up` that answers recalls, once it has loaded everything."""
    words = [sys.executable, "-m", "memory_assets.interfaces.service"]
    with subprocess.Popen(words, env=environ, stdin=subprocess.PIPE) as process:
        while not any((folder / SERVICE).glob("*.sock")) and process.poll() is None:
            time.sleep(0.05)
        yield


def _row(name: str, seconds: float, bare: float) -> Row:
    told = f"{1_000 * seconds:.0f} ms, bare interpreter {1_000 * bare:.0f} ms"
    if most := MOST_SECONDS.get(name):
        return Row(f"start: seconds of {name}", seconds, told, limit=most)
    return Row(f"start: {name} / bare interpreter", seconds / bare, told, limit=MOST_TIMES)


def _fill(folder: Path, memories: int, count: int) -> tuple[str, str]:
    """Fills a store and returns a question to ask of it, and the id of a memory."""
    random = Random(3)
    store = open_store(Settings(data=folder, timezone="UTC", owner="mira"))
    topics = make_topics(random, open_embedder(store.settings.embedding_model), count)
    fill(store, memories, topics, seed=3)
    write_atomically(store.workspace / "briefing.md", b"# Briefing\n\n" + b"- Use uv.\n" * 100)
    write_atomically(
        store.workspace / "briefings" / "sessions" / f"{SESSION}.md",
        b"## This session so far\n" + b"- Use uv.\n" * 30,
    )
    keep_status(store)
    return questions(random, topics, 1)[0], store.tables.read("memories", columns=["id"])["id"][0]


def _memory() -> list[str]:
    """Returns what runs the command: its installed script, or its entry where it is not installed."""
    script = Path(sys.executable).with_name("memory")
    return [str(script)] if script.is_file() else ["-c", ENTRY]
