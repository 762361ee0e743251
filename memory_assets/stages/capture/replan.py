"""Plans windows incrementally, with the same result as planning all of them.

Records are nearly always only added. Then a message can only move to a changed source, and the windows that may differ are
those of the changed sources, of the sources that owned one of their messages, and the open ones. Where a source lost messages
(it was read again and its ids differ), any source may own them now, and all windows are planned. After a change of rules (zone,
people, lengths, a flush), call `plan_windows`.
"""

from collections.abc import Collection

import polars as pl

from memory_assets.schema.protocols import Tables
from memory_assets.stages.capture.ownership import conversation, own_messages
from memory_assets.stages.capture.windows import WindowRules, cut_sessions, plan_windows


def plan_windows_incrementally(
    tables: Tables, resources: pl.DataFrame, rules: WindowRules, *, before: pl.DataFrame, changed: Collection[str]
) -> pl.DataFrame:
    """Returns the table `windows`, given its earlier rows and the sources whose records changed since."""
    if not set(changed) <= set(tables.parts("records")) or _lost_messages(tables, before, changed):
        return plan_windows(tables.scan("records"), resources, rules)
    planned = sources_to_plan(tables, before, changed)
    if not planned:
        return before
    records = tables.scan("records", planned)
    own = resources.filter(pl.col("source_id").is_in(planned))
    kept = before.filter(~pl.col("source_id").is_in(planned))
    others = kept.select(pl.col("message_ids").explode())["message_ids"].implode()
    rows = conversation(records, own, rules.now).filter(~pl.col("message_id").is_in(others).fill_null(value=False))
    return pl.concat([kept, cut_sessions(own_messages(rows), records, own, rules)]).sort("window_id")


def sources_to_plan(tables: Tables, before: pl.DataFrame, changed: Collection[str]) -> list[str]:
    """Returns the sources whose windows may differ from before, sorted."""
    ids = _message_ids(tables, changed).implode()
    owned = before.lazy().select("source_id", "status", pl.col("message_ids").alias("message_id")).explode("message_id")
    touched = owned.filter((pl.col("status") == "open") | pl.col("message_id").is_in(ids))
    return sorted({*changed, *touched.select("source_id").unique().collect()["source_id"]})


def _lost_messages(tables: Tables, before: pl.DataFrame, changed: Collection[str]) -> bool:
    owned = before.filter(pl.col("source_id").is_in(list(changed)))["message_ids"].explode()
    return not owned.is_in(_message_ids(tables, changed).implode()).all()


def _message_ids(tables: Tables, sources: Collection[str]) -> pl.Series:
    return tables.scan("records", sources).select("message_id").drop_nulls().unique().collect()["message_id"]
