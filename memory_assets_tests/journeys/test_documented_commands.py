"""Every command and every piece of Python in the README and the docs runs as it is printed, against a store of its page."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from memory_assets.interfaces.entry import main
from memory_assets.memory import MemoryAgent
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.conftest import NOW, REPOSITORY
from memory_assets_tests.extras.library.document_files import write_epub, write_pdf
from memory_assets_tests.once import built_once, sampled
from memory_assets_tests.repository import commit
from memory_assets_tests.story import lay_out_sample, run

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]

OTHER_PROGRAMS = {
    "uvx": "test_wheel.py installs the wheel with it",
    "uv": "test_wheel.py installs the wheel with it",
    "make": "the test command itself is one of them",
    "python3": "it makes the environment that the tests run in",
    ".venv/bin/python": "it fills the environment that the tests run in",
    ".venv/bin/memory": "it serves until it is stopped",
    "claude": "test_real_clients.py drives the client",
    "codex": "test_real_clients.py drives the client",
    "curl": "it asks a server: interfaces/test_http.py does",
    "celery": "it works until it is stopped: extras/scaling/test_celery_app.py",
    "chroma": "it serves until it is stopped: extras/scaling/test_deployment.py",
    "export": "its value is a person's secret, or names a server",
}
"""Why no command of the program runs here."""

NOT_RUN = {
    "memory serve": "it serves until it is stopped, or makes tokens of such a server",
    "memory library discover https:": "it reads the network: extras/library/test_discoveries.py",
    "memory library feeds": "it reads the network: extras/library/test_discoveries.py",
    "memory model use claude-code": "it asks for a login: journeys/test_harness_models.py",
    "memory model cost": "it needs the model of the command before it",
    "memory data backfill": "it asks a model: journeys/test_model_journey.py",
    "memory lab eval": "it needs labelled sessions: extras/lab/test_gold.py",
    "memory lab what-if adopt": "the branch of the example may change nothing here",
    "memory service": "it asks the system's manager of services: extras/service/test_login_service.py",
    "memory data push": "it needs a server: extras/sharing/test_push.py",
    "memory data pull": "it needs another machine: extras/sharing/test_ssh.py",
    "memory config set push_url": "it needs a server: extras/sharing/test_push.py",
    "memory config set reviewers": "it needs a shared server: extras/sharing/test_shared_memory.py",
    "memory config set chroma": "it needs a server: extras/scaling/test_deployment.py",
    "memory config set remote": "it needs a server: adapters/test_git_remote.py",
    "memory config set store": "it needs a bucket: extras/scaling/test_s3_store.py",
    "memory config set workers": "every later run here would start workers: extras/scaling/test_worker_folders.py",
    "memory config deployment": "it needs a server: extras/scaling/test_deployment.py",
}
"""Beginnings of commands that do not run here, and why."""

RULE = "─"
"""In a line of a drawing."""

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, languages: set[str]) -> list[str]:
    """The code blocks of the page in one of the languages."""
    found = _BLOCK.findall(page.read_text("utf-8"))
    return [content for language, content in found if language in languages]


def commands_of(page: Path) -> list[str]:
    """The commands of the page, in order, without comments."""
    programs = {"memory", *OTHER_PROGRAMS}
    lines = [line for block in blocks(page, {"", "sh"}) for line in block.splitlines()]
    commands = [line.removeprefix("$ ").split("  #")[0].strip() for line in lines]
    return [line for line in commands if line.split(" ")[0] in programs and RULE not in line]


def runs_here(command: str) -> bool:
    return command.split(" ")[0] == "memory" and not command.startswith(tuple(NOT_RUN))


def with_commands() -> list[Path]:
    return [page for page in PAGES if any(map(runs_here, commands_of(page)))]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the `store` of a few sessions of the sample."""

    def build(folder: Path) -> None:
        patterns = ("tidewatch", "019eb302", "019e7be3")
        run("ingest", folder / "store", lay_out_sample(folder / "transcripts", *patterns))

    return built_once(tmp_path_factory, "documented-store", build)


@pytest.fixture
def store(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A copy of that store, which the commands find, in a home folder with what the docs name."""
    home = Path(os.environ["HOME"])
    data = tmp_path / "data" / "store"
    shutil.copytree(built / "store", data, symlinks=True)
    for name, value in {
        "MEMORY_DATA": data,
        "MEMORY_SOURCES": built / "transcripts",
        "MEMORY_OWNER": "mira",
        "MEMORY_NOW": NOW.isoformat(),
    }.items():
        monkeypatch.setenv(name, str(value))
    (home / ".claude").mkdir()
    (tmp_path / "papers").mkdir()
    write_pdf(tmp_path / "papers" / "stories.pdf", ["A narrative rationality is a good story."])
    write_epub(tmp_path / "tempo.epub", {"One": "<p>A narrative rationality has a tempo.</p>"})
    repository = home / "code" / "gull-counter"
    repository.mkdir(parents=True)
    commit(repository, {"README.md": "# Gull counter\n\nCounts gulls in pictures.\n"})
    MemoryAgent(read_settings()).remember("The code of the safe is in the drawer.")
    return open_store(read_settings())


def stand_ins(store: Store) -> Iterator[tuple[str, str]]:
    """Yields an id of the docs and one of the store, for each id that the docs print."""
    memories = store.tables.read("memories").filter(state="active")["id"].to_list()
    for printed, id in zip(("mem_0f3a5c1e", "mem_0f3a5c", "mem_99d1c40b"), memories, strict=False):
        yield printed, f"mem_{id.replace('-', '')[:12]}"
    yield "mem_7be1904c", f"mem_{memories[3].replace('-', '')[:12]}"
    days = store.tables.read("sessions")["day"]
    yield "2026-06-01", str(days.min())
    yield "2026-06-30", str(days.max())
    yield "019e2844", store.tables.read("sessions")["session_id"][0]
    for id in store.tables.read("friction")["proposal_id"].head(1):
        yield "f-20260222-001", id


def words_of(command: str, store: Store) -> list[str]:
    """The words of the command as a shell hands them over, with ids of the store."""
    words = []
    for word in shlex.split(command)[1:]:
        for printed, id in stand_ins(store):
            word = id if word == printed else word
        matches = sorted(str(path) for path in Path().glob(word)) if "*" in word else []
        words += matches or [os.path.expanduser(word)]
    return words


@pytest.mark.slow
@pytest.mark.parametrize("page", sampled(with_commands(), 4), ids=lambda page: page.name)
def test_every_documented_command_runs(
    page: Path, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with chdir(tmp_path):
        for command in filter(runs_here, commands_of(page)):
            words = words_of(command, store)
            if words[:2] in (["data", "restore"], ["data", "import"]):
                words = [*words_of_a_new_store(words), "--store", str(tmp_path / words[1])]
            code = main(words)
            printed = capsys.readouterr()
            assert code == 0, f"{command}\n{printed.out[-1500:]}\n{printed.err[-1500:]}"


def words_of_a_new_store(words: list[str]) -> list[str]:
    """The words with the backup that was just made, without the store that they name."""
    newest = next(iter(Path(words[2]).parent.glob("memory-2*.tar.zst")), None)
    source = str(newest) if words[1] == "restore" else words[2]
    return [*words[:2], source]


def test_every_reason_is_that_of_a_documented_command():
    commands = [command for page in PAGES for command in commands_of(page)]
    for beginning in NOT_RUN:
        assert any(command.startswith(beginning) for command in commands), beginning
    assert {command.split(" ")[0] for command in commands} == {"memory", *OTHER_PROGRAMS}


PIECES = [
    pytest.param(piece, id=page.name)
    for page in PAGES
    for piece in blocks(page, {"python"})
    if "url=" not in piece
]
"""Those that ask no server."""


@pytest.mark.slow
@pytest.mark.parametrize("piece", sampled(PIECES, 3))
def test_every_documented_piece_of_python_runs(piece: str, store: Store, tmp_path: Path):
    import duckdb
    import polars as pl

    import memory_assets

    with chdir(tmp_path):
        exec(piece, {"memory_assets": memory_assets, "pl": pl, "duckdb": duckdb})
    assert store.tables.parts("memories")
