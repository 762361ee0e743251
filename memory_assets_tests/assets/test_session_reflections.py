"""A session that goes on is told what it established: from transcripts to the file that its harness hands out."""

from datetime import timedelta
from pathlib import Path

import pytest

from memory_assets.interfaces import entry as fast
from memory_assets.memory import MemoryAgent
from memory_assets.runs import launch
from memory_assets.runs.steps.brief import keep_sessions
from memory_assets.stages.brief.briefing import THIS_SESSION
from memory_assets.stages.reflect.reflector import MOST_TOKENS, session_target
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.short_ids import short_id
from memory_assets.text.words import CHARS_A_TOKEN
from memory_assets_tests.dagster_runs import run_check
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import FACT, MEMORY, small_store, write
from memory_assets_tests.stages.capture.sessions import (
    START,
    assistant,
    compaction,
    lines,
    transcript,
    user,
)

LONG, OTHER = "0a000001-1111-4222-8333-444455556666", "0a000002-1111-4222-8333-444455556666"
COMPACTIONS = 10
HARBORS = ("Bremen", "Emden", "Kiel", "Lagos", "Malmo", "Nantes", "Oran", "Porto", "Riga", "Turku")
RULE = "No, for {} always use `dock-{}`, never the crane script."


def stretch(session: str, number: int, harbor: str) -> list[dict]:
    """Five turns of the human, one of them a rule, with answers of some length; then a compaction."""
    first, minutes = 100 * number, 30.0 * number
    turns = [
        RULE.format(harbor, harbor.lower()),
        *(f"Look at quay {n} of {harbor}, please." for n in range(4)),
    ]
    found: list[dict] = []
    for n, turn in enumerate(turns):
        found.append(user(session, first + 2 * n, turn, minutes + n))
        answer = (
            f"Quay {n} of {harbor} is as it was. "
            + f"The tide gauge of {harbor} was read at berth {n}. " * 8
        )
        found.append(assistant(session, first + 2 * n + 1, answer, minutes + n + 0.5))
    return [*found, compaction(session, first + 50, minutes + 6)]


def briefed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert fast.main(["brief", *words]) == 0
    return capsys.readouterr().out


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "transcripts"
    monkeypatch.setenv("MEMORY_SOURCES", str(folder))
    monkeypatch.setenv("MEMORY_CONTEXT_TOKENS", "8000")
    monkeypatch.setenv("MEMORY_OWNER", "mira")
    monkeypatch.setenv("MEMORY_NOW", (START + timedelta(days=1)).isoformat())
    return folder


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_session_compacted_ten_times_resumes_with_a_block_until_forgotten(
    sources: Path, capsys: pytest.CaptureFixture[str]
):
    records = [record for n in range(COMPACTIONS) for record in stretch(LONG, n, HARBORS[n])]
    transcript(sources, LONG).write_bytes(lines(*records))
    transcript(sources, OTHER).write_bytes(lines(*stretch(OTHER, 0, "Vigo")))
    store = open_store(read_settings())
    launch.ingest(store, reflect=False)
    plain, other, own = (
        briefed(capsys, *words) for words in ([], ["--session", OTHER], ["--session", LONG])
    )

    windows = store.tables.read("windows").filter(session_id=LONG)
    assert windows.filter(trigger="compaction").height == COMPACTIONS
    assert other == plain
    assert own.startswith(plain)
    block = own.removeprefix(plain)
    assert block.count(THIS_SESSION) == own.count(THIS_SESSION) == 1
    assert len(block) <= (MOST_TOKENS + 40) * CHARS_A_TOKEN
    assert [harbor in block for harbor in (*HARBORS, "Vigo")] == [True] * COMPACTIONS + [False]
    (reflection,) = store.tables.read("session_reflections").to_dicts()
    assert all(short_id(id) in block for id in reflection["observation_ids"])
    full = briefed(capsys, "--full", "--session", LONG)
    assert all(short_id(id) in full for id in reflection["observation_ids"])
    assert THIS_SESSION in full
    assert "## Active projects" in full

    agent = MemoryAgent()
    assert agent.brief(LONG).text.endswith(block)
    assert agent.forget("for Bremen always use `dock-bremen`", apply=True).is_gone
    assert "dock-bremen" not in briefed(capsys, "--session", LONG)
    assert "dock-bremen" not in briefed(capsys, "--full", "--session", LONG)
    launch.ingest(store, reflect=False)
    after = briefed(capsys, "--session", LONG)
    assert "dock-bremen" not in after
    assert "dock-emden" in after.partition(THIS_SESSION)[2]


def told(store: Store, **changes) -> None:
    text = f"- 🔴 {FACT} [mem_0f3a5c1e0000]"
    known = {
        "session_id": "session-1",
        "text": text,
        "full_text": text,
        "observation_ids": [MEMORY],
        "tokens": 20,
    }
    write(
        store,
        "session_reflections",
        "all",
        row("session_reflections", fact_count=3, told_count=1, **{**known, **changes}),
    )


def failed(store: Store) -> list[str]:
    names = ("schema_and_unique_keys", "no_secrets", "of_its_own_session", "short_enough")
    return [name for name in names if not run_check(store, "session_reflections", name).passed]


def test_a_block_that_is_long_or_cites_another_session_is_red():
    store = small_store()
    told(store)
    assert failed(store) == []
    told(store, session_id="session-2")
    assert failed(store) == ["of_its_own_session"]
    told(store, tokens=MOST_TOKENS + 1)
    assert failed(store) == ["short_enough"]
    told(store, full_tokens=session_target(store.settings.context_tokens))
    assert failed(store) == []
    told(store, full_tokens=session_target(store.settings.context_tokens) + 1)
    assert failed(store) == ["short_enough"]


def test_a_file_is_written_where_it_says_something_else_and_goes_with_its_row():
    store = small_store()
    told(store)
    keep_sessions(store)
    folder = store.workspace / "briefings"
    (file,), (full,) = (
        list(one.iterdir())
        for one in (folder / "sessions", folder / "full" / "briefings" / "sessions")
    )
    written = file.stat().st_mtime_ns
    keep_sessions(store)
    assert file.stat().st_mtime_ns == written
    write(store, "session_reflections", "all")
    assert keep_sessions(store) == 0
    assert not file.exists()
    assert not full.exists()
