"""Which pages are relevant to a project: those written about its subjects should be, and hardly any other.

The store is that of all transcripts. `relevant_pages.tsv` describes pages that developers of these projects would read; the others
are what the installed packages say of themselves. Some of these are about a subject of a project, so their share is the most that
can be wrong.
"""

from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path

import polars as pl

from memory_assets.extras.library.discoveries import relevance_of_note
from memory_assets.extras.library.notes import note_of
from memory_assets.store.store import Store
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.whole_store import whole_store

PAGES = Path(__file__).with_name("relevant_pages.tsv")
AT = datetime(2026, 9, 1, tzinfo=UTC)
SMALL = 5
"""Pages and packages that the small row asks of."""


def relevance(small: bool = False) -> list[Row]:
    """Returns the share of pages that are relevant to their project, and that of packages that are relevant to any."""
    store, most = whole_store(small).store, SMALL if small else None
    pages = list(pl.read_csv(PAGES, separator="\t", quote_char=None).iter_rows(named=True))[:most]
    found = [_projects(store, page["title"], page["description"]) for page in pages]
    right = sum(page["project"] in projects for page, projects in zip(pages, found, strict=True))
    first = sum(
        page["project"] == next(iter(projects), "")
        for page, projects in zip(pages, found, strict=True)
    )
    packages = dict(
        sorted(
            (one.metadata["Name"], one.metadata["Summary"])
            for one in distributions()
            if one.metadata["Summary"]
        )
    )
    others = [_projects(store, title, summary) for title, summary in list(packages.items())[:most]]
    wrong = sum(map(bool, others))
    return [
        Row(
            "relevance: pages of a project's subjects",
            right / len(pages),
            f"{right} of {len(pages)}, {first} of them first",
        ),
        Row(
            "relevance: installed packages",
            wrong / len(others),
            f"{wrong} of {len(others)} to any project",
        ),
    ]


def _projects(store: Store, title: str, description: str) -> dict[str, float]:
    return relevance_of_note(store, note_of(title, description, "", "https://example.org", AT))
