"""What harnesses remember by themselves: read from their Markdown, one fact a paragraph or list item; it makes nobody's rule."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from memory_assets.schema.vocabulary import Harness
from memory_assets.stages.embed.harness_memories import (
    CONFIDENCE,
    MemoryFile,
    parse_items,
    rows_of,
)

NOW = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)
FILE = """---
name: staging database
type: project
---

# Staging

The staging database listens on port 5433,
behind the tunnel.

## Deploy
- `make deploy HOST=leith-1` is the only way.
- [x] Ask **Rowan** before you touch the [tide tables](tides.md).
1. Never on Fridays.

<!-- a comment
of two lines -->
| table | row |
```
code is no fact, however long it is
```
short
"""


def of(
    text: str, *, harness: Harness = "claude_code", mtime: datetime = NOW, project: str = "shop"
) -> list[dict]:
    sessions = "/home/mira/.claude/projects/-home-mira-shop" if project else ""
    file = MemoryFile(
        harness,
        Path("/home/mira/MEMORY.md"),
        sessions,
        len(text),
        int(mtime.timestamp() * 1e9),
    )
    return rows_of(
        file, text, project=project, person="mira", now=NOW, zone=ZoneInfo("Europe/Berlin")
    )


def test_paragraphs_and_items_are_facts_with_the_lines_they_stand_on():
    assert parse_items(FILE) == [
        ("The staging database listens on port 5433, behind the tunnel.", [7, 8]),
        ("`make deploy HOST=leith-1` is the only way.", [11]),
        ("Ask Rowan before you touch the tide tables.", [12]),
        ("Deploy: Never on Fridays.", [13]),
    ]


@given(st.text(max_size=300))
def test_no_text_breaks_the_reading(text: str):
    lines = text.splitlines()
    for _, taken in parse_items(text):
        assert taken
        assert max(taken) < len(lines)


def test_what_a_model_wrote_down_is_a_files_word_and_makes_no_rule():
    (row,) = of("Always use tabs in Makefiles of this repository.\n")
    assert (row["author"], row["strength"], row["confidence"], row["gate"]) == (
        "file",
        "inferred",
        CONFIDENCE,
        "allow",
    )
    assert row["category"] != "preferences"
    assert (row["project"], row["path"], row["lines"], row["observer"]) == (
        "shop",
        "/home/mira/MEMORY.md",
        [0],
        "claude_code",
    )


def test_a_fact_keeps_its_id_when_it_moves_and_gets_another_when_it_is_reworded():
    first = of("The staging database listens on port 5433.\n")
    moved = of(
        "# Notes\n\nSomething else stands above it now.\n\nThe staging database listens on port 5433.\n"
    )
    assert first[0]["id"] == moved[1]["id"]
    assert of("The staging database listens on port 5434.\n")[0]["id"] != first[0]["id"]


def test_secrets_are_masked():
    key = "sk-ant-api03-" + "Zx9" * 31 + "AA"
    (row,) = of(f"The key of staging is {key} for now.\n")
    assert key not in row["text"]
