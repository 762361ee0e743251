"""The normal form: reading never raises and goes on where it stopped; ids are shared by forks and by nothing else."""

from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.harnesses.codex.reader import repository_name
from memory_assets.harnesses.human_words import parse_user_text, strip_memories
from memory_assets.harnesses.readers import open_reader, seed_of, session_id_of
from memory_assets.harnesses.tool_calls import describe_call
from memory_assets.stages.capture.discover import harness_of
from memory_assets_tests.transcripts.reading import HERE, lines_of

PATHS = sorted(path for path in HERE.rglob("*.jsonl") if harness_of(path))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


TYPES = {"event_at": datetime | None, "image_count": int, "undone_turns": int}
TYPES |= dict.fromkeys(("files_read", "files_modified"), tuple)
TYPES |= dict.fromkeys(("is_error", "is_turn", "is_user_turn"), bool)
RECORDS = [
    (harness_of(path), orjson.loads(line))
    for path in PATHS
    for line in lines_of(path)
    if line.startswith(b"{")
    and line.endswith(b"}")
    and b"hologram" not in line
    and b"ud83d" not in line
]


def changed_somewhere(value, data):
    """Returns the value with another one in a field of it, or of a field of a field."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 3)):
        field = data.draw(st.sampled_from(sorted(value)))
        return {**value, field: changed_somewhere(value[field], data)}
    if isinstance(value, list) and value and data.draw(st.integers(0, 3)):
        return [changed_somewhere(value[0], data), *value[1:]]
    return data.draw(JSON)


@given(st.sampled_from(RECORDS), st.data())
def test_a_reader_never_raises_whatever_a_field_has_become(known, data):
    harness, record = known
    parsed = open_reader(harness, "s.jsonl").read(orjson.dumps(changed_somewhere(record, data)))
    assert parsed.status in {"message", "known", "unknown"}
    assert {
        name: value
        for name, value in asdict(parsed).items()
        if not isinstance(value, TYPES.get(name, str | None))
    } == {}
    assert all(isinstance(path, str) for path in parsed.files_read + parsed.files_modified)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem[-24:])
def test_reading_goes_on_where_it_stopped(path: Path):
    harness, lines = harness_of(path), lines_of(path)
    assert harness
    whole, stopped = open_reader(harness, str(path)), open_reader(harness, str(path))
    at_once, in_steps = [], []
    for line in lines:
        at_once.append(whole.read(line))
        stopped = open_reader(harness, str(path), orjson.loads(orjson.dumps(stopped.state)))
        in_steps.append(stopped.read(line))
    assert in_steps == at_once


@pytest.mark.parametrize(
    ("harness", "path", "session"),
    [
        ("claude_code", "projects/-home-mira/0a000001.jsonl", "0a000001"),
        (
            "claude_code",
            "projects/-home-mira/0a000007/subagents/agent-a1.jsonl",
            "0a000007/agent-a1",
        ),
        (
            "claude_code",
            r"projects\-home-mira\0a000007\subagents\agent-a1.jsonl",
            "0a000007/agent-a1",
        ),
        (
            "codex",
            "sessions/rollout-2026-03-02T08-00-00-019c0000-0000-7000-8000-000000000001.jsonl.zst",
            "019c0000-0000-7000-8000-000000000001",
        ),
        (
            "pi",
            "2026-03-04T08-00-00-000Z_11111111-1111-4111-8111-111111111111.jsonl",
            "11111111-1111-4111-8111-111111111111",
        ),
    ],
)
def test_the_file_name_decides_which_session_it_is(harness, path, session):
    assert session_id_of(harness, path, ()) == session


def test_a_file_without_an_id_in_its_name_is_asked():
    assert session_id_of("pi", "copy.jsonl", [b'{"type":"session","id":"s1"}']) == "s1"
    assert (
        session_id_of(
            "codex", "rollout-x.jsonl", [b'{"type":"session_meta","payload":{"id":"s2"}}']
        )
        == "s2"
    )
    assert session_id_of("claude_code", "agent-1.jsonl", [b'{"sessionId":"s3"}']) == "s3/agent-1"
    assert seed_of("pi", "copy.jsonl", [b"not json"]) == "copy"


def test_memories_recalled_into_a_text_are_taken_out():
    text = (
        "Before\n<memory-briefing v=1>\n~ Use uv (confidence 0.9, 2 days, rules)\n</memory-briefing>\n"
        "~ Never force-push (0.87, 12 days, rules-conventions)\nAfter ~ 5 minutes (0.5 of them idle)"
    )
    assert strip_memories(text) == "Before\nAfter ~ 5 minutes (0.5 of them idle)"
    assert strip_memories("Kept\n<global_observations>\ncut off by the ha") == "Kept\n"


@pytest.mark.parametrize(
    ("text", "voice", "words"),
    [
        (
            "Use `<environment_context>` in the test.",
            "person",
            "Use `<environment_context>` in the test.",
        ),
        ("<ide_opened_file>a.py</ide_opened_file>\nFix it.", "person", "Fix it."),
        ("<user-memory-input>always use uv</user-memory-input>", "person", "always use uv"),
        ("<div>why does this not close?", "person", "<div>why does this not close?"),
        ("[Request interrupted by user]", "harness", "[Request interrupted by user]"),
        (
            "<tick>9</tick><channel>never</channel>",
            "harness",
            "<tick>9</tick><channel>never</channel>",
        ),
        (
            "Another language model started to solve this…",
            "summary",
            "Another language model started to solve this…",
        ),
    ],
)
def test_a_persons_words_are_told_from_the_harnesss(text, voice, words):
    read = parse_user_text(text)
    assert (read.voice, read.text) == (voice, words)


@pytest.mark.parametrize(
    ("tool", "arguments", "author"),
    [
        ("Read", {"file_path": "/a"}, "file"),
        ("Grep", {"pattern": "x"}, "file"),
        ("WebFetch", {"url": "https://example.org"}, "web"),
        ("mcp__chrome__navigate", {}, "web"),
        ("Bash", {"command": "cat notes.md"}, "file"),
        ("Bash", {"command": "cat notes.md | wc -l"}, "tool"),
        ("Bash", {"command": "curl -s https://example.org/x.json"}, "web"),
        ("Bash", {"command": "curl http://localhost:3000/health"}, "tool"),
        ("Bash", {"command": "memory recall 'how do we install'"}, "injected"),
        ("mcp__memory__memory_recall", {}, "injected"),
        ("Bash", {"command": "git commit -m 'sed -n'"}, "tool"),
    ],
)
def test_a_result_belongs_to_whoever_wrote_what_it_shows(tool, arguments, author):
    assert describe_call(tool, arguments).author == author


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@github.com:mira/shop.git", "mira/shop"),
        ("https://github.com/mira/shop.git", "mira/shop"),
        ("ssh://git@host:22/mira/shop", "mira/shop"),
        ("/srv/git/shop", "/srv/git/shop"),
        ("", None),
        (None, None),
    ],
)
def test_a_remotes_address_becomes_owner_and_name(url, name):
    assert repository_name(url) == name
