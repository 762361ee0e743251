"""Protocols for models, embedders, indexes, task lists, histories and shared copies of a store,
with the records that they exchange.

Adapters implement the protocols, and tests pass fakes. Stages reach the outside world only through
them.
"""

# The body of a protocol's method is its docstring alone.
# pyright: reportReturnType=false

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from memory_assets.errors import ModelError
from memory_assets.text.words import count_tokens

if TYPE_CHECKING:
    import numpy as np

Row = Mapping[str, Any]
"""A row of a table, by column."""


@dataclass(frozen=True)
class Image:
    """An image that belongs to the material of a request."""

    media_type: str
    """`image/png`, `image/jpeg`, `image/gif` or `image/webp`."""
    data: bytes


@dataclass(frozen=True)
class ModelRequest:
    """One request to a model: a fixed system prompt, which providers may cache, and the
    material.
    """

    system: str
    material: str
    max_tokens: int = 8_000
    images: tuple[Image, ...] = ()
    """Sent before the material, which refers to them as image 1, image 2 and so on."""

    def estimated_tokens(self) -> int:
        """Returns an estimate of the tokens that are sent, images excluded."""
        return count_tokens(self.system) + count_tokens(self.material)


@dataclass(frozen=True)
class ModelAnswer:
    """The model's raw text, its stop reason and its usage."""

    text: str
    model: str
    input_tokens: int
    """Tokens neither read from nor written to the provider's cache."""
    output_tokens: int
    stop_reason: str = "end_turn"
    """As in the Messages API: `end_turn`, `stop_sequence`, `max_tokens`, `refusal` and so on."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    seconds: float = 0.0
    """Duration of the request; 0 in a batch."""
    is_batch: bool = False
    raw: dict[str, Any] = field(default_factory=dict)
    """The unparsed answer."""


TOKEN_FIELDS = "input_tokens output_tokens cache_read_tokens cache_write_tokens".split()


@dataclass(frozen=True)
class Batch:
    """A batch of requests at the provider."""

    id: str
    created_at: datetime
    is_ended: bool
    counts: Mapping[str, int] = field(default_factory=dict)
    """Requests by state: `processing`, `succeeded`, `errored`, `canceled`, `expired`."""


class Model(Protocol):
    """Answers requests in text."""

    @property
    def name(self) -> str:
        """Name of the model."""

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Returns the answer; raises `ModelError` if there is none."""

    def submit(self, requests: Mapping[str, ModelRequest]) -> Batch:
        """Submits a batch of named requests, at half the price and without a deadline; a name has
        at most 64 characters of `[a-zA-Z0-9_-]`.
        """

    def batch(self, batch_id: str) -> Batch:
        """Returns the current state of the batch; raises `ModelError` if the provider does not know
        it.
        """

    def batches(self, since: datetime) -> Iterator[Batch]:
        """Yields the batches submitted since the moment, the latest first."""

    def results(self, batch_id: str) -> Iterator[tuple[str, ModelAnswer | ModelError]]:
        """Yields each request's name with its answer, or its error, for an ended batch."""


CODE_BYTES = 48
"""Length of one word code."""


def _no_words() -> "np.ndarray":
    import numpy as np

    return np.zeros((0, CODE_BYTES), dtype=np.int8)


@dataclass(frozen=True)
class Read:
    """An embedded text: one vector for the whole text, and one contextual code per word."""

    vector: "np.ndarray"
    """Unit length, float32, shape (dimension,)."""
    words: "np.ndarray" = field(default_factory=_no_words)
    """Codes to compare by dot product, int8, shape (words, 48); empty if the model has no codes."""
    spellings: Sequence[str] = ()
    """For a query: the word to which each code belongs."""


class Embedder(Protocol):
    """Turns texts into unit-length vectors."""

    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def version(self) -> str:
        """Hash of the model's weights, shortened."""

    def encode(self, texts: Sequence[str]) -> "np.ndarray":
        """Returns a float32 array of shape (len(texts), dimension)."""

    def encode_query(self, text: str) -> "np.ndarray":
        """Returns a float32 array of shape (dimension,)."""

    def read(self, texts: Sequence[str]) -> list[Read]:
        """Returns the vector of each text and the codes of its words."""

    def read_query(self, text: str) -> Read:
        """Returns the vector of a query, the codes of its words, and these words."""


@dataclass(frozen=True)
class Hit:
    """One result of an index: the stored id and its score (higher is better)."""

    id: str
    score: float


class VectorIndex(Protocol):
    """An index that is derived from the tables and finds the nearest vectors."""

    def generation(self) -> str | None:
        """Returns the name of the published generation; None if there is none."""

    def find(self, vector: "np.ndarray", limit: int) -> list[Hit]:
        """Returns the nearest, best first, scored by cosine."""


class SharedCopy(Protocol):
    """A copy of the store that several machines share; each has its own data folder."""

    @property
    def address(self) -> str:
        """The address of the copy, the same on every machine."""
        ...

    @property
    def place(self) -> int:
        """The place of this machine's folder in the list of all folders that share it, from 0."""
        ...

    def open(self) -> None:
        """Fetches the store into the data folder, or creates the copy from the data folder."""
        ...

    def sync(self, *, is_erasing: bool, wait_seconds: float) -> None:
        """Exchanges changes with the copy; raises `StoreError` if it cannot."""
        ...

    def sync_if_older(self, seconds: float) -> None:
        """Exchanges changes unless this process did within so many seconds, or another process
        writes.
        """
        ...

    def erased(self) -> frozenset[str] | None:
        """Returns the ids of the forgettings that were carried out in this folder; None where none
        was ever noted.
        """
        ...

    def note_erased(self, ids: Iterable[str]) -> None:
        """Notes that these forgettings were carried out in this folder."""
        ...

    def exchange_workspace(self) -> str | None:
        """Exchanges the workspace with the other machines; returns the problem, if any."""
        ...


class Texts(Protocol):
    """One corpus of a text index: its rows, sorted by group and order, and the postings of its
    terms.
    """

    @property
    def ids(self) -> Sequence[str]:
        """Row → id."""

    @property
    def group_ids(self) -> Sequence[str]:
        """Number of a group → its id; a group is a session."""

    @property
    def parents(self) -> "np.ndarray":
        """Row → number of its parent, int32."""

    @property
    def groups(self) -> "np.ndarray":
        """Row → number of its group, int32, ascending."""

    @property
    def order(self) -> "np.ndarray":
        """Row → its position in the group, int64."""

    @property
    def lengths(self) -> "np.ndarray":
        """Row → number of its terms, int32."""

    @property
    def vectors(self) -> "np.ndarray":
        """float32, shape (rows, dimension); zeros if a row has none, dimension 0 if no row has
        one.
        """

    @property
    def signs(self) -> "np.ndarray":
        """The signs of the coordinates of the vectors, 64 packed into a number; uint64, shape
        (ceil(dimension / 64), rows).
        """

    def __len__(self) -> int:
        """Returns the number of rows."""

    def postings(self, term: str) -> "tuple[np.ndarray, np.ndarray]":
        """Returns the rows that contain the term (one of `terms.query_terms`), ascending, and how
        often each contains it (float32).
        """

    def known(self, terms: Sequence[str]) -> list[str]:
        """Returns the terms that occur in some row."""

    def rows_of(self, ids: Iterable[str]) -> "np.ndarray":
        """Returns the rows of the ids that the corpus contains."""

    def words_of(self, row: int) -> "np.ndarray":
        """Returns the codes of the row's words, int8, shape (words, 48)."""

    def score(self, terms: Iterable[str] | Mapping[str, float]) -> "np.ndarray":
        """Returns the BM25 score of every row, float32; terms may have weights."""


class TextReader(Protocol):
    """An index that is derived from the tables and finds texts by their words."""

    def generation(self) -> str | None:
        """Returns the name of the published generation; None if there is none."""

    def open(self, corpus: str) -> Texts | None:
        """Returns the published corpus (`memories` or `messages`), or None if it has no rows
        yet.
        """


@dataclass(frozen=True)
class PartInfo:
    """Metadata of one written partition (a day, a source, a category, or `all`) of a table."""

    rows: int
    fingerprint: str
    """Hash of the rows."""
    inputs: str
    """Input version of the rows, as given by the writer."""
    written_at: datetime
    bytes: int


TaskState = Literal["open", "completed", "deleted", "unknown"]


@dataclass(frozen=True)
class Task:
    """A task of a person's task list."""

    id: str
    project_id: str
    content: str = ""
    description: str = ""
    labels: tuple[str, ...] = ()
    state: TaskState = "open"
    """`unknown`: it is missing, and the list cannot say why."""


class TaskList(Protocol):
    """A person's task list, in which our tasks have a label. Every method raises `TaskListError` if
    the list does not answer.
    """

    def look(self, homes: Mapping[str, str], since: datetime) -> dict[str, Task]:
        """Returns the current state of each task by its id, whatever its labels.

        `homes` maps ids to the projects in which they were created; none of them was completed
        before `since`.
        """

    def labelled(self, since: datetime) -> list[Task]:
        """Returns the open tasks with our label, and those with it that were completed since the
        moment.
        """

    def add(self, content: str, description: str, due_on: date) -> Task:
        """Creates a task with our label, due on the day."""

    def reword(self, task_id: str, content: str) -> Task:
        """Changes the text of an open task and returns the task."""

    def complete(self, task_id: str) -> None:
        """Completes a task, if it exists."""

    def delete(self, task_id: str) -> None:
        """Deletes a task, if it exists."""


@dataclass(frozen=True)
class Removal:
    """The last commit that took something away."""

    commit: str
    day: date
    moved_to: str = ""
    """Its new path, if it was renamed."""


@dataclass(frozen=True)
class Patch:
    """What one commit took out of a file of text, and put in, with the lines around."""

    commit: str
    day: date
    path: str
    removed: str
    added: str


@dataclass(frozen=True)
class CommitText:
    """The text of a commit."""

    id: str
    day: date
    text: str


class History(Protocol):
    """What the history of somebody's repository says of names, at its HEAD.

    Days are UTC. What is not read in time is left out.
    """

    @property
    def root(self) -> Path:
        """The top of the working tree."""
        ...

    @property
    def is_incomplete(self) -> bool:
        """Whether the time for all questions has passed, or files of HEAD cannot be read."""
        ...

    def paths(self) -> frozenset[str]:
        """Returns the files of HEAD."""

    def texts(self) -> Sequence[tuple[str, str]]:
        """Returns path and content of each file of text in HEAD and in the working tree; twice
        where the two differ.
        """

    def words(self) -> Mapping[str, tuple[str, str]]:
        """Returns a file, as above, for each word of letters, digits and underscores in them."""

    def is_ignored(self, path: str) -> bool:
        """Returns whether the working tree's rules keep such a file out of the repository."""

    def removal_of(self, path: str) -> Removal | None:
        """Returns when the file, or the last file of the folder, was removed; None if it never was
        there. The path may lack its first folders.
        """

    def patches(self, globs: tuple[str, ...] = ()) -> Iterator[Patch]:
        """Yields the changes that removed lines of these files, of all by default, the newest
        first.
        """

    def commits(self) -> Sequence[CommitText]:
        """Returns the commits of HEAD, the newest first."""

    def pull_requests(self) -> frozenset[str]:
        """Returns the numbers of pull requests in the texts of these commits."""

    def has_commit(self, id: str) -> bool:
        """Returns whether there is such a commit; the id may be cut."""

    def branches(self) -> frozenset[str]:
        """Returns the branches of the repository and those that it knows of its remotes."""
