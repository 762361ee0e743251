"""One more session in a store that is built: from its end to its recall, by `memory ingest` and with the service."""

import os
import shutil
import tempfile
import time
from pathlib import Path

from memory_assets.store.telemetry import read_steps
from memory_assets_tests.bench.first_words import draw
from memory_assets_tests.bench.pipeline import end_session, environment, ingest
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import folder

MOST_BY_INGEST, MOST_SERVED = 8.0, 3.0
"""Seconds until the session is recalled, on an idle machine."""

MOST_OF_TABLES = 0.2
"""Seconds that the tables below may add."""

LAST_TABLES = ("verifications", "obedience")
SIZE = 1_000_000
"""Bytes of the session: one of some 270 messages."""


def one_more(small: bool = False) -> list[Row]:
    """Returns the seconds of one more session by ingest, with two tables' part in them, and with the service."""
    with tempfile.TemporaryDirectory(prefix="bench-one-more-") as name:
        home = Path(name)
        sources, megabytes = draw(home / "sources", small)
        ingest(home, sources)
        environment(home, sources)
        taken = {path.name for path in sources.rglob("*.jsonl")}
        others = [path for path in folder().rglob("*.jsonl") if path.name not in taken]
        session = min(others, key=lambda path: abs(path.stat().st_size - SIZE))
        shutil.copy2(session, home / "new" / session.name)
        os.utime(home / "new" / session.name, (time.time() - 86_400,) * 2)
        began = len(list(read_steps(home / "store")))
        seconds = ingest(home, sources)
        steps = list(read_steps(home / "store"))[began:]
        last = sum(step["duration_ms"] for step in steps if step["action"] in LAST_TABLES) / 1_000
        served = end_session(home, sources)
    size = session.stat().st_size / 1e6
    told = f"{size:.1f} MB beside {megabytes:.1f} MB"
    return [
        Row("one-more: seconds by `memory ingest`", seconds, told, limit=MOST_BY_INGEST),
        Row(f"one-more: seconds of {' and '.join(LAST_TABLES)}", last, told, limit=MOST_OF_TABLES),
        Row("one-more: seconds with the service", served, "to its fact", limit=MOST_SERVED),
    ]
