"""The commands that are really installed, run as harnesses run them: a shell, a payload on stdin, and whatever is down."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memory_assets.harnesses.hooks import harnesses
from memory_assets.harnesses.pi.hooks import EXTENSION_FILE as PI_FILE
from memory_assets.stages.deliver.hook import HOOKS_OFF
from memory_assets.stages.deliver.install import carry_out, plan_install
from memory_assets.stages.deliver.shown_context import drop_old
from memory_assets.store.store import Store
from memory_assets_tests.conftest import REPOSITORY
from memory_assets_tests.small_store import made_the_sample, small_store
from memory_assets_tests.stages.deliver import payloads
from memory_assets_tests.stages.deliver.payloads import SESSION

BRIEFING = "# Briefing\n\n- Use uv.\n"
SILENT = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which hooks are installed for the store of the test."""
    made = tmp_path / "home"
    for folder in (".claude", ".codex", ".pi/agent", ".qwen", ".copilot", ".gemini"):
        (made / folder).mkdir(parents=True)
    store = tmp_path / "store"
    carry_out(plan_install(harnesses(str(store), made, {}), store), store)
    (store / "hooks.json").unlink()
    store.rmdir()
    return made


def command(home: Path, harness: str, event: str) -> str:
    files = {"claude_code": ".claude/settings.json", "codex": ".codex/hooks.json"}
    path = home / files.get(harness, f".{harness}/settings.json")
    (group,) = json.loads(path.read_text())["hooks"][event]
    return group["hooks"][0]["command"] if "hooks" in group else group["bash"]


def environment(**changes: str | None) -> dict[str, str]:
    """What a harness has: not what the shell had in which hooks were installed."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MEMORY_", "PYTHON"))
    }
    return {
        name: value
        for name, value in {**own, "PYTHONPATH": str(REPOSITORY), **changes}.items()
        if value is not None
    }


def run(
    line: str, payload: str, cwd: Path | None = None, **changes: str | None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        line,
        shell=True,
        input=payload,
        text=True,
        capture_output=True,
        cwd=cwd,
        env=environment(**changes),
        timeout=20,
    )


def spooled(store: Path) -> list[dict]:
    return [
        json.loads(one)
        for path in sorted((store / "spool").glob("*.jsonl"))
        for one in path.read_bytes().split(b"\n")
        if one
    ]


def test_a_session_of_claude_code_starts_with_the_briefing(home: Path):
    small_store()
    done = run(command(home, "claude_code", "SessionStart"), payloads.START)
    assert (done.returncode, done.stdout, done.stderr) == (0, BRIEFING, "")


@pytest.mark.parametrize(
    ("harness", "event", "payload", "told"),
    [
        ("qwen", "SessionStart", {"session_id": SESSION}, BRIEFING),
        (
            "copilot",
            "sessionStart",
            {"sessionId": SESSION},
            json.dumps({"additionalContext": BRIEFING}) + "\n",
        ),
    ],
)
def test_a_briefing_that_no_transcript_keeps_is_told_at_a_resume_too(
    home: Path, harness: str, event: str, payload: dict, told: str
):
    small_store()
    line = command(home, harness, event)
    for source in ("startup", "new", "resume"):
        done = run(line, json.dumps({**payload, "source": source}))
        assert (done.returncode, done.stdout, done.stderr) == (0, told, "")


def test_gemini_is_given_the_briefing_with_the_first_prompt_of_each_session_as_json_alone(
    home: Path,
):
    small_store()
    line = command(home, "gemini", "BeforeAgent")
    prompts = [
        run(line, json.dumps({"session_id": session, "prompt": "Go on.", "source": "startup"}))
        for session in (SESSION, SESSION, "another", SESSION)
    ]
    assert [done.stderr for done in prompts] == [""] * 4
    (first, second, another, last) = (done.stdout for done in prompts)
    assert json.loads(first)["hookSpecificOutput"]["additionalContext"] == BRIEFING
    assert (second, another, last) == ("", first, "")


def test_the_end_of_a_session_of_copilot_is_spooled_with_its_id(home: Path):
    store = small_store()
    done = run(
        command(home, "copilot", "sessionEnd"),
        json.dumps({"sessionId": SESSION, "reason": "complete"}),
    )
    assert (done.returncode, done.stderr) == (0, "")
    (event,) = spooled(store.root)
    assert event["name"] == "memory/session.ended"
    assert event["data"] == {"harness": "copilot", "sessionId": SESSION, "reason": "complete"}


OWN = "## This session so far\n- 🔴 Use uv. [mem_0f3a5c1e0000]\n"


def keep_own(session: str = SESSION, store: Store | None = None) -> None:
    """What the session is told of itself, as the pipeline keeps it."""
    path = (store or small_store()).workspace / "briefings" / "sessions" / f"{session}.md"
    path.parent.mkdir(parents=True)
    path.write_text(OWN)


@pytest.mark.parametrize(
    ("source", "own"),
    [("compact", f"\n{OWN}"), ("resume", f"\n{OWN}"), ("startup", f"\n{OWN}"), ("clear", "")],
)
def test_a_session_that_goes_on_is_told_what_it_established_unless_it_was_cleared(
    home: Path, source: str, own: str
):
    keep_own()
    done = run(
        command(home, "claude_code", "SessionStart"), payloads.claude("SessionStart", source=source)
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, BRIEFING + own, "")


def test_a_compaction_of_claude_code_is_read_though_its_person_asked_for_it(
    home: Path, tmp_path: Path
):
    """Its `PreCompact` hook is for automatic ones alone: else its command would stand in the context."""
    settings = json.loads((home / ".claude/settings.json").read_text())["hooks"]
    assert [group.get("matcher") for event in settings for group in settings[event]] == [
        None,
        "auto",
        None,
    ]
    small_store()
    for source in ("startup", "resume", "compact"):
        run(
            command(home, "claude_code", "SessionStart"),
            payloads.claude("SessionStart", source=source),
        )
        run(command(home, "codex", "SessionStart"), payloads.codex("SessionStart", source=source))
    told = [(line["name"], line["data"]) for line in spooled(tmp_path / "store")]
    assert told == [
        ("memory/session.turn.completed", {"harness": "claude_code", "sessionId": SESSION})
    ]


@pytest.mark.parametrize("harness", ["claude_code", "codex"])
def test_a_resumed_session_is_told_only_what_changed_since_its_last_start(home: Path, harness: str):
    store = small_store()
    line, make = (
        command(home, harness, "SessionStart"),
        {"claude_code": payloads.claude, "codex": payloads.codex}[harness],
    )
    told = [
        run(line, make("SessionStart", source=source)).stdout
        for source in ("startup", "resume", "compact", "resume")
    ]
    assert [bool(text) for text in told] == [True, False, True, False]
    assert run(line, make("SessionStart", source="resume", session_id="another")).stdout == told[0]
    keep_own(store=store)
    assert "This session so far" in run(line, make("SessionStart", source="resume")).stdout
    assert run(line, make("SessionStart", source="resume")).stdout == ""


def test_what_a_session_was_told_is_forgotten_after_a_month(home: Path, tmp_path: Path):
    small_store()
    line = command(home, "claude_code", "SessionStart")
    assert run(line, payloads.claude("SessionStart", source="startup")).stdout == BRIEFING
    drop_old(str(tmp_path / "store"))
    assert run(line, payloads.claude("SessionStart", source="resume")).stdout == ""
    (noted,) = (tmp_path / "store" / "built" / "told").iterdir()
    os.utime(noted, (noted.stat().st_mtime - 31 * 86_400,) * 2)
    drop_old(str(tmp_path / "store"))
    assert run(line, payloads.claude("SessionStart", source="resume")).stdout == BRIEFING


def test_no_session_is_told_of_the_bundled_sample(home: Path, tmp_path: Path):
    made_the_sample(small_store())
    done = run(command(home, "claude_code", "SessionStart"), payloads.START)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_another_session_is_told_none_of_it(home: Path):
    keep_own("0a000009-1111-4222-8333-444455556666")
    done = run(
        command(home, "claude_code", "SessionStart"),
        payloads.claude("SessionStart", source="compact"),
    )
    assert done.stdout == BRIEFING


@pytest.mark.parametrize("harness", ["claude_code", "codex"])
def test_without_a_briefing_nothing_is_put_in_front_of_the_model(home: Path, harness: str):
    done = run(command(home, harness, "SessionStart"), payloads.START)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_compaction_and_an_end_are_a_line_each(home: Path, tmp_path: Path):
    assert run(command(home, "claude_code", "PreCompact"), payloads.COMPACTING).returncode == 0
    assert run(command(home, "claude_code", "SessionEnd"), payloads.END).returncode == 0
    first, second = spooled(tmp_path / "store")
    assert (first["name"], first["data"]) == (
        "memory/session.compaction.pending",
        {"harness": "claude_code", "sessionId": SESSION, "trigger": "auto"},
    )
    assert (second["name"], second["data"]) == (
        "memory/session.ended",
        {"harness": "claude_code", "sessionId": SESSION, "reason": "prompt_input_exit"},
    )


EVENTS = [
    ("claude_code", "SessionStart"),
    ("claude_code", "PreCompact"),
    ("claude_code", "SessionEnd"),
    ("codex", "SessionEnd"),
]


@pytest.mark.parametrize(("harness", "event"), EVENTS)
@pytest.mark.parametrize(
    "payload",
    ["", "{", "null", "[]", '{"session_id": 7}', '{"session_id": ""}', "\x00" * 100],
    ids=repr,
)
def test_no_payload_breaks_a_session(home: Path, harness: str, event: str, payload: str):
    assert run(command(home, harness, event), payload).returncode == 0


@pytest.mark.parametrize(("harness", "event"), EVENTS)
def test_without_home_the_store_is_found_all_the_same(
    home: Path, tmp_path: Path, harness: str, event: str
):
    small_store()
    done = run(
        command(home, harness, event),
        payloads.END,
        HOME=None,
        USERPROFILE=None,
        PATH="/usr/bin:/bin",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (BRIEFING if event == "SessionStart" else "")
    assert len(spooled(tmp_path / "store")) == (event != "SessionStart")


@pytest.mark.parametrize(("harness", "event"), EVENTS)
def test_a_full_disk_does_not_break_a_session(home: Path, tmp_path: Path, harness: str, event: str):
    small_store()
    (tmp_path / "store" / "spool").mkdir()
    for day in (time.time(), time.time() + 60):
        link = tmp_path / "store" / "spool" / f"{time.strftime('%Y-%m-%d', time.gmtime(day))}.jsonl"
        link.unlink(missing_ok=True)
        link.symlink_to("/dev/full")
    done = run(command(home, harness, event), payloads.END)
    assert done.returncode == 0
    assert ("No space left" in done.stderr) == (event != "SessionStart")


@pytest.mark.parametrize(("harness", "event"), EVENTS)
def test_a_store_that_cannot_be_written_does_not_break_a_session(
    home: Path, tmp_path: Path, harness: str, event: str
):
    """A file in the place of the folder stops even the superuser, whom permissions do not."""
    (tmp_path / "store").write_text("no folder")
    done = run(command(home, harness, event), payloads.END)
    assert (done.returncode, done.stdout) == (0, "")
    (tmp_path / "store").unlink()
    line = command(home, harness, event).replace(str(tmp_path / "store"), "/proc/memory")
    assert run(line, payloads.END).returncode == 0


def test_a_harness_that_never_closes_stdin_is_not_waited_for(home: Path, tmp_path: Path):
    """Claude Code ends its end hook after a second and a half."""
    reader, writer = os.pipe()
    os.write(writer, payloads.END.encode())
    process = subprocess.Popen(
        command(home, "claude_code", "SessionEnd"),
        shell=True,
        stdin=reader,
        env=environment(),
        **SILENT,
    )
    assert process.wait(timeout=10) == 0
    os.close(writer)
    assert spooled(tmp_path / "store")[0]["data"]["sessionId"] == SESSION


def test_a_cloned_folder_decides_neither_about_the_store_nor_about_the_code(
    home: Path, tmp_path: Path
):
    small_store()
    project = tmp_path / "project"
    (project / "memory_assets").mkdir(parents=True)
    (project / "memory_assets" / "__init__.py").write_text("raise SystemExit('taken over')")
    (project / "json.py").write_text("raise SystemExit('taken over')")
    (project / "memory.toml").write_text('data = "/tmp/elsewhere"\n')
    done = run(command(home, "claude_code", "SessionStart"), payloads.START, cwd=project)
    assert (done.returncode, done.stdout) == (0, BRIEFING)


def test_what_is_wrong_with_the_spool_stands_above_the_briefing(home: Path, tmp_path: Path):
    small_store()
    (tmp_path / "store" / "spool").mkdir()
    (tmp_path / "store" / "spool" / "2026-08-10.jsonl").write_text(
        '{"capturedAt": "2026-08-10T12:00:00.000000Z"}\n'
    )
    done = run(command(home, "claude_code", "SessionStart"), payloads.START)
    assert done.stdout.startswith("⚠ Events of sessions wait since 2026-08-10 12:00 UTC")
    assert done.stdout.endswith(BRIEFING)


def test_a_hook_imports_the_standard_library_only(home: Path):
    small_store()
    code = (
        "import sys; from memory_assets.interfaces.entry import main;"
        "main(sys.argv[1:]); print('\\n' + ' '.join(sorted(sys.modules)))"
    )  # fmt: skip
    prompt, asks = (
        payloads.claude("UserPromptSubmit", prompt="Which port?"),
        {"memory_assets.stages.deliver.prompts", "memory_assets.store.sockets"},
    )
    for event, payload, more in (
        ("SessionStart", payloads.START, set()),
        ("SessionEnd", payloads.END, set()),
        ("UserPromptSubmit", prompt, asks),
    ):
        words = ["hooks", "run", "claude_code", event, "--store", "/tmp/nowhere"]
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            input=payload,
            text=True,
            capture_output=True,
            env=environment(),
        )
        loaded = set(done.stdout.splitlines()[-1].split())
        ours = {name for name in loaded if name.startswith("memory_assets")}
        assert ours - more == {
            "memory_assets", "memory_assets.interfaces",
            "memory_assets.harnesses", "memory_assets.harnesses.hook_events", "memory_assets.interfaces.words",
            "memory_assets.memory", "memory_assets.memory.hooks", "memory_assets.memory.places", "memory_assets.memory.prepared",
            "memory_assets.stages", "memory_assets.store", "memory_assets.stages.deliver", "memory_assets.stages.deliver.events", "memory_assets.stages.deliver.hook",
            "memory_assets.stages.deliver.silence", "memory_assets.stages.deliver.spool", "memory_assets.interfaces.entry", "memory_assets.store.places", "memory_assets.store.ready",
            "memory_assets.text", "memory_assets.text.visible",
        }  # fmt: skip
        assert not loaded & {
            "polars",
            "pydantic",
            "typer",
            "typing",
            "pathlib",
            "dataclasses",
            "subprocess",
        }


PI_START = """
import extension from "./extension.mjs";
const on = {}, order = [];
const pi = { on: (name, handler) => { on[name] = handler; }, sendMessage: (message, options) => order.push([message, options]) };
extension(pi);
const ctx = { sessionManager: { getSessionId: () => "SESSION", getSessionFile: () => "/x/2026_SESSION.jsonl" } };
const asked = async (handlers = on) => {
  const returned = await handlers.before_agent_start({ prompt: "hi" }, ctx);
  if (returned) throw new Error("it would stand behind the prompt");
  return order.splice(0)[0];
};
await on.session_start({ reason: "startup" }, ctx);
const first = await asked();
"""

PI = """
const second = await asked();
const preparation = { tokensBefore: 150000, messagesToSummarize: [1, 2, 3] };
await on.session_before_compact({ preparation, reason: "threshold" }, ctx);
await on.session_compact({}, ctx);
const third = await asked();
await on.session_shutdown({ reason: "resume" }, ctx);
await on.session_start({ reason: "resume", previousSessionFile: "/x/2026-08-03T09-00-00-000Z_SESSION.jsonl" }, ctx);
await on.session_start({ reason: "resume", previousSessionFile: "/x/2026-08-03T09-00-00-000Z_EARLIER.jsonl" }, ctx);
console.log(JSON.stringify({ first, second, third }));
"""


@pytest.fixture
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("no node on this machine, which pi runs in")
    return found


def play(node: str, home: Path, tmp_path: Path, script: str = PI) -> dict:
    """Loads the installed extension as pi does, and plays a session; it is JavaScript that TypeScript accepts, too."""
    for module in ("extension.mjs", "again.mjs"):
        shutil.copy(home / ".pi/agent/extensions" / PI_FILE, tmp_path / module)
    (tmp_path / "play.mjs").write_text((PI_START + script).replace("SESSION", SESSION))
    done = subprocess.run(
        [node, str(tmp_path / "play.mjs")],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_pi_is_given_the_briefing_before_the_first_prompt_and_again_after_a_compaction(
    node: str, home: Path, tmp_path: Path
):
    small_store()
    shown = play(node, home, tmp_path)
    message = [
        {"customType": "memory-briefing", "content": BRIEFING.strip(), "display": False},
        {"triggerTurn": False},
    ]
    assert shown == {"first": message, "third": message}
    store = tmp_path / "store"
    until = time.monotonic() + 15
    while len(spooled(store)) < 3 and time.monotonic() < until:
        time.sleep(0.05)  # its senders are processes that nobody waits for
    time.sleep(0.3)
    assert len(spooled(store)) == 3
    told = {(line["name"], line["data"]["sessionId"]): line["data"] for line in spooled(store)}
    assert set(told) == {
        ("memory/session.compaction.pending", SESSION), ("memory/session.ended", SESSION), ("memory/session.ended", "EARLIER")
    }  # fmt: skip
    compacting = told["memory/session.compaction.pending", SESSION]
    assert compacting == {
        "harness": "pi", "sessionId": SESSION, "trigger": "threshold", "tokensBefore": 150_000, "messageCount": 3
    }  # fmt: skip


def test_in_a_harness_that_is_used_as_a_model_no_hook_does_anything(home: Path):
    small_store()
    for event in ("SessionStart", "PreCompact", "SessionEnd"):
        ran = subprocess.run(
            command(home, "claude_code", event),
            shell=True,
            input=b"{}",
            env=environment(**{HOOKS_OFF: "1"}),
            **SILENT,
        )
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    assert not list((home.parent / "store").glob("spool*/**/*.jsonl"))
