"""Renders what was exported or backed up, and how to read it back."""

from typing import TYPE_CHECKING

from memory_assets.interfaces.views.lines import Parts, bold, dim

if TYPE_CHECKING:
    from memory_assets.memory.transfer import BackedUp, Exported


def render_backed_up(backup: "BackedUp") -> Parts:
    """Renders where the backup is, and what restores it."""
    yield bold(f"{backup.path}", f"  {backup.files:,} files, {backup.bytes / 1e6:,.1f} MB")
    yield dim(
        f"`memory data restore {backup.path} --store FOLDER` makes a store from it. Keep it "
        "as private as the store."
    )


def render_exported(export: "Exported") -> Parts:
    """Renders where the export is, and what imports it."""
    yield bold(
        f"{export.path}",
        f"  {export.files:,} files; {export.tables} tables with {export.rows:,} rows",
    )
    if export.left_out:
        yield dim(
            "Settings of this machine, and those with secrets, are left out: "
            f"{', '.join(export.left_out)}."
        )
    yield dim(
        f"`memory data import {export.path} --store FOLDER` makes a store from it. Keep it as "
        "private as the store."
    )
