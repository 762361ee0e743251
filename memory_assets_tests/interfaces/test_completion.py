"""Completion: commands, options and words of the store, in the form of each shell, silent whatever the store looks like."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_assets.interfaces import entry
from memory_assets.interfaces.entry import COMPLETION
from memory_assets.memory.completion import find_words
from memory_assets_tests.of_extras import commands_there
from memory_assets_tests.small_store import DAY, MEMORY, PROPOSAL, index, small_store, write

ID = "mem_0f3a5c1e0000"
ENTRY = "import sys; from memory_assets.interfaces.entry import main; sys.exit(main())"


def complete(shell: str, line: str, **environ: str) -> str:
    """Returns what the program prints for a shell that completes the last word of the line."""
    line = f"memory {line}"
    asked = {COMPLETION: f"complete_{shell}", "_TYPER_COMPLETE_ARGS": line, "COLUMNS": "80"}
    if shell == "bash":
        asked = {
            COMPLETION: "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(line.count(" ")),
        }
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (asked | environ).items():
            patch.setenv(name, value)
        with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            entry.main([])
    return printed.getvalue()


def words(line: str) -> list[str]:
    """Returns what completes the last word of the line in bash."""
    return complete("bash", line).split()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("re", ["recall", "remember", "review", "restore"]),
        ("data fe", ["feedback"]),
        ("recall how --prof", ["--profile"]),
        ("recall --profile ", ["lean", "balanced", "deep", "auto"]),
        ("recall --profile=l", ["lean"]),
        ("recall --category pr", ["preferences", "projects"]),
        ("recall --json --corpus m", ["memories", "messages"]),
        ("recall --profile lean --include s", ["stale", "superseded"]),
        ("data show observat", ["observations"]),
        ("data export messages --format ", ["jsonl", "csv", "parquet"]),
        ("config least", ["least_useful"]),
        ("config set idle", ["idle_minutes"]),
        ("hooks install c", ["claude_code", "codex", "cursor", "copilot"]),
        ("hooks install pi c", ["claude_code", "codex", "cursor", "copilot"]),
        *commands_there([("lab what-if a", ["adopt"])]),
        ("recall a question --limit ", []),
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
    ("shell", "line", "wanted"),
    [
        ("bash", "recall 'how do we --prof", ""),
        ("zsh", "data sh", '_arguments \'*: :(("show":"Print rows'),
        ("zsh", "recall a question --limit ", "_files"),
        ("fish", "data sh", "show\tPrint rows"),
    ],
)
def test_each_shell_gets_words_in_its_own_form(shell: str, line: str, wanted: str):
    assert complete(shell, line, _TYPER_COMPLETE_FISH_ACTION="get-args").startswith(wanted)


def test_a_shell_that_waits_imports_nothing_heavy():
    small_store()
    environ = {COMPLETION: "complete_bash", "COMP_WORDS": "memory explain mem_", "COMP_CWORD": "2"}
    command = [sys.executable, "-X", "importtime", "-c", ENTRY]
    done = subprocess.run(command, env={**os.environ, **environ}, capture_output=True, text=True)
    assert done.stdout == f"{ID}\n"
    heavy = ("pydantic_settings", "polars", "pandas", "dagster")
    assert not any(f" {name}\n" in done.stderr for name in heavy)


@pytest.mark.parametrize("line", ["--store {} explain mem_", "explain --store {} mem_"])
def test_the_store_that_the_line_names_is_completed(line: str, tmp_path: Path):
    root = small_store().root.rename(tmp_path / "other")
    assert words(line.format(root)) == [ID]


HOSTILE = "it's \\$(touch {0}) `touch {0}` \"$(touch {0})\" [/bold] '; touch {0}; ' !! a:b"


def say(text: str) -> None:
    """Makes it the text of the only memory."""
    store = small_store()
    (row,) = store.tables.read("memories").to_dicts()
    write(store, "memories", "all", row | {"text": text})


def test_nothing_that_a_shell_evaluates_is_in_a_text_beside_a_word():
    say(HOSTILE.format("x"))
    text = complete("zsh", "explain mem_").partition(":((")[2].partition("))")[0]
    assert text.startswith(f'"{ID}":"it’s (touch x)')
    assert not set("`$\\!") & set(text.replace("\\\\:", ""))


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_runs_nothing_of_a_text_that_it_shows(tmp_path: Path):
    ran = tmp_path / "ran"
    say(HOSTILE.format("ran"))
    script = f"_arguments() {{ local action=${{1#*: :}}; eval ws\\=\\( ${{action[3,-3]}} \\); print -l $ws }}\neval $(cat {tmp_path / 'reply'})"
    (tmp_path / "reply").write_text(complete("zsh", "explain mem_"))
    done = subprocess.run(["zsh", "-fc", script], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, ran.exists(), done.stderr) == (0, False, "")
    assert done.stdout.startswith(f"{ID}:it’s (touch")
