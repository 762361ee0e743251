"""Marks recalled memories that name what is gone from the project's repository."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

import polars as pl

from memory_assets.schema.requests import LOOKUP
from memory_assets.services.search.corpus import until_published
from memory_assets.stages.recall.replaced import names_gone
from memory_assets.stages.recall.results import Answer, Recalled
from memory_assets.stages.verify.verifications import gone_names
from memory_assets.store.parquet_tables import ParquetTables
from memory_assets.store.store import Store


def mark_gone(store: Store, answer: Answer) -> Answer:
    """Returns the answer with marks on memories that name what is gone, behind those that hold; of
    a file, a command or an error, without those that name nothing else.
    """
    hidden = names_only_gone(store.tables) if answer.profile == LOOKUP else ()
    shown = [result for result in answer.results if result.memory_id not in hidden]
    return replace(answer, results=tuple(sorted(with_marks(store, shown), key=names_gone)))


def with_marks(store: Store, results: Iterable[Recalled]) -> Iterator[Recalled]:
    """Yields the results, with a mark those that name what is gone."""
    marks = dict(_marks(store.tables).select("id", "mark").iter_rows())
    for result in results:
        mark = marks.get(result.memory_id)
        yield replace(result, tags=(*result.tags, mark)) if mark else result


def names_only_gone(tables: ParquetTables) -> Collection[str]:
    """Returns the ids of the memories that name only what is gone."""
    return _marks(tables).filter("is_all")["id"].to_list()


@until_published("verifications")
def _marks(tables: ParquetTables) -> pl.DataFrame:
    """Returns the memories that name what is gone, with their marks."""
    names_by_id = gone_names(tables.read("verifications"), "memory").items()
    rows = [(id, names.mark, names.is_all) for id, names in names_by_id]
    columns = {"id": pl.String, "mark": pl.String, "is_all": pl.Boolean}
    return pl.DataFrame(rows, columns, orient="row")
