"""Stores to back up and to export, and what has to be equal after the way there and back."""

from pathlib import Path

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.services.transfer.contents import permanent_files
from memory_assets.store.settings import Settings, read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.small_store import small_store


def filled_store() -> Store:
    """A store with something in every part that cannot be rebuilt."""
    store = small_store()
    assert store.key
    store.append_event("memory.noted", "all", {"text": "Use uv."})
    (store.answers / "a.json").write_text("{}")
    workspace = GitWorkspace(store.workspace)
    workspace.prepare()
    workspace.commit("Rules", ["MEMORY.md"])
    (store.root / "memory.toml").write_text('review_days = 9\nowner = "mira"\ntimezone = "UTC"\n')
    return open_store(read_settings())


def kept(store: Store) -> dict[str, bytes]:
    """Every file of the store that cannot be rebuilt."""
    return dict(permanent_files(store.root, is_sample=False))


def settings_at(folder: Path) -> Settings:
    """The settings of a store in the folder."""
    return read_settings(data=folder)


def everything_below(folder: Path) -> list[str]:
    """The files below the folder that are not its lock."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    )
