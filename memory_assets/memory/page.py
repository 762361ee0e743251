"""What the local page shows beside the answers of the verbs, and the links that open it."""

from pathlib import Path

from memory_assets.memory.agent import MemoryAgent
from memory_assets.memory.opening import despite_damage
from memory_assets.services.page import entry_files as files
from memory_assets.services.page import overview as memories
from memory_assets.services.page import session_messages as sessions
from memory_assets.services.page.overview import GROUPS
from memory_assets.store import page_links


@despite_damage
def overview(agent: MemoryAgent, project: str) -> memories.Overview:
    """Returns what is known of the project, or of all projects."""
    return memories.overview_of(agent.store, project, agent.settings.clock())


@despite_damage
def project_names(agent: MemoryAgent) -> list[str]:
    """Returns the projects that something is known of."""
    return memories.project_names(agent.store)


@despite_damage
def list_memories(agent: MemoryAgent, **filters: str | int) -> memories.MemoryPage:
    """Returns a page of the memories with that project, category and state."""
    return memories.list_memories(agent.store, **filters)  # pyright: ignore[reportArgumentType]


@despite_damage
def session_part(agent: MemoryAgent, session_id: str, line: int) -> sessions.SessionPart:
    """Returns the messages of the session around a record."""
    return sessions.session_part(agent.store, session_id, line)


@despite_damage
def entry_files(agent: MemoryAgent) -> list[files.EntryFile]:
    """Returns MEMORY.md and the projects' files."""
    today = agent.settings.clock().astimezone(agent.settings.zone).date()
    return files.entry_files(agent.store, today)


def begin(root: str | Path, address: str) -> None:
    """Notes where a server serves the page from now on; older links open nothing any more."""
    page_links.begin(Path(root), address)


def end(root: str | Path) -> None:
    """Notes that the page is served no more."""
    page_links.end(Path(root))


def new_link(root: str | Path) -> str:
    """Returns a link that opens the served page once; empty where none is served."""
    return page_links.new_link(Path(root))


def is_served(root: str | Path) -> bool:
    """Returns whether the page is served now."""
    return page_links.is_served(Path(root))


def use_link(root: str | Path, key: str) -> bool:
    """Uses a link up; returns False if it was used already, is too old or unknown."""
    return page_links.use(Path(root), key)
