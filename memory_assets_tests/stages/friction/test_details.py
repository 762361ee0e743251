"""Small rules of the detectors that a whole week would hide."""

import pytest

from memory_assets.stages.friction.commands import parse_steps
from memory_assets.stages.friction.drift import restarted
from memory_assets.stages.friction.failures import error_line, find_failures
from memory_assets.stages.friction.misuse import find_misuse
from memory_assets.stages.friction.skills import title_of
from memory_assets.stages.friction.week import SessionInfo, ToolCall, Week, read_week
from memory_assets_tests.factories import START, frame, message
from memory_assets_tests.labelled import labelled
from memory_assets_tests.stages.friction.test_weeks import Light

LABELLED = labelled(__file__)


@pytest.mark.parametrize(
    ("output", "line"), LABELLED["the line that tells is found and work tells nothing"]
)
def test_the_line_that_tells_is_found_and_work_tells_nothing(output: str, line: str | None):
    assert error_line(output) == line


@pytest.mark.parametrize(
    ("text", "command", "new"),
    [
        ("Use uv, never pip.", "pip install httpx", "Use `uv`, never `pip`."),
        ("No, use uv, not pip.", "python -m pip list", "Use `uv`, never `pip`."),
        ("We moved from npm to pnpm.", "cd web && npm install", "Use `pnpm`, never `npm`."),
        ("Never run `make`.", "make", "Never run `make`."),
    ],
)
def test_a_program_that_two_sessions_run_against_a_rule_is_misused(
    text: str, command: str, new: str
):
    (problem,) = find_misuse(ran(*[((command, ""),)] * 2), [(text, START)])
    assert problem.new == new
    assert find_misuse(ran(((command, ""),)), [(text, START)]) == []
    assert find_misuse(ran(*[(("uv sync", ""),)] * 2), [(text, START)]) == []


@pytest.mark.parametrize(
    ("command", "service"),
    [
        ("docker compose restart bus-worker", "bus-worker"),
        ("systemctl --user restart kiln-bridge.service", "kiln-bridge"),
        ("pkill -f 'render-queue'", "render-queue"),
        ("docker start nats", None),
        ("git restart", None),
    ],
)
def test_a_restart_names_its_service(command: str, service: str | None):
    assert restarted(parse_steps(command)[0]) == service


CURES = (
    ("python3 -m pip install pyyaml", "make clean"),
    ("pip3 install pyyaml",),
    ("ls", "pip install pyyaml"),
)


def failed_and_cured(cures: tuple[tuple[str, ...], ...]) -> Week:
    """A session for each cure: a script fails, the commands run, and it succeeds."""
    error = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'yaml'"
    failed = ("python seed.py", f"!{error}")
    return ran(*((failed, *((words, "") for words in (*cure, failed[0]))) for cure in cures))


def test_a_cure_is_the_same_however_it_is_typed_and_whatever_else_ran():
    (problem,) = find_failures(failed_and_cured(CURES), Light())
    assert (
        "pip install pyyaml`: without it, it fails" in problem.new and len(problem.session_ids) == 3
    )
    assert find_failures(failed_and_cured(CURES[:2]), Light()) == []
    assert find_failures(failed_and_cured((*CURES[:1], ("make x",), ("make y",))), Light()) == []


def ran(*sessions: tuple[tuple[str, str], ...]) -> Week:
    """A session each: commands with their output; one that begins with "!" is that of a failed call."""
    calls = []
    for number, commands in enumerate(sessions):
        session = SessionInfo(f"s{number}", "shop", "/home/mira/shop", "mira")
        for place, (command, output) in enumerate(commands):
            what = {"output": output.lstrip("!"), "is_failed": output.startswith("!")}
            calls.append(
                ToolCall(session, place, f"m{number}-{place}", START, "Bash", command, **what)
            )
    return Week(tuple(calls))


@pytest.mark.parametrize(
    ("commands", "remedy"),
    [
        (
            (("python seed.py", "!bash: python: command not found"), ("python3 seed.py", "")),
            "Run `python3 seed.py`, not `python seed.py`",
        ),
        (
            (
                ("npx playwright test", "!Executable doesn't exist"),
                ("npx playwright install", ""),
                ("npx playwright test", ""),
            ),
            "Before `npx playwright test`, run `npx playwright install`",
        ),
    ],
)
def test_what_worked_is_the_same_call_if_it_was_tried_again(
    commands: tuple[tuple[str, str], ...], remedy: str
):
    (problem,) = find_failures(ran(*[commands] * 3), Light())
    assert problem.new.startswith(remedy)


def test_results_belong_to_the_calls_of_their_tool_in_order():
    said = [
        ("assistant", "tool_call", '[toolCall Bash({"command":"one"})]', False),
        ("assistant", "tool_call", '[toolCall Read({"file_path":"x"})]', False),
        ("assistant", "tool_call", '[toolCall Bash({"command":"two"})]', False),
    ]
    results = [("tool", "tool_result", "first", False), ("tool", "tool_result", "second", True)]
    rows = [
        message(
            text,
            n,
            author=author,
            kind=kind,
            tool_name="Bash" if "Read" not in text else "Read",
            is_error=is_error,
        )
        for n, (author, kind, text, is_error) in enumerate([*said, *results])
    ]
    week = read_week(frame("messages", *rows), frame("sessions"))
    assert [(call.command, call.output, call.is_failed) for call in week.calls] == [
        ("one", "first", False),
        ("", "", False),
        ("two", "second", True),
    ]


@pytest.mark.parametrize(
    "given",
    [
        '{"file_path":"/w/a.md","old_string":"…',
        '{"replace_all":false,"file_path":"/w/a.md","old_string":"…',
        '{"cell":3,"notebook_path":"/w/a.md","new_source":"\\"path\\":\\"/w/b.md\\"…',
    ],
)
def test_a_call_that_is_cut_short_still_names_its_file(given: str):
    row = message(
        f"[toolCall Edit({given})]", 0, author="assistant", kind="tool_call", tool_name="Edit"
    )
    (call,) = read_week(frame("messages", row), frame("sessions")).calls
    assert call.files_modified == ("/w/a.md",)


def test_a_missing_skill_is_proposed_with_its_own_steps_or_the_request():
    steps = ["git add -A", "tide export --all --body $(cat notes)", "tide publish"]
    assert title_of("Please publish the tide tables.", steps) == (
        "When asked for something like “publish the tide tables”, run `tide export --all --body`, then `tide publish`"
    )
    assert title_of("Publish the tide tables of all harbors.", []) == (
        "Keep this request as a skill, instead of typing it each time: “Publish the tide tables of all harbors”"
    )
