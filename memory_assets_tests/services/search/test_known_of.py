"""What is known of a file, a command and an error, from memories and from the tool calls of a store."""

import time
from datetime import UTC, timedelta
from pathlib import Path

import polars as pl
import pytest

from memory_assets.errors import QuestionError
from memory_assets.memory import MemoryAgent
from memory_assets.schema.requests import RecallRequest
from memory_assets.services.search import before_tool
from memory_assets.services.search.known_of import IN_PART, known_of
from memory_assets.store.store import Store
from memory_assets_tests.factories import START, message, row
from memory_assets_tests.small_store import DAY, small_store, write

LATER = START + timedelta(days=40)


@pytest.fixture
def store() -> Store:
    before_tool._recent.clear()
    store = small_store()
    window = {"session_id": "session-1", "person": "mira", "path": "/t.jsonl", "day": DAY}
    sides = [row("windows", window_id=f"w-{name}", project=name, **window | {"session_id": name})
             for name in ("tides", "kilns")]  # fmt: skip
    write(store, "windows", "all", *sides)
    texts = [
        ("assistant", "tool_call", '[toolCall Bash({"command":"make deploy HOST=a"})]'),
        ("tool", "tool_result", "error: no route to host 10.0.0.7"),
        ("assistant", "tool_call", '[toolCall Bash({"command":"wg-quick up wg0"})]'),
        ("tool", "tool_result", "up"),
        ("assistant", "tool_call", '[toolCall Bash({"command":"make deploy HOST=a"})]'),
        ("tool", "tool_result", "deployed"),
        ("owner", "text", "We no longer use fly.toml for the region."),
    ]
    messages = [
        message(text, n, author=author, kind=kind, tool_name="Bash" if kind != "text" else "", line=n,
                window_id="w-tides", session_id="tides", is_error=n == 1, is_user_turn=author == "owner",
                message_id=f"m{n}", event_at=START + timedelta(minutes=n))
        for n, (author, kind, text) in enumerate(texts)
    ]  # fmt: skip
    write(store, "messages", DAY.isoformat(), *messages)
    facts = [
        ("a", "tides", "rule", "Deploy with `make deploy`, as ana."),
        ("b", "kilns", "rule", "Deploy with `make deploy` on Fridays only."),
        ("c", "tides", "decision", "We decided to use fly.toml for the region."),
        ("d", "tides", "root_cause", "“no route to host” means that the tunnel is down."),
    ]
    memories = [
        row("memories", id=id, state="active", text=text, project=project, scope="project", tags=[tag],
            author="owner", confidence=0.9, category="operations", event_at=START - timedelta(days=5))
        for id, project, tag, text in facts
    ]  # fmt: skip
    write(store, "memories", "all", *memories)
    return store


def results(store: Store, person: str = "", **asked: str) -> list[tuple[str, tuple[str, ...]]]:
    memories = store.tables.read("memories")
    request = RecallRequest(**asked).at(LATER, UTC)
    answer = known_of(store, memories, request, LATER, folder="/w/tides", person=person)
    return [(result.memory_id, result.tags) for result in answer.results]


def test_a_command_has_its_failure_with_the_cure_and_the_rules_of_this_project(store: Store):
    assert results(store, command="cd /w && make deploy HOST=b") == [("m0", ()), ("a", ())]
    answer = MemoryAgent(store.settings).recall(command="make deploy", project="tides", probe=True)
    assert str(answer.results[0].other_half) == (
        "cured by assistant: after `wg-quick up wg0`: `make deploy HOST=a` worked"
    )


def test_a_call_that_was_cancelled_with_a_parallel_one_did_not_fail(store: Store):
    output = pl.lit(
        "<tool_use_error>Cancelled: parallel tool call Bash(ls) errored</tool_use_error>"
    )
    text = pl.when(message_id="m1").then(output).otherwise("text")
    messages = store.tables.read("messages").with_columns(text=text)
    store.tables.write("messages", DAY.isoformat(), messages)
    assert results(store, command="make deploy HOST=a") == [("a", ())]


def test_an_error_with_other_numbers_is_the_same_and_a_part_of_it_is_marked(store: Store):
    asked = {"error": "error: no route to host 192.168.1.9", "project": "kilns"}
    assert results(store, **asked) == [("m0", ())]
    longer = {"error": "dial tcp: no route to host", "project": "tides"}
    assert results(store, **longer) == [("d", (IN_PART,))]


def test_what_the_owner_replaced_is_marked_below_what_holds(store: Store):
    assert results(store, file="fly.toml") == [
        ("m6", ()),
        ("c", ("replaced on 2026-08-03 by msg_m6",)),
    ]


def test_before_a_tool_what_is_sure_is_told_once_in_forty_tokens(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(before_tool, "RECENT_DAYS", 9_999)

    def told(session: str, **arguments: str) -> str:
        call = {"session": session, "folder": "/w/tides", "until": time.monotonic() + 60}
        tool = "Bash" if "command" in arguments else "Edit"
        line = MemoryAgent(store.settings).before_tool(tool, arguments, **call)
        for reading in before_tool._reading.values():
            reading.join()
        return line

    rule = "Memory: Deploy with `make deploy`, as ana. (2026-07-29)"
    failure = (
        "Memory: this failed (error: no route to host 10.0.0.7) and worked after `wg-quick up wg0` "
        "(2026-08-03)"
    )
    command = "cd /w && make deploy HOST=c"
    assert [told("s1", command=command) for _ in range(3)] == [rule, failure, ""]
    assert told("s2", command="make deploy") == rule
    assert told("s2", command="ls && cat fly.toml") == told("s2", file_path="fly.toml") == ""
    assert told("", command="make deploy") == ""
    agent = MemoryAgent(store.settings)
    arguments = {"command": "make deploy"}
    assert agent.before_tool("Bash", arguments, session="s3", folder="/w/tides", until=0.0) == ""


def test_messages_of_others_and_filters_leave_failures_out(store: Store):
    assert results(store, person="ana", command="make deploy") == [("a", ())]
    assert results(store, command="make deploy", until="2026-08-01") == [("a", ())]
    assert results(store, command="make deploy", category=["preferences"]) == []


def test_nothing_is_known_of_another_file_and_a_lookup_has_one_subject(store: Store):
    assert results(store, file="nothing.py") == []
    with pytest.raises(QuestionError, match="file cannot be combined with question"):
        RecallRequest.of("where", file="x.py")


def test_a_file_is_named_relative_to_its_repository(store: Store, tmp_path: Path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "fly.toml").write_text("")
    folder = str(tmp_path / "deploy")
    asked = RecallRequest(file="fly.toml", project="tides")
    answer = known_of(store, store.tables.read("memories"), asked, LATER, folder=folder)
    assert (answer.question, len(answer.results)) == ("the file deploy/fly.toml", 2)
