"""What names a file, a command or an error, and what only looks like it; what cured a failure."""

from datetime import timedelta

import pytest

from memory_assets.services.search.before_tool import request_of
from memory_assets.services.search.subject import CommandSubject, ErrorSubject, FileSubject
from memory_assets.stages.friction.past_failures import past_failures
from memory_assets.stages.friction.week import FileEdit, SessionInfo, ToolCall, Utterance, Week
from memory_assets_tests.factories import START

SESSION = SessionInfo("s", "tides", "/w/tides", "mira")
MIGRATION = FileSubject("db/migrations/0007_kilns.sql", "tides/db/migrations/0007_kilns.sql")
SHARED = FileSubject("api/index.ts", "tides/api/index.ts", is_shared_name=True)


def call(place: int, command: str, output: str = "", *, is_failed: bool = False) -> ToolCall:
    at = START + timedelta(minutes=place)
    how = {"output": output, "is_failed": is_failed, "result_id": f"r{place}"}
    return ToolCall(SESSION, place, f"c{place}", at, "Bash", command, **how)


@pytest.mark.parametrize(
    ("subject", "text", "is_rule", "is_named"),
    [
        (MIGRATION, "0007_kilns.sql must run before the importer.", False, True),
        (MIGRATION, "/home/ana/tides/db/migrations/0007_kilns.sql failed.", False, True),
        (MIGRATION, "See old/0007_kilns.sql.", False, False),
        (MIGRATION, "Read 0007_kilns.sql.bak first.", False, False),
        (MIGRATION, "Ask Priya whenever migrations/ changes.", True, True),
        (MIGRATION, "We wrote migrations/ by hand.", False, False),
        (MIGRATION, "Never touch archive/migrations/.", True, False),
        (MIGRATION, "Format *.sql with two blanks.", True, True),
        (SHARED, "index.ts has the routes.", False, False),
        (SHARED, "api/index.ts has the routes.", False, True),
        (FileSubject("deploy", "deploy"), "We deploy on Fridays.", False, False),
        (FileSubject("deploy", "deploy"), "The script `deploy` needs a host.", False, True),
        (CommandSubject("cd api && make deploy HOST=x"), "Run `make  deploy` as ana.", False, True),
        (CommandSubject("make deploy"), "Run `make check` first.", True, False),
        (CommandSubject("pip install kiln"), "Use uv, never pip.", True, True),
        (CommandSubject("pip install kiln"), "The pip cache was full.", False, False),
        (CommandSubject("python3 -m pytest -q"), "`pytest -x` stops early.", False, True),
        (CommandSubject("./scripts/seed.sh prod"), "seed.sh needs a VPN.", False, True),
        (CommandSubject("gh pr create"), "`gh pr view` shows checks.", True, False),
        (ErrorSubject.of("E: port 5433 failed: glaze server gone away"),
         "“glaze server gone away” means that the kiln is off.", False, True),
        (ErrorSubject.of(" \n "), "Anything.", False, False),
        (ErrorSubject.of("KeyError: 'x'"), "A KeyError was raised.", False, False),
    ],
)  # fmt: skip
def test_a_text_names_the_subject_as_the_project_would(subject, text, is_rule, is_named):
    assert subject.is_named_in(text, is_rule=is_rule) is is_named


@pytest.mark.parametrize(
    ("asked", "printed", "is_same"),
    [
        ("× fatal: /a/b.lock exists after 3 s", "fatal: src/c.lock exists after 41 s", True),
        ("main.go:12: bad glaze 0x7ffe", "server.go:7: bad glaze 0x1a", True),
        (r"cannot open C:\w\a.db", "cannot open /srv/b.db", True),
        ("job 1f0a2b3c-aaaa-4bbb-8ccc-0123456789ab lost", "job 9e8d7c6b-1111-4222-8333-ba9876543210 lost", True),
        ("Cannot find module 'left'", "Cannot find module 'right'", False),
    ],
)  # fmt: skip
def test_an_error_is_compared_without_paths_and_numbers(asked, printed, is_same):
    failed = call(1, "kiln fire", f"fired\n{printed}\n", is_failed=True)
    assert ErrorSubject.of(asked).is_of(failed) is is_same


def test_a_failure_of_several_steps_or_of_normal_work_is_no_failure_of_a_command():
    command = CommandSubject("make deploy")
    output = "error: no route to host"
    assert command.is_of(call(1, "cd api && make deploy HOST=y 2>&1 | tail -3", output))
    assert not command.is_of(call(1, "make check && make deploy", output))
    assert not command.is_of(call(1, "make deploy", "--- FAIL: TestGlaze"))
    assert not FileSubject("a.yaml", "a.yaml").is_of(call(1, "git add a.yaml b.yaml", output))
    assert FileSubject("a.yaml", "a.yaml").is_of(call(1, "kiln apply", "error: a.yaml has tabs"))


@pytest.mark.parametrize(
    ("calls", "cure", "is_sure"),
    [
        ([call(3, "docker compose up -d"), call(4, "make deploy")],
         "after `docker compose up -d`: `make deploy` worked", True),
        ([call(3, "ls"), call(9, "make deploy")], "after “I renewed the key”: `make deploy` worked", False),
        ([call(3, "ls"), call(4, "make deploy")], "`make deploy` worked", False),
        ([call(3, "just deploy HOST=a")], "`just deploy HOST=a` worked", False),
        ([call(3, "git status")], "None", False),
    ],
)  # fmt: skip
def test_a_cure_is_what_was_done_until_the_same_command_worked(calls, cure, is_sure):
    command = f"make deploy {cure.split()[-2].strip('`')}" if "just" in cure else "make deploy"
    failed = call(2, command, "error: no route to host", is_failed=True)
    said = Utterance(SESSION, 7, "m", START, "I renewed the key", is_owner=True)
    (failure,) = past_failures(Week((failed, *calls), (said,)))
    assert (str(failure.cure), bool(failure.cure and failure.cure.is_sure)) == (cure, is_sure)


def test_a_remedy_has_commands_alone_since_an_edit_lasts_and_words_may_be_about_else():
    failed = call(2, "make deploy", "error: no route to host", is_failed=True)
    started = call(3, "docker compose up -d")
    edited = ToolCall(SESSION, 4, "c4", START, "Edit", "", edit=FileEdit("deploy.yaml", "a", "b"))
    said = Utterance(SESSION, 5, "m", START, "Thanks, bye", is_owner=True)
    worked = call(6, "make deploy")

    def remedy(*calls: ToolCall) -> tuple[str, ...]:
        (failure,) = past_failures(Week((failed, *calls, worked), (said,)))
        return failure.remedy

    assert remedy(started) == ("`docker compose up -d`",)
    assert remedy(edited) == remedy(started, edited) == remedy() == ()


@pytest.mark.parametrize(
    ("tool", "arguments", "file", "command"),
    [
        ("apply_patch", {"command": "*** Begin Patch\n*** Update File: a/b.py\n@@\n-x"}, "a/b.py", None),
        ("Bash", {"command": "apply_patch <<'E'\n*** Begin Patch\n*** Add File: c.py\n+x"}, "c.py", None),
        ("Write", {"file_path": "d.md", "content": "make deploy"}, "d.md", None),
        ("Bash", {"command": "make deploy"}, None, "make deploy"),
        ("Bash", {"command": "cat d.md | head"}, None, None),
        ("mcp__tides__list", {"path": "d.md"}, None, None),
        ("Bash", "?", None, "?"),
        ("Edit", None, None, None),
        ("Edit", {"file_path": 7}, None, None),
    ],
)  # fmt: skip
def test_a_patch_is_about_its_file_and_another_call_about_what_it_writes_or_runs(
    tool, arguments, file, command
):
    request = request_of(tool, arguments)
    assert (request and request.file, request and request.command) == (file, command)
