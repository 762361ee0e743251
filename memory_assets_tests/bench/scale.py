"""How the store grows: its times, its peak memory and its recalls with more sessions, and with more memories.

`make bench ROWS=scale` prints a table; `SCALE_WRITE=1` also writes it, and its curves, into docs/scaling.md. Sizes are settings:
`SCALE_SESSIONS=100,1000,10000 SCALE_MEMORIES=10000,100000,1000000`, 0 for none. A size that would take more than `SCALE_MINUTES`
(60) in all, by the size before it, or more than `SCALE_GB` (12) of memory, is left out and named. Each size runs in a process of
its own, and is printed once it is measured; `SCALE_KEPT=FOLDER` keeps it there, and a size that is there is not measured again.
"""

import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from random import Random

import numpy as np

from memory_assets.memory import MemoryAgent
from memory_assets.runs.launch import Runner, update
from memory_assets.services.search.corpus import open_embedder, open_texts, open_vectors
from memory_assets.stages.recall.layout import Layout
from memory_assets.stages.recall.message_search import SearchQuery, find_messages
from memory_assets.store.settings import Settings
from memory_assets.store.store import open_store
from memory_assets.store.telemetry import read_steps
from memory_assets.text.files import write_atomically
from memory_assets.text.terms import query_terms
from memory_assets_tests.bench.row import Row, answer_of, render, seconds_of
from memory_assets_tests.bench.scale_docs import write_docs
from memory_assets_tests.bench.simulated_sessions import DAYS, FIRST, write_sessions
from memory_assets_tests.bench.synthetic import LAST, fill, make_topics, questions

SESSIONS, MEMORIES = (100, 1_000, 10_000), (10_000, 100_000, 1_000_000)
SMALL_SESSIONS, SMALL_MEMORIES = (2,), (20, 40)
ASKED, WARMED = 100, 10
QUESTION_WORDS = 12
STEPS = 8
"""Steps that are printed, those that take longest."""

MOST_SLOWER = 1.5
"""The time of a session among so many is at most so many times that among a tenth of them."""

MOST_TIMES = 2.0
"""The middle time of a recall at the largest size is at most so many times that at a tenth of it."""

LEAST_SAME = 0.95
"""Of the five results of an exact search, so many are found."""

JOBS_OF = {
    "capture": "capture",
    "process days": "process_days",
    "encode": "encode_messages",
    "merge": "rebuild_memories",
}
"""Stage → job."""


@dataclass(frozen=True)
class Measured:
    """One size of a store, and what was measured."""

    kind: str
    size: int
    seconds: Mapping[str, float]
    p50_ms: float
    p95_ms: float
    peak_gb: float
    stored_gb: float
    memories: int
    passages: int
    same: float = 1.0
    """Share of the exact search's first five memories and messages that recall's own search finds."""
    steps: Mapping[str, float] = field(default_factory=dict)
    """Step → seconds, those that take longest; of sessions."""


def scale(small: bool = False) -> list[Row]:
    """Returns the times at each size, and at the largest what was promised of recall."""
    kinds = {
        "sessions": SMALL_SESSIONS if small else _sizes("SCALE_SESSIONS", SESSIONS),
        "memories": SMALL_MEMORIES if small else _sizes("SCALE_MEMORIES", MEMORIES),
    }
    minutes, gigabytes = (
        float(os.environ.get(name, default))
        for name, default in (("SCALE_MINUTES", 60), ("SCALE_GB", 12))
    )
    measured: list[Measured] = []
    left_out: list[str] = []
    for kind, sizes in kinds.items():
        until = time.monotonic() + 60 * minutes / len(kinds)
        for size in sizes:
            before = [one for one in measured if one.kind == kind]
            if reason := _too_much(before, size, until - time.monotonic(), gigabytes):
                left_out.append(f"{size:,} {kind}: {reason}")
                continue
            measured.append(_kept_or_measured(kind, size))
            print(render(_row(measured[-1])), file=sys.stderr, flush=True)
    if os.environ.get("SCALE_WRITE"):
        write_docs([asdict(one) for one in measured], left_out)
    return [
        *map(_row, measured),
        *_promises(measured),
        *(Row(f"scale: left out: {one}", 0.0, "") for one in left_out),
    ]


def _sizes(name: str, usual: Sequence[int]) -> list[int]:
    given = os.environ.get(name, "")
    if given.strip() == "0":
        return []
    return sorted(int(one.replace("_", "")) for one in given.split(",") if one.strip()) or list(
        usual
    )


def _kept_or_measured(kind: str, size: int) -> Measured:
    """Returns what an earlier call kept of the size, or measures it."""
    kept = Path(folder, f"{kind}-{size}.json") if (folder := os.environ.get("SCALE_KEPT")) else None
    if kept is not None and kept.is_file():
        return Measured(**json.loads(kept.read_bytes()))
    found = answer_of("scale", kind, str(size))
    if kept is not None:
        write_atomically(kept, json.dumps(found, indent=1).encode())
    return Measured(**found)


def _too_much(before: Sequence[Measured], size: int, seconds_left: float, gigabytes: float) -> str:
    """Returns why the size is left out, by what the size before it took; empty where it is measured."""
    if not before:
        return ""
    last = before[-1]
    times = size / last.size
    if (needed := sum(last.seconds.values()) * times) > seconds_left:
        return f"about {needed / 60:,.0f} minutes"
    needed = last.peak_gb * (1 + 0.5 * (times - 1)) if last.peak_gb > 1 else 0.0
    return f"about {needed:,.0f} GB of memory" if needed > gigabytes else ""


def _row(one: Measured) -> Row:
    times = ", ".join(f"{name} {took:.1f} s" for name, took in one.seconds.items())
    told = f"p95 {one.p95_ms:.1f} ms; {times}; peak {one.peak_gb:.2f} GB, on disk {one.stored_gb:.2f} GB"
    told += (
        f"; {one.memories:,} memories, {one.passages:,} passages; top five as exact {one.same:.3f}"
    )
    if one.steps:
        told += "; seconds a session: " + ", ".join(
            f"{name} {took / one.size:.3f}" for name, took in one.steps.items()
        )
    return Row(f"scale: {one.size:,} {one.kind}: recall p50 in ms", one.p50_ms, told)


def _promises(measured: Sequence[Measured]) -> list[Row]:
    rows = list[Row]()
    sessions, own = (
        [one for one in measured if one.kind == kind] for kind in ("sessions", "memories")
    )
    if len(sessions) > 1:
        largest, tenth = sessions[-1], _tenth(sessions)
        each, before = (sum(one.seconds.values()) / one.size for one in (largest, tenth))
        told = f"{each:.2f} s of {largest.size:,}, {before:.2f} s of {tenth.size:,}"
        rows.append(
            Row(
                "scale: seconds a session, largest / a tenth",
                each / before,
                told,
                limit=MOST_SLOWER,
            )
        )
    if len(own) > 1:
        largest, tenth = own[-1], _tenth(own)
        told = f"{largest.p50_ms:.1f} ms with {largest.size:,}, {tenth.p50_ms:.1f} ms with {tenth.size:,}"
        rows.append(
            Row(
                "scale: recall p50, largest / a tenth",
                largest.p50_ms / tenth.p50_ms,
                told,
                limit=MOST_TIMES,
            )
        )
        least = min(one.same for one in own)
        rows.append(
            Row(
                "scale: top five as an exact search",
                least,
                "the least of all sizes",
                floor=LEAST_SAME,
            )
        )
    return rows


def _tenth(measured: Sequence[Measured]) -> Measured:
    """Returns the size that is nearest to a tenth of the largest."""
    return min(measured[:-1], key=lambda one: abs(one.size * 10 - measured[-1].size))


def measure_sessions(folder: Path, count: int) -> Measured:
    """Captures and distils so many simulated sessions."""
    sources = folder / "sources"
    write_sessions(sources, count, seed=count)
    now = FIRST.replace(year=FIRST.year + 1) if DAYS < 365 else LAST
    settings = Settings(
        data=folder / "store",
        sources=str(sources),
        timezone="UTC",
        owner="ann",
        now=now,
        harness_memories=False,
    )
    store, seconds = open_store(settings), dict[str, float]()
    with Runner(store) as runner:
        for stage, job in JOBS_OF.items():
            seconds[stage] = seconds_of(lambda job=job: update(runner, [job]))
    words = store.tables.read("memories", columns=["text"])["text"].to_list()
    asked = (
        [asked_of(words, Random(number)) for number in range(WARMED + ASKED)]
        if words
        else ["what is known"] * (WARMED + 1)
    )
    found = _measured("sessions", count, settings, seconds, asked)
    steps = _steps(store.root, sum(seconds.values()))
    return replace(found, steps={name: round(took, 2) for name, took in steps.items()})


def asked_of(texts: Sequence[str], random: Random) -> str:
    """Returns neighbouring words of one of the texts, as many as a long question of a person has."""
    words = random.choice(texts).split()
    start = random.randrange(max(len(words) - QUESTION_WORDS, 0) + 1)
    return " ".join(words[start : start + QUESTION_WORDS])


def _steps(root: Path, seconds: float) -> dict[str, float]:
    """Returns the seconds of the steps that took longest, of the others, and between them, of so many in all."""
    spent = defaultdict[str, float](float)
    for step in read_steps(root):
        spent[step["action"]] += step["duration_ms"] / 1_000
    longest = dict(sorted(spent.items(), key=lambda one: -one[1])[:STEPS])
    every = sum(spent.values())
    return longest | {
        "all other steps": every - sum(longest.values()),
        "between steps": seconds - every,
    }


def measure_memories(folder: Path, count: int) -> Measured:
    """Fills a store with so many memories, with a message behind each, and asks it."""
    settings = Settings(data=folder / "store", timezone="UTC", owner="mira", now=LAST)
    topics = make_topics(
        Random(5), open_embedder(settings.embedding_model), *((20,) if count < 100 else ())
    )
    took = seconds_of(lambda: fill(open_store(settings), count, topics, seed=count))
    return _measured(
        "memories",
        count,
        settings,
        {"fill and index": took},
        questions(Random(7), topics, WARMED + ASKED),
    )


def _measured(
    kind: str, count: int, settings: Settings, seconds: Mapping[str, float], asked: Sequence[str]
) -> Measured:
    """Returns what was measured; recalls in a new process, as of a server that starts, once all that was written is on disk."""
    os.sync()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        times, same, peak = pool.submit(_recalls, settings, asked).result()
    store = open_store(settings)
    texts = open_texts(store).open("messages")
    stored = sum(path.stat().st_size for path in store.root.rglob("*") if path.is_file())
    memories, passages = (
        store.tables.read("memories", columns=["id"]).height,
        len(texts) if texts else 0,
    )
    middle, most = float(np.median(times)), float(np.percentile(times, 95))
    figures = (
        round(max(peak, _peak_gb()), 3),
        round(stored / 1e9, 3),
        memories,
        passages,
        round(same, 4),
    )
    rounded = {name: round(took, 2) for name, took in seconds.items()}
    return Measured(kind, count, rounded, round(middle, 2), round(most, 2), *figures)


def _recalls(settings: Settings, asked: Sequence[str]) -> tuple[list[float], float, float]:
    """Returns the milliseconds of each recall, `_same_as_exact` of some, and the peak memory in GB."""
    agent = MemoryAgent(settings)
    times = [1_000 * seconds_of(lambda one=one: agent.recall(one, probe=True)) for one in asked][
        WARMED:
    ]
    return times, _same_as_exact(settings, asked[WARMED : WARMED + 40]), _peak_gb()


def _peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def _same_as_exact(settings: Settings, asked: Sequence[str]) -> float:
    """Returns the least share of the exact search's first five that is found, of memories and of messages."""
    store, embedder = open_store(settings), open_embedder(settings.embedding_model)
    vectors, texts = open_vectors(store), open_texts(store).open("messages")
    rows = vectors.open()
    shares: dict[str, list[float]] = {"memories": [], "messages": []}
    layout = Layout(texts) if texts else None
    for question in asked:
        vector = embedder.encode_query(question)
        exact = rows.find_among(None, vector, 5) if rows else []
        shares["memories"].append(
            _share([one.id for one in exact], [one.id for one in vectors.find(vector, 5)])
        )
        if texts is not None and layout is not None:
            read = embedder.read_query(question)
            query = SearchQuery(
                question, dict.fromkeys(query_terms(question), 1.0), read.vector, read.words
            )
            whole = find_messages(query, texts, layout, (), most=len(texts))
            found = find_messages(query, texts, layout, ())
            shares["messages"].append(
                _share([one.passage_id for one in whole[:5]], [one.passage_id for one in found[:5]])
            )
    return min(float(np.mean(found)) for found in shares.values() if found)


def _share(exact: Sequence[str], found: Sequence[str]) -> float:
    return len({*exact} & {*found}) / len(exact) if exact else 1.0


MEASURES: dict[str, Callable[[Path, int], Measured]] = {
    "sessions": measure_sessions,
    "memories": measure_memories,
}


def main(kind: str, count: int) -> None:
    """Prints one size as JSON."""
    folder = Path(tempfile.mkdtemp(prefix="bench-scale-", dir=os.environ.get("BENCH_STORES")))
    try:
        print(json.dumps(asdict(MEASURES[kind](folder, count))))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
