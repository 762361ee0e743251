"""A rule that two sessions broke although their briefing had it is a friction, with what enforces it."""

from datetime import UTC, date, datetime

import pytest

from memory_assets.stages.friction.broken_rules import enforce, find_broken_rules
from memory_assets.stages.friction.known_rules import KnownRule
from memory_assets.stages.friction.visible_rules import read_rule
from memory_assets.stages.friction.week import SessionInfo
from memory_assets_tests.factories import frame, row

AT = datetime(2026, 10, 2, 9, tzinfo=UTC)
SESSIONS = {
    id: SessionInfo(id, "shop", "/home/mira/code/shop", "mira") for id in ("s1", "s2", "s3")
}


def rule(text: str) -> KnownRule:
    visible = read_rule(text)
    assert visible is not None
    return KnownRule("m1", text, visible, "shop")


def verdict(session: str, **changes) -> dict:
    known = {
        "rule_id": "m1",
        "session_id": session,
        "day": date(2026, 10, 2),
        "harness": "claude_code",
    }
    known |= {
        "state": "broken",
        "known": "briefing",
        "message_id": f"msg-{session}",
        "event_at": AT,
    }
    return row("obedience", **known | changes)


def test_a_rule_broken_in_two_briefed_sessions_is_reported_once():
    rows = frame("obedience", verdict("s1"), verdict("s2"), verdict("s3", state="kept"))
    (problem,) = find_broken_rules(rows, [rule("Use uv, never pip.")], SESSIONS)
    assert (
        problem.title
        == "“Use uv, never pip.” was broken in 2 of 3 sessions that had it in their briefing"
    )
    assert (problem.target, problem.section) == (
        "/home/mira/code/shop/.claude/settings.json",
        "deny",
    )
    assert (problem.new, problem.message_ids) == ("Bash(pip:*)", ("msg-s1", "msg-s2"))


@pytest.mark.parametrize(
    "changes",
    [
        {"known": "before"},
        {"known": "recalled"},
        {"state": "kept"},
        {"session_id": "s1", "day": date(2026, 10, 3)},
    ],
)
def test_a_rule_that_one_briefed_session_broke_is_not_reported(changes: dict):
    rows = frame("obedience", verdict("s1"), verdict("s2", **changes))
    assert find_broken_rules(rows, [rule("Use uv, never pip.")], SESSIONS) == []


@pytest.mark.parametrize(
    ("text", "harness", "file", "section", "new"),
    [
        (
            "Never `git push --force`.",
            "claude_code",
            ".claude/settings.json",
            "deny",
            "Bash(git push --force:*)",
        ),
        ("Never edit gen/", "claude_code", ".claude/settings.json", "deny", "Edit(gen/**)"),
        (
            "Run `make check` before you commit.",
            "claude_code",
            ".claude/settings.json",
            "ask",
            "Bash(git commit:*)",
        ),
        (
            "Use uv, never pip.",
            "codex",
            ".codex/rules/7cd8a94d5a7c9bc17b6b4b4a.rules",
            "",
            'prefix_rule(pattern=["pip"], decision="forbidden", justification="Use uv, never pip.")',
        ),
        ("Never edit gen/", "codex", "AGENTS.md", "Hard Rules", "Never edit gen/"),
        (
            "Run `make check` before you commit.",
            "pi",
            "AGENTS.md",
            "Hard Rules",
            "Run `make check` before you commit.",
        ),
    ],
)
def test_a_harness_enforces_a_rule_in_its_own_file(
    text: str, harness: str, file: str, section: str, new: str
):
    found = enforce(rule(text), harness)
    assert (found[0].rsplit("/", 1)[0], *found[1:]) == (file.rsplit("/", 1)[0], section, new)


def test_an_extension_of_pi_blocks_the_command_and_no_longer_one_that_has_its_name():
    file, _, text = enforce(rule("Use uv, never pip."), "pi")
    assert file.startswith(".pi/extensions/") and file.endswith(".ts")
    assert r'new RegExp("(?:^|[;&|(]\\s*)(?:pip)(?!\\S)")' in text
    assert 'reason: "Use uv, never pip."' in text
