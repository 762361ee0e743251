"""Words first: the CPU of making everything that was said findable by its words, beside SQLite's FTS5 over the same texts.

Both are processes of their own, from the start of the interpreter: ours masks, archives, cuts sessions and indexes passages;
the other parses the same files with our readers and indexes each text in FTS5.
"""

import os
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from memory_assets_tests.bench.row import Row, run
from memory_assets_tests.bench.transcripts import folder

MEGABYTES = 30
MOST_CPU = 0.25
"""Seconds of CPU a megabyte."""

MOST_SECONDS = 10.0
"""Of the wall, for 30 MB."""


def first_words(small: bool = False) -> list[Row]:
    """Returns the CPU a megabyte and the seconds until every word can be found, and those of FTS5."""
    # It imports Dagster, which the measured processes do not need.
    from memory_assets_tests.bench.pipeline import environment

    with tempfile.TemporaryDirectory(prefix="bench-words-") as name:
        home = Path(name)
        sources, megabytes = draw(home / "sources", small)
        environ = environment(home, sources)
        ours, seconds = spent(["-m", MODULE, "ours"], environ)
        fts, fts_seconds = spent(
            ["-m", MODULE, "fts5", str(home / "fts5.db"), str(sources)], environ
        )
    beside = f"FTS5 {fts:.1f} CPU s, {fts_seconds:.1f} s"
    told = f"{ours:.1f} CPU s, {seconds:.1f} s for {megabytes:.1f} MB; {beside}"
    return [
        Row("first-words: CPU seconds a megabyte", ours / megabytes, told, limit=MOST_CPU),
        Row(
            "first-words: seconds for 30 MB",
            seconds * MEGABYTES / megabytes,
            told,
            limit=MOST_SECONDS,
        ),
        Row("first-words: CPU / that of FTS5", ours / fts, told),
    ]


MODULE = "memory_assets_tests.bench.first_words"


def draw(target: Path, small: bool = False, megabytes: float = MEGABYTES) -> tuple[Path, float]:
    """Copies transcripts of about so many megabytes, drawn by the hash of their names; returns the copy and its megabytes."""
    whole = folder(small)
    paths = sorted(whole.rglob("*.jsonl"), key=lambda path: sha256(path.name.encode()).digest())
    drawn = 0
    for path in paths:
        size = path.stat().st_size
        if drawn + size <= megabytes * 1_000_000:
            copy = target / path.relative_to(whole)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
            drawn += size
    return target, drawn / 1_000_000


def spent(arguments: Sequence[str], environ: dict[str, str]) -> tuple[float, float]:
    """Runs Python with the arguments; returns the CPU seconds, of all its threads, and those of the wall."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run([sys.executable, *arguments], environ)
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds


def index_ours() -> None:
    """Makes the words of the transcripts findable in the store of the settings."""
    from memory_assets.runs.word_search import index_words
    from memory_assets.services.search.corpus import open_texts
    from memory_assets.store.settings import read_settings
    from memory_assets.store.store import open_store

    store = open_store(read_settings())
    index_words(store)
    assert open_texts(store).ids("messages")


def index_fts5(database: str, sources: str) -> None:
    """Parses the transcripts with our readers and indexes their texts with SQLite's FTS5."""
    connection = sqlite3.connect(database)
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
    with connection:
        connection.executemany("INSERT INTO texts VALUES (?)", _texts(Path(sources)))
    connection.close()


def _texts(sources: Path) -> Iterator[tuple[str]]:
    from memory_assets.harnesses.readers import open_reader
    from memory_assets.stages.capture.discover import find_transcripts
    from memory_assets.stages.embed.encode import SPEAKERS

    for file in find_transcripts([sources]):
        reader = open_reader(file.harness, str(file.path))
        with file.open() as stream:
            for line in stream:
                parsed = reader.read(line)
                if (
                    parsed.status == "message"
                    and parsed.kind == "text"
                    and parsed.author in SPEAKERS
                ):
                    yield (parsed.text,)


if __name__ == "__main__":
    index_ours() if sys.argv[1] == "ours" else index_fts5(*sys.argv[2:])
    sys.stdout.flush()
    os._exit(0)
