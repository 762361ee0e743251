"""Plans windows anew only where something changed, with the result of planning everything.

Records are only ever added. So a message changes hands only to a source that changed, and the windows that may differ are
those of the changed sources, of the sources that owned a message of theirs, and those that were open. When a rule changed
(zone, people, lengths), `plan_windows` is the one to call.
"""

from collections.abc import Collection

import polars as pl

from memory_assets.capture.ownership import conversation, own_messages
from memory_assets.capture.windows import Cutting, cut_sessions
from memory_assets.protocols import Tables


def plan_windows_incrementally(
    tables: Tables, resources: pl.DataFrame, rules: Cutting, *, before: pl.DataFrame, changed: Collection[str]
) -> pl.DataFrame:
    """Returns the table `windows`, given its earlier rows and the sources whose records changed since."""
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
    ids = tables.scan("records", changed).select("message_id").drop_nulls().unique().collect()["message_id"].implode()
    owned = before.lazy().select("source_id", "status", pl.col("message_ids").alias("message_id")).explode("message_id")
    touched = owned.filter((pl.col("status") == "open") | pl.col("message_id").is_in(ids))
    return sorted({*changed, *touched.select("source_id").unique().collect()["source_id"]})
