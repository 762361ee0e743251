"""Small rules of the detectors that a whole week would hide."""

import numpy as np
import pytest

from memory_assets.stages.friction.commands import parse_steps
from memory_assets.stages.friction.drift import restarted
from memory_assets.stages.friction.failures import error_line, signature_of
from memory_assets.stages.friction.groups import cluster
from memory_assets.stages.friction.misuse import forbidden_in
from memory_assets.stages.friction.stale import corrected
from memory_assets.stages.friction.week import read_week
from memory_assets_tests.factories import frame, message


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("Exit code 2\nnats: no servers available\nmake: *** [x] Error 2", "nats: no servers available"),
        ("Traceback (most recent call last):\n  File x\nRuntimeError: ROOT is not set", "RuntimeError: ROOT is not set"),
        ("E   AssertionError: assert 1 == 2", None),
        ("error TS2304: Cannot find name 'Album'.", None),
        ("The user doesn't want to proceed with this tool use.", None),
        ("ls: x: No such file or directory", None),
        ("", None),
    ],
)
def test_the_line_that_tells_is_found_and_work_tells_nothing(output: str, line: str | None):
    assert error_line(output) == line


def test_numbers_and_paths_make_no_other_failure():
    assert signature_of("lock /tmp/a1/x held by 4711") == signature_of("lock /var/b/y held by 12")


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ("Use uv, never pip.", {"pip"}),
        ("Never use `npm run build --force`, not even on your own branches.", {"npm run build --force"}),
        ("Never npm install --global, please.", {"npm install --global"}),
        ("That is not true.", set()),
        ("Never run `make`.", {"make"}),
        ("pnpm instead of npm", {"npm"}),
    ],
)
def test_a_rule_names_what_is_ruled_out_and_plain_words_name_no_program(text: str, programs: set[str]):
    assert forbidden_in(text) & {"pip", "true", "make", "npm", "npm run build --force", "npm install --global"} == programs


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


def test_a_stale_line_keeps_its_words_around_the_new_value():
    assert corrected("Photos are stored in MinIO.", "we moved from MinIO to Garage last weekend", "replaced") == (
        "Photos are stored in Garage."
    )
    assert corrected("It listens on port 8090.", "It listens on port 9090.", "other value") == "It listens on port 9090."


def test_groups_are_joined_while_their_mean_is_near():
    likeness = np.array([[1, 0.9, 0.5, 0], [0.9, 1, 0.1, 0], [0.5, 0.1, 1, 0], [0, 0, 0, 1]])
    assert cluster(likeness, 0.4) == [[0, 1], [2], [3]]
    assert cluster(likeness, 0.3) == [[0, 1, 2], [3]]
    assert cluster(np.zeros((0, 0)), 0.3) == []


def test_results_belong_to_the_calls_of_their_tool_in_order():
    said = [
        ("assistant", "tool_call", '[toolCall Bash({"command":"one"})]', False),
        ("assistant", "tool_call", '[toolCall Read({"file_path":"x"})]', False),
        ("assistant", "tool_call", '[toolCall Bash({"command":"two"})]', False),
    ]
    results = [("tool", "tool_result", "first", False), ("tool", "tool_result", "second", True)]
    rows = [
        message(text, n, author=author, kind=kind, tool_name="Bash" if "Read" not in text else "Read", is_error=is_error)
        for n, (author, kind, text, is_error) in enumerate([*said, *results])
    ]
    week = read_week(frame("messages", *rows), frame("sessions"))
    assert [(call.command, call.output, call.is_failed) for call in week.calls] == [
        ("one", "first", False),
        ("", "", False),
        ("two", "second", True),
    ]
