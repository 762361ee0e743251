"""A short session teaches: its correction is recalled, and stays one memory when the session resumes and becomes long.

With a model, short sessions share a call, and a later one is asked about without those before it.
"""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.services.models.model_questions import SHORT_SESSIONS
from memory_assets_tests.messages_api import KEY, MessagesApi, serve
from memory_assets_tests.once import only_whole
from memory_assets_tests.stages.capture.sessions import assistant, dialogue, lines, transcript, user
from memory_assets_tests.story import open_at, run

SESSION = "0a000001-1111-4222-8333-444455556666"
TAUGHT = [
    user(SESSION, 0, "install the dependencies please", 0),
    assistant(
        SESSION, 1, "I ran `pip install -r requirements.txt`, which installed 14 packages.", 1
    ),
    user(SESSION, 2, "no, use uv here, never pip", 2),
    assistant(SESSION, 3, "Switched to uv: `uv sync` now installs everything from `uv.lock`.", 3),
]


@pytest.mark.slow
def test_a_correction_in_a_short_session_is_recalled_and_stays_one_memory_when_it_resumes(
    tmp_path: Path,
):
    data, sources = tmp_path / "store", tmp_path / "transcripts"
    path = transcript(sources, SESSION)
    path.write_bytes(lines(*TAUGHT))
    run("ingest", data, sources)
    store = open_at(data, sources)
    assert store.tables.read("windows")["status"].to_list() == ["short"]
    agent = MemoryAgent(store.settings)
    (first, *_) = agent.recall("uv or pip to install the dependencies?").results
    assert "uv here, never pip" in first.text
    assert [check.name for check in agent.health().checks if not check.passed] == []
    path.write_bytes(lines(*TAUGHT, *dialogue(SESSION, 4, first=4, minutes=60 * 24)))
    run("ingest", data, sources)
    assert store.tables.read("windows")["status"].to_list() == ["observed"]
    uv = store.tables.read("memories").filter(
        pl.col("text").str.contains("uv here, never pip"), kind="fact"
    )
    assert uv["id"].to_list() == [first.memory_id]
    assert uv["state"].to_list() == ["active"]


def short(sources: Path, number: int, *said: str) -> None:
    """Writes a short session with these turns of its owner."""
    session = f"0a000001-1111-4222-8333-00000000000{number}"
    turns = [user(session, n, text, 60 * number + n) for n, text in enumerate(said)]
    transcript(sources, session).write_bytes(
        lines(*turns, assistant(session, len(said), "Done.", 60 * number + len(said)))
    )


def material_of(body: dict[str, Any]) -> str:
    return body["messages"][0]["content"][-1]["text"]


def about_sessions(api: MessagesApi) -> list[str]:
    """What was asked about short sessions."""
    return [
        material for body in api.questions() if "quoted session" in (material := material_of(body))
    ]


def lesson_writer(body: dict[str, Any]) -> str:
    """Writes down what an owner said never to do, of each session of the request."""
    parts = re.findall(
        r"(?s)=== quoted session (\d+) (\w+) begins ===\n(.*?)\n=== quoted session \1 \2",
        material_of(body),
    )
    found = []
    for number, _, text in parts:
        rules = re.findall(r"^\[(\d\d:\d\d)\] OWNER: (.*never.*)$", text, re.MULTILINE)
        facts = [
            f"* 🔴 ({at}) [gate=allow confidence=0.9 category=rules-conventions] {rule}"
            for at, rule in rules
        ]
        found.append("\n".join([f'<session number="{number}">', *facts, "</session>"]))
    return "\n".join(found) or "<observations></observations>"


@pytest.mark.slow
@only_whole("the tests of the observer hold its parts")
def test_with_a_model_short_sessions_share_a_call_and_only_a_later_one_is_asked_about(
    tmp_path: Path,
):
    data, sources = tmp_path / "store", tmp_path / "transcripts"
    short(sources, 1, "please review the till", "never round prices in the till, keep whole cents")
    short(sources, 2, "what does cron.py do?")
    short(sources, 3, "never deploy on Fridays")
    with serve(lesson_writer) as api:
        price = json.dumps({"claude-haiku-4-5": {"input": 1, "output": 5}})
        how = {
            "MEMORY_MODEL": "claude-haiku-4-5",
            "MEMORY_MODEL_URL": api.url,
            "MEMORY_MODEL_PRICES": price,
        }
        how |= {"ANTHROPIC_API_KEY": KEY}
        run("ingest", data, sources, **how)
        (first,) = about_sessions(api)
        assert all(text in first for text in ("whole cents", "cron.py", "Fridays"))
        steps = {
            step["step"]: step["calls"]
            for step in run("model cost", data, sources, **how)["others"]
        }
        assert steps[SHORT_SESSIONS] == 0
        short(sources, 4, "never push without `make lint`")
        run("ingest", data, sources, **how)
        (_, second) = about_sessions(api)
        assert "make lint" in second
        assert not any(text in second for text in ("whole cents", "cron.py", "Fridays"))
        run("data rebuild", data, sources, **how)
        run("data backfill", data, sources, **how)
        assert len(about_sessions(api)) == 2
    store = open_at(data, sources)
    assert set(store.tables.read("windows")["status"]) == {"short"}
    rows = store.tables.read("observer_answers").sort("asked_at", "window_id")
    assert (rows.height, set(rows["state"]), rows["fact_count"].sum()) == (4, {"answered"}, 3)
    assert rows["cost_usd"].min() > 0
    agent = MemoryAgent(store.settings)
    (found, *_) = agent.recall("may I deploy on Fridays?").results
    assert found.text == "never deploy on Fridays"
    assert '"is_unchanged": true, "holds_quote": true' in json.dumps(
        agent.explain(found.memory_id), default=vars
    )
    assert agent.explain("what does cron.py do?").stage == "short session"
    assert [check.name for check in agent.health().checks if not check.passed] == []
    agent.forget("never deploy on Fridays", apply=True)
    assert not any("Fridays" in path.read_text() for path in (data / "answers").glob("*.json"))
    with serve(lesson_writer) as api:
        run("ingest", data, sources, **how | {"MEMORY_MODEL_URL": api.url})
        assert about_sessions(api) == []
