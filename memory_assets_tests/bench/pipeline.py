"""The whole journey, as people run it: `memory ingest` in processes of its own, over all transcripts, twice, and one more session.

The first is set against embedding the same passages with sentence-transformers and nothing else, the second against the first.
Then the store is served, a session ends as its harness says, and a question finds it.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from memory_assets.interfaces.ports import free_port
from memory_assets.memory import MemoryAgent
from memory_assets.runs.liveness import WORKER, is_alive
from memory_assets.stages.capture.sample import lay_out, sample_root
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets_tests.bench.row import Row, answer_of, run
from memory_assets_tests.bench.transcripts import folder

FIRST_LIMIT, SECOND_LIMIT = 1.8, 0.03
MOST_SECONDS = 0.5
"""Of an ingest without new transcripts."""

MOST_TO_RECALL = 5.0
"""Seconds from the end of a session to its being recalled, on an idle machine."""

QUESTION = "why does tidewatch move to a server at Hetzner?"
PATIENCE_SECONDS = 240.0
SETTLE_SECONDS = 45.0
"""After that, the processes of the UI have started: a session ends while they run, and not while they load."""

SESSION = "2995423c-868b-410f-bd46-75c70fa8f193"
"""One of the sample's, which no other transcript resembles."""


def pipeline(small: bool = False) -> list[Row]:
    """Returns the first run over bare embedding, and the second run over the first."""
    with tempfile.TemporaryDirectory(prefix="bench-pipeline-") as name:
        home = Path(name)
        first = ingest(home, folder(small))
        second = ingest(home, folder(small))
        again = min(ingest(home, folder(small)) for _ in range(1 if small else 3))
        bare = answer_of("pipeline", str(home / "store"))
        seconds = end_session(home, folder(small))
    return [
        Row(
            "pipeline: wall time / embedding the texts bare",
            first / bare["seconds"],
            f"{first:.1f} s against {bare['seconds']:.1f} s for {bare['texts']} texts",
            limit=FIRST_LIMIT,
        ),
        Row(
            "second ingest / first",
            second / first,
            f"{second:.2f} s against {first:.1f} s",
            limit=SECOND_LIMIT,
        ),
        Row(
            "pipeline: seconds of an ingest with nothing new",
            again,
            "by the note of the second one",
            limit=MOST_SECONDS,
        ),
        Row(
            "pipeline: seconds from a session's end to recall",
            seconds,
            "with `memory serve ui`",
            limit=MOST_TO_RECALL,
        ),
    ]


OWNER = "soph"
"""Whose stores `ingest` fills."""

MEMORY = [sys.executable, "-m", "memory_assets.interfaces.entry"]


def ingest(home: Path, sources: Path, **variables: str) -> float:
    """Runs `memory ingest` on the store below `home` and returns how long the process took; `variables` name further settings."""
    started = time.perf_counter()
    run([*MEMORY, "ingest"], environment(home, sources) | variables)
    return time.perf_counter() - started


def environment(home: Path, sources: Path) -> dict[str, str]:
    """Returns the variables of a person who has these transcripts, and writes new ones into `home/new`."""
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MEMORY_", "DAGSTER_", "PYTHON"))
    }
    (home / "new").mkdir(exist_ok=True)
    return environ | {
        "HOME": str(home),
        "MEMORY_DATA": str(home / "store"),
        "MEMORY_SOURCES": os.pathsep.join((str(sources), str(home / "new"))),
        "MEMORY_TIMEZONE": "UTC",
        "MEMORY_OWNER": OWNER,
    }


def end_session(home: Path, sources: Path) -> float:
    """Serves the store, lets a session end, and returns the seconds until a question finds what was said in it."""
    environ, store = (
        environment(home, sources),
        open_store(read_settings(data=home / "store", timezone="UTC", owner=OWNER)),
    )
    path = next(
        lay_out(sample_root(), home / "written", datetime.now(UTC)).rglob(f"{SESSION}.jsonl")
    )
    served = subprocess.Popen(
        [*MEMORY, "serve", "ui", "--port", str(free_port(3000))],
        env=environ,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    agent = MemoryAgent(store.settings)
    try:
        _wait_until(lambda: is_alive(store, WORKER) and not _is_recalled(agent))
        time.sleep(SETTLE_SECONDS)
        target = home / "new" / "projects" / path.parent.name / path.name
        target.parent.mkdir(parents=True)
        path.rename(target)
        payload = {
            "session_id": SESSION,
            "transcript_path": str(target),
            "hook_event_name": "SessionEnd",
            "reason": "other",
        }
        started = time.perf_counter()
        run([*MEMORY, "hooks", "run", "claude_code", "SessionEnd"], environ, json.dumps(payload))
        _wait_until(lambda: _is_recalled(agent))
        return time.perf_counter() - started
    finally:
        with suppress(ProcessLookupError):
            os.killpg(served.pid, signal.SIGTERM)
        served.wait(60)


def _is_recalled(agent: MemoryAgent) -> bool:
    return any(
        one.kind == "fact" and one.session == SESSION
        for one in agent.recall(QUESTION, probe=True).results
    )


def _wait_until(is_so: Callable[[], bool]) -> None:
    """Waits until it is so; stops the bench when that takes too long."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > until:
            raise SystemExit(
                f"pipeline: the session {SESSION} was not recalled within {PATIENCE_SECONDS:.0f} s."
            )
        time.sleep(0.1)


def embed_bare(root: Path) -> dict[str, float]:
    """Embeds the distinct passages of messages that the store embedded, in batches of the same size; returns how long it took."""
    import polars as pl
    from sentence_transformers import SentenceTransformer

    from memory_assets.adapters.local_embedder import BATCH_TEXTS, DEFAULT_MODEL, model_folder
    from memory_assets.store.parquet_tables import ParquetTables

    tables = ParquetTables(root / "tables")
    embedded = (
        tables.scan("passages")
        .join(tables.scan("passage_vectors"), on="text_hash", how="semi")
        .unique("text_hash")
    )
    length = pl.col("char_to") - pl.col("char_from")
    cut = pl.col("text").str.slice(pl.col("char_from"), length)
    messages = tables.scan("messages").select("message_id", "text").unique("message_id")
    texts = (
        embedded.join(messages, on="message_id")
        .sort(length)
        .select(cut)
        .collect()
        .to_series()
        .to_list()
    )
    model = SentenceTransformer(
        str(model_folder(DEFAULT_MODEL)), device="cpu", local_files_only=True
    )
    started = time.perf_counter()
    model.encode(texts, batch_size=BATCH_TEXTS, normalize_embeddings=True, show_progress_bar=False)
    return {"seconds": time.perf_counter() - started, "texts": len(texts)}


if __name__ == "__main__":
    print(json.dumps(embed_bare(Path(sys.argv[1]))))
