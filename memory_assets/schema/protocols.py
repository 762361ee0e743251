"""The seams to the outside world: what a model, an embedder, an index and the tables must be able to do.

Adapters implement these; stages know nothing else of vendors, files and services. Tests hand in fakes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

import numpy as np
import polars as pl

from memory_assets.errors import ModelError


@dataclass(frozen=True)
class Image:
    """A picture that belongs to the material."""

    media_type: str
    """`image/png`, `image/jpeg`, `image/gif` or `image/webp`."""
    data: bytes


@dataclass(frozen=True)
class ModelRequest:
    """One question to a model: a fixed system prompt, which providers may cache, and the material."""

    system: str
    material: str
    max_tokens: int = 8_000
    images: tuple[Image, ...] = ()
    """Shown before the material, which speaks of them as image 1, image 2 and so on."""


@dataclass(frozen=True)
class ModelAnswer:
    """What the model said, raw, how it ended, and what it took."""

    text: str
    model: str
    input_tokens: int
    """Tokens that were neither read from nor written to the provider's cache."""
    output_tokens: int
    stop_reason: str = "end_turn"
    """As the Messages API names it: `end_turn`, `stop_sequence`, `max_tokens`, `refusal` and so on."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    seconds: float = 0.0
    """From the question to the answer; 0 for an answer that came in a batch."""
    is_batch: bool = False
    raw: dict[str, Any] = field(default_factory=dict)
    """The answer as it came, for whoever wants to look."""


@dataclass(frozen=True)
class Batch:
    """A batch of questions at the provider."""

    id: str
    created_at: datetime
    is_ended: bool
    counts: Mapping[str, int] = field(default_factory=dict)
    """Questions by state: `processing`, `succeeded`, `errored`, `canceled`, `expired`."""


class Model(Protocol):
    """Answers questions in text."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Returns the answer; raises `ModelError` when there is none."""
        ...

    def submit(self, requests: Mapping[str, ModelRequest]) -> Batch:
        """Hands in a batch, at half the price and without a promise of when; names are at most 64 of `[a-zA-Z0-9_-]`."""
        ...

    def batch(self, batch_id: str) -> Batch:
        """Returns the batch as it stands now; raises `ModelError` when the provider does not know it."""
        ...

    def batches(self, since: datetime) -> Iterator[Batch]:
        """Yields the batches handed in since the moment, the latest first."""
        ...

    def results(self, batch_id: str) -> Iterator[tuple[str, ModelAnswer | ModelError]]:
        """Yields the name and the answer of each question of an ended batch, or why there is none."""
        ...


CODE_BYTES = 48
"""Of what one word means in its text."""


@dataclass(frozen=True)
class Read:
    """What an embedder makes of a text: what it means as a whole, and what each of its words means in it."""

    vector: np.ndarray
    """Unit length, float32, shape (dimension,)."""
    words: np.ndarray = field(default_factory=lambda: np.zeros((0, CODE_BYTES), dtype=np.int8))
    """Codes to be compared by their products, int8, shape (words, 48); none where the model has no codes."""


class Embedder(Protocol):
    """Turns texts into unit-length vectors."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    @property
    def version(self) -> str:
        """Hash of the model's weights, shortened."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns a float32 array of shape (len(texts), dimension)."""
        ...

    def encode_query(self, text: str) -> np.ndarray:
        """Returns a float32 array of shape (dimension,)."""
        ...

    def read(self, texts: Sequence[str]) -> list[Read]:
        """Returns the vector of each text, and the codes of its words."""
        ...

    def read_query(self, text: str) -> Read:
        """Returns the same of a question."""
        ...


@dataclass(frozen=True)
class Hit:
    """One result of an index: the id that was stored and how well it fits (higher is better)."""

    id: str
    score: float


class VectorIndex(Protocol):
    """Finds the nearest vectors; a projection of the tables."""

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        ...

    def find(self, vector: np.ndarray, limit: int) -> list[Hit]:
        """Returns the nearest, best first, scored by cosine."""
        ...


class Texts(Protocol):
    """One corpus of a text index: its rows, sorted by group and order, and which terms occur in which of them."""

    @property
    def ids(self) -> Sequence[str]:
        """Row → id."""
        ...

    @property
    def parent_ids(self) -> Sequence[str]:
        """Names of what rows are parts of, such as the message of a passage."""
        ...

    @property
    def group_ids(self) -> Sequence[str]:
        """Names of the groups: sessions."""
        ...

    @property
    def parents(self) -> np.ndarray:
        """Row → number of its parent, int32."""
        ...

    @property
    def groups(self) -> np.ndarray:
        """Row → number of its group, int32, ascending."""
        ...

    @property
    def order(self) -> np.ndarray:
        """Row → its place within the group, int64."""
        ...

    @property
    def lengths(self) -> np.ndarray:
        """Row → how many terms it has, int32."""
        ...

    @property
    def has_vector(self) -> np.ndarray:
        """Row → whether it has a vector."""
        ...

    @property
    def vectors(self) -> np.ndarray:
        """float32, shape (rows, dimension); zeros where a row has none, dimension 0 where no row has one."""
        ...

    def __len__(self) -> int:
        """Returns the number of rows."""
        ...

    def postings(self, term: str) -> tuple[np.ndarray, np.ndarray]:
        """Returns the rows that hold the term (of `terms.query_terms`), ascending, each once, and how often (float32)."""
        ...

    def rows_of(self, ids: Iterable[str]) -> np.ndarray:
        """Returns the rows of those ids that are there."""
        ...

    def words_of(self, row: int) -> np.ndarray:
        """Returns the codes of what the row's words mean in it, int8, shape (words, 48); none where it has none."""
        ...

    def score(self, terms: Iterable[str] | Mapping[str, float]) -> np.ndarray:
        """Returns the BM25 score of every row; float32; terms may come with weights."""
        ...


class TextIndex(Protocol):
    """Finds texts by their words; a projection of the tables."""

    def generation(self) -> str | None:
        """Returns the name of the published generation."""
        ...

    def open(self, corpus: str) -> Texts | None:
        """Returns the corpus (`memories` or `messages`) as published, or None where it has no rows yet."""
        ...


@dataclass(frozen=True)
class PartInfo:
    """What is written of one part (a day, a source, a category, or `all`) of a table."""

    rows: int
    fingerprint: str
    """Hash of the rows."""
    inputs: str
    """Hash of what the rows were made from, as given by the writer."""
    written_at: datetime
    bytes: int


TaskState = Literal["open", "completed", "deleted", "unknown"]


@dataclass(frozen=True)
class Task:
    """A task of a person's list, as it stands there."""

    id: str
    project_id: str
    content: str = ""
    description: str = ""
    labels: tuple[str, ...] = ()
    state: TaskState = "open"
    """`unknown`: it is not there, and the list cannot tell what became of it."""


class TaskList(Protocol):
    """A person's list of tasks, in which ours carry a label; every method raises `TaskListError` when there is no answer."""

    def look(self, wanted: Mapping[str, str], since: datetime) -> dict[str, Task]:
        """Returns each task by its id as it stands now, whatever labels it has by now.

        `wanted` maps ids to the projects in which they were made; none of them was completed before `since`.
        """
        ...

    def labelled(self, since: datetime) -> list[Task]:
        """Returns the open tasks with our label, and those with it that were completed since the moment."""
        ...

    def add(self, content: str, description: str) -> Task:
        """Makes a task with our label."""
        ...

    def reword(self, task_id: str, content: str) -> Task:
        """Changes what an open task says, and returns it as it stands then."""
        ...

    def complete(self, task_id: str) -> None:
        """Completes a task; nothing happens when it is not there."""
        ...

    def delete(self, task_id: str) -> None:
        """Deletes a task; nothing happens when it is not there."""
        ...


class Tables(Protocol):
    """Reads and writes tables, one part at a time, atomically."""

    def parts(self, table: str, wanted: Iterable[str] | None = None) -> dict[str, PartInfo]:
        """Returns the written parts (of those wanted) by name, sorted by name."""
        ...

    def read(self, table: str, parts: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Returns the rows of the given parts (all by default); parts that do not exist have no rows."""
        ...

    def scan(self, table: str, parts: Iterable[str] | None = None) -> pl.LazyFrame:
        """Returns the same lazily."""
        ...

    def write(
        self, table: str, part: str, frame: pl.DataFrame | Iterable[pl.DataFrame], *, inputs: str | Callable[[], str] = ""
    ) -> PartInfo:
        """Checks the rows against the table's schema and replaces the part in one step.

        `inputs` may be a function that is asked once all rows are written.
        """
        ...

    def drop(self, table: str, part: str) -> None:
        """Removes the part; nothing happens when it is not there."""
        ...
