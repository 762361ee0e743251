"""A store of all transcripts, built as people build it: `memory ingest` over the folder, once for all rows that ask it.

Where `BENCH_STORE` names a built store, that one is asked; building takes several minutes.
"""

import atexit
import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from memory_assets.memory import MemoryAgent
from memory_assets.store.settings import read_settings
from memory_assets_tests.bench.pipeline import ingest
from memory_assets_tests.bench.transcripts import folder


@cache
def whole_store(small: bool = False) -> MemoryAgent:
    """Returns the facade of the store."""
    named = os.environ.get("BENCH_STORE")
    if named and not small:
        root = Path(named)
    else:
        home = Path(tempfile.mkdtemp(prefix="bench-whole-"))
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        ingest(home, folder(small))
        root = home / "store"
    return MemoryAgent(read_settings(data=root, timezone=_zone(root), owner="soph"))


def _zone(root: Path) -> str:
    return json.loads((root / "instance.json").read_text())["timezone"]
