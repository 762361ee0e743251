"""Rules files are checked against their repository: what is gone is named with the day, nothing else is."""

import json
import subprocess
from pathlib import Path

import pytest

from memory_assets.memory.checking import check
from memory_assets_tests.repository import commit


def gone_names(folder: Path) -> dict[str, tuple[str, str]]:
    """Returns what is gone: its state, and where it is now."""
    return {each.name: (each.state, each.moved_to) for each in check(folder).findings}


SCRIPT = "set -e\nrsync -a build/ leith-1:/srv/tide\nsystemctl restart tide\n"
MAKE = "lint:\n\truff check\n\ntest: lint\n\tpytest\n"


def test_what_was_removed_renamed_or_redefined_is_gone_since_that_day(tmp_path: Path):
    rules = (
        "`scripts/deploy.sh`, `feed/poll.py`, `old/api/`, `make lint`, `make test`, `npm run dev`"
    )
    package = json.dumps({"scripts": {"dev": "vite", "build": "vite build"}})
    first = {"scripts/deploy.sh": SCRIPT, "feed/poll.py": "poll()\n", "old/api/a.py": "a\n"}
    commit(tmp_path, {**first, "Makefile": MAKE, "package.json": package, "AGENTS.md": rules})
    assert gone_names(tmp_path) == {}
    commit(tmp_path, {"scripts/deploy.sh": None, "ops/deploy": SCRIPT, "old/api/a.py": None})
    commit(tmp_path, {"ops/deploy": None, "ops/ship": SCRIPT, "feed/poll.py": None})
    commit(tmp_path, {"Makefile": MAKE[19:], "package.json": package.replace("dev", "start")})
    assert gone_names(tmp_path) == {
        "scripts/deploy.sh": ("moved", "ops/ship"),
        "feed/poll.py": ("gone", ""),
        "old/api/": ("gone", ""),
        "lint": ("gone", ""),
        "dev": ("gone", ""),
    }
    checked = check(tmp_path)
    assert {str(each.since) for each in checked.findings} == {"2026-05-02"}
    assert (checked.names, checked.unknown) == (6, 0)


def test_what_may_be_there_is_not_gone(tmp_path: Path):
    rules = (
        "`./.env`, `dist/app.js`, `data/big.bin`, `sub/README.md`, `api/README.md`, `local/notes.txt`,"
        " `make all`, `make serve`, `just build`, `README.md`"
    )
    commit(tmp_path, {"dist/app.js": "1", "data/big.bin": "1", "CLAUDE.md": rules})
    commit(tmp_path, {"dist/app.js": None, "data/big.bin": None, ".gitignore": "dist/\n/data\n"})
    commit(tmp_path, {"web/api/README.md": "x", "Makefile": "include more.mk\n$(ALL):\n\ttrue\n"})
    (tmp_path / "local").mkdir()
    (tmp_path / "local" / "notes.txt").write_text("not tracked")
    assert gone_names(tmp_path) == {}


def test_rules_of_a_folder_are_read_from_there(tmp_path: Path):
    commit(
        tmp_path,
        {"web/src/a.ts": "a", "web/CLAUDE.md": "`src/a.ts`, `src/b.ts`", "web/src/b.ts": "b"},
    )
    commit(tmp_path, {"web/src/b.ts": None, ".cursor/rules/web.mdc": "See `web/src/b.ts`."})
    assert [(each.file, each.name) for each in check(tmp_path / "web").findings] == [
        (".cursor/rules/web.mdc", "web/src/b.ts"), ("web/CLAUDE.md", "src/b.ts"),
    ]  # fmt: skip


def test_symbols_variables_flags_and_dependencies_of_the_project_are_gone_too(tmp_path: Path):
    rules = "Run `tide-poll --since 2d` with `TIDE_ROOT`; `read_gauge()` and `Feed.poll()` serve it, `os.walk()` too. Needs `polars==2.1`."
    code = 'class Feed:\n    def poll(self):\n        arg("--since", environ["TIDE_ROOT"])\n\ndef read_gauge():\n    pass\n'
    manifest = (
        '[project]\ndependencies = ["polars==2.1"]\n[project.scripts]\ntide-poll = "tide:main"\n'
    )
    commit(tmp_path, {"AGENTS.md": rules, "tide.py": code, "pyproject.toml": manifest})
    assert gone_names(tmp_path) == {}
    changed = (
        code.replace("--since", "--from").replace("TIDE_ROOT", "TIDE").replace("gauge", "level")
    )
    commit(tmp_path, {"tide.py": changed, "pyproject.toml": manifest.replace("polars", "duckdb")})
    gone = {"tide-poll --since", "TIDE_ROOT", "read_gauge", "polars"}
    assert gone_names(tmp_path) == dict.fromkeys(gone, ("gone", ""))
    assert check(tmp_path).unknown == 0


def test_without_a_history_only_what_a_folder_lacks_is_missing(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    rules = "`docs/a.md`, `nothing/b.md`, [c](c.md), `make lint`"
    (tmp_path / "README.md").write_text(rules)
    (tmp_path / "Makefile").write_text("test:\n\ttrue\n")
    checked = check(tmp_path)
    assert [each.name for each in checked.findings] == ["docs/a.md", "lint", "c.md"]
    assert {each.state for each in checked.findings} == {"missing"} and not checked.has_history


def test_nothing_that_the_repository_says_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder, mark = tmp_path / "theirs", tmp_path / "ran"
    folder.mkdir()
    rules = {"AGENTS.md": "`a/b.py`", "a/b.py": "b\n", ".gitattributes": "*.py diff=x filter=x\n"}
    commit(folder, rules)
    commit(folder, {"a/b.py": None, "c.py": "b\n"})
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    for name in (
        "core.fsmonitor",
        "diff.external",
        "diff.x.textconv",
        "filter.x.smudge",
        "core.pager",
    ):
        subprocess.run(["git", "config", name, str(program)], cwd=folder, check=True)
    (folder / ".git" / "hooks" / "post-index-change").write_text(f"#!/bin/sh\ntouch {mark}\n")
    for name in ("GIT_EXTERNAL_DIFF", "GIT_DIR", "GIT_SSH_COMMAND"):
        monkeypatch.setenv(name, str(program))
    assert gone_names(folder) == {"a/b.py": ("moved", "c.py")}
    assert not mark.exists()
