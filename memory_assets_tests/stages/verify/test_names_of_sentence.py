"""What a sentence of a memory names: what has the shape of a name, and nothing of its prose."""

import pytest

from memory_assets.stages.verify.names_of_sentence import names_in_sentence


def names(sentence: str) -> list[tuple[str, ...]]:
    """Returns kind and text of each name, and the value where one is stated."""
    found = names_in_sentence(sentence)
    return [tuple(filter(None, (named.kind, named.text, named.value))) for named in found]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("src/tide/feed.py polls the gauges.", ["path src/tide/feed.py"]),
        ("The parser lives in internal/gauges beside ./web/ and the Makefile.", ["path internal/gauges", "path web/", "path Makefile"]),
        ("Feeds are under ops/tide, notes in ../notes/ports.", ["path ops/tide", "path ../notes/ports"]),
        ("Charts went to docs/charts, gauges into the tide/gauges folder.", ["path docs/charts", "path tide/gauges"]),
        ("`gauge.read()` calls Feed.poll() through feed_reader.", ["symbol gauge.read", "symbol Feed.poll", "symbol feed_reader"]),
        ("Run `make lint`, then mise run fmt.", ["make target lint", "mise task fmt"]),
        ("Start it with `TIDE_ROOT=/srv uv run tide poll --json`.", ["environment variable TIDE_ROOT", "command uv run", "command tide poll", "flag tide --json"]),
        ("`tide-admin seed` is run before `./cmd/tide-web --open -v`.", ["command tide-admin seed", "path cmd/tide-web", "flag tide-web --open", "flag tide-web -v"]),
        ("git push --force is never used, --dry-run is.", ["command git push", "flag git --force", "flag --dry-run"]),
        ("`cargo run -p tide -- --once`", ["command cargo run", "flag cargo -p", "flag --once"]),
        ("The mise tasks test:unit and lint:go run go test -race, then -count=1, and tidy go.mod/go.sum.", ["mise task test:unit", "mise task lint:go", "command go test", "flag go -race", "flag -count", "path go.mod", "path go.sum"]),
        ("We are on branch release/2.x; the `develop` branch is behind.", ["branch release/2.x", "branch develop"]),
        ("We depend on redis, tables are drawn with the `tabulate` package, and much depends on strategy.", ["dependency redis", "dependency tabulate"]),
        ("PR 123 (commit 4f2a9bc1d0) follows ADR 12.", ["pull request #123", "commit 4f2a9bc1d0", "decision record ADR-0012"]),
    ],
)  # fmt: skip
def test_what_has_the_shape_of_a_name_is_one(sentence: str, expected: list[str]):
    assert [f"{kind} {text}" for kind, text in names(sentence)] == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Use polars 2.1 with torch==2.13.0 and `react@19`.", [("polars", "2.1"), ("torch", "2.13.0"), ("react", "19")]),
        ("pandas was upgraded from 1.5.3 to 2.2.0.", [("pandas", "2.2.0")]),
        ("golangci-lint stays pinned at v2.11.4 in mise.toml.", [("golangci-lint", "v2.11.4")]),
        ("The API listens on port 8080, the database on localhost:5432.", [("port", "8080"), ("port", "5432")]),
        ("`max_retries` defaults to 5, and the timeout is 30 seconds.", [("max_retries", "5"), ("timeout", "30")]),
        ("ruff has `line-length = 100` here.", [("line-length", "100")]),
        ("It listens on :7070 at 10:30, beside postgres:15.6.", [("port", "7070"), ("postgres", "15.6")]),
        ("sqlalchemy is pinned to 2.0.25, tide.hold_minutes is 25 and MAX_DEPTH is 9.", [("sqlalchemy", "2.0.25"), ("tide.hold_minutes", "25"), ("MAX_DEPTH", "9")]),
        ("pytest takes 2.5 seconds, uv is 10.5 times faster, version 2.1 has 3.5 MB.", []),
    ],
)  # fmt: skip
def test_a_value_belongs_to_what_it_is_stated_of(sentence: str, expected: list[tuple[str, str]]):
    assert [named[1:] for named in names(sentence) if len(named) == 3] == expected


@pytest.mark.parametrize(
    "prose",
    [
        "Client/server, and/or, read/write, yes/no, the docs/tests split, TCP/IP and I/O run 24/7 on Node.js.",
        "On 2026/05/02 it was 3/4 done, at 02:30, a ratio of 1:2, 99.9%, step 3.1 of section 2.4.",
        "Ask mira@example.org, see https://example.org/a/b.md or github.com/tide/feed/tree/main/src.",
        "It sends text/html or application/json for the tidewater/gauges repository, see issue #12.",
        "Make sure that we just do it; GitHub, TypeScript and the -ing form are words.",
        "`connection refused`, `shared pool size`, `path/to/feed.py`, origin/main, refs/heads/x",
        "It runs in client/server mode, was moved to read/write access and is told in docs, tests and tools.",
        "`brew install tidewater/tap/gauges` works.",
    ],
)
def test_prose_is_never_taken_for_a_name(prose: str):
    assert [named for named in names(prose) if named != ("command", "brew install")] == []


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("scripts/deploy.sh was removed.", []),
        ("The hook `mise run fill`, the list and `ops/fill.sh` were removed.", []),
        ("We moved it from `ops/start.sh` to `ops/run.sh`.", ["ops/run.sh"]),
        ("The old tide-admin --force flag is replaced by --force-with-lease.", ["--force-with-lease"]),
        ("Never use `useEffect` for data fetching.", []),
        ("Never pass `allow_redirects=False`; always pass `--strict` to tide-admin.", ["--strict"]),
        ("Never remove `docs/api.md`; the poller deletes `data/feed.db` at night.", ["docs/api.md", "data/feed.db"]),
    ],
)  # fmt: skip
def test_what_the_sentence_says_is_gone_is_not_looked_up(sentence: str, expected: list[str]):
    assert [text for _, text in names(sentence)] == expected


def test_of_a_text_without_end_the_beginning_is_read():
    assert (
        len(list(names_in_sentence("".join(f"`a/b{number}.py` " for number in range(20_000)))))
        < 200
    )
