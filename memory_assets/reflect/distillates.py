"""Distils finished weeks and months from the reflections of their days: the longer ago, the fewer facts are told.

Both read the days' reflections, never each other, so that no wording is condensed twice. Facts of several days that say the
same become one; what was replaced or solved meanwhile goes; the rest is told whole, the most important first, as far as
there is room. Every line keeps the ids it rests on, and what is left out is listed with the reason.
"""

import uuid
from datetime import date

import polars as pl

from memory_assets import tables as schemas
from memory_assets.reflect import DISTILLER
from memory_assets.reflect.background import Background
from memory_assets.reflect.bullets import parse_bullets
from memory_assets.reflect.gradient import TABLE_OF, Span
from memory_assets.reflect.reflector import NAMESPACE, condense, merge, owners_among, told_columns


def distil(
    span: Span, first: date, reflections: pl.DataFrame, observations: pl.DataFrame, background: Background
) -> pl.DataFrame:
    """Returns the distillates of the week or month that begins on `first`; both frames hold its days alone."""
    rows = []
    share = span.share_left(int(reflections["input_tokens"].sum()), int(reflections["fact_tokens"].sum()))
    for (project, person), group in reflections.sort("day").group_by("project", "person", maintain_order=True):
        said = [bullet for row in group.to_dicts() for bullet in parse_bullets(row["text"], row["observation_ids"])]
        cited = {id for bullet in said for id in bullet.ids}
        facts = observations.filter(pl.col("id").is_in(cited)).sort("event_at", "id").to_dicts()
        dropped = background.set_aside(facts)
        standing = [bullet for bullet in said if not all(id in dropped for id in bullet.ids)]
        fact_tokens = int(group["fact_tokens"].sum())
        room = int(share * fact_tokens)
        found = condense(merge(standing, background), room, span, background, owners_among(facts))
        row = {
            "reflection_id": str(uuid.uuid5(NAMESPACE, f"{span.name}\x1f{first}\x1f{project}\x1f{person}")),
            "day": first,
            "until_on": span.last_day(first),
            "project": project,
            "person": person,
            "reflection_ids": group["reflection_id"].to_list(),
            "input_tokens": int(group["input_tokens"].sum()),
            "fact_tokens": fact_tokens,
            "reflector": DISTILLER,
        }
        rows.append(row | told_columns(found, facts, dropped, background))
    return schemas.frame_of(TABLE_OF[span.name], rows).sort("reflection_id")
