"""How much memory capturing one very large transcript takes, above what its imports take.

The row runs this file as a process of its own: it imports, notes its memory, captures (intake, records, windows,
messages), and prints the difference between the peak and what it noted.
"""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from memory_assets_tests.bench.row import Row, answer_of
from memory_assets_tests.bench.transcripts import write_session

SIZE, SMALL = 500_000_000, 1_000_000
LIMIT_MB = 300.0
SEED = 7


def capture_memory(small: bool = False) -> list[Row]:
    """Returns the peak above the imports as a share of what is allowed."""
    size = SMALL if small else SIZE
    with tempfile.TemporaryDirectory(prefix="bench-capture-") as name:
        home = Path(name)
        write_session(
            home
            / "projects"
            / "-home-ann-work-shop"
            / "0b0e4a60-5f3a-4a0e-9a53-6f6a3c2d1e0f.jsonl",
            size,
            SEED,
        )
        measured = answer_of("capture_memory", name)
    return [
        Row(
            f"capturing {size / 1e6:.0f} MB: peak memory / {LIMIT_MB:.0f} MB",
            measured["above_mb"] / LIMIT_MB,
            f"{measured['above_mb']:.0f} MB above {measured['imports_mb']:.0f} MB of imports, {measured['seconds']:.0f} s, "
            f"{measured['messages']} messages in {measured['windows']} windows",
            limit=1.0,
        )
    ]


def measure(home: Path) -> dict[str, float]:
    """Captures the transcripts below the folder in this process and returns what that took."""
    from memory_assets.schema import frames as schemas
    from memory_assets.store.settings import Settings
    from memory_assets.store.store import open_store
    from memory_assets_tests.stages.capture.pipeline import capture

    for table in ("records", "windows", "messages"):
        schemas.check(
            table, schemas.empty(table)
        )  # imports what capture imports when it writes its first table
    store = open_store(Settings(data=home / "store", timezone="UTC", owner="ann"))
    imports = _memory_mb("VmRSS")
    started = time.perf_counter()
    capture(store, home / "projects")
    seconds = time.perf_counter() - started
    peak = _memory_mb("VmHWM")
    parts = store.tables.parts("messages")
    return {
        "imports_mb": imports,
        "above_mb": peak - imports,
        "seconds": seconds,
        "messages": sum(info.rows for info in parts.values()),
        "windows": store.tables.parts("windows")["all"].rows,
    }


def _memory_mb(field: str) -> float:
    """Returns the present (`VmRSS`) or the highest (`VmHWM`) memory of this process; elsewhere than on Linux the highest."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith(field))
        return int(line.split()[1]) / 1_000
    unit = 1_000_000 if sys.platform == "darwin" else 1_000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
