"""What a file for agents names: what is written as code, and nothing of its prose."""

import pytest

from memory_assets.stages.verify.names_of_markdown import names_in


def names(markdown: str) -> list[tuple[str, str]]:
    return [(named.kind, named.text) for named in names_in(markdown)]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("Run `make lint test -j4 CC=gcc`.", [("make target", "lint"), ("make target", "test")]),
        (
            '`make bench ROWS="doors start" slow`',
            [("make target", "bench"), ("make target", "slow")],
        ),
        ("First `npm ci && npm run build:web`.", [("package script", "build:web")]),
        ("`just deploy` or `mise run fmt`", [("just recipe", "deploy"), ("mise task", "fmt")]),
        ("See `src/tide/feed.py:12-18`.", [("path", "src/tide/feed.py")]),
        ("See [the notes](docs/notes.md#ports).", [("path", "docs/notes.md")]),
        ("```\n$ make serve  # then make tea\n```", [("make target", "serve")]),
        (
            "```bash\nuv run tools/seed.py --all\n```",
            [("path", "tools/seed.py"), ("flag", "tools/seed.py --all")],
        ),
        (
            "```\nuv init\n```\n# Work on it\nThe rules, in `ops/tide.md`:\n```\nmake tide\n```",
            [("path", "ops/tide.md"), ("make target", "tide")],
        ),
        ("```sh\ncd web\nnpm run dev\n```\n`npm run lint`", [("package script", "lint")]),
    ],
)
def test_commands_and_paths_are_names(markdown: str, expected: list[tuple[str, str]]):
    assert names(markdown) == expected


@pytest.mark.parametrize(
    "prose",
    [
        "We make tests of src/tide and/or docs/notes by hand, make sure of it.",
        "`path/to/file.py`, `your-app/main.py`, `src/<name>.py`, `src/*.py`, `../other/a.py`",
        "[site](https://example.org/a/b), `https://example.org/a/b`, `/etc/hosts`, `--flag`",
        "```python\nopen('data/in.csv')\n```",
        "`make`, `npm run`, `git clone x && make install`, `make -C web build`",
        "```\nnpm init tide\n```\nThen:\n```\nnpm run dev\n```\nand edit `src/app.js`.",
        "Put this into `.github/workflows/tide.yml`:\n\n<!-- start -->\n```yaml\non: push\n```",
        "Run `pytest tests/the-test.py`.",
    ],
)
def test_prose_placeholders_and_other_folders_are_none(prose: str):
    assert names(prose) == []


def test_what_is_the_projects_own_is_found_in_code_alone():
    rules = """TidePoll.run uses `Feed.poll()`, `TIDE_ROOT` and `read_feed`; `Gauge.read` was removed.

```sh
$ pip install tide && tide-admin seed --all  # or `Other.name`
```
"""
    assert names(rules) == [
        ("symbol", "Feed.poll"), ("environment variable", "TIDE_ROOT"), ("symbol", "read_feed"),
        ("flag", "tide-admin --all"),
    ]  # fmt: skip
