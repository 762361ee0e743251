"""Reads the sessions by id, and lists those in which the answer to a question may be."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import polars as pl

from memory_assets.schema.protocols import Row
from memory_assets.services.search.corpus import until_published
from memory_assets.stages.recall.lookups import rows_of
from memory_assets.stages.recall.results import ListedCandidate, Recalled, SessionMatch
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.text.words import shortened, squeezed

LONGEST_TITLE = 80
LIKELY = 0.25
"""Share of the best session's score from which another one is listed."""

MATCHES = 2
"""Candidates of a session that are shown."""


@until_published("sessions")
def read_sessions(tables: ParquetTables) -> pl.DataFrame:
    """Returns the sessions with their id, cached until the table changes."""
    return tables.scan("sessions").rename({"session_id": "id"}).collect()


def with_harness(tables: ParquetTables, results: Sequence[Recalled]) -> tuple[Recalled, ...]:
    """Returns the results with the harness of their session."""
    rows = rows_of(read_sessions(tables), {result.session for result in results})
    harness_of = dict(zip(rows["id"], rows["harness"], strict=True))
    return tuple(replace(result, harness=harness_of.get(result.session, "")) for result in results)


def list_sessions(
    candidates: Iterable[ListedCandidate], tables: ParquetTables, limit: int, person: str = ""
) -> tuple[SessionMatch, ...]:
    """Returns the most likely sessions of the candidates, by default of every person.

    Each further candidate of a session counts half as much as the one before it.
    """
    matches: dict[str, list[ListedCandidate]] = defaultdict(list)
    for candidate in candidates:
        matches[candidate.session].append(candidate)
    rows = rows_of(read_sessions(tables), matches).iter_rows(named=True)
    readable = {row["id"]: row for row in rows if person in ("", row["person"])}
    scores = {id: _score(matches[id]) for id in readable}
    least = LIKELY * max(scores.values(), default=0.0)
    likely = [id for id in readable if scores[id] >= least]
    best = [readable[id] for id in sorted(likely, key=lambda id: -scores[id])[:limit]]
    requests = _first_requests(tables, [row["id"] for row in best if not row["name"]])
    return tuple(_match(row, matches[row["id"]], requests) for row in best)


def _score(candidates: Sequence[ListedCandidate]) -> float:
    scores = sorted((candidate.score for candidate in candidates), reverse=True)
    return sum(score / 2**place for place, score in enumerate(scores))


def _match(
    row: Row, candidates: Sequence[ListedCandidate], requests: dict[str, str]
) -> SessionMatch:
    title = row["name"] or requests.get(row["id"], "")
    return SessionMatch(
        row["id"],
        shortened(squeezed(title), LONGEST_TITLE),
        row["started_at"],
        row["project"],
        row["harness"],
        tuple(candidates[:MATCHES]),
    )


def _first_requests(tables: ParquetTables, sessions: Sequence[str]) -> dict[str, str]:
    """Returns the first request of each of these sessions, by their ids."""
    if not sessions:
        return {}
    messages = pl.concat(map(tables.scan, ("messages", "messages_open")), how="diagonal")
    of_sessions = messages.filter(pl.col("session_id").is_in(list(sessions)), is_user_turn=True)
    first = of_sessions.sort("line").unique("session_id", keep="first", maintain_order=True)
    return dict(first.select("session_id", "text").collect().iter_rows())
