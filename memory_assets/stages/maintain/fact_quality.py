"""Measures the quality of a day's facts: how they are distributed, and how many are junk, repeated
or faulty.

Takes the day's verdicts, observations and messages. Returns the rows of the table `quality`. For
checks, `find_faulty` and `find_repeated` return the facts themselves.
"""

from collections.abc import Iterator
from datetime import date
from typing import Any

import polars as pl

from memory_assets.schema import frames as schemas
from memory_assets.stages.distill.write_gate import LESS_USEFUL
from memory_assets.stages.embed.repeats import find_repeats
from memory_assets.stages.maintain.faults import FAULTS, OUTPUTS, EvidenceMessage, faults_of

JUNK = frozenset(
    {
        "shorter than 12 characters",
        "no evidence in the transcript",
        "instruction artefact",
        "names what the session does not name",
        "may say the opposite of its evidence",
        "characters that nobody sees",
        "quoted material decides nothing",
        "instructs whoever reads it",
        "the observer discards it",
        "speaks for the owner without the owner's words",
        "text that harnesses and memories put there",
        "clock time not in the source",
        "longer than one fact",
        "a passing state",
        "an opinion",
        "too little confidence",
        "names too little",
        "no whole sentence",
        "a question states nothing",
    }
)
"""Reasons of the write gate for which a fact counts as junk. Its other reasons concern room, who
may say it, or later facts. A fact that is not useful enough (`LESS_USEFUL`, which is followed by a
number) is junk, too.
"""

ASKED_FOR = frozenset({"rules", "segments"})
"""Parse paths of candidates from rules, or from answers in the form that the prompt asks for."""

GATES = ("allow", "hold")
_FACT = {"id": pl.String, "day": pl.Date, "gate": pl.String}
MIXES = frozenset({"verdict", "reason", "parse_path", "priority", "category"})
"""Measures of a distribution: every row counts for exactly one of their values."""


def measure_day(
    day: date, verdicts: pl.DataFrame, observations: pl.DataFrame, messages: pl.DataFrame
) -> pl.DataFrame:
    """Returns the rows of `quality` for one day; a day without candidates has none."""
    if verdicts.is_empty() and observations.is_empty():
        return schemas.empty("quality")
    facts = observations.filter(kind="fact")
    allowed = facts.filter(gate="allow")
    faulty = find_faulty(facts, messages)
    rows = [
        *_mixes(verdicts, "verdict", "reason", "parse_path"),
        *_mixes(allowed, "priority", "category"),
        _junk(verdicts, observations),
        *_of_facts("repeated", find_repeated(facts), facts),
        *(row for fault in FAULTS for row in _of_facts(fault, faulty.filter(fault=fault), facts)),
    ]
    return schemas.frame_of("quality", ({"day": day, **row} for row in rows))


def find_faulty(observations: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    """Returns (id, day, gate, fault) for each fault of each fact."""
    facts = observations.filter(pl.col("kind") == "fact")
    sources = _sources(facts, messages)
    rows: list[tuple[Any, ...]] = []
    for fact in facts.iter_rows(named=True):
        messages_of_fact = [sources[id] for id in fact["message_ids"] if id in sources]
        about = {name: fact[name] for name in ("priority", "quote")}
        faults = faults_of(fact["text"], fact["author"], messages_of_fact, **about)
        rows += [(fact["id"], fact["day"], fact["gate"], fault) for fault in faults]
    return pl.DataFrame(rows, schema=_FACT | {"fault": pl.String}, orient="row")


def find_repeated(observations: pl.DataFrame) -> pl.DataFrame:
    """Returns (id, day, gate, same_as) of facts that repeat an earlier fact of their day and scope.

    An allowed fact counts only if it repeats an allowed fact; repeating a held one does no harm.
    """
    facts = observations.filter(pl.col("kind") == "fact").sort("event_at", "id")
    rows: list[tuple[Any, ...]] = []
    for (day,), facts_of_day in facts.group_by("day", maintain_order=True):
        gate_of = dict(facts_of_day.select("id", "gate").iter_rows())
        for gate in GATES:
            compared = facts_of_day.filter(gate="allow") if gate == "allow" else facts_of_day
            repeats = _repeats(compared)
            rows += [(id, day, gate, same_as) for id, same_as in repeats if gate_of[id] == gate]
    return pl.DataFrame(rows, schema=_FACT | {"same_as": pl.String}, orient="row")


def _repeats(facts: pl.DataFrame) -> list[tuple[str, str]]:
    """Returns (id, id of the first fact that says the same) of each repeat.

    The facts must be in order of time.
    """
    order = {id: place for place, id in enumerate(facts["id"])}
    repeats = find_repeats(facts.with_columns(state=pl.lit("active"))).pairs
    pairs = repeats.select("id", "repeats_id").iter_rows()
    ordered = [sorted(pair, key=order.__getitem__) for pair in pairs]
    first: dict[str, str] = {}
    for earlier, later in sorted(ordered, key=lambda pair: order[pair[0]]):
        first.setdefault(later, earlier)
    return sorted(first.items(), key=lambda pair: order[pair[0]])


def _sources(facts: pl.DataFrame, messages: pl.DataFrame) -> dict[str, EvidenceMessage]:
    """Returns the messages that the facts rest on, by id."""
    ids = facts.select(message_id=pl.col("message_ids").explode()).unique()
    columns = messages.select("message_id", "text", "author")
    rows = columns.join(ids, on="message_id", how="semi").iter_rows()
    return {
        id: EvidenceMessage(text, author == "owner", author in OUTPUTS) for id, text, author in rows
    }


def _mixes(rows: pl.DataFrame, *columns: str) -> Iterator[dict[str, Any]]:
    for column in columns:
        for value, count in rows[column].value_counts().sort(column).iter_rows():
            yield _row(column, value, count, rows.height)


def find_junk(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Returns (candidate_id, day, reason) of the candidates that the write gate judged junk."""
    is_junk = pl.col("reason").is_in(list(JUNK)) | pl.col("reason").str.starts_with(LESS_USEFUL)
    return verdicts.filter(is_junk).select("candidate_id", "day", "reason")


def _junk(verdicts: pl.DataFrame, observations: pl.DataFrame) -> dict[str, Any]:
    narratives = observations.filter(pl.col("kind") == "narrative").select(candidate_id="id")
    candidates = verdicts.join(narratives, on="candidate_id", how="anti")
    return _row("junk", "candidates", find_junk(candidates).height, candidates.height)


def _of_facts(measure: str, faulty: pl.DataFrame, facts: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for gate in GATES:
        yield _row(measure, gate, faulty.filter(gate=gate).height, facts.filter(gate=gate).height)


def _row(measure: str, value: str, count: int, total: int) -> dict[str, Any]:
    counts = {"count": count, "total": total, "share": count / total if total else None}
    return {"measure": measure, "value": value, **counts}


def count_of(quality: pl.DataFrame, measure: str, value: str | None = None) -> int:
    """Returns the count for a value of the measure, or for all its values, over all days."""
    return int(_rows_of(quality, measure, value)["count"].sum())


def share_of(quality: pl.DataFrame, measure: str, value: str) -> float | None:
    """Returns the value's share of all that the measure counts, over all days.

    None if there was nothing to count.
    """
    rows = _rows_of(quality, measure, value)
    total = count_of(quality, measure) if measure in MIXES else int(rows["total"].sum())
    return count_of(quality, measure, value) / total if total else None


def loosely_read(quality: pl.DataFrame) -> float | None:
    """Returns the share of candidates from answers that did not have the form of the prompt."""
    total = count_of(quality, "parse_path")
    strict = sum(count_of(quality, "parse_path", path) for path in ASKED_FOR)
    return 1 - strict / total if total else None


def _rows_of(quality: pl.DataFrame, measure: str, value: str | None) -> pl.DataFrame:
    rows = quality.filter(measure=measure)
    return rows if value is None else rows.filter(value=value)
