"""How much of what mattered is still told by day, week and month, and how short that is.

The store holds the labelled sessions as a model observed them: its recorded answers go through the whole pipeline, and the
reflections are made by rules. Of the labels of high priority that the observations hold, by the scorer of `evaluate` and with
one fact a line, the share that the reflections of days and the distillates of weeks and months still hold, beside their tokens.
The limit is against everything that was observed; the share of the facts that the gate allowed stands beside it. Where there are
no labelled sessions on the machine there are no rows.
"""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from memory_assets.extras.lab.gold import facts_of
from memory_assets.extras.lab.labels import LabelledSession, read_labels
from memory_assets.extras.lab.score import Fact, score
from memory_assets.stages.reflect.subjects import MONTH, SPANS, TABLE_OF, bullets_of
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets_tests.bench.pipeline import ingest
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import FEW, LABELS, SHARED, folder
from memory_assets_tests.messages_api import KEY, MODELS, serve
from memory_assets_tests.recorded import RecordedAnswers

STILL_HELD = {"day": 0.85, "week": 0.75, "month": 0.60}

Label = tuple[str, str]
"""Session and id of a label."""


def reflections(small: bool = False) -> list[Row]:
    """Returns what is still held and how short it is, by day, week and month, and how many days grew."""
    if not LABELS.is_dir():
        print(f"reflections: no labelled sessions; {LABELS} does not exist on this machine")
        return []
    with tempfile.TemporaryDirectory(prefix="bench-reflections-") as home:
        return list(_rows(read_labels(LABELS), observed_by_model(Path(home), small)))


def observed_by_model(home: Path, small: bool) -> ParquetTables:
    """Returns the tables of a store of the labelled sessions, of few if small, observed with the recorded answers."""
    files = sorted((SHARED / "recorded").glob("*.answer.xml"), key=lambda path: path.stat().st_size)
    recorded = RecordedAnswers(files[-FEW:] if small else files, folder(), home / "transcripts")
    with serve(recorded.answer) as api:
        model = {
            "MEMORY_MODEL": MODELS[0],
            "MEMORY_REFLECTOR_MODEL": "rules",
            "MEMORY_MODEL_URL": api.url,
            "ANTHROPIC_API_KEY": KEY,
        }
        ingest(home, home / "transcripts", **model)
    return ParquetTables(home / "store" / "tables")


def _rows(labelled: tuple[LabelledSession, ...], tables: ParquetTables) -> Iterator[Row]:
    observations = tables.read("observations")
    wanted = _high(labelled, facts_of(tables, [one.session for one in labelled]))
    observed = int(observations["tokens"].sum())
    may_be_told = int(
        observations.filter((pl.col("kind") == "fact") & (pl.col("gate") == "allow"))[
            "tokens"
        ].sum()
    )
    yield _grown(tables)
    curve = [f"observed {observed:,} tokens, of them {may_be_told:,} in facts to tell"]
    for span in SPANS:
        told = tables.read(TABLE_OF[span.name])
        held = _high(labelled, _facts_told(told, observations)) & wanted
        tokens = int(told["output_tokens"].sum())
        share = len(held) / len(wanted)
        figures = f"{len(held)} of {len(wanted)} labels of high priority that the observations hold"
        yield Row(
            f"reflections: still held by {span.name}", share, figures, floor=STILL_HELD[span.name]
        )
        figures = f"{tokens:,} tokens, {tokens / may_be_told:.2f} of the facts to tell; {told.height} rows"
        yield Row(
            f"reflections: tokens of a {span.name} / observed",
            tokens / observed,
            figures,
            limit=span.limit,
        )
        curve.append(f"{span.name} {tokens:,} ({share:.2f} held)")
    print(f"reflections: {' → '.join(curve)}")
    yield _dropped(tables)


def _high(labelled: tuple[LabelledSession, ...], facts: Iterable[Fact]) -> set[Label]:
    """Returns the labels of high priority that the facts say."""
    paired = score(labelled, list(facts)).sessions
    met = ((one.session, label) for one in paired for label in one.label_of.values())
    return {
        (session, label.id)
        for session, label in met
        if label.priority == "high" and label.gate != "hold"
    }


def _facts_told(told: pl.DataFrame, observations: pl.DataFrame) -> Iterable[Fact]:
    """Yields each line as a fact of the sessions that it cites, with the records of what it cites there."""
    facts = {row["id"]: row for row in observations.sort("event_at", "id").to_dicts()}
    for reflection in told.to_dicts():
        for bullet in bullets_of(reflection, facts):
            by_session: dict[str, set[int]] = {}
            for row in map(facts.__getitem__, bullet.ids):
                by_session.setdefault(row["session_id"], set()).update(row["lines"])
            yield from (
                Fact(session, bullet.text, tuple(sorted(lines)))
                for session, lines in by_session.items()
            )


def _grown(tables: ParquetTables) -> Row:
    """Returns how many days are larger than the facts they were made from."""
    days = (
        tables.read("reflections").group_by("day").agg(pl.col("fact_tokens", "output_tokens").sum())
    )
    grown = days.filter(pl.col("output_tokens") > pl.col("fact_tokens")).height
    before, after = days.select(pl.col("fact_tokens", "output_tokens").sum()).row(0)
    figures = f"of {days.height} days; {before:,} tokens of facts, {after:,} of reflections"
    return Row("reflections: days that grew", grown, figures, limit=0)


def _dropped(tables: ParquetTables) -> Row:
    """Returns how many facts the months leave out, each with a row that says where it went."""
    reasons = tables.read("dropped_facts").group_by("span", "reason").len().sort("span", "reason")
    figures = ", ".join(
        f"{count} {reason} by {span}" for span, reason, count in reasons.iter_rows()
    )
    told = tables.read(TABLE_OF[MONTH.name])["observation_ids"].explode().len()
    return Row("reflections: facts that months tell", told, f"dropped: {figures}")
