"""Functions that the core calls in every store; without a setting for scaling they do nothing, and
nothing heavy is imported.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory_assets.extras.scaling.settings import scaling
from memory_assets.schema.announcements import announce
from memory_assets.store.places import SAMPLE

if TYPE_CHECKING:
    from memory_assets.extras.scaling.chroma_server import ChromaServerIndex
    from memory_assets.extras.scaling.shared_store import SharedStore
    from memory_assets.runs.days import Stretch
    from memory_assets.runs.launch import Runner
    from memory_assets.store.store import Store


def shared_copy_of(store: "Store") -> "SharedStore | None":
    """Returns the copy in a bucket, where a setting names one; the sample has none."""
    if not scaling(store.settings).store or store.root.name == SAMPLE:
        return None
    from memory_assets.extras.scaling.shared_store import SharedStore

    return SharedStore(store)


def vectors_of(store: "Store") -> "ChromaServerIndex | None":
    """Returns the index on a Chroma server, where a setting names one; None for a what-if branch,
    whose index is in files.
    """
    address = scaling(store.settings).chroma
    if not address or store.origin is not None:
        return None
    from memory_assets.extras.scaling.chroma_server import server_index

    return server_index(store, address)


def before_update(store: "Store") -> "Store":
    """Fetches what other machines changed."""
    shared = _shared(store)
    if shared is not None:
        shared.fetch()
    return store


def after_update(store: "Store") -> None:
    """Sends what changed here, and deletes collections on Chroma servers that are not used now."""
    shared = _shared(store)
    if shared is not None:
        shared.send()
    if (store.root / "index" / "server").is_dir():
        from memory_assets.extras.scaling.chroma_server import delete_unused

        for warning in delete_unused(store.root / "index", scaling(store.settings).chroma):
            announce(warning, about=f"Chroma {store.root}")


def _shared(store: "Store") -> "SharedStore | None":
    if store.shared is None:
        return None
    from memory_assets.extras.scaling.shared_store import SharedStore

    assert isinstance(store.shared, SharedStore)
    return store.shared


def before_days(runner: "Runner", job: str, runs: "Sequence[Stretch]") -> None:
    """Builds the days of these runs in several processes, where the setting `workers` asks for
    more than one.
    """
    if scaling(runner.store.settings).workers > 1 and runner.store.origin is None:
        from memory_assets.extras.scaling.day_shares import build_days

        build_days(runner, job, runs)
