"""Marks recalled memories that name what is gone from the project's repository."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from memory_assets.schema.requests import LOOKUP
from memory_assets.services.search.corpus import until_published
from memory_assets.stages.recall.replaced import names_gone
from memory_assets.stages.recall.results import Answer, Recalled
from memory_assets.stages.verify.verifications import GoneNames, gone_names
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
    memories = _memories(store.tables)
    for result in results:
        names = memories.get(result.memory_id)
        yield replace(result, tags=(*result.tags, names.mark)) if names else result


def names_only_gone(tables: ParquetTables) -> Collection[str]:
    """Returns the ids of the memories that name only what is gone."""
    return [id for id, names in _memories(tables).items() if names.is_all]


def gone_marks(tables: ParquetTables) -> dict[str, str]:
    """Returns memory → what it names that is gone, in words."""
    return {id: names.mark for id, names in _memories(tables).items()}


@until_published("verifications")
def _memories(tables: ParquetTables) -> Mapping[str, GoneNames]:
    """Returns by id what memories name that is gone."""
    return gone_names(tables.read("verifications"), "memory")
