"""Checks of what rules files and MEMORY.md name."""

import polars as pl

from memory_assets.assets.checks.common import Days, check
from memory_assets.schema.records import VerifiedSubject
from memory_assets.stages.verify.verifications import not_holding
from memory_assets.store.store import Store

SHOWN = ("place", "kind", "state", "since_on")
"""Columns without words of the files."""


@check("verifications", level="warn")
def rules_name_what_exists(store: Store, days: Days) -> pl.DataFrame:
    """What CLAUDE.md, AGENTS.md and other rules files of the repositories name exists."""
    return _broken(store, "rules file")


@check("verifications", level="warn")
def memory_md_names_what_exists(store: Store, days: Days) -> pl.DataFrame:
    """What the lines of MEMORY.md and of the projects' files name exists."""
    return _broken(store, "line")


def _broken(store: Store, subject: VerifiedSubject) -> pl.DataFrame:
    rows = store.tables.read("verifications")
    return not_holding(rows, subject).select(SHOWN).sort("place")
