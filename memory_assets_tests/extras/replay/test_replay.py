"""Replay: the turns of a session of each harness, everything about one of them, what is refused, and what is forgotten."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from memory_assets.errors import UnknownIdError
from memory_assets.extras.replay.replay import Replay, replay_command
from memory_assets.extras.replay.views import render_turn
from memory_assets.memory import MemoryAgent
from memory_assets.stages.brief.briefing import render_briefing
from memory_assets.store.ledger import RECALLED
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.conftest import NOW
from memory_assets_tests.factories import row
from memory_assets_tests.once import built_once
from memory_assets_tests.small_store import write
from memory_assets_tests.stages.capture.pipeline import capture, check_points
from memory_assets_tests.stages.capture.sessions import (
    assistant,
    at,
    dialogue,
    lines,
    transcript,
    user,
)
from memory_assets_tests.story import lay_out_sample


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The captured sample with its turns; for reading only."""

    def opened(folder: Path) -> Store:
        return open_store(
            read_settings(
                data=folder / "store", timezone="UTC", owner="mira", now=NOW, since_days=400
            )
        )

    def build(folder: Path) -> None:
        capture(opened(folder), lay_out_sample(folder / "transcripts"))
        check_points(opened(folder))

    return opened(built_once(tmp_path_factory, "captured-sample-turns", build))


@pytest.fixture
def store() -> Store:
    return open_store(read_settings(timezone="UTC"))


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return tmp_path / "sources"


def captured(store: Store, sources: Path, *records: dict, session: str = "a") -> Replay:
    transcript(sources, session).write_bytes(lines(*records))
    capture(store, sources)
    check_points(store)
    return Replay(store, session)


@pytest.mark.parametrize("harness", ["claude_code", "codex", "pi"])
def test_the_turns_of_each_harness_have_all_messages_of_its_sessions_in_order(
    sample: Store, harness: str
):
    windows = sample.tables.read("windows").filter(harness=harness)
    assert windows.height
    for session in windows["session_id"].unique():
        replay = Replay(sample, session)
        found, listed = list(replay.turns(replay.checkpoints["turn"].to_list())), replay.session()
        messages = [message for turn in found for message in turn.messages]
        own = windows.filter(session_id=session).sort("started_at")["message_ids"].explode()
        assert [one.message_id for one in messages] == own.to_list()
        assert [(one.turn, one.message_count) for one in listed.turns] == [
            (one.turn, len(one.messages)) for one in found
        ]
        assert not listed.is_open and listed.warnings == ()
        for turn in found:
            assert (turn.messages[0].author == "owner") == (turn.turn > 0)
            assert turn.folder.startswith("/home/mira/code/") and turn.version
            assert turn.model or not any(one.author == "assistant" for one in turn.messages)


def test_a_turn_shows_words_calls_results_files_and_the_state(sample: Store):
    first = {
        harness: rows["session_id"][0]
        for (harness,), rows in sample.tables.read("sessions").group_by("harness")
    }
    for harness, session in first.items():
        replay = Replay(sample, session)
        turn = next(
            one
            for one in replay.turns(replay.checkpoints["turn"].to_list())
            if one.files_modified or one.files_read
        )
        kinds = [one.kind for one in turn.messages]
        assert {"text", "tool_call", "tool_result"} <= set(kinds), harness
        assert turn.harness == harness and turn.started_at <= turn.ended_at


def test_sessions_are_named_by_their_beginning_and_the_last_turn_by_a_word(sample: Store):
    for session in sample.tables.read("sessions")["session_id"].unique():
        replay = Replay(sample, session)
        command = replay_command(session, replay.ids, 1)
        assert Replay(sample, command.split()[3]).id == session
        last = replay.checkpoints["turn"][-1]
        assert replay.turn("last").turn == replay.turn(str(last)).turn == last


def test_a_session_or_turn_that_does_not_exist_is_refused_with_those_that_do(
    store: Store, sources: Path
):
    with pytest.raises(UnknownIdError, match="no session yet. Run `memory up`"):
        Replay(store, "a")
    replay = captured(store, sources, *dialogue("ab", 3), session="ab")
    captured(store, sources, *dialogue("ac", 1), session="ac")
    with pytest.raises(
        UnknownIdError, match="No session is known as 'x'. The latest are a[bc], a[bc]"
    ):
        Replay(store, "x")
    with pytest.raises(UnknownIdError, match="2 sessions begin with 'a': .*Give more of the id"):
        Replay(store, "a")
    for turn in ("0", "4", "-1", "two", "9" * 30):
        with pytest.raises(
            UnknownIdError,
            match="has no turn .*; it has turns 1 to 3.*`memory data replay ab` lists them",
        ):
            replay.turn(turn)


def test_memory_that_the_harness_put_into_the_context_is_shown_with_the_turn_that_it_came_in(
    store: Store, sources: Path
):
    briefing = "<memory-briefing>\n- Use uv.\n</memory-briefing>"
    first = {
        "type": "attachment",
        "uuid": "x",
        "sessionId": "a",
        "timestamp": at(0),
        "cwd": "/home/mira/shop",
    }
    start = first | {"attachment": {"type": "hook_additional_context", "content": [briefing]}}
    hint = "From long-term memory, near this prompt:\n~ Use tabs. (0.90, 3d, preferences)"
    prompt = first | {
        "uuid": "y",
        "attachment": {"type": "hook_additional_context", "content": [hint]},
        "timestamp": at(5),
    }
    result = {"type": "tool_result", "tool_use_id": "c", "content": briefing}
    quoted = user("a", 9, "", 6) | {"message": {"role": "user", "content": [result]}}
    records = [
        start,
        *dialogue("a", 1),
        prompt,
        user("a", 5, "Go on.", 5.5),
        quoted,
        user("a", 7, "And on.", 7),
    ]
    one, two, three = captured(store, sources, *records).turns([1, 2, 3])
    assert [(memory.text, memory.is_before) for memory in one.injected] == [(briefing, False)]
    line = "~ Use tabs. (0.90, 3d, preferences)"
    assert [(memory.text, memory.is_before) for memory in two.injected] == [
        (briefing, True),
        (line, False),
    ]
    assert [memory.is_before for memory in three.injected] == [True, True]


def test_a_briefing_is_shown_whole_as_a_hook_prints_it(store: Store, sources: Path):
    memories = store.tables.read("memories")
    briefing = render_briefing(
        "## Hard Rules\n\n- Use uv.\n", memories, pending=2, owner="mira", as_of=None
    )
    for number, said in enumerate(
        (briefing, f"<system-reminder>\nSessionStart hook: {briefing}\n</system-reminder>")
    ):
        start = {
            "type": "attachment",
            "uuid": "x",
            "sessionId": f"a{number}",
            "timestamp": at(0),
            "cwd": "/home/mira/shop",
        }
        start |= {"attachment": {"type": "hook_additional_context", "content": [said]}}
        quoted = user(f"a{number}", 9, "", 6) | {
            "type": "assistant",
            "message": {"role": "assistant", "content": briefing},
        }
        one, _ = captured(
            store, sources, start, *dialogue(f"a{number}", 2), quoted, session=f"a{number}"
        ).turns([1, 2])
        assert [(memory.text, memory.is_before, memory.line) for memory in one.injected] == [
            (briefing.strip(), False, 0)
        ]
        shown = "\n".join(str(part) for part in render_turn(one, UTC))
        assert (
            "put into the context in this turn, record 0:\n    # Memory briefing\n" in shown
            and "\n    - Use uv.\n" in shown
        )


def test_recalls_of_the_session_are_shown_up_to_the_turn(store: Store, sources: Path):
    id, gone = "0f3a5c1e-0000-5000-8000-000000000001", "1f3a5c1e-0000-5000-8000-000000000001"
    write(store, "memories", "all", row("memories", id=id, text="Use uv."))
    early = open_store(read_settings(now=datetime(2026, 8, 3, 9, 1, 20, tzinfo=UTC)))
    for session in ("a", "other"):
        early.append_event(RECALLED, "query", {"memory_ids": [id, gone], "session": session})
    one, two, three = captured(store, sources, *dialogue("a", 3)).turns([1, 2, 3])
    assert one.recalled == ()
    (recalled,) = two.recalled
    assert (
        dict(recalled.memories) == {"mem_0f3a5c1e0000": "Use uv.", "mem_1f3a5c1e0000": ""}
        and not recalled.is_before
    )
    assert [found.is_before for found in three.recalled] == [True]


def test_a_recall_shows_its_question_where_the_session_has_its_words(store: Store, sources: Path):
    asked = [
        "How do we install packages?",
        "who owns the depot",
        "what is the port",
        "it is not in the session",
    ]
    given = [
        {"question": asked[1]},
        {"command": f"cd /x && memory recall '{asked[2]}' --json", "timeout": 9},
    ]
    call = assistant("a", 1, "Let me look.", 0.2)
    used = (
        {"type": "tool_use", "id": str(n), "name": "Tool", "input": one}
        for n, one in enumerate(given)
    )
    call["message"]["content"] += used
    agent = MemoryAgent(
        read_settings(timezone="UTC", now=datetime(2026, 8, 3, 9, 0, 20, tzinfo=UTC))
    )
    for question in asked:
        agent.recall(question, own_session="a")
    (one,) = captured(
        store, sources, user("a", 0, "How do we\n  install packages?", 0), call
    ).turns([1])
    assert [found.question for found in one.recalled] == [*asked[:3], ""]
    shown = "\n".join(str(part) for part in render_turn(one, UTC))
    assert "recalled at 2026-08-03 09:00:20, asked “who owns the depot”: nothing" in shown
    assert asked[3].encode() not in b"".join(
        path.read_bytes() for path in store.root.rglob("*") if path.is_file()
    )


def test_what_was_learnt_is_shown_with_the_turns_of_its_evidence(store: Store, sources: Path):
    replay = captured(store, sources, *dialogue("a", 3))
    second = replay.checkpoints["message_ids"][1].to_list()
    fact = {
        "id": "0f3a5c1e-0000-5000-8000-000000000001",
        "text": "Point 2 matters.",
        "priority": "high",
        "gate": "hold",
    }
    write(
        store,
        "observations",
        "2026-08-03",
        row("observations", session_id="a", message_ids=second[:1], **fact),
    )
    one, two, _ = Replay(store, "a").turns([1, 2, 3])
    assert one.learnt == ()
    (fact,) = two.learnt
    assert (fact.text, fact.gate, fact.command) == (
        "Point 2 matters.",
        "hold",
        "memory explain mem_0f3a5c1e0000",
    )


def test_explain_names_the_turn_in_which_a_fact_was_said(store: Store, sources: Path):
    replay = captured(store, sources, *dialogue("a", 3))
    id, second = (
        "0f3a5c1e-0000-5000-8000-000000000001",
        replay.checkpoints["message_ids"][1].to_list(),
    )
    fact = {
        "id": id,
        "message_ids": second[:1],
        "quote": "point 2",
        "segment_id": "s",
        "text": "Point 2 matters.",
    }
    write(
        store,
        "observations",
        "2026-08-03",
        row("observations", session_id="a", day=date(2026, 8, 3), **fact),
    )
    (step,) = MemoryAgent(store.settings).origin_of(id).root.find("observation")
    assert step.facts["replay"] == "memory data replay a --turn 2"


def test_secrets_stay_masked_and_forgotten_words_are_in_no_turn_and_not_in_the_table(
    store: Store, sources: Path
):
    token = "ghp_" + "Zq7Wm2Xc9Vb4Nn6Lk1Jh8Gf5Dd3Ss0Aa" + "q1W2"
    edit = user("a", 1, "", 0.2) | {"type": "assistant"}
    block = {
        "type": "tool_use",
        "id": "c",
        "name": "Edit",
        "input": {"file_path": "src/heliotrope_zebra.py"},
    }
    edit |= {"message": {"id": "m1", "role": "assistant", "content": [block]}}
    said = user("a", 0, f"The heliotrope zebra is ours; the token is {token}.", 0)
    replay = captured(store, sources, said, edit, user("a", 2, "Go on.", 1))
    assert token not in str(replay.turn("1")) and "heliotrope_zebra" in str(replay.turn("1"))
    for words in ("heliotrope zebra is ours", "src/heliotrope_zebra.py"):
        done = MemoryAgent(store.settings).forget(words, apply=True)
        assert done.is_gone, done.warnings
    table = (store.root / "tables" / "checkpoints").rglob("*.parquet")
    assert all(b"heliotrope" not in path.read_bytes() for path in table)
    assert "heliotrope" not in store.tables.read("checkpoints").write_json()
    capture(store, sources)
    check_points(store)
    after = Replay(store, "a")
    shown = str([*after.turns([1, 2]), after.session()])
    assert "heliotrope" not in shown and token not in shown
    assert [one.turn for one in after.session().turns] == [1, 2]
