"""Renders what was exported or backed up, and how to read it back."""

from typing import TYPE_CHECKING

from memory_assets.interfaces.views.lines import Parts, bold, dim

if TYPE_CHECKING:
    from memory_assets.memory.transfer import BackedUp, Exported


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
