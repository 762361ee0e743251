"""Renders what was exported or backed up, and how to read it back."""

from itertools import groupby
from typing import TYPE_CHECKING

from memory_assets.interfaces.views.lines import Parts, bold, counted, dim, table

if TYPE_CHECKING:
    from memory_assets.memory.transfer import BackedUp, Exported
    from memory_assets.services.sharing.push import Pushed

MOST_SESSIONS = 20
"""Sessions that a preview of a push lists; --json lists all."""


def render_backed_up(done: "BackedUp") -> Parts:
    """Renders where the backup is, and what restores it."""
    yield bold(f"{done.path}", f"  {done.files:,} files, {done.bytes / 1e6:,.1f} MB")
    yield dim(
        f"`memory data restore {done.path} --store FOLDER` makes a store from it. Keep it "
        "as private as the store."
    )


def render_exported(done: "Exported") -> Parts:
    """Renders where the export is, and what imports it."""
    yield bold(
        f"{done.path}", f"  {done.files:,} files; {done.tables} tables with {done.rows:,} rows"
    )
    if done.left_out:
        yield dim(
            "Settings of this machine, and those with secrets, are left out: "
            f"{', '.join(done.left_out)}."
        )
    yield dim(
        f"`memory data import {done.path} --store FOLDER` makes a store from it. Keep it as "
        "private as the store."
    )


def render_pushed(done: "Pushed") -> Parts:
    """Renders what was pushed, or would be, by project, and what was left out."""
    sessions = sorted(done.sessions, key=lambda one: (one.project, one.path))
    if done.is_dry_run:
        yield bold(
            f"{counted(len(sessions), 'session')} would be pushed to {done.url}. Nothing was sent."
        )
    else:
        again = (
            f", {counted(done.replaced, 'piece')} replaced, with words masked since"
            if done.replaced
            else ""
        )
        new = f"{counted(done.pieces, 'new piece')}" if done.pieces else "nothing new"
        yield bold(f"Pushed to {done.url} as {done.person}: {new}{again}.")
    groups = [
        (project, list(own)) for project, own in groupby(sessions, key=lambda one: one.project)
    ]
    rows = [
        [project, f"{len(own):,}", f"{sum(one.bytes for one in own) / 1e3:,.1f}"]
        for project, own in groups
    ]
    if rows:
        yield table("project", "sessions", "new kB", rows=rows, numbers=("sessions", "new kB"))
    if done.is_dry_run and sessions:
        shown = [
            [one.project, one.session_id, f"{one.bytes / 1e3:,.1f}"]
            for one in sessions[:MOST_SESSIONS]
        ]
        yield table("project", "session", "new kB", rows=shown, numbers=("new kB",))
        if len(sessions) > MOST_SESSIONS:
            yield dim(f"and {len(sessions) - MOST_SESSIONS:,} more; --json lists all")
    for one in done.left_out:
        yield dim(f"left out: {counted(one.sessions, 'session')} {one.reason}")
    if done.sent_bytes:
        yield dim(
            f"{done.sent_bytes / 1e3:,.1f} kB were sent. The server distils them at its "
            "next `memory ingest`."
        )
