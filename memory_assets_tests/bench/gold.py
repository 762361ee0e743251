"""How well the rules cover sessions that careful readers labelled, beside extractors that are easy to write.

The labelled sessions are captured with all others, as in real life, and every extractor reads the same messages: cue words, all
that the owner or the assistant said, and a model's recorded answers with each fact given the records that it resembles most
(the row `replay` takes the same answers through our own parser, grounding and gate). Each row starts with weighted recall; floors and
limits stand at the rules' own rows. Where there are no labelled sessions on the machine there are no rows.
"""

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from memory_assets.extras.lab.gold import CEILINGS, FLOORS
from memory_assets.extras.lab.labels import LabelledSession, read_labels
from memory_assets.extras.lab.score import Fact, Score, score
from memory_assets.stages.distill.day import build_day
from memory_assets.stages.distill.standards import plan_allowances
from memory_assets.store.settings import Settings
from memory_assets.store.store import open_store
from memory_assets_tests.bench import gold_baselines
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import LABELS, RECORDED, folder
from memory_assets_tests.stages.capture.pipeline import capture

MOST_ON_AVERAGE = 10
"""Allowed facts of the rules per session: they keep few."""

Facts = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Captured:
    """The labelled sessions as the store holds them."""

    windows: pl.DataFrame
    messages: pl.DataFrame
    allowances: Mapping[str, int]


def gold(small: bool = False) -> list[Row]:
    """Returns a row for each extractor, and one for each promise that the rules must keep."""
    if not LABELS.is_dir():
        print(f"gold: no labelled sessions; {LABELS} does not exist on this machine")
        return []
    labelled = read_labels(LABELS)
    captured = capture_labelled([one.session for one in labelled], small)
    messages = captured.messages
    extractors: dict[str, Callable[[], Facts]] = {
        "cue words and positions": lambda: gold_baselines.cue_words(messages),
        "every user sentence": lambda: gold_baselines.user_sentences(messages),
        "every assistant sentence": lambda: gold_baselines.assistant_sentences(messages),
        "recorded answers, naive grounding": lambda: gold_baselines.recorded_naive(
            messages, RECORDED
        ),
        "rules": lambda: rules(captured),
    }
    measured = {name: _measure(labelled, extract) for name, extract in extractors.items()}
    rows = [_row(name, found, seconds) for name, (found, seconds) in measured.items()]
    return [*rows, *_promises(measured["rules"][0])]


def capture_labelled(sessions: list[str], small: bool) -> Captured:
    """Returns the messages of the labelled sessions, captured with all others."""
    with tempfile.TemporaryDirectory(prefix="bench-gold-") as name:
        store = open_store(Settings(data=Path(name) / "store", timezone="UTC", owner="soph"))
        capture(store, folder(small))
        windows = store.tables.read("windows")
        own = windows.filter(pl.col("session_id").is_in(sessions) & pl.col("day").is_not_null())
        days = sorted(day.isoformat() for day in own["day"].unique())
        messages = store.tables.read("messages", days).filter(pl.col("session_id").is_in(sessions))
        return Captured(own, messages.sort("session_id", "line"), plan_allowances(windows))


def rules(captured: Captured) -> list[dict[str, Any]]:
    """Returns what the rules observer makes of the sessions, as the pipeline runs it."""
    observations = build_day(captured.windows, captured.messages, allowances=captured.allowances)[
        "observations"
    ]
    return (
        observations.sort("day", "id")
        .select("text", "gate", "lines", session="session_id")
        .to_dicts()
    )


def _measure(
    labelled: tuple[LabelledSession, ...], extract: Callable[[], Facts]
) -> tuple[Score, float]:
    started = time.perf_counter()
    facts = [
        Fact(fact["session"], fact["text"], tuple(fact["lines"]), fact["gate"])
        for fact in extract()
    ]
    seconds = time.perf_counter() - started
    return score(labelled, facts), seconds


def _row(name: str, found: Score, seconds: float) -> Row:
    counts = found.counts
    figures = [
        f"recall {_interval(found, 'recall')}",
        f"owner's rules {counts.recall_owner_rules:.2f} {_interval(found, 'recall_owner_rules')}",
        f"precision {counts.precision:.2f} {_interval(found, 'precision')}",
        f"noise {counts.noise:.2f}",
        f"{found.allowed_per_session:.0f} a session, {found.most_in_a_session} at most",
        f"{len(found.at_zero)} at zero",
        f"{seconds:.1f} s",
    ]
    return Row(f"gold: recall, {name}", counts.recall, ", ".join(figures))


def _interval(found: Score, measure: str) -> str:
    low, high = found.intervals[measure]
    return f"[{low:.2f} {high:.2f}]"


def _promises(found: Score) -> Iterable[Row]:
    """Yields what the rules must reach, each with its floor or limit."""
    counts = found.counts
    yield from _floors("rules", found, FLOORS)
    for name, ceiling in CEILINGS.items():
        yield Row(
            f"gold: rules, {name}",
            getattr(counts, name),
            f"{counts.noisy} of {counts.allowed}",
            limit=ceiling,
        )
    yield Row(
        "gold: rules, allowed per session",
        found.allowed_per_session,
        f"{found.most_in_a_session} at most",
        limit=MOST_ON_AVERAGE,
    )


def _floors(extractor: str, found: Score, floors: Mapping[str, float]) -> Iterable[Row]:
    for name, floor in floors.items():
        yield Row(
            f"gold: {extractor}, {name}",
            getattr(found.counts, name),
            _interval(found, name),
            floor=floor,
        )
