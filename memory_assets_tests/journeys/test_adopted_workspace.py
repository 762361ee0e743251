"""A workspace that a person wrote for an earlier tool is adopted: its lines reach the briefing, and its bytes stay."""

import subprocess
from pathlib import Path

import pytest

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.memory import MemoryAgent
from memory_assets_tests.stages.capture.sessions import assistant, dialogue, lines, transcript, user
from memory_assets_tests.story import open_at, run

MEMORY_MD = b"""# Memory of Mira

Some words of mine, with trailing blanks.  \n\
\r\n\
## Hard Rules
* Deploy only from the tag, never from a branch.
- (2025-12-01) Ask before you drop a table.

## My own heading

| host | port |
|---|---|
| leith-1 | 5433 |

No newline at the end"""

LESSONS_MD = b"# What I learnt\n\n- A green pipeline is no release.\n"
DAILY = b"# 2025-12-01\n\nMoved the tide tables to leith-1.\n"
REVIEW_MD = b"# For me\n\nCall the harbour office.\n"
RULE = "Always run `make tides` before you commit."


@pytest.mark.slow
def test_lines_of_a_person_are_in_the_briefing_and_their_bytes_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data, sources = tmp_path / "store", tmp_path / "transcripts"
    workspace = data / "workspace"
    written = {
        "MEMORY.md": MEMORY_MD,
        "memory/2025-12-01.md": DAILY,
        "lessons.md": LESSONS_MD,
        "REVIEW.md": REVIEW_MD,
    }
    for name, content in written.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        (workspace / name).write_bytes(content)
    for path in (data, *data.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    for number in (1, 2):
        session, day = f"0b00000{number}-1111-4222-8333-444455556666", number * 60 * 24
        said = [
            user(session, 0, RULE, day),
            assistant(session, 1, "I will run it before each commit.", day + 1),
        ]
        transcript(sources, session).write_bytes(
            lines(*said, *dialogue(session, 5, first=2, minutes=day + 2))
        )
    run("ingest", data, sources)
    store = open_at(data, sources)

    assert (workspace / "MEMORY.md").read_bytes() == MEMORY_MD
    assert (workspace / "memory" / "2025-12-01.md").read_bytes() == DAILY
    assert REVIEW_MD.strip() in (workspace / "REVIEW.md").read_bytes()
    assert GitWorkspace(workspace).at_head("MEMORY.md") == MEMORY_MD
    first = GitWorkspace(workspace).history("lessons.md")[-1]
    shown = subprocess.run(
        ["git", "-C", workspace, "show", f"{first.id}:lessons.md"], capture_output=True, check=True
    )
    assert shown.stdout == LESSONS_MD, "what a person wrote is committed before we write the file"

    agent = MemoryAgent(store.settings)
    briefing = agent.brief().text
    for line in (
        "Deploy only from the tag, never from a branch.",
        "Ask before you drop a table.",
        "leith-1",
    ):
        assert line in briefing
    assert "make tides" in (workspace / "briefings" / "shop.md").read_text()
    before = (workspace / "MEMORY.md").read_bytes()
    run("ingest", data, sources)
    assert (workspace / "MEMORY.md").read_bytes() == before
