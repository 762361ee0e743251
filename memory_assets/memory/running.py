"""Commands that bring a store up to date, and that serve the UI meanwhile.

Importing this module loads the pipeline, so commands import it only when they start work.
"""

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING

from memory_assets.memory.agent import MemoryAgent
from memory_assets.runs import build
from memory_assets.runs.build import Built, RebuiltPart, fill, import_folder, rebuild, restore
from memory_assets.services.settings.which_store import StoreChoice

if TYPE_CHECKING:
    from memory_assets.runs.serving import Serving


def choose(*, since: str | None = None) -> StoreChoice:
    """Returns the store to fill; on a machine without transcripts, that of the bundled sample."""
    return build.choose(since=since, may_show_sample=True)


def serve(choice: StoreChoice, port: int, tell: Callable[[str], None], page_port: int) -> "Serving":
    """Starts to serve the UI of the store, and later its page; `tell` shows a person addresses and
    problems.
    """
    from memory_assets.runs.serving import Serving
    from memory_assets.store.store import open_store

    return Serving(open_store(choice.settings), port, tell, page_port).start()


def ingest(*, since: str | None = None) -> Built:
    """Reads new transcripts and updates the tables."""
    return build.build(since=since)


def backfill(first: date | None, last: date | None) -> Built:
    """Asks the configured model about the days again, and updates the tables."""
    return build.backfill(MemoryAgent().store, first, last)


def flush() -> Built:
    """Ends every open session now, and processes it."""
    return build.flush(MemoryAgent().store)
