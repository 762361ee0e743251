"""What recall leaves out: the share of cases passed over a memory of fifty facts, beside stores that always fill their k.

A case passes when all that must come back does and nothing that must not. Both halves of the suite and each kind are printed;
the peers answer the same questions over the same texts with the same vectors: the five nearest of a bare Chroma collection, and
the five best of SQLite's BM25 with porter stemming. Ten prompts of 60 to 120 words over the same facts carry several needs each.
"""

import re
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets_tests.bench.row import Row
from memory_assets_tests.stages.recall.leaving_out import Case, ask, build, cases, facts
from memory_assets_tests.stages.recall.long_prompts import prompts

TOP = 5
SMALL_STEP = 10
"""The small row asks every tenth case."""

Results = Callable[[Case], Sequence[str]]


def leaving_out(small: bool = False) -> list[Row]:
    """Returns a row for ours, for each half and kind of it, and for each peer."""
    asked = cases()[:: SMALL_STEP if small else 1]
    with tempfile.TemporaryDirectory(prefix="bench-leaving-out-") as folder:
        agent = build(Path(folder))
        ours, long = (
            _judge(cases, lambda case: [result.memory_id for result in ask(agent, case).results])
            for cases in (asked, prompts())
        )
    rows = [_row("leaving out: ours", ours, floor=1.0)]
    rows += [
        _row(f"leaving out: ours, {half}", [j for j in ours if j.case.half == half])
        for half in ("dev", "held")
    ]
    rows += [
        _row(f"leaving out: ours, {kind}", [j for j in ours if j.case.kind == kind])
        for kind in _kinds(asked)
    ]
    return [
        *rows,
        _row("leaving out: prompts of several needs", long),
        _row(f"leaving out: bare Chroma, top {TOP}", _judge(asked, _chroma())),
        _row(f"leaving out: BM25 (FTS5), top {TOP}", _judge(asked, _bm25())),
    ]


class _Judged:
    """A case with the results it got."""

    def __init__(self, case: Case, ids: Sequence[str]) -> None:
        self.case, self.returned = case, len(ids)
        self.faults = case.faults(ids)
        self.missing = sum(fault.startswith("-") for fault in self.faults)
        self.too_much = len(self.faults) - self.missing


def _judge(asked: Sequence[Case], results: Results) -> list[_Judged]:
    return [_Judged(case, results(case)) for case in asked]


def _kinds(asked: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(case.kind for case in asked))


def _row(name: str, judged: Sequence[_Judged], floor: float | None = None) -> Row:
    failed = [one.case for one in judged if one.faults]
    named = [case.id for case in failed if case.half == "dev"]
    wanted = sum(len(one.case.must) for one in judged)
    found = wanted - sum(one.missing for one in judged)
    figures = [
        f"{len(judged) - len(failed)} of {len(judged)}",
        f"{found} of {wanted} wanted found",
        f"{sum(one.too_much for one in judged)} that must not be",
        f"{sum(one.returned for one in judged) / len(judged):.1f} results",
        *([f"failed in dev: {' '.join(named)}"] if named and len(judged) <= 12 else []),
    ]
    return Row(name, (len(judged) - len(failed)) / len(judged), ", ".join(figures), floor=floor)


def _chroma() -> Results:
    import chromadb

    embedder, collection = LocalEmbedder(), chromadb.EphemeralClient().create_collection(
        "bare", embedding_function=None, metadata={"hnsw:space": "cosine"}
    )  # fmt: skip
    known = facts()
    collection.add(
        [each["id"] for each in known],
        embeddings=[embedder.encode_query(each["text"]) for each in known],
    )
    return lambda case: collection.query([embedder.encode_query(case.question)], n_results=TOP)[
        "ids"
    ][0]


def _bm25() -> Results:
    found = sqlite3.connect(":memory:")
    found.execute("CREATE VIRTUAL TABLE texts USING fts5(id UNINDEXED, text, tokenize='porter')")
    found.executemany(
        "INSERT INTO texts VALUES (?, ?)", [(each["id"], each["text"]) for each in facts()]
    )

    def best(case: Case) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", case.question))
        rows = found.execute(
            "SELECT id FROM texts WHERE texts MATCH ? ORDER BY bm25(texts), id LIMIT ?",
            (words, TOP),
        )
        return [id for (id,) in rows]

    return best
