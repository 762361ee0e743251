"""Builds archived resources, records, windows, messages and sessions from the transcripts."""

import json
from collections.abc import Iterable
from datetime import timedelta

import polars as pl

from memory_assets.runs import inputs
from memory_assets.runs.inputs import flushes, hook_signals_of
from memory_assets.runs.results import Report, Rows, Run, per_partition
from memory_assets.schema.extras import loaded
from memory_assets.schema.frames import empty
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.services.forget.erase import finish
from memory_assets.services.sources import harness_files, transcripts
from memory_assets.stages.capture.checkpoints import build_checkpoints, open_checkpoints
from memory_assets.stages.capture.index import index_sources
from memory_assets.stages.capture.intake import ingest_files
from memory_assets.stages.capture.messages import build_messages, build_sessions, windows_of
from memory_assets.stages.capture.tombstones import masking, tombstones_of
from memory_assets.stages.capture.windows import (
    WindowRules,
    plan_windows,
    plan_windows_incrementally,
)
from memory_assets.store.store import Store
from memory_assets.text.words import CHARS_A_TOKEN

RAW_TAIL = 0.60
"""An open session is cut into a window when what was said since the last one fills this share of
the context.
"""


@per_partition
def resources(store: Store, _: str) -> Rows:
    """Archives new bytes of transcripts, masked; first finishes an interrupted forget."""
    finish(store)
    for carry_out in loaded("before_capture"):
        carry_out(store)
    files = transcripts.find_sources(store.settings)
    mask = masking(tombstones_of(store))
    now = store.settings.clock()
    machine = transcripts.this_machine(store.settings)
    intake = ingest_files(files, store, now=now, mask=mask, machine=machine)
    frame = store.archive.resources()
    left_out = transcripts.find_left_out(store)
    figures = {
        "new_ranges": intake.new_ranges,
        "new_bytes": intake.new_bytes,
        "masked_secrets": int(frame["masked_count"].sum()),
        "files_waiting_for_a_line_end": intake.waiting,
        "files_rewritten": intake.rewritten,
        "copies_of_a_longer_file": intake.copies,
        "unreadable_files": len(intake.unreadable),
        "files_left_out": len(left_out),
    }
    warnings = [
        *transcripts.find_unread(store),
        *(f"{file.path}: {file.reason}" for file in left_out),
    ]
    return Rows(frame, figures, warnings=[f"Not captured: {warning}" for warning in warnings])


def records(store: Store, _: Run) -> Report:
    """Indexes the lines of new ranges, one partition per source."""
    with store.lock():
        keeps_rewound = store.settings.rewound_turns
        changed = index_sources(store.archive, store.tables, keeps_rewound=keeps_rewound)
    return Report({"sources": len(store.tables.parts("records")), "sources_changed": len(changed)})


@per_partition
def windows(store: Store, _: str) -> pl.DataFrame:
    """Cuts sessions into windows.

    Only sessions with new records or events are cut again, unless a rule changed or a person ended
    all open sessions.
    """
    rules = window_rules_of(store)
    archived = store.archive.resources()
    written = store.tables.parts("windows").get(WHOLE)
    present = json.loads(inputs.windows(store, TABLES["windows"])[WHOLE])
    previous = json.loads(written.inputs) if written else {}
    if any(present[name] != previous.get(name) for name in ("rules", "flushes")):
        return plan_windows(store.tables.scan("records"), archived, rules)
    changed = [
        source
        for source, fingerprint in present["sources"].items()
        if previous["sources"].get(source) != fingerprint
    ]
    windows = store.tables.read("windows")
    return plan_windows_incrementally(
        store.tables, archived, rules, earlier_windows=windows, changed=changed
    )


def window_rules_of(store: Store) -> WindowRules:
    """Returns the rules by which windows are cut."""
    settings = store.settings
    since = transcripts.distilled_since(settings)
    return WindowRules(
        now=settings.clock(),
        zone=settings.zone,
        idle=timedelta(minutes=settings.idle_minutes),
        short_turns=settings.short_turns,
        tail_chars=int(settings.context_tokens * RAW_TAIL * CHARS_A_TOKEN),
        people=settings.people,
        owner=settings.owner,
        own_sources=store.archive.own_sources(),
        pushers=store.archive.pushers(),
        older_sources=store.archive.sources_before(since) if since else frozenset(),
        flushes=flushes(store),
        signals=hook_signals_of(store),
    )


@per_partition
def messages_open(store: Store, _: str) -> Rows:
    """Returns the messages of windows that are still growing."""
    growing = store.tables.read("windows").filter(status="open")
    frames = list(build_messages(growing, store.tables, store.archive, store.settings.clock()))
    frame = pl.concat(frames) if frames else empty("messages_open")
    return Rows(frame, {"sessions": growing["session_id"].n_unique()})


@per_partition
def harness_memories(store: Store, _: str) -> Rows:
    """Reads the files in which harnesses keep their own memories."""
    version = harness_files.memory_file_inputs(store)
    frame = harness_files.read_memory_files(store)
    return Rows(frame, {"files": frame["path"].n_unique()}, version)


@per_partition
def messages(store: Store, day: str) -> Iterable[pl.DataFrame]:
    """Reads the messages of a day's windows back from the archive."""
    closed = windows_of(store.tables, day)
    return build_messages(closed, store.tables, store.archive, store.settings.clock())


@per_partition
def sessions(store: Store, day: str) -> pl.DataFrame:
    """Sums up the sessions of a day."""
    closed = windows_of(store.tables, day)
    return build_sessions(closed, store.tables.read("messages", [day]), store.tables)


@per_partition
def checkpoints(store: Store, day: str) -> pl.DataFrame:
    """Lists the turns that begin in the day's closed windows."""
    return build_checkpoints(store.tables, store.archive, store.settings.clock(), day)


@per_partition
def checkpoints_open(store: Store, _: str) -> Rows:
    """Lists the turns that have messages in windows that are still growing."""
    frame = open_checkpoints(store.tables, store.archive, store.settings.clock())
    return Rows(frame, {"sessions": frame["session_id"].n_unique()})


BUILDERS = (
    resources, records, windows, messages_open, harness_memories, messages, sessions,
    checkpoints, checkpoints_open,
)  # fmt: skip
"""The functions that build the tables of their names (`runs.builders`)."""
