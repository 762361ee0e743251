"""`memory up` on a terminal asks once which model may read the sessions, and keeps the answer."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memory_assets.store.settings import read_file
from memory_assets_tests.adapters.clients import FakeClient
from memory_assets_tests.adapters.test_claude_code_model import result
from memory_assets_tests.story import ONE_SESSION, environment, lay_out_sample, open_at

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals")
pytestmark = pytest.mark.slow
UP = [sys.executable, "-m", "memory_assets.interfaces.entry", "up", "--no-ui"]


def up_on_terminal(environ: dict[str, str], *keys: str) -> str:
    """Runs `memory up` on a terminal, answers each question with the next key, and returns what it printed."""
    ours, theirs = pty.openpty()
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    process = subprocess.Popen(
        UP, env={**environ, "COLUMNS": "200"}, **pipes, start_new_session=True
    )
    os.close(theirs)
    printed, waiting = b"", [*keys]
    while True:
        try:
            printed += os.read(ours, 65_536)
        except OSError:  # the terminal's other end was closed
            break
        if waiting and printed.count(b"[n] not now") > len(keys) - len(waiting):
            os.write(ours, waiting.pop(0).encode())
    os.close(ours)
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", printed.decode())
    assert process.wait(60) == 0, text
    return text


def test_the_question_comes_once_and_its_answer_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data, sources = tmp_path / "data", lay_out_sample(tmp_path / "sources", ONE_SESSION)
    client = FakeClient(tmp_path, "claude")
    answer = "<observations><segment><narrative>Work.</narrative></segment></observations>"
    client.does(out=json.dumps(result(answer)) + "\n")
    login = Path.home() / ".claude" / ".credentials.json"
    login.parent.mkdir(parents=True)
    login.write_text(json.dumps({"claudeAiOauth": {"subscriptionType": "max"}}))
    monkeypatch.setenv("PATH", f"{client.folder}{os.pathsep}{os.environ['PATH']}")
    environ = environment(data, sources)
    environ.pop("MEMORY_MODEL", None)
    asked = up_on_terminal(environ, "?l", "n")
    assert re.search(
        r"Claude Code would read\s+1 sessions: \d+ questions, [\d,]+ tokens; API price: \$\d", asked
    )
    assert re.search(r"\[1\] Claude Code: logged in", asked)
    assert "it counts against your max plan. Read by Anthropic" in asked
    assert "[y] use Claude Code for harbor-cli  [l] choose  [n] not now" in asked
    assert read_file(str(data / "memory.toml"))["model"] == "rules"
    assert client.calls() == []
    assert "not now" not in up_on_terminal(environ)
    (data / "memory.toml").unlink()
    up_on_terminal(environ, "y")
    chosen = read_file(str(data / "memory.toml"))
    assert (chosen["model"], chosen["model_projects"]) == ("claude-code", ["harbor-cli"])
    assert client.calls()
    assert set(open_at(data, sources).tables.read("observer_answers")["state"]) == {"answered"}
