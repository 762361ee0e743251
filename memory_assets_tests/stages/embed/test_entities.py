"""What a text names: by shape or by list, under its usual name; plain English is never an entity, backticks or not."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_assets.stages.embed.entities import find_identifiers, mentions_in, mentions_of_name
from memory_assets.stages.embed.names import _table

NAMED = [
    ("Fixed in `internal/syncer/syncer.go:53`.", {"file/internal/syncer/syncer.go"}),
    ("See ./docs/usage.md and .gitignore.", {"file/docs/usage.md", "file/.gitignore"}),
    ("Keys live in ~/.ssh/config.", {"file/~/.ssh/config"}),
    ("It walks `cmd/git-sync/` only.", {"folder/cmd/git-sync/"}),
    ("Logs go to /var/log/app.", {"folder//var/log/app/"}),
    ("Run `git push --force-with-lease origin`.", {"command/git push", "flag/--force-with-lease"}),
    ("Run git push before lunch.", {"command/git push"}),
    ("Use `$ sudo systemctl restart nginx`.", {"command/systemctl restart", "service/Nginx"}),
    ("`harbor-cli deploy --dry-run` prints it.", {"command/harbor-cli", "flag/--dry-run"}),
    ("Set `--limit=5`.", {"flag/--limit"}),
    (
        "We use postgres on k8s, built by GHA.",
        {"service/PostgreSQL", "service/Kubernetes", "service/GitHub Actions"},
    ),
    ("The bot posts to Slack.", {"service/Slack"}),
    ("Written in Go, not in Rust.", {"tool/Go", "tool/Rust"}),
    ("pytest and ruff run first.", {"package/pytest", "package/ruff"}),
    ("Then uv add httpx-sse.", {"package/httpx-sse", "command/uv add"}),
    ("It imports @scope/tool-kit.", {"package/@scope/tool-kit"}),
    ("ADR-12 and adr 0007 agree.", {"adr/ADR-0012", "adr/ADR-0007"}),
    ("PR #43 closes issue 7, see #128.", {"ticket/#43", "ticket/#7", "ticket/#128"}),
    ("See owner/repo#19 and SHOP-482.", {"ticket/owner/repo#19", "ticket/SHOP-482"}),
    ("https://github.com/acme-inc/shop/pull/43 is open", {"ticket/acme-inc/shop#43"}),
    ("It clones github.com/go-git/go-billy.git.", {"repository/go-git/go-billy"}),
    ("It follows RFC 8693.", {"standard/RFC 8693"}),
    (
        "The UI is at http://localhost:5173/ and 10.0.0.7:8080.",
        {"host/localhost:5173", "host/10.0.0.7:8080"},
    ),
    ("Staging is db.staging.harbor.io:5433.", {"host/db.staging.harbor.io:5433"}),
    ("Set GITHUB_TOKEN or $HOME_DIR.", {"variable/GITHUB_TOKEN", "variable/HOME_DIR"}),
    ("Ask @mira-s about it.", {"person/mira-s"}),
    ("Commit `689eadd` did it.", {"commit/689eadd"}),
    ("On feat/remote-helper-2.", {"branch/feat/remote-helper-2"}),
    (
        "`trunkStopSet` and FetchToStore() differ.",
        {"identifier/trunkStopSet", "identifier/FetchToStore"},
    ),
    (
        "It calls `json.Marshal` and snake_named_thing.",
        {"identifier/json.Marshal", "identifier/snake_named_thing"},
    ),
    ("`rename()` is atomic.", {"identifier/rename()"}),
    ("The `receive-pack` capability.", {"identifier/receive-pack"}),
]

NOTHING = [
    "It is read/write and headless/CI, e.g. yes/no.",
    "Go ahead and make sure it works.",
    "`have` and `want` are `main` words of the `plan`.",
    "The color is #666666 or #ff0000.",
    "Version 1.24.13 took 4.6 GiB, 18/18 passed at 98 B/s.",
    "Add `read-only` and `non-empty` cases.",
    "Two APIs, three PRs, all URLs.",
    "watch()` will trigger a `\"rename\"` event (which we ignore - we only handle `\"change\"`), and then",
    "Use @latest, @property and @dataclass.",
    "<repo>/file and {{ .Version }} and $(pwd).",
    "Mail mira@example.com about example.com/org.",
    "STEP-2, UTF-8, SHA-256 and IPv4.",
    "The 1st reason is #1.",
    "Please react, express and click with care in the next spring.",
]  # fmt: skip


def named(text: str) -> set[str]:
    return {f"{mention.kind}/{mention.name}" for mention in mentions_in(text)}


@pytest.mark.parametrize(("text", "wanted"), NAMED, ids=[text[:30] for text, _ in NAMED])
def test_a_name_is_recognised_under_its_usual_name(text: str, wanted: set[str]):
    assert named(text) == wanted


@pytest.mark.parametrize("text", NOTHING)
def test_plain_words_numbers_and_placeholders_are_no_entities(text: str):
    assert named(text) == set()


def test_a_name_alone_is_read_as_if_between_backticks():
    assert [(one.kind, one.name) for one in mentions_of_name("git credential fill")] == [
        ("command", "git credential")
    ]
    assert mentions_of_name("have") == ()


def test_the_first_recogniser_keeps_its_place():
    """`docs.github.com` in an address is a host, and GitHub is not named a second time."""
    assert named("https://docs.github.com/en/rest") == {"host/docs.github.com"}


def test_every_listed_name_is_recognised_as_itself():
    for kind in ("service", "tool", "package"):
        for spelling in _table()[kind]["any"]:
            assert f"{kind}/{spelling}" in named(
                f"We use {spelling} here."
            ) or spelling.lower() in map(
                str.lower, (one.said for one in mentions_in(f"We use {spelling} here."))
            ), spelling


@given(st.text(alphabet="abcdXYZ019 `/.-_#@:()\n", max_size=120))
def test_mentions_lie_in_the_text_in_order_and_never_overlap(text: str):
    found = mentions_in(text)
    assert all(text[one.start : one.end] == one.said for one in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@given(st.text(max_size=300))
def test_recognising_never_fails(text: str):
    assert list(find_identifiers(text, ())) is not None
    assert mentions_in(text) is not None
