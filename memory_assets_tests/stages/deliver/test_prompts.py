"""Recall at each prompt: the installed hook asks a running server, as harnesses call them, and is never in the way."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_assets.harnesses.hook_commands import command as program
from memory_assets.harnesses.hooks import harnesses
from memory_assets.harnesses.human_words import strip_memories
from memory_assets.memory import MemoryAgent
from memory_assets.services.search.shown_at_prompts import HEADING, LEAST_WORDS
from memory_assets.stages.deliver.install import carry_out, plan_install
from memory_assets.stages.deliver.prompts import FOLDER, SECONDS
from memory_assets_tests.small_store import FACT, MEMORY, index, small_store
from memory_assets_tests.stages.deliver import payloads
from memory_assets_tests.stages.deliver.payloads import SESSION
from memory_assets_tests.stages.deliver.test_hooks_run import command, environment, run

ASKED = "How should I install packages with uv or pip?"
START_SECONDS = 30


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which hooks that recall at each prompt are installed for the store of the test."""
    made, store = tmp_path / "home", tmp_path / "store"
    for folder in (".claude", ".codex", ".pi/agent"):
        (made / folder).mkdir(parents=True)
    recalling = ("claude_code", "codex", "pi")
    carry_out(
        plan_install(
            harnesses(str(store), made, {}, chosen={"UserPromptSubmit": recalling}), store
        ),
        store,
    )
    return made


@contextmanager
def server(store: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server of tools that answers prompts, once it has loaded everything."""
    words = [*program(), "serve", "mcp", "--prompts", "--store", str(store)]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, env=environment()
    ) as process:
        until = time.monotonic() + START_SECONDS
        while not prompted(store) and time.monotonic() < until:
            time.sleep(0.05)
        yield process
        assert process.stdin is not None
        process.stdin.close()


def prompted(store: Path) -> list[Path]:
    return [*(store / FOLDER).glob("*.sock")]


def ask(
    home: Path, harness: str = "claude_code", prompt: str = ASKED, session: str = SESSION
) -> str:
    make = payloads.codex if harness == "codex" else payloads.claude
    done = run(
        command(home, harness, "UserPromptSubmit"),
        make("UserPromptSubmit", prompt=prompt, session_id=session),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def shown(home: Path, **how: str) -> str:
    """What is shown once the server has loaded everything; the first prompts may come too early."""
    until = time.monotonic() + START_SECONDS
    while not (text := ask(home, **how)) and time.monotonic() < until:
        time.sleep(0.1)
    return text


def recalls(count: int) -> list[dict]:
    """The recalls that are recorded once there are so many: a server records one after its hook has confirmed it and ended."""
    until = time.monotonic() + START_SECONDS
    while (
        len(found := MemoryAgent().store.ledger.events(["memory.recalled"])) < count
        and time.monotonic() < until
    ):
        time.sleep(0.05)
    return [event.payload for event in found]


@pytest.mark.slow
def test_a_prompt_is_shown_what_is_near_and_it_counts_as_recalled(home: Path, tmp_path: Path):
    store = small_store()
    index(store)
    with server(store.root):
        text = shown(home)
        assert text.startswith(f"{HEADING}\n~ {FACT} (")
        assert len(recalls(1)) == 1
        assert strip_memories(text) == ""
        told = json.loads(ask(home, "codex", session="another"))["hookSpecificOutput"]
        assert (told["hookEventName"], told["additionalContext"]) == (
            "UserPromptSubmit",
            text.rstrip("\n"),
        )
        assert [(one["memory_ids"], one["session"]) for one in recalls(2)] == [
            ([MEMORY], SESSION),
            ([MEMORY], "another"),
        ]
        assert ask(home) == ""  # the session has it
        assert ask(home, prompt="Write a haiku about the sea.", session="third") == ""
        assert ask(home, prompt=" ".join(ASKED.split()[: LEAST_WORDS - 1]), session="third") == ""
        run(
            command(home, "claude_code", "SessionStart"),
            payloads.claude("SessionStart", source="compact"),
        )
        assert ask(home) == text
        assert len(recalls(3)) == 3
        (path,) = prompted(store.root)
        assert [entry.stat().st_mode & 0o777 for entry in (path, path.parent)] == [0o600, 0o700]
        (store.workspace / "briefing.md").write_text(f"# Briefing\n\n- {FACT}\n")
        assert ask(home, session="briefed") == ""
    assert prompted(store.root) == []


def test_without_a_server_nothing_is_shown_and_a_dead_ones_socket_is_deleted(
    home: Path, tmp_path: Path
):
    small_store()
    assert ask(home) == ""
    folder = tmp_path / "store" / FOLDER
    folder.mkdir(parents=True)
    dead = bound(folder / "999999.sock")
    dead.close()
    assert prompted(tmp_path / "store")
    assert ask(home) == ""
    assert prompted(tmp_path / "store") == []


@pytest.mark.parametrize(
    "said", [None, b"", b"{", b'{"text": 7}\n', b'["text"]\n', b"\xff\n", b"x" * 100_000]
)
def test_a_server_that_does_not_answer_delays_no_prompt(
    home: Path, tmp_path: Path, said: bytes | None
):
    small_store()
    (tmp_path / "store" / FOLDER).mkdir(parents=True)
    listening = bound(tmp_path / "store" / FOLDER / "1.sock")
    payload = payloads.claude("UserPromptSubmit", prompt=ASKED)
    began = time.monotonic()
    with subprocess.Popen(
        command(home, "claude_code", "UserPromptSubmit"), shell=True, text=True, env=environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as hook:  # fmt: skip
        assert hook.stdin is not None
        hook.stdin.write(payload)
        hook.stdin.close()
        hook.stdin = None
        connection, _ = listening.accept()
        with connection:
            if said is not None:
                connection.sendall(said)
                connection.shutdown(socket.SHUT_WR)
            assert hook.communicate(timeout=20) == ("", "")
    assert hook.returncode == 0
    assert (
        time.monotonic() - began < SECONDS + 1.5
    )  # an interpreter starts more slowly on a loaded machine


def bound(path: Path) -> socket.socket:
    listening, before = socket.socket(socket.AF_UNIX), Path.cwd()
    os.chdir(path.parent)
    listening.bind(path.name)
    os.chdir(before)
    listening.listen()
    return listening
