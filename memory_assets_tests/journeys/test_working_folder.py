"""The working folder may be a stranger's repository: its files set nothing, and a `memory.toml` that is ignored is named."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_assets.interfaces import entry as fast
from memory_assets.store import places
from memory_assets.store.settings import Settings, read_settings
from memory_assets_tests.conftest import REPOSITORY
from memory_assets_tests.mcp_process import McpProcess
from memory_assets_tests.messages_api import KEY, MessagesApi, serve
from memory_assets_tests.settings_files import user_settings
from memory_assets_tests.small_store import FACT, index, small_store
from memory_assets_tests.story import ONE_SESSION, lay_out_sample

QUESTION = "how do we install packages"
STATUS = ["status", "--json"]


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with serve(lambda body: "said") as served:
        yield served


@pytest.fixture
def clone(tmp_path: Path, api: MessagesApi, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with settings of its own; the store is named by the user's file alone, so that they could win."""
    folder = tmp_path / "clone"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "remote.git")], check=True)
    lay_out_sample(folder / "transcripts", "/pi/")
    hostile = {
        "data": folder / "store",
        "sources": folder / "transcripts",
        "model": "claude-haiku-4-5",
        "model_url": api.url,
        "remote": tmp_path / "remote.git",
        "todoist_url": api.url,
        "owner": "mallory",
        "embedding_model": folder,
    }
    lines = "".join(f"{name} = {json.dumps(str(value))}\n" for name, value in hostile.items())
    (folder / "memory.toml").write_text(lines)
    (folder / ".env").write_text(
        "".join(f"MEMORY_{name.upper()}={value}\n" for name, value in hostile.items())
    )
    monkeypatch.delenv("MEMORY_DATA")
    monkeypatch.delenv("MEMORY_TODOIST_URL")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    monkeypatch.setattr(places, "CHECKOUT", str(tmp_path / "nowhere"))
    user_settings(
        f"data = {json.dumps(str(tmp_path / 'store'))}\nsources = {json.dumps(str(tmp_path / 'mine'))}\n"
    )
    return folder


def run(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from memory_assets.interfaces.entry import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=500,
    )


def data_of(done: subprocess.CompletedProcess[str]) -> dict:
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)["data"]


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_settings_are_the_same_in_every_working_folder(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    elsewhere: Settings = read_settings()
    monkeypatch.chdir(clone)
    assert read_settings() == elsewhere
    assert elsewhere.data == tmp_path / "store"


def test_the_quick_way_finds_one_store_in_every_working_folder(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(clone)
    assert places.find_data() == str(tmp_path / "store")
    user_settings("")
    assert places.find_data() == str(tmp_path / "home" / ".local" / "share" / "memory_assets")


def test_a_question_is_answered_from_the_users_store_and_sent_nowhere(
    clone: Path, api: MessagesApi
):
    index(small_store())
    before = files_in(clone)
    found = data_of(run(clone, "recall", QUESTION, "--json"))["results"]
    said = data_of(run(clone, "recall", QUESTION, "--answer", "--json"))
    assert (found[0]["text"], said["cost"]["model_calls"]) == (FACT, 0)
    assert (api.requests, files_in(clone)) == ([], before)


def test_the_same_question_is_sent_to_the_server_that_the_users_file_names(
    clone: Path, tmp_path: Path, api: MessagesApi
):
    index(small_store())
    named = {"data": str(tmp_path / "store"), "model": "claude-haiku-4-5", "model_url": api.url}
    user_settings("".join(f"{name} = {json.dumps(value)}\n" for name, value in named.items()))
    data_of(run(clone, "recall", QUESTION, "--answer", "--json"))
    assert api.requests != []


def test_transcripts_that_the_working_folder_names_are_not_taken_in(
    clone: Path, tmp_path: Path, api: MessagesApi
):
    (tmp_path / "mine").mkdir()
    before = files_in(clone)
    done = run(clone, "ingest", "--json")
    assert str(tmp_path / "mine") in done.stdout
    assert (api.requests, files_in(clone)) == ([], before)


@pytest.mark.slow
def test_what_is_taken_in_is_sent_nowhere_and_pushed_nowhere(
    clone: Path, tmp_path: Path, api: MessagesApi
):
    lay_out_sample(tmp_path / "mine", ONE_SESSION)
    before = files_in(clone)
    built = data_of(run(clone, "ingest", "--json"))
    assert (built["status"]["store"], built["status"]["rows"]["facts"] > 0) == (
        str(tmp_path / "store"),
        True,
    )
    assert (api.requests, files_in(clone)) == ([], before)
    assert list((tmp_path / "remote.git" / "refs" / "heads").iterdir()) == []


def test_the_server_of_tools_answers_from_the_users_store(clone: Path, tmp_path: Path):
    index(small_store())
    with McpProcess("--structured", cwd=clone) as server:
        assert (
            server.ask("initialize", {"protocolVersion": "2025-06-18"})["result"]["serverInfo"][
                "name"
            ]
            == "memory_assets"
        )
        status = server.call("memory_status")["result"]["structuredContent"]["data"]
        found = server.call("memory_recall", question=QUESTION)["result"]["structuredContent"][
            "data"
        ]["results"]
        code, rest, told = server.hang_up()
    assert (status["store"], [one["text"] for one in found]) == (str(tmp_path / "store"), [FACT])
    assert (code, rest) == (0, [])
    assert told.count(str(clone / "memory.toml")) == 1


@pytest.mark.parametrize(
    "words",
    [["status"], ["status", "--line"], STATUS, ["brief"], ["brief", "--json"], ["review", "list"]],
)
def test_an_ignored_file_is_named_once_on_stderr_with_where_settings_belong(
    clone: Path, words: list[str]
):
    small_store()
    done = run(clone, *words)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        f"memory: ignored {clone / 'memory.toml'}: no settings are read from the working folder. "
        f"Yours belong in {places.user_settings_file()}."
    ]
    assert "memory.toml" not in done.stdout


def test_a_folders_name_steers_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    folder = tmp_path / "a\x1b[2J\nb"
    folder.mkdir()
    (folder / "memory.toml").write_text("")
    monkeypatch.chdir(folder)
    fast.warn_of_ignored_settings()
    told = capsys.readouterr().err
    assert "a?[2J?b/memory.toml" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    "folder_of", [lambda: places.find_data(), lambda: os.path.dirname(places.user_settings_file())]
)
def test_a_file_that_applies_is_not_called_ignored(
    folder_of: Callable[[], str], monkeypatch: pytest.MonkeyPatch
):
    folder = Path(folder_of())
    folder.mkdir(parents=True)
    (folder / "memory.toml").write_text("port = 4000\n")
    monkeypatch.chdir(folder)
    assert (places.ignored_settings_file(), read_settings().port) == (None, 4000)
