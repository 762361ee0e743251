"""Finds memories that share rare entities with those already found, and with what a question names.

Takes the tables `mentions` and `entities` once, as arrays (`Graph`), then seeds with their scores; gives other memories with a
score between 0 and 1 and the entity that connects them. An entity that few memories name connects more than one that many do;
project and person, by which a memory is filed, connect nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from memory_assets.stages.embed.entities import mentions_in
from memory_assets.text.aliases import Own, names_of, words_in

DAMPING = 0.6
"""What being named in the same breath as a relevant memory counts beside being relevant."""

MOST_MEMORIES = 100
"""Memories that name an entity beyond which it is common, and connects nothing."""

LONGEST_NAME = 4
"""Words of the longest name that is looked for in a question."""

UNCONNECTING = ("project", "person")

Ints = np.ndarray
Names = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Neighbour:
    """A memory that something connects with what was found."""

    memory_id: str
    score: float
    through: str
    """Name of the entity that connects it most."""


@dataclass(frozen=True)
class Graph:
    """Which memory names which entity, both ways, as arrays; of entities that connect anything."""

    memory_ids: list[str]
    number_of: Mapping[str, int]
    """Memory id → its number."""
    names: list[str]
    rarity: np.ndarray
    """Of each entity, from 0 (in every memory) to 1 (in one)."""
    entity_starts: Ints
    memories_of: Ints
    """Numbers of the memories of entity e: `memories_of[entity_starts[e] : entity_starts[e + 1]]`."""
    memory_starts: Ints
    entities_of: Ints
    called: Names
    """Name or alias in lower case → entities."""


def read_graph(mentions: pl.DataFrame, entities: pl.DataFrame) -> Graph:
    """Returns the graph of the two tables."""
    connecting = entities.filter(~pl.col("kind").is_in(UNCONNECTING) & (pl.col("memory_count") <= MOST_MEMORIES)).sort(
        "entity_id"
    )
    numbered = connecting.select("entity_id").with_row_index("entity")
    said = mentions.select("memory_id", "entity_id").unique().join(numbered, on="entity_id")
    memory_ids = said["memory_id"].unique().sort()
    pairs = said.join(memory_ids.to_frame().with_row_index("memory"), on="memory_id").select("memory", "entity")
    by_entity, by_memory = pairs.sort("entity", "memory"), pairs.sort("memory", "entity")
    total = max(mentions["memory_id"].n_unique(), 2)
    counts = np.maximum(connecting["memory_count"].to_numpy(), 1)
    ids = memory_ids.to_list()
    return Graph(
        memory_ids=ids,
        number_of={id: number for number, id in enumerate(ids)},
        names=connecting["name"].to_list(),
        rarity=(np.log(total / np.minimum(counts, total)) / np.log(total)).astype(np.float32),
        entity_starts=_starts(by_entity["entity"], len(numbered)),
        memories_of=by_entity["memory"].to_numpy(),
        memory_starts=_starts(by_memory["memory"], len(ids)),
        entities_of=by_memory["entity"].to_numpy(),
        called=_called(connecting),
    )


def find_neighbours(graph: Graph, seeds: Mapping[str, float], named: Iterable[int] = (), limit: int = 60) -> list[Neighbour]:
    """Returns memories that entities connect with the seeds, or that name what the question does, best first, no seeds.

    `seeds` are memory ids with scores from 0 to 1; `named` are numbers of entities in the question, from `named_in`. A memory
    that several entities connect is nearer than each of them makes it.
    """
    known = {graph.number_of[id]: score for id, score in seeds.items() if id in graph.number_of}
    strength = _strengths(graph, known, named)
    if not strength.size:
        return []
    entities = np.flatnonzero(strength)
    lengths = graph.entity_starts[entities + 1] - graph.entity_starts[entities]
    reached = _ranges(graph.memories_of, graph.entity_starts[entities], lengths)
    through, force = np.repeat(entities, lengths), np.repeat(strength[entities], lengths)
    away = np.zeros(len(graph.memory_ids), dtype=np.float64)
    np.add.at(away, reached, np.log1p(-np.minimum(force, 0.999)))
    best = np.lexsort((through, -force, reached))
    _, first = np.unique(reached[best], return_index=True)
    nearest = best[first]
    numbers = reached[nearest]
    is_new = ~np.isin(numbers, list(known))
    numbers, nearest = numbers[is_new], nearest[is_new]
    scores = -np.expm1(away[numbers])
    order = np.lexsort((numbers, -scores))[:limit]
    chosen = zip(numbers[order].tolist(), scores[order].tolist(), through[nearest[order]].tolist(), strict=True)
    return [Neighbour(graph.memory_ids[number], round(score, 6), graph.names[entity]) for number, score, entity in chosen]


def named_in(graph: Graph, question: str, own: Own | None = None) -> tuple[int, ...]:
    """Returns the entities that the question names, by their shape, by their names or by an alias; `own` are the owner's."""
    words = words_in(question)
    spans = [
        " ".join(words[start : start + length])
        for length in range(1, LONGEST_NAME + 1)
        for start in range(len(words) - length + 1)
    ]
    said = [*(mention.name.lower() for mention in mentions_in(question)), *spans]
    found = (
        graph.called.get(other, ()) for name in dict.fromkeys(said) for other in dict.fromkeys((name, *names_of(name, own)))
    )
    return tuple(dict.fromkeys(entity for entities in found for entity in entities))


def _strengths(graph: Graph, known: Mapping[int, float], named: Iterable[int]) -> np.ndarray:
    """Returns how strongly each entity connects: by its rarity, and by the best seed that names it or the question itself."""
    strength = np.zeros(len(graph.names), dtype=np.float32)
    for memory, score in known.items():
        own = graph.entities_of[graph.memory_starts[memory] : graph.memory_starts[memory + 1]]
        strength[own] = np.maximum(strength[own], min(max(score, 0.0), 1.0) * DAMPING)
    strength[list(named)] = 1.0
    return strength * graph.rarity


def _starts(numbers: pl.Series, count: int) -> Ints:
    return np.concatenate([[0], np.cumsum(np.bincount(numbers.to_numpy(), minlength=count))]).astype(np.int64)


def _ranges(values: Ints, starts: Ints, lengths: Ints) -> Ints:
    """Returns the values of all the stretches, one after the other."""
    offsets = np.repeat(starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    return values[offsets + np.arange(lengths.sum())].astype(np.int64)


def _called(entities: pl.DataFrame) -> Names:
    found: dict[str, list[int]] = defaultdict(list)
    for number, (name, aliases) in enumerate(entities.select("name", "aliases").iter_rows()):
        for one in dict.fromkeys(spelling.lower() for spelling in (name, *aliases)):
            found[one].append(number)
    return {name: tuple(numbers) for name, numbers in found.items()}
