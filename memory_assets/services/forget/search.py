"""Searches everything that a store consists of for words, and tells where they stand and what was looked at.

The same search is the preview of a forgetting and, afterwards, its proof.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from memory_assets.adapters.git_history import GitHistory
from memory_assets.schema.progress import track
from memory_assets.services.forget.carriers import GIT, carriers, texts_of
from memory_assets.services.forget.sought import Sought, Wording
from memory_assets.store.store import Store

RAW = ("table ", "indexes", "Dagster's home", "temporary")
"""Kinds whose files are not text: what stands in them tells that the words are there, not how they are worded."""


@dataclass(frozen=True)
class Place:
    """One kind of thing that carries the words."""

    kind: str
    files: int
    """Files, or objects of git."""
    count: int
    """How often the words stand there."""
    where: str
    """The first of the files, below the store."""


@dataclass(frozen=True)
class Search:
    """What a search found, and what it looked at."""

    places: tuple[Place, ...]
    looked_at: dict[str, int] = field(default_factory=dict)
    """Files, and objects of git, by kind."""
    commit_count: int = 0
    """Commits of the workspace that carry the words."""
    _wordings: tuple[Wording, ...] = ()

    @property
    def wordings(self) -> tuple[Wording, ...]:
        """How the words are written, in normal form."""
        return self._wordings

    @property
    def is_carried(self) -> bool:
        """Whether something carries the words, older commits apart."""
        return any(place.kind != GIT for place in self.places)


def search(store: Store, sought: Sought) -> Search:
    """Returns where the words stand in the store."""
    found: dict[str, list[tuple[str, int]]] = {}
    looked: Counter[str] = Counter()
    wordings: Counter[Wording] = Counter()
    for kind, where, texts in track([*_everything(store)], "Searching every file"):
        looked[kind] += 1
        told: Counter[Wording] = Counter()
        for text in texts():
            told |= sought.wordings_in(text)
        if told:
            found.setdefault(kind, []).append((where, told.total()))
            wordings += told if not kind.startswith(RAW) else Counter()
    history = GitHistory(store.workspace)
    carrying: dict[str, int] = {}
    for one in history.objects():
        looked[GIT] += 1
        if count := sought.count_in(one.content):
            carrying[one.id] = count
    found |= {GIT: list(carrying.items())} if carrying else {}
    places = tuple(Place(kind, len(told), sum(n for _, n in told), told[0][0]) for kind, told in sorted(found.items()))
    commits = history.commits_about(carrying) if carrying else 0
    return Search(places, dict(sorted(looked.items())), commits, tuple(sorted(wordings)))


def _everything(store: Store) -> Iterator[tuple[str, str, Callable[[], Iterator[bytes]]]]:
    for one in carriers(store):
        yield one.kind, one.place, lambda path=one.path: texts_of(path)
