"""Completion: commands, options and words of the store, in the form of each shell, silent whatever the store looks like."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_assets.interfaces.completion import INSTRUCTION, complete, read_commands, words_of, zsh
from memory_assets.memory.completion import find_words
from memory_assets_tests.generated import describe_commands
from memory_assets_tests.small_store import DAY, MEMORY, PROPOSAL, index, small_store, write

ID = "mem_0f3a5c1e0000"
ENTRY = "import sys; from memory_assets.interfaces.entry import main; sys.exit(main())"


def words(line: str) -> list[str]:
    """Returns what completes the last word of the line."""
    *before, beginning = line.split(" ")
    return [word for word, _ in complete(before, beginning, read_commands())]


def test_the_description_of_the_commands_is_that_of_the_program():
    for path, commands in describe_commands().items():
        assert json.loads(path.read_text("utf-8")) == commands, "run `make docs`"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("re", ["recall", "remember", "review", "restore"]),
        ("data fe", ["feedback"]),
        ("recall how --prof", ["--profile"]),
        ("recall --profile ", ["lean", "balanced", "deep", "auto"]),
        ("recall --profile=l", ["--profile=lean"]),
        ("recall --category pr", ["preferences", "projects"]),
        ("recall --json --corpus m", ["memories", "messages"]),
        ("recall --profile lean --include s", ["stale", "superseded"]),
        ("data show observat", ["observations"]),
        ("data export messages --format ", ["jsonl", "csv", "parquet"]),
        ("config least", ["least_useful"]),
        ("config set idle", ["idle_minutes"]),
        ("hooks install c", ["claude_code", "codex"]),
        ("hooks install pi c", ["claude_code", "codex"]),
        ("lab what-if a", ["adopt"]),
        ("recall a question --limit ", []),
        ("nothing of ours ", []),
    ],
)
def test_commands_options_and_fixed_words_are_completed(line: str, wanted: list[str]):
    assert words(line) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("explain mem_", [ID]),
        ("explain 0f3", [MEMORY]),
        ("explain p-", [PROPOSAL]),
        ("forget mem_0", [ID]),
        ("data feedback ", [ID]),
        ("data feedback mem_x mem_", [ID]),
        ("remember text --instead-of mem_", [ID]),
        ("restore mem_", []),
        ("review approve ", [PROPOSAL]),
        ("review edit p-", [PROPOSAL]),
        ("recall q --only-project ", ["x"]),
        ("recall q --person ", ["x"]),
        ("model add ", ["x"]),
        ("data show observations --day ", [str(DAY)]),
        ("recall q --session ", ["session-1"]),
    ],
)
def test_ids_projects_and_days_come_from_the_store(line: str, wanted: list[str]):
    index(small_store())
    assert words(line) == wanted


def damaged() -> Iterator[str]:
    """Yields the names of stores that cannot be read, each of them the present one meanwhile."""
    yield "missing"
    store = small_store()
    for table in ("memories", "windows"):
        (store.root / "tables" / table / "data.parquet").write_bytes(b"PAR1 torn")
    (store.workspace / "REVIEW.md").write_bytes(b"\xff\x00- [ ] `p-")
    yield "torn"
    shutil.rmtree(store.root / "tables")
    yield "without tables"


def test_a_missing_or_damaged_store_completes_nothing_and_says_nothing(
    capsys: pytest.CaptureFixture[str],
):
    for _ in damaged():
        for line in ("explain mem_", "review approve ", "recall --project "):
            assert words(line) == []
    assert capsys.readouterr() == ("", "")


def test_a_project_whose_name_a_shell_would_run_is_left_out():
    store = small_store()
    rows = store.tables.read("windows").to_dicts()
    write(
        store,
        "windows",
        "all",
        *rows,
        rows[0] | {"window_id": "v" * 64, "project": "$(touch here)"},
    )
    assert [word for word, _ in find_words("project", "")] == ["x"]


@pytest.mark.parametrize(
    ("shell", "environ", "wanted"),
    [
        (
            "complete_bash",
            {"COMP_WORDS": "memory recall 'how do we", "COMP_CWORD": "2"},
            (["recall"], "how do we"),
        ),
        ("complete_bash", {"COMP_WORDS": "memory recall ", "COMP_CWORD": "2"}, (["recall"], "")),
        ("complete_zsh", {"_TYPER_COMPLETE_ARGS": "memory data sh"}, (["data"], "sh")),
        ("complete_fish", {"_TYPER_COMPLETE_ARGS": "memory data "}, (["data"], "")),
    ],
)
def test_the_words_of_each_shell_are_understood(
    shell: str, environ: dict[str, str], wanted: tuple[list[str], str]
):
    assert words_of(shell, environ) == wanted


def complete_in_a_process(environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "importtime", "-c", ENTRY]
    return subprocess.run(command, env={**os.environ, **environ}, capture_output=True, text=True)


def test_a_shell_that_waits_imports_nothing_slow():
    small_store()
    done = complete_in_a_process(
        {INSTRUCTION: "complete_bash", "COMP_WORDS": "memory explain mem_", "COMP_CWORD": "2"}
    )
    assert done.stdout == f"{ID}\n"
    assert not any(
        f" {name}\n" in done.stderr
        for name in ("typer", "pydantic", "rich", "polars", "pandas", "memory_assets.memory")
    )


HOSTILE = "it's \\$(touch {0}) `touch {0}` \"$(touch {0})\" '; touch {0}; ' !! a:b"


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_runs_nothing_of_a_text_that_it_shows(tmp_path: Path):
    ran = tmp_path / "ran"
    reply = zsh([("mem_1", HOSTILE.format(ran)), ("mem_2", "")])
    script = f"_arguments() {{ local action=${{1#*: :}}; eval ws\\=\\( ${{action[3,-3]}} \\); print -l $ws }}\neval $(cat {tmp_path / 'reply'})"
    (tmp_path / "reply").write_text(reply)
    done = subprocess.run(["zsh", "-fc", script], capture_output=True, text=True)
    assert (done.returncode, ran.exists(), done.stderr) == (0, False, "")
    assert done.stdout.splitlines()[0].startswith("mem_1:it’s (touch")
    assert done.stdout.splitlines()[-1] == "mem_2"
