"""The slog: only appended to, by any number of processes; entries with links that run as they stand; what memory logs itself."""

import json
import shlex
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from memory_assets.errors import NoteError, QuestionError
from memory_assets.extras.library.checks import is_append_only
from memory_assets.extras.library.slog import Slog, SlogLine, log_events, parse_line, slog_of
from memory_assets.interfaces.cli import app as cli
from memory_assets.memory import MemoryAgent
from memory_assets.runs.materialise import materialise
from memory_assets.schema.extras import notify
from memory_assets.schema.tables import TABLES
from memory_assets.services.health.deep import deep_checks
from memory_assets.services.review.open_triage import workspace_of
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.small_store import small_store

TOKEN = "ghp_" + "k3JdY81xQm0ZtVb7WcRn52LsHf9AeU4gTpXo"


@pytest.fixture
def agent() -> MemoryAgent:
    """An agent of a store without transcripts."""
    open_store(read_settings())
    return MemoryAgent()


def build(store: Store) -> None:
    """Builds the table."""
    materialise(store, [TABLES["slog"]], ["all"])


def test_secrets_are_masked_and_lines_are_joined(agent: MemoryAgent):
    added = agent.slog("configure", tool="gh", detail=f"Set the token\nto {TOKEN}")
    assert TOKEN not in slog_of(agent.store).path.read_text()
    assert added.entries[0].detail.startswith("Set the token to ")
    assert added.warnings == ("1 secret was masked in the entry.",)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            {"action": "ponder", "tool": "a", "detail": "b"},
            "action must be one of install, configure",
        ),
        ({"action": "fix", "tool": "a"}, "detail is missing"),
        ({"tool": "a", "detail": "b"}, "action is missing"),
        ({"limit": 0}, "limit must be between 1 and 1000"),
    ],
)
def test_an_invalid_entry_says_what_is_wrong_and_is_not_written(
    agent: MemoryAgent, given: dict, problem: str
):
    with pytest.raises(QuestionError, match=problem):
        agent.slog(**given)
    assert not slog_of(agent.store).path.exists()


def test_a_long_entry_and_control_characters_are_refused(agent: MemoryAgent):
    with pytest.raises(NoteError, match="the limit is 2,000"):
        agent.slog("fix", tool="a", detail="x" * 2_001)
    with pytest.raises(NoteError, match="control character"):
        agent.slog("fix", tool="a", detail="\x1b[2J")


def test_every_link_of_an_answer_runs_as_it_stands(
    agent: MemoryAgent, capsys: pytest.CaptureFixture[str]
):
    answers = [
        agent.slog("fix", tool="it's a tool; ls", detail="b"),
        agent.slog(),
        agent.slog(search="absent"),
    ]
    for answer in answers:
        links = answer.to_dict()["_links"]
        assert links[0]["rel"] == "latest"
        for one in links:
            program, *words = shlex.split(one["command"])
            assert program == "memory"
            assert cli.main(words) == 0
            assert capsys.readouterr().out
            if "--help" not in words:
                assert cli.main([*words, "--json"]) == 0
                assert json.loads(capsys.readouterr().out)["data"]["_links"]


def test_promotions_are_logged_from_the_ledger_once(agent: MemoryAgent):
    about = {
        "path": "MEMORY.md",
        "section": "Hard Rules",
        "line": "- Use uv.",
        "commit": "c",
        "evidence": [],
    }
    agent.store.append_event("entry.promoted", "p-20260803-001", about)
    build(agent.store)
    build(agent.store)
    rows = agent.store.tables.read("slog").select("action", "tool", "detail").rows()
    assert rows == [("create", "memory", "Promoted p-20260803-001 into MEMORY.md")]
    assert log_events(agent.store) == []


def test_forgetting_and_what_ifs_are_logged_and_forgotten_words_are_masked_also_in_git(
    monkeypatch: pytest.MonkeyPatch,
):
    store = small_store()
    agent = MemoryAgent(store.settings)
    agent.slog("deploy", tool="worker", detail="Moved the heron archive to tape")
    build(store)
    found = agent.forget("heron archive", apply=True)
    assert found.is_gone
    assert b"heron" not in slog_of(store).path.read_bytes()
    assert b"heron" not in (workspace_of(store).at_head("slog.jsonl") or b"")
    assert agent.slog(search="erased phrase").count == 1
    notify("acted", store, "configure", "Dropped the branch mine", "a what-if")
    assert agent.slog(search="dropped branch").entries[0].action == "configure"
    assert slog_of(store).damaged() == []
    assert is_append_only(store, None).is_empty()


def test_a_committed_line_that_was_changed_is_found(agent: MemoryAgent):
    agent.slog("fix", tool="a", detail="First")
    build(agent.store)
    assert is_append_only(agent.store, None).is_empty()
    path = slog_of(agent.store).path
    path.write_bytes(path.read_bytes().replace(b"First", b"Other"))
    assert is_append_only(agent.store, None)["problem"].to_list() == [
        "slog.jsonl: committed lines were changed or removed"
    ]
    outcome = next(one for one in deep_checks(agent.store, date(2026, 9, 1)) if one.name == "slog")
    assert not outcome.passed


ENTRY = SlogLine("2026-03-02T10:14:00.000Z", "deploy", "worker", "Published worker:1", "fix")
WRITER = """
import sys
from pathlib import Path
from memory_assets.extras.library.slog import SlogLine, Slog

slog = Slog(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    slog.append([SlogLine("2026-03-02T10:14:00.000Z", "deploy", sys.argv[2], f"{number} " + "long words " * (number % 90))])
"""


@pytest.mark.slow
def test_two_processes_that_write_at_once_lose_and_tear_nothing(tmp_path: Path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name, "1000"])
        for name in ("caddy", "redis")
    ]
    assert [one.wait() for one in writers] == [0, 0]
    lines = (tmp_path / "workspace" / "slog.jsonl").read_bytes().splitlines()
    found = [json.loads(line) for line in lines]
    assert len(lines) == 2000
    for name in ("caddy", "redis"):
        assert [int(one["detail"].split()[0]) for one in found if one["tool"] == name] == [
            *range(1000)
        ]


def test_a_line_that_a_killed_process_left_is_no_entry_and_no_damage(tmp_path: Path):
    slog = Slog(tmp_path)
    slog.append([ENTRY])
    slog.path.write_bytes(slog.path.read_bytes() + b'{"timestamp": "2026-03-02T')
    assert slog.entries() == [ENTRY]
    slog.append([ENTRY])
    assert slog.entries() == [ENTRY, ENTRY]
    assert slog.damaged() == []


@pytest.mark.parametrize(
    "line",
    [
        b"[]", b"{}", b"not JSON", b'{"timestamp": 1, "action": "fix", "tool": "a", "detail": "b", "reason": ""}',
        b'{"timestamp": "today", "action": "fix", "tool": "a", "detail": "b", "reason": ""}',
        b'{"timestamp": "2026-03-02T10:14:00Z", "action": "ponder", "tool": "a", "detail": "b", "reason": ""}',
        b'{"timestamp": "2026-03-02T10:14:00Z", "action": "fix", "tool": "a", "detail": "b", "reason": "", "more": ""}',
    ],
)  # fmt: skip
def test_what_is_no_entry_is_named_with_its_line(tmp_path: Path, line: bytes):
    assert parse_line(line) is None
    slog = Slog(tmp_path)
    slog.append([ENTRY])
    slog.path.write_bytes(line + b"\n" + slog.path.read_bytes())
    assert slog.damaged() == ["slog.jsonl, line 1"]
    assert slog.entries() == [ENTRY]
