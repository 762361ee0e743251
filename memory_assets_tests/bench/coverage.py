"""What is read of the transcripts: files taken in, messages in observed windows, short sessions and their tokens, projects.

Every transcript is copied under another name first, as people keep copies and backups. Whether a session is short is counted
here from its records, apart from the rules that cut windows.
"""

import shutil
import tempfile
from pathlib import Path
from zoneinfo import ZoneInfo

import polars as pl

from memory_assets.schema.records import READ_STATUSES
from memory_assets.services.models.model_questions import asked_about
from memory_assets.stages.capture.discover import find_files
from memory_assets.stages.distill.day import find_in_windows
from memory_assets.stages.distill.model.material import shown
from memory_assets.stages.distill.model.questions import STAMP_TOKENS
from memory_assets.stages.distill.model.short_sessions import group_questions, questions_about
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.words import count_tokens
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import folder
from memory_assets_tests.stages.capture.pipeline import capture

NAMES = ("copy of {}.jsonl", "{}.jsonl.bak", "{} (1).jsonl", "old-{}.ndjson", "{}.txt", "{}.jsonl~")
SHORT = 5
"""User messages from which on a session is not short."""


def coverage(small: bool = False) -> list[Row]:
    """Returns the shares of files, of messages and of short sessions that nothing reads."""
    with tempfile.TemporaryDirectory(prefix="bench-coverage-") as home:
        copies, count = Path(home) / "copies", 0
        copies.mkdir()
        for count, path in enumerate(sorted(folder(small).rglob("*.jsonl")), 1):
            shutil.copyfile(path, copies / NAMES[count % len(NAMES)].format(path.stem))
        found = find_files([copies])
        store = open_store(Settings(data=Path(home) / "store", timezone="UTC", owner="ann"))
        capture(store, copies)
        sources = store.tables.read("windows", columns=["source_id"])["source_id"].n_unique()
        silent = count - len(found.transcripts) - len(found.left_out)
        return [
            Row(
                "coverage: files neither taken in nor named",
                silent / max(count, 1),
                f"{count} files, {len(found.transcripts)} taken in as {sources} sources, {len(found.left_out)} named",
                limit=0.0,
            ),
            _messages(store),
            _short_sessions(store),
            _questions_about_short_sessions(store),
            _projects(store),
        ]


def long_sessions(records: pl.DataFrame) -> pl.DataFrame:
    """Returns the sources of sessions that are not short: five user messages in all, or a compaction."""
    turns = pl.col("message_id").filter(pl.col("is_user_turn")).n_unique()
    counted = records.group_by("source_id").agg(
        turns=turns, compactions=pl.col("boundary").is_not_null().sum()
    )
    return counted.filter(
        (pl.col("turns") >= SHORT) | ((pl.col("turns") > 0) & (pl.col("compactions") > 0))
    )


def unobserved(store: Store) -> tuple[int, int]:
    """Returns how many messages of sessions that are not short are in no observed window, and how many messages these have."""
    records = store.tables.read("records")
    wanted = (
        records.join(long_sessions(records), on="source_id", how="semi")["message_id"]
        .drop_nulls()
        .unique()
    )
    windows = store.tables.read("windows").filter(pl.col("status") != "short")
    return wanted.len() - int(
        wanted.is_in(windows["message_ids"].explode().implode()).sum()
    ), wanted.len()


def _messages(store: Store) -> Row:
    missed, every = unobserved(store)
    figures = f"{missed:,} of {every:,} messages in sessions that are not short"
    return Row(
        "coverage: messages outside observed windows", missed / max(every, 1), figures, limit=0.03
    )


def _short_sessions(store: Store) -> Row:
    windows = (
        store.tables.read("windows").filter(status="short").filter(pl.col("user_turn_count") > 0)
    )
    found = list(find_in_windows(windows, store.tables.read("messages"), {}))
    facts = sum(len(one.observed.candidates) for one in found)
    taught = sum(bool(one.observed.candidates) for one in found)
    unread = windows.height - len(found)
    figures = (
        f"{windows.height} short sessions, {taught} of them taught {facts} corrections and rules"
    )
    return Row(
        "coverage: short sessions that nothing read",
        unread / max(windows.height, 1),
        figures,
        limit=0.0,
    )


def _questions_about_short_sessions(store: Store) -> Row:
    windows = asked_about(store.tables.read("windows").filter(status="short"))
    messages = store.tables.read("messages").join(
        windows.select("window_id"), on="window_id", how="semi"
    )
    by_window = {
        window_id: own.sort("ordinal") for (window_id,), own in messages.group_by("window_id")
    }
    rows = ((window, by_window[window["window_id"]]) for window in windows.iter_rows(named=True))
    questions = [
        one for window, own in rows for one in questions_about(window, own, "any", ZoneInfo("UTC"))
    ]
    groups = group_questions(questions)
    sent = sum(group.estimated_tokens() for group in groups)
    whole = sum(count_tokens(shown(row)) + STAMP_TOKENS for row in messages.iter_rows(named=True))
    figures = f"{len(questions)} short sessions in {len(groups)} calls: {sent:,} tokens, prompts included, of {whole:,}"
    return Row(
        "coverage: prompt tokens of short sessions, of those of their transcripts",
        sent / max(whole, 1),
        figures,
    )


def _projects(store: Store) -> Row:
    windows = store.tables.read("windows").filter(pl.col("status").is_in([*READ_STATUSES, "open"]))
    sessions = (
        windows.group_by("project")
        .agg(pl.col("session_id").n_unique())
        .sort("session_id", "project", descending=True)
    )
    listed = ", ".join(f"{project} {count}" for project, count in sessions.iter_rows())
    return Row("coverage: projects", float(sessions.height), listed)
