"""The quick way in: brief and status answer from files kept ready, with the standard library only, and never fail."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memory_assets.interfaces import entry as fast
from memory_assets.interfaces.cli.app import main as full
from memory_assets.runs.failures import note_failure
from memory_assets.schema.frames import partitioned_by
from memory_assets.services.health.status import keep_status
from memory_assets.stages.deliver.events import ENDED
from memory_assets.stages.deliver.spool import append
from memory_assets.store.ledger import FEEDBACK
from memory_assets_tests.small_store import DAY, MEMORY, small_store, write

OURS = {
    "memory_assets",
    "memory_assets.adapters",
    "memory_assets.adapters.parquet_footer",
    "memory_assets.harnesses",
    "memory_assets.harnesses.hook_events",
    "memory_assets.interfaces",
    "memory_assets.memory",
    "memory_assets.memory.hooks",
    "memory_assets.memory.places",
    "memory_assets.memory.prepared",
    "memory_assets.stages",
    "memory_assets.store",
    "memory_assets.stages.deliver",
    "memory_assets.stages.deliver.events",
    "memory_assets.stages.deliver.hook",
    "memory_assets.stages.deliver.silence",
    "memory_assets.stages.deliver.spool",
    "memory_assets.interfaces.entry",
    "memory_assets.interfaces.words",
    "memory_assets.store.places",
    "memory_assets.text",
    "memory_assets.text.visible",
    "memory_assets.store.ready",
}
BUILT_IN = "import sys; sys.argv = ['memory', {words}]; from memory_assets.interfaces.entry import main; code = main(); {after}"


def run(*words: str, after: str = "sys.exit(code)") -> subprocess.CompletedProcess[str]:
    code = BUILT_IN.format(words=", ".join(map(repr, words)), after=after)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_brief_prints_the_briefing_that_lies_ready():
    small_store()
    done = run("brief")
    assert (done.returncode, done.stdout, done.stderr) == (0, "# Briefing\n\n- Use uv.\n", "")


def test_the_full_briefing_is_printed_as_fast_and_with_the_full_summary_of_a_session(
    capsys: pytest.CaptureFixture[str],
):
    store = small_store()
    folder = store.workspace / "briefings" / "full"
    (folder / "briefings" / "sessions").mkdir(parents=True)
    (folder / "briefing.md").write_text("# Full\n")
    (folder / "briefings" / "sessions" / "s1.md").write_text("## This session so far\n- All.\n")
    done = run("brief", "--full")
    assert (done.returncode, done.stdout, done.stderr) == (0, "# Full\n", "")
    assert fast.main(["brief", "--full", "--session", "s1"]) == 0
    assert capsys.readouterr().out == "# Full\n\n## This session so far\n- All.\n"
    assert fast.main(["brief", "--full", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["path"] == str(folder / "briefing.md")


def test_the_status_line_tells_memories_and_what_waits(capsys: pytest.CaptureFixture[str]):
    keep_status(small_store())
    assert fast.main(["status", "--line"]) == 0
    assert capsys.readouterr().out.startswith("memory: 1 active · 1 to review · ")


@pytest.mark.parametrize("words", [["status"], ["status", "--line"]])
def test_the_quick_and_the_full_command_print_the_same(
    words: list[str], capsys: pytest.CaptureFixture[str]
):
    keep_status(small_store())
    fast.main(words)
    quick = capsys.readouterr().out
    full(words)
    assert capsys.readouterr().out == quick


@pytest.mark.parametrize("table", ["decisions", "messages", "windows"])
def test_a_status_older_than_a_table_is_made_anew(table: str):
    store = small_store()
    keep_status(store)
    assert fast.status(str(store.root)) == 0
    write(store, table, DAY.isoformat() if partitioned_by(table) else "all")
    assert fast.status(str(store.root)) is None


def test_the_status_line_of_an_empty_machine_is_no_failure(capsys: pytest.CaptureFixture[str]):
    assert fast.main(["status", "--line"]) == 0
    assert capsys.readouterr().out == "memory: empty\n"


def test_the_status_line_says_that_a_run_failed(capsys: pytest.CaptureFixture[str]):
    store = small_store()
    keep_status(store)
    note_failure(store, "nightly", "0123456789", "Broken.")
    assert fast.main(["status", "--line"]) == 0
    assert capsys.readouterr().out.endswith(" · ⚠ a run failed\n")


def wait_for_hours(root: Path) -> None:
    """Puts an event into the spool that nobody took in."""
    append(str(root), ENDED, {"sessionId": "s"}, version=1, at=0)


def test_events_that_wait_for_hours_are_told_wherever_somebody_looks(
    capsys: pytest.CaptureFixture[str],
):
    store = small_store()
    keep_status(store)
    wait_for_hours(store.root)
    told = "Events of sessions wait since 1970-01-01 00:00 UTC and nothing reads them"
    for words in (["brief"], ["status"]):
        assert fast.main(words) == 0
        assert f"⚠ {told}" in capsys.readouterr().out
    assert fast.main(["status", "--line"]) == 0
    assert "⚠ input waits" in capsys.readouterr().out
    for run_it in (fast.main, full):
        assert run_it(["brief", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["warnings"][0].startswith(told)
    full(["status"])
    slow = capsys.readouterr().out
    fast.main(["status"])
    assert capsys.readouterr().out == slow


def test_sending_is_never_a_failure_and_says_what_will_be_put_aside(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    assert (
        fast.main(["send", "memory/session.ended", "--session", "s1", "--store", str(tmp_path)])
        == 0
    )
    assert capsys.readouterr() == ("", "")
    assert fast.main(["send", "memory/session.exploded", "--store", str(tmp_path), "--json"]) == 0
    reply = json.loads(capsys.readouterr().out)
    assert (reply["ok"], reply["data"]["name"]) == (True, "memory/session.exploded")
    assert "will be put aside" in reply["warnings"][0]
    assert (
        fast.main(["send", "memory/session.ended", "--data", "{broken", "--store", str(tmp_path)])
        == 0
    )
    assert "not a JSON object" in capsys.readouterr().err
    assert fast.main(["send", "memory/session.ended", "--store", "/proc/nowhere"]) == 0
    assert "nothing was sent" in capsys.readouterr().err


def test_the_quick_and_the_full_command_send_the_same(tmp_path: Path):
    words = [
        "send",
        "memory/session.ended",
        "--session",
        "s1",
        "--data",
        '{"userMessageCount": 7}',
        "--store",
    ]
    fast.main([*words, str(tmp_path / "quick")])
    full([*words, str(tmp_path / "full")])
    files = [next((tmp_path / which / "spool").glob("*.jsonl")) for which in ("quick", "full")]
    assert len({json.dumps(json.loads(file.read_text())["data"]) for file in files}) == 1


@pytest.mark.parametrize(
    "words",
    "brief,brief --session s1,brief --json,status,status --line,send memory/x,--version".split(","),
)
def test_the_quick_way_imports_nothing_but_the_standard_library(words: str):
    keep_status(small_store())
    after = "import json; print('\\n' + json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(run(*words.split(), after=after).stdout.splitlines()[-1]))
    standard = set(sys.stdlib_module_names) | set(sys.builtin_module_names) | {"__main__"}
    foreign = {
        name
        for name in loaded
        if name.split(".")[0] not in standard and not name.startswith("__editable")
    }
    assert foreign - {"sitecustomize", "_distutils_hack", "coloredlogs"} <= OURS


@pytest.mark.parametrize(
    "words",
    [(MEMORY, "--used"), ("--unused", MEMORY, "--json"), ("mem_0f3a5c",), ("mem_123456", "--used")],
)
def test_the_quick_and_the_full_command_rate_the_same(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
):
    store = small_store()
    answers = []
    for answer in (fast.main, full):
        code = answer(["data", "feedback", *words])
        found = capsys.readouterr()
        answers.append((code, re.sub(r'"event_id":"[^"]+"', "", found.out), found.err))
    assert answers[0] == answers[1]
    assert len(store.ledger.events([FEEDBACK])) == (2 if answers[0][0] == 0 else 0)


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, memory_assets; print([n for n in ('polars', 'pydantic', 'typing', 'dagster') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
