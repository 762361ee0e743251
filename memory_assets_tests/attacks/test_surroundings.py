"""Nothing in a working folder or a repository decides where memory is, who is asked or what is sent.

Every read of the environment, of the working folder and of git's settings in the package is in a list here; a new one fails the test
until somebody has looked at it. Every door can be bound to one store with `--store`, whatever the environment says.
"""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import memory_assets
from memory_assets.interfaces.words import split_store

PACKAGE = Path(memory_assets.__file__).parent

ENVIRONMENT = {
    "__init__.py": "switches that turn the telemetry of libraries off, which are written",
    "adapters/anthropic_model.py": "the key of the model that the settings name",
    "adapters/codex_model.py": "the harness that the settings name",
    "adapters/git_workspace.py": "what git gets: no GIT_ variable but the user's settings for a push",
    "adapters/harness_model.py": "what the harness gets",
    "adapters/repositories.py": "what git gets: where it is, and no GIT_ variable",
    "adapters/local_embedder.py": "what the library gets that runs other models: no download",
    "text/threads.py": "OMP_NUM_THREADS",
    "adapters/todoist_tasks.py": "the token of the service that the settings name",
    "interfaces/cli/app.py": "MEMORY_DEBUG",
    "interfaces/cli/service.py": "the keys in the user's configuration folder, which are written for the service's process",
    "interfaces/completion.py": "the store of --store is written",
    "interfaces/entry.py": "completion; the store of --store is written",
    "interfaces/mcp/protocol.py": "MEMORY_DEBUG",
    "interfaces/notebook.py": "what Jupyter gets",
    "interfaces/views/terminal.py": "LESS, the options of the pager, where it has none",
    "runs/celery_worker.py": "the address of the queue, which is looked for; the folder of Dagster, which is written",
    "runs/instance.py": "the folder of Dagster, which is written",
    "runs/processes.py": "what the processes of days get, with their limits of threads",
    "runs/serving.py": "what Dagster gets",
    "runs/look.py": "the harnesses' folders, to see whether anything there changed",
    "runs/what_if.py": "the folder of Dagster",
    "services/settings/configuration.py": "which variable sets a setting",
    "services/login_service.py": "the user's folders, and which variables the service would not have",
    "services/models/model_offers.py": "which keys exist",
    "services/review/open_triage.py": "the editor",
    "services/sources/transcripts.py": "the folders of harnesses",
    "harnesses/hooked.py": "the folders of harnesses",
    "stages/deliver/hook.py": "MEMORY_HOOKS",
    "stages/deliver/silence.py": "what the command gets that takes in what waits; the store is written",
    "store/places.py": "the data folder and the user's folders",
    "store/unchanged.py": "a hash of the variables that decide what an ingest reads",
}
"""Modules that read the environment, and for what."""

WORKING_FOLDER = {
    "services/settings/change_setting.py": "a relative path that the owner types as the value of a setting",
    "store/places.py": "a relative MEMORY_DATA; a settings file there is named as ignored and never read",
    "store/ready.py": "which project's briefing is printed",
}
"""Modules that read which folder they run in, and for what."""

GIT_SETTINGS = {"store/projects.py": "the address of `origin`, for the project's name"}


def modules() -> Iterator[tuple[str, ast.AST]]:
    """Yields the path and the syntax tree of each module of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text("utf-8"))


def reading(*names: str, of: tuple[str, ...] = ("os", "Path", "pathlib")) -> set[str]:
    """Returns the modules that use an attribute of these names, of these modules or classes."""
    return {
        module
        for module, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in names
        and isinstance(node.value, ast.Name)
        and node.value.id in of
    }


def test_the_environment_is_read_in_known_places_only() -> None:
    assert reading("environ", "environb", "getenv") == set(ENVIRONMENT)


def test_the_working_folder_is_read_in_known_places_only() -> None:
    assert reading("getcwd", "getcwdb", "cwd") == set(WORKING_FOLDER)


def test_settings_of_git_are_read_in_known_places_only() -> None:
    found = {
        module
        for module, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in ("config", ".git/config", "--get")
        and not module.startswith(("interfaces/cli/", "runs/launch"))  # a command, and a key of Dagster's run configuration
    }  # fmt: skip
    assert found == set(GIT_SETTINGS)


def test_no_module_loads_code_or_settings_by_a_name_from_elsewhere() -> None:
    """`dotenv`, `sitecustomize`, `runpy` and pickles would run what a folder brings."""
    imported = {
        alias.name.split(".")[0]
        for _, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported & {"dotenv", "pickle", "shelve", "runpy", "marshal", "imp"} == set()


@pytest.mark.parametrize(
    ("words", "rest", "store"),
    [
        (["--store", "/s", "status"], ["status"], "/s"),
        (["serve", "mcp", "--store", "/s", "--write"], ["serve", "mcp", "--write"], "/s"),
        (["recall", "x", "--store=/s"], ["recall", "x"], "/s"),
        (["recall", "--", "--store", "/s"], ["recall", "--", "--store", "/s"], None),
        (["status", "--store"], ["status"], ""),
        (["status", "--store", "--json"], ["status"], ""),
        (["status"], ["status"], None),
    ],
)
def test_the_store_is_found_among_the_words(
    words: list[str], rest: list[str], store: str | None
) -> None:
    assert split_store(words) == (rest, store)


def run(words: list[str], folder: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the command in a folder whose files and variables name another store."""
    environment = {
        **os.environ,
        "MEMORY_DATA": str(folder / "theirs"),
        "PYTHONPATH": str(PACKAGE.parent),
    }
    command = [sys.executable, "-P", "-m", "memory_assets.interfaces.entry", *words]
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("door", ["command line", "tools", "hook", "event"])
def test_every_door_can_be_bound_to_one_store_whatever_surrounds_it(
    door: str, tmp_path: Path
) -> None:
    ours, folder = tmp_path / "ours", tmp_path / "repository"
    for root, text in ((ours, "OURS"), (folder / "theirs", "THEIRS")):
        (root / "workspace").mkdir(parents=True)
        (root / "VERSION").write_text("1")
        (root / "workspace" / "briefing.md").write_text(f"# Briefing\n\n{text}\n")
    (folder / "memory.toml").write_text(f'data = "{folder / "theirs"}"\n')
    (folder / ".env").write_text(f"MEMORY_DATA={folder / 'theirs'}\n")
    bound = ["--store", str(ours)]
    if door == "command line":
        done = run(["brief", *bound], folder)
    elif door == "hook":
        done = run(
            ["hooks", "run", "claude_code", "SessionStart", *bound],
            folder,
            json.dumps({"session_id": "s"}),
        )
    elif door == "event":
        run(["send", "memory/session.ended", "--session", "s", *bound], folder)
        assert [path.parent.name for path in (ours / "spool").glob("*.jsonl")] == ["spool"]
        assert not (folder / "theirs" / "spool").exists()
        return
    else:
        asked = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "resources/read",
            "params": {"uri": "memory://briefing"},
        }
        done = run(["serve", "mcp", *bound], folder, json.dumps(asked) + "\n")
    assert "OURS" in done.stdout and "THEIRS" not in done.stdout, (done.stdout, done.stderr)


def test_a_store_without_a_folder_is_a_clear_error(tmp_path: Path) -> None:
    done = run(["status", "--store"], tmp_path)
    assert (done.returncode, "--store needs the data folder" in done.stderr) == (2, True)
