"""Parts of documents on a terminal."""

import pytest

from memory_assets.interfaces.views.library import render_found
from memory_assets.services.documents import DocumentHit, FoundInDocuments


@pytest.mark.parametrize(
    "content",
    [
        "## Neap tides\n\nA neap tide is a weak one.",
        "Neap tides\n\nA neap tide is a weak one.",
        "A neap tide\nis a weak one.",
    ],
)
def test_a_part_is_shown_without_the_heading_that_its_place_names(content: str):
    assert _shown(content, "Neap tides") == [
        "Tides  Neap tides, chunk 2",
        "   A neap tide is a weak one.",
        "   doc_1 /tides.md",
    ]


@pytest.mark.parametrize("content", ["Neap tides are weak.", "#include <tides.h>", "Neap tidesman"])
def test_a_part_that_only_begins_like_its_heading_is_shown_whole(content: str):
    assert _shown(content, "Neap tides")[1] == f"   {content}"


def test_a_part_that_is_its_heading_alone_shows_it():
    assert _shown("# Neap tides", "Neap tides")[1] == "   # Neap tides"


def _shown(content: str, chapter: str) -> list[str]:
    hit = DocumentHit(
        id="chk_1", doc_id="doc_1", title="Tides", chunk_index=2, content=content, source_path="/tides.md", tags=(), page=None,
        chapter=chapter, score=0.5,
    )  # fmt: skip
    return [str(part) for part in render_found(FoundInDocuments("neap", (hit,), 1))]
