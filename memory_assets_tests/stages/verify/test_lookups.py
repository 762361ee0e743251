"""What a text names is looked up in a repository with a history: what was there and is not is gone, a value that was taken
out is changed, and where in doubt it holds or is unknown."""

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from memory_assets.adapters.git_reading import reading
from memory_assets.stages.verify.lookups import Lookups
from memory_assets.stages.verify.named import Named, NamedKind
from memory_assets.stages.verify.verdict import Verdict
from memory_assets_tests.repository import commit, git

MARCH, MAY = date(2026, 3, 1), date(2026, 5, 2)

FEED = """
MAX_POLLS = 3
class Feed:
    def poll(self, retries=5):
        return self.read("--fast", TIDE_TOKEN, TIDE_LEVEL, TIDE_DEPTH)
def parse(text):
    return text
"""
PYPROJECT = """
[project]
name = "tide"
dependencies = ["polars==2.1.0", "httpx>=0.27,<1", "tabulate"]
[project.scripts]
tide = "tide.cli:main"
tide-sync = "tide.sync:main"
"""
CLI = 'COMMANDS = ["fetch", "drain"]\nparser.add_argument(\n    "--port",\n    type=int,\n    default=8080,\n)\n'
ADR = "# 3. Sessions in Redis\n\n- Status: accepted\n"
SERVER = "package main\nfunc Serve() {}\nfunc (s *Dish) decodeSweep() {}\nconst (\n\tBeam float64 = 5\n)\ntype Site struct {\n\tHeight int\n}\n"

FIRST = {
    "src/tide/feed.py": FEED,
    "src/tide/cli.py": CLI,
    "pyproject.toml": PYPROJECT,
    "package.json": json.dumps({"bin": {"tidy": "cli.js"}, "dependencies": {"react": "^18.2.0"}}, indent=1),
    "config.yaml": "server:\n  port: 8080\n  timeout: 30s\n  max_lines: 4\n  workers: 4\n",
    "docs/adr/0003-sessions.md": ADR,
    "docs/adr/0004-queue.md": "# 4. A queue\n\nStatus: accepted\n",
    "cmd/tided/main.go": SERVER,
    "web/map.ts": "export class Chart {\n  draw(scale: number) {\n  }\n}\nexport const zoomBy = 2;\n",
    "src/lib.rs": "pub fn tide_level() {}\npub struct Gauge;\n",
    "ops/ship.sh": "upload() {\n  true\n}\n",
    "Makefile": "lint:\n\ttrue\ncheck live: lint\n\ttrue\n",
    "requirements.lock": 'name = "numpy"\nversion = "1.26.0"\n',
}  # fmt: skip
SECOND = {
    "src/tide/feed.py": 'class Stream:\n    def parse(self, tries=5):\n        # poll is history\n',
    "src/tide/cli.py": CLI.replace("8080", "9_090").replace('"drain"', '"empty"'),
    "src/tide/words.py": "def parse(text):\n    return text\n",
    "pyproject.toml": PYPROJECT.replace("2.1.0", "2.3.0").replace(', "tabulate"', "").replace("tide-sync", "tide-pull"),
    "package.json": json.dumps({"dependencies": {"react-dom": "^19.0.0", "react": "^19.0.0"}}, indent=1),
    "config.yaml": "server:\n  workers: 4\n  port: 9090\n  timeout: 60s\n  max_rows: 4\n",
    "docs/adr/0003-sessions.md": ADR.replace("accepted", "superseded by 0009"),
    "docs/adr/0004-queue.md": None,
    "cmd/tided/main.go": "package main\nfunc Serve() {}\n// decodeSweep was slow\n",
    "web/map.ts": "export class Map {\n  draw(scale: number) {\n  }\n}\n",
    "src/lib.rs": "pub fn level() {}\n",
    "ops/ship.sh": "send() {\n  true\n}\n",
    "Makefile": "lint:\n\ttrue\ncheck: lint\n\ttrue\n",
    "requirements.lock": 'name = "numpy"\nversion = "2.0.0"\n',
    "CHANGES.md": "`--fast`, `tabulate`, TIDE_TOKEN and zoomBy are gone. The port was 8080.\n",
    "docs/settings.md": "`TIDE_LEVEL` sets the level.\n",
    "src/tide/settings.py": "class Settings:\n    depth: int = 3\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def lookups(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lookups]:
    folder = tmp_path_factory.mktemp("tide")
    commit(folder, FIRST, "2026-02-01", "Begin (#57)")
    git(folder, "branch", "release/2.x")
    commit(folder, SECOND, "2026-05-02", "Everything is new")
    git(folder, "checkout", "-qb", "feature/gauge")
    commit(folder, {"gauge.txt": "1"}, "2026-05-03")
    git(folder, "checkout", "-q", "main")
    message = "Merge pull request #61 from mira/feature/gauge"
    git(folder, "merge", "-q", "--no-ff", "-m", message, "feature/gauge", day="2026-05-04")
    git(folder, "branch", "-D", "feature/gauge")
    git(folder, "update-ref", "refs/remotes/origin/next", "HEAD")
    git(folder, "pack-refs", "--all")
    with reading(folder) as history:
        assert history is not None
        yield Lookups(folder, history)


def verdict(
    lookups: Lookups, kind: NamedKind, text: str, value: str = "", on: date = MARCH
) -> Verdict:
    return lookups.verdict(Named(kind, text, value=value), Path("/nowhere"), on)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("symbol", "Feed.poll()"), ("symbol", "zoomBy"), ("symbol", "Chart.draw"), ("symbol", "MAX_POLLS"),
        ("symbol", "(*Dish).decodeSweep(b)"), ("symbol", "Beam"), ("symbol", "Site.Height"), ("symbol", "tide_level"), ("symbol", "Gauge"), ("symbol", "upload"),
        ("flag", "--fast"), ("flag", "tide --fast"), ("flag", "tide-sync --fast"),
        ("command", "tide-sync"), ("command", "tide drain"), ("command", "tidy"),
        ("dependency", "tabulate"), ("environment variable", "TIDE_TOKEN"), ("setting", "server.max_lines"),
        ("decision record", "ADR-0004"), ("make target", "live"),
    ],
)  # fmt: skip
def test_what_was_there_once_and_is_nowhere_now_is_gone_since_that_day(
    lookups: Lookups, kind: NamedKind, text: str
):
    gone = verdict(lookups, kind, text)
    assert (gone.state, gone.since) == ("gone", MAY)
    assert len(gone.commit) == 40


def test_a_merged_branch_is_gone_since_its_merge(lookups: Lookups):
    assert verdict(lookups, "branch", "feature/gauge").since == date(2026, 5, 4)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("setting", "port", "8080"), ("flag", "tide --port", "8080"), ("setting", "timeout", "30 seconds"),
        ("dependency", "polars", "2.1"), ("dependency", "react", "18"), ("dependency", "numpy", "1.26.0"),
        ("decision record", "ADR 3", ""),
    ],
)  # fmt: skip
def test_a_value_that_was_taken_out_after_the_day_is_changed(
    lookups: Lookups, kind: NamedKind, text: str, value: str
):
    changed = verdict(lookups, kind, text, value)
    assert (changed.state, changed.since) == ("changed", MAY)
    assert verdict(lookups, kind, text, value, on=MAY).state == "holds"


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("symbol", "Serve", ""), ("symbol", "parse", ""), ("symbol", "Map.draw", ""), ("flag", "--port", "9090"),
        ("command", "tide fetch", ""), ("command", "tided", ""), ("command", "ops/ship.sh", ""),
        ("dependency", "polars", ""), ("dependency", "httpx", "0.27"), ("dependency", "react-dom", "19"),
        ("setting", "workers", "4"), ("setting", "port", "9,090"), ("setting", "port", ""), ("setting", "port", "5432"),
        ("branch", "main", ""), ("branch", "release/2.x", ""), ("branch", "next", ""), ("pull request", "#57", ""),
        ("pull request", "PR 61", ""), ("make target", "Lint", ""), ("decision record", "ADR-3", ""),
    ],
)  # fmt: skip
def test_what_is_there_holds(lookups: Lookups, kind: NamedKind, text: str, value: str):
    assert verdict(lookups, kind, text, value, on=MAY) == Verdict("holds")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("symbol", "never_defined"), ("flag", "docker --fast"), ("command", "docker"), ("dependency", "django"),
        ("environment variable", "OTHER_TOKEN"), ("setting", "altitude"), ("branch", "spike"), ("commit", "abcdef1"),
        ("pull request", "#5"), ("decision record", "ADR-12"), ("make target", "elsewhere"),
    ],
)  # fmt: skip
def test_of_what_the_history_never_had_nothing_is_known(
    lookups: Lookups, kind: NamedKind, text: str
):
    assert verdict(lookups, kind, text) == Verdict("unknown")


@pytest.mark.parametrize(
    ("kind", "text"), [("symbol", "zoomBy"), ("flag", "--fast"), ("dependency", "tabulate")]
)
def test_of_what_was_taken_out_before_the_text_was_written_nothing_is_known(
    lookups: Lookups, kind: NamedKind, text: str
):
    """The text can speak of its end, or of another project."""
    assert verdict(lookups, kind, text, on=MAY) == Verdict("unknown")
    assert lookups.verdict(Named(kind, text), Path("/nowhere")).since == MAY


@pytest.mark.parametrize("name", ["TIDE_LEVEL", "TIDE_DEPTH"])
def test_a_variable_that_a_document_or_a_field_of_settings_names_holds(lookups: Lookups, name: str):
    assert verdict(lookups, "environment variable", name) == Verdict("holds")


def test_a_commit_is_found_by_the_first_digits_of_its_id(tmp_path: Path):
    id = commit(tmp_path, {"a.py": "a"})
    assert _verdict_of(tmp_path, Named("commit", id[:8])) == Verdict("holds")


def test_a_commit_that_another_one_reverted_is_gone_until_that_is_reverted(tmp_path: Path):
    first = commit(tmp_path, {"a.py": "a"})
    revert = commit(
        tmp_path, {"a.py": None}, "2026-05-02", f"Revert a\n\nThis reverts commit {first}."
    )
    assert _verdict_of(tmp_path, Named("commit", first[:8])) == Verdict(
        "gone", date(2026, 5, 2), revert
    )
    commit(tmp_path, {"a.py": "a"}, "2026-05-03", f"Reapply a\n\nThis reverts commit {revert}.")
    assert _verdict_of(tmp_path, Named("commit", first[:8])).state == "holds"


def _verdict_of(folder: Path, named: Named) -> Verdict:
    with reading(folder) as history:
        return Lookups(folder, history).verdict(named, folder)


def test_what_is_changed_in_the_working_tree_alone_still_holds(tmp_path: Path):
    """What HEAD has, and what only the working tree has, is there."""
    commit(
        tmp_path,
        {"a.py": "def first(): 1\n", "b.py": "def first(): 1\n", "c.py": "def third(): 1\n"},
    )
    commit(tmp_path, {"b.py": "def second(): 1\n", "c.py": None})
    (tmp_path / "a.py").write_text("")
    (tmp_path / "d.py").write_text("third()\n")
    for name in ("first", "third"):
        assert _verdict_of(tmp_path, Named("symbol", name)) == Verdict("holds")


SCRIPT = "".join(f"step {number}\n" for number in range(20))


def test_a_path_is_followed_through_every_rename(tmp_path: Path):
    (tmp_path / "tide").mkdir()
    folder = tmp_path / "tide"
    commit(
        folder, {"sh/a.sh": SCRIPT, "old/b.py": "b\n", "c.py": "c\n", "d.py": "d\n"}, "2026-02-01"
    )
    git(folder, "mv", "old", "new")
    commit(folder, {"sh/a.sh": None, "bin/a.sh": f"{SCRIPT}more\n", "c.py": None}, "2026-03-01")
    git(folder, "mv", "new", "newest")
    commit(
        folder,
        {"bin/a.sh": None, "bin/last.sh": SCRIPT, "c.py": "c\n", "d.py": None, "e.py": "d\n"},
        "2026-04-01",
    )
    commit(folder, {"e.py": None}, "2026-05-01")
    (folder / "newest" / "b.py").unlink()
    with reading(folder) as history:
        lookups = Lookups(folder, history)
        assert {path: str(verdict(lookups, "path", path).since) for path in ("sh/a.sh", "old/", "d.py")} == {
            "sh/a.sh": "2026-03-01", "old/": "2026-03-01", "d.py": "2026-05-01",
        }  # fmt: skip
        names = (
            "sh/a.sh",
            "old",
            f"{folder}/old/b.py",
            "tide/sh/a.sh",
            "d.py",
            "c.py",
            "newest/b.py",
            "/etc/hosts.x",
        )
        verdicts = [verdict(lookups, "path", path) for path in names]
        assert [(each.state, each.moved_to) for each in verdicts] == [
            ("moved", "bin/last.sh"), ("moved", "newest"), ("moved", "newest/b.py"), ("moved", "bin/last.sh"), ("gone", ""),
            ("holds", ""), ("holds", ""), ("unknown", ""),
        ]  # fmt: skip


def test_what_is_of_others_or_goes_where_nobody_looks_is_not_gone(tmp_path: Path):
    minified = "max_retries=1;" * 20_000
    commit(
        tmp_path,
        {
            "pytest.ini": "[pytest]\n",
            "uv.lock": 'name = "ruffle"\n',
            "package.json": '{"scripts": {"a": "b"}, "dependencies": {"prisma": "^5.1.0"}}',
            "Makefile": "lint:\n\ttrue\n",
            "mise.toml": '[tasks.fill]\nrun = "true"\n',
            "pyproject.toml": 'dependencies = ["django==4.2"]\n',
            "web/app.js": "  useTide(() => {\n  });\ncall(\n  depth=5,\n)\n",
            "web/app.min.js": minified,
        },
        "2026-02-01",
    )
    commit(
        tmp_path,
        {
            "pytest.ini": None,
            "uv.lock": None,
            "package.json": "{}",
            "Makefile": "ifdef A\n  -include common.mk\nendif\n",
            "common.mk": "lint:\n\ttrue\n",
            "mise.toml": "[tools]\n",
            "mise-tasks/fill": "true\n",
            "pyproject.toml": "dependencies = []\n",
            "requirements/base.txt": "django==4.2\n",
            "web/app.js": "",
            "web/app.min.js": f"{minified};",
        },
    )
    others = (("command", "pytest"), ("command", "ruffle"), ("command", "prisma"), ("make target", "lint"), ("mise task", "fill"), ("dependency", "django"), ("symbol", "useTide"), ("symbol", "depth"))  # fmt: skip
    states = {name: _verdict_of(tmp_path, Named(kind, name)).state for kind, name in others}
    assert {name for name, state in states.items() if state in ("gone", "changed")} == set()
    short = Named("setting", "max_retries", value="5")
    assert _verdict_of(tmp_path, short).state != "changed"


def test_after_the_time_for_all_questions_nothing_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    commit(tmp_path, {"a.py": "def first(): 1\n"})
    commit(tmp_path, {"a.py": "def second(): 1\n"})
    with reading(tmp_path) as history:
        lookups = Lookups(tmp_path, history)
        assert lookups.verdict(Named("symbol", "first"), tmp_path).state == "gone"
        monkeypatch.setattr("memory_assets.adapters.git_reading.monotonic", lambda: 1e12)
        assert lookups.verdict(Named("symbol", "first"), tmp_path) == Verdict("unknown")
