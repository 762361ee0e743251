"""Lists the facts that reflections and distillates read and do not tell: one row each, why, and what holds it now."""

from collections.abc import Iterable

import polars as pl

from memory_assets.schema.frames import schema_of
from memory_assets.schema.records import SpanName


def list_dropped(span: SpanName, told: pl.DataFrame) -> pl.DataFrame:
    """Returns the dropped facts of the reflections, or of the distillates of that span.

    Rows of an earlier release give no reasons; they are due to be made anew, and listed then.
    """
    lists = {"dropped_ids": "observation_id", "dropped_why": "reason", "dropped_to": "kept_as"}
    rows = (
        told.filter(pl.col("dropped_why").is_not_null())
        .explode(*lists, empty_as_null=False)
        .rename(lists)
        .with_columns(span=pl.lit(span))
    )
    return rows.select(schema_of("dropped_facts").names()).sort("observation_id")


def find_vanished(span: SpanName, read: Iterable[str], told: pl.DataFrame, dropped: pl.DataFrame) -> pl.DataFrame:
    """Returns the observations that were read and are neither told nor listed as dropped, as `span` and `observation_id`."""
    accounted = {*told["observation_ids"].explode(), *dropped["observation_id"]}
    lost = sorted(set(read) - accounted)
    return pl.DataFrame({"span": [span] * len(lost), "observation_id": lost}, {"span": pl.String, "observation_id": pl.String})
