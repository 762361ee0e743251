"""Turns that were taken back are no messages, whenever the rewind is captured; nothing else is lost."""

from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal

from memory_assets.stages.capture.index import index_sources
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.stages.capture.pipeline import capture, derive, state
from memory_assets_tests.stages.capture.sessions import assistant, at, lines, transcript, user

PI = "2026-08-03T09-00-00-000Z_0b000001-1111-4222-8333-444455556666.jsonl"
CODEX = "rollout-2026-08-03T09-00-00-0b000001-1111-4222-8333-444455556666.jsonl"


def claude(tree: str) -> tuple[str, list[dict[str, Any]]]:
    """The records of `prompt<parent`, `answer:parent` and marks, each named by its text."""
    records = []
    for number, word in enumerate(tree.split()):
        is_prompt = "<" in word
        name, _, parent = word.replace(":", "<").partition("<")
        write = user if is_prompt else assistant
        record = write("a", number, name.strip("+*!~="), number)
        record |= {"uuid": name.strip("+*!~="), "parentUuid": parent or None}
        marks = {
            "+": {"isSidechain": True},
            "*": {"isCompactSummary": True},
            "!": {"sessionId": "b"},
            "~": {"type": "system", "subtype": "turn_duration"},
            "=": {"type": "system", "subtype": "compact_boundary"},
        }
        records.append(record | marks.get(name[-1], {}))
    return "a.jsonl", records


def pi(tree: str) -> tuple[str, list[dict[str, Any]]]:
    """The same tree as a session of pi."""
    records: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": at(0)}
    ]
    for number, word in enumerate(tree.split()):
        name, _, parent = word.replace(":", "<").partition("<")
        role = "user" if "<" in word else "assistant"
        entry = {"type": "message", "id": name, "parentId": parent or None, "timestamp": at(number)}
        if name.endswith("*"):
            entry |= {"type": "branch_summary", "summary": name}
        records.append(
            {**entry, "message": {"role": role, "content": [{"type": "text", "text": name}]}}
        )
    return PI, records


def codex(turns: str) -> tuple[str, list[dict[str, Any]]]:
    """A prompt and an answer for each word; `-N` takes the last N turns back."""
    records: list[dict[str, Any]] = []
    for number, word in enumerate(turns.split()):
        if word.startswith("-"):
            payload = {"type": "thread_rolled_back", "num_turns": int(word[1:])}
            records.append({"timestamp": at(number), "type": "event_msg", "payload": payload})
            continue
        for role, text in (("user", word), ("assistant", f"re{word}")):
            content = [{"type": "input_text", "text": text}]
            payload = {"type": "message", "role": role, "content": content}
            records.append({"timestamp": at(number), "type": "response_item", "payload": payload})
    return CODEX, records


CASES = [
    (claude, "u1< a1:u1 u2<a1 a2:u2 u3<a1 a3:u3", "u1 a1 u3 a3"),
    (claude, "u1< a1:u1 d1~:a1 u2<d1 a2:u2 u3<a1 a3:u3", "u1 a1 u3 a3"),
    (claude, "u1< a1:u1 u2<a1 a2:u2 u3<a2 a3:u3 u4<a1 a4:u4 u5<a4", "u1 a1 u4 a4 u5"),
    (claude, "u1< a1:u1 u2<a1 u3<a1 u4<a1 a4:u4", "u1 a1 u4 a4"),
    (claude, "u1< a1:u1 u2< a2:u2", "u2 a2"),
    # What shares a parent, and is no branch that was left:
    (claude, "u1< a1:u1 a2:a1 a3:a1 a4:a2 u2<a3 a5:u2 u3<a5", "u1 a1 a2 a3 a4 u2 a5 u3"),
    (claude, "u1< a1:u1 s1+< t1+:s1 s2+< t2+:s2 u2<a1 a2:u2", "u1 a1 s1 t1 s2 t2 u2 a2"),
    (claude, "u1< a1:u1 u2<a1 a2:u2 b1=: s1*<b1 u3<s1 a3:u3 u4<a3", "u1 a1 u2 a2 s1 u3 a3 u4"),
    (claude, "u1< a1:u1 u2<a1 a2:u2 s1*<a1 u3<s1 a3:u3", "u1 a1 u2 a2 s1 u3 a3"),
    (claude, "u1< a1:u1 u2<a1 a2:u2 u3<lost a3:u3", "u1 a1 u2 a2 u3 a3"),
    (claude, "u1< a1:u1 u2!< a2:u2", "u1 a1 u2 a2"),
    (claude, "u1< a1:u1 u2<a1 a2:u2 u3<a1 a3:u3 a4:a2 u4<a4", "u1 a1 u2 a2 u3 a3 a4 u4"),
    (pi, "u1< a1:u1 u2<a1 a2:u2 u3<a1 a3:u3", "u1 a1 u3 a3"),
    (pi, "u1< a1:u1 u2<a1 a2:u2 s1*<a1 u3<s1 a3:u3", "u1 a1 u2 a2 s1* u3 a3"),
    (pi, "u1< a1:u1 u2<a1 a2:u2 u3<a1 a3:u3 u4<a2", "u1 a1 u2 a2 u3 a3 u4"),
    (codex, "u1 u2 u3 -2 u4", "u1 reu1 u4 reu4"),
    (codex, "u1 u2 -1 -1 u3 u4 -9", ""),
    (codex, "u1 u2 -0 u3", "u1 reu1 u2 reu2 u3 reu3"),
]  # fmt: skip


@pytest.mark.parametrize(("write", "records", "expected"), CASES)
def test_only_turns_of_an_abandoned_branch_are_left_out(
    store: Store, sources: Path, tmp_path: Path, write: Any, records: str, expected: str
):
    """Captured record by record, the tables are those of one capture at the end."""
    name, written = write(records)
    path = transcript(sources, "a").with_name(name)
    for count in range(1, len(written) + 1):
        path.write_bytes(lines(*written[:count]))
        capture(store, sources)
    messages = store.tables.read("messages").sort("line")
    assert messages["text"].to_list() == expected.split()
    at_once = open_store(read_settings(data=tmp_path / "once"))
    capture(at_once, sources)
    for table, rows in state(at_once).items():
        assert_frame_equal(state(store)[table], rows)


def test_turns_that_were_taken_back_stay_if_the_setting_says_so(store: Store, sources: Path):
    _, records = claude("u1< a1:u1 u2<a1 a2:u2 u3<a1")
    transcript(sources, "a").write_bytes(lines(*records))
    capture(store, sources)
    assert store.tables.read("records").filter(status="rewound").height == 2
    for keeps, count in ((True, 5), (False, 3)):
        index_sources(store.archive, store.tables, keeps_rewound=keeps)
        derive(store)
        assert store.tables.read("messages").height == count


def test_a_fork_keeps_the_turn_that_its_parent_took_back(store: Store, sources: Path):
    _, records = claude("u1< a1:u1 u2<a1 a2:u2 u3<a1 a3:u3")
    fork = [{**record, "sessionId": "f"} for record in records[:4]]
    transcript(sources, "a").write_bytes(lines(*records))
    transcript(sources, "f").write_bytes(
        lines(*fork, {**user("f", 9, "u9", 9), "parentUuid": "a2"})
    )
    capture(store, sources)
    told = store.tables.read("messages").sort("text").select("text", "session_id").rows()
    assert told == [
        (text, "f" if text in ("a2", "u2", "u9") else "a")
        for text in ("a1", "a2", "a3", "u1", "u2", "u3", "u9")
    ]
