"""A rule is broken by the first call against it, kept by calls of its sort, and else does not apply."""

from datetime import UTC, datetime, timedelta

import pytest

from memory_assets.stages.friction.obedience import RuleVerdict, acts_of, judge
from memory_assets.stages.friction.visible_rules import read_rule
from memory_assets.stages.friction.week import SessionInfo, ToolCall

SESSION = SessionInfo("s1", "shop", "/home/mira/code/shop", "mira")


def call(what: str, place: int = 0) -> ToolCall:
    """A shell call; one that begins with `edit` or `read` is of a file, and one that ends with `!` failed."""
    at = datetime(2026, 10, 1, tzinfo=UTC) + timedelta(minutes=place)
    tool, _, path = what.partition(" ")
    made = (SESSION, place, f"m{place}", at)
    if tool == "edit":
        return ToolCall(*made, "Edit", "", files_modified=(path,))
    if tool == "read":
        return ToolCall(*made, "Read", "", files_read=(path,))
    return ToolCall(*made, "Bash", what.rstrip("!"), is_failed=what.endswith("!"))


def verdict(sentence: str, *calls: str) -> RuleVerdict | None:
    rule = read_rule(sentence)
    assert rule is not None
    return judge(
        rule, [act for place, what in enumerate(calls) for act in acts_of(call(what, place))]
    )


@pytest.mark.parametrize(
    ("sentence", "calls", "state"),
    [
        ("Use uv, never pip.", ["uv pip install ruff"], "kept"),
        ("Use uv, never pip.", ["uv add ruff", "cd api && pip install ruff"], "broken"),
        ("Use uv, never pip.", ["ls"], "does not apply"),
        ("Never `git push --force`.", ["git push -f"], "broken"),
        ("Never `git push --force`.", ["git push origin +main"], "broken"),
        ("Never `git push --force`.", ["git push --force-with-lease"], "kept"),
        ("Never `git push --force`.", ["git push --force!"], "broken"),
        ("Call pytest only through `uv run`.", ["uv run pytest -q"], "kept"),
        ("Call pytest only through `uv run`.", ["python -m pytest -q"], "broken"),
        ("Run `make check` before you commit.", ["make check && git commit -m x"], "kept"),
        ("Run `make check` before you commit.", ["git commit -m x", "make check"], "broken"),
        (
            "Run `make check` before you commit.",
            ["make check && git commit -m x!"],
            "does not apply",
        ),
        ("Run `make check` before you commit.", ["make check", "git commit", "git commit"], "kept"),
        (
            "Run `make check` before you commit.",
            ["make check", "git commit", "edit a.py", "git commit"],
            "broken",
        ),
        (
            "Run `make check` before you commit.",
            ["make check", "git commit", "ls > /tmp/list", "git commit"],
            "kept",
        ),
        (
            "Never edit api/schema.json",
            ["edit /home/mira/code/shop/../bank/api/schema.json"],
            "does not apply",
        ),
        (
            "Run `make check` before each commit.",
            ["make check", "git commit", "git commit"],
            "broken",
        ),
        (
            "Run `make check` before each commit.",
            ["make check", "git commit!", "git commit"],
            "kept",
        ),
        ("make check must pass before you commit", ["make check!", "git commit"], "broken"),
        ("go test always with -race", ["go test -race ./...", "go test ./api"], "broken"),
        ("go test always with -race", ["go vet ./..."], "does not apply"),
        ("Never edit api/schema.json", ["edit /home/mira/code/shop/api/schema.json"], "broken"),
        ("Never edit api/schema.json", ["edit web/schema.json"], "does not apply"),
        (
            "Never edit api/schema.json",
            ["edit /home/mira/code/shop/../bank/api/schema.json"],
            "does not apply",
        ),
        ("Never edit api/schema.json", ["read api/schema.json"], "kept"),
        ("Never edit api/schema.json", ["cd api && sed -i s/a/b/ schema.json"], "broken"),
        ("Never edit anything in vendor/", ["echo x > vendor/new.go"], "broken"),
        (
            "Never edit anything in vendor/",
            ["edit /home/mira/code/other/vendor/a.go"],
            "does not apply",
        ),
        ("Never edit the LICENSE in the root", ["edit web/LICENSE"], "does not apply"),
        ("Existing migrations are never edited", ["cat > migrations/002.sql"], "kept"),
        ("In web/ use pnpm, never npm.", ["cd api && npm ci"], "does not apply"),
        ("In web/ use pnpm, never npm.", ["cd web && npm ci"], "broken"),
        ("Run the tests before you commit.", ["npm run test:unit", "git commit"], "kept"),
        ("Run the tests before you commit.", ["./scripts/test.sh", "git commit"], "kept"),
        ("Run the linter before you commit.", ["npm run lint:fix", "git commit"], "kept"),
        ("Update CHANGELOG.md before you commit.", ["edit CHANGELOG.md", "git commit"], "kept"),
    ],
)
def test_a_session_keeps_or_breaks_a_rule_to_which_it_comes(
    sentence: str, calls: list[str], state: str
):
    judged = verdict(sentence, *calls)
    assert (judged.state if judged else "does not apply") == state


def test_the_first_call_against_a_rule_is_the_evidence():
    judged = verdict("Use uv, never pip.", "uv sync", "ls && pip install ruff", "pip install mypy")
    assert judged is not None
    assert (judged.call.message_id, judged.text) == ("m1", "pip install ruff")
    assert (judged.applied_count, judged.broken_count) == (3, 2)
