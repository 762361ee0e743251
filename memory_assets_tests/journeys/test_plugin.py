"""The plugin in the real Claude Code and Codex: installed from the repository, beside installed hooks, without the command."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_assets_tests.clients import Codex, client, hold_session
from memory_assets_tests.conftest import REPOSITORY
from memory_assets_tests.journeys.test_real_clients import BRIEFING, Person, seen_by
from memory_assets_tests.stages.deliver.codex_trust import trust
from memory_assets_tests.streaming_api import stream

INSTALL = {"claude": "install", "codex": "add"}
ALONE, BESIDE, MISSING = "Only the plugin.", "Hooks, too.", "No command."
PLUGIN = REPOSITORY / "memory_assets" / "plugin"


def test_files_of_the_plugin_name_no_absolute_path():
    texts = [path.read_text("utf-8") for path in PLUGIN.rglob("*") if path.is_file()]
    assert len(texts) == 13
    assert not [text for text in texts if str(REPOSITORY) in text or "/home/" in text]


@pytest.mark.slow
@pytest.mark.parametrize("program", list(INSTALL))
def test_a_session_is_briefed_once_whatever_was_installed(program: str, tmp_path: Path):
    clients = client(program)
    with stream(lambda _: "Understood.") as api:
        person = Person(tmp_path, clients, api)
        commands = str(Path(sys.executable).parent)
        person.environ |= {
            "MEMORY_DATA": str(person.store.root),
            "PATH": os.pathsep.join([str(clients), commands, os.environ["PATH"]]),
        }
        _run(person, program, "plugin", "marketplace", "add", str(REPOSITORY))
        _run(person, program, "plugin", INSTALL[program], "memory@memory-assets")
        if program == "codex":
            trust_plugin(person)
        place = (program, person.environ, person.work)
        first = hold_session(*place, ALONE)
        person.memory("hooks", "install", {"claude": "claude_code"}.get(program, program))
        if program == "codex":
            trust(person.home / ".codex")
        second = hold_session(*place, BESIDE)
        person.memory("hooks", "uninstall")
        person.environ["PATH"] = os.pathsep.join([str(clients), "/usr/bin", "/bin"])
        hold_session(*place, MISSING)
        bodies = [body for body in api.questions() if body.get("tools")]
    at = {prompt: _body(bodies, prompt) for prompt in (ALONE, BESIDE, MISSING)}
    assert [seen_by(body).count(BRIEFING) for body in at.values()] == [1, 1, 0]
    assert "uv tool install" in seen_by(at[MISSING])
    assert "uv tool install" not in seen_by(at[ALONE]) + seen_by(at[BESIDE])
    assert _recalls(at[ALONE]) == _recalls(at[BESIDE]) > 0
    assert _recalls(at[MISSING]) == 0
    assert sorted(_ended(person)) == sorted([first, second])


def trust_plugin(person: Person) -> None:
    """Notes the hash of each hook, as Codex shows it, as a person does with `/hooks`."""
    config = person.home / ".codex" / "config.toml"
    started = Codex(person.environ, person.work, "")
    (listed,) = started._call("hooks/list", {"cwds": ["/"]})["data"]
    started.end()
    assert len(listed["hooks"]) == 3
    tables = []
    for hook in listed["hooks"]:
        hook_hash, content_hash = hook["currentHash"].split("/")
        tables.append(f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook_hash}"')
        tables.append(f'trusted_content_hash = "{content_hash}"\n')
    config.write_text("\n".join([config.read_text(), *tables]))


def _run(person: Person, *words: str) -> None:
    subprocess.run(words, env=person.environ, check=True, capture_output=True, cwd=person.home)


def _body(bodies: list[dict[str, Any]], prompt: str) -> dict[str, Any]:
    return next(body for body in bodies if prompt in seen_by(body))


def _recalls(body: dict[str, Any]) -> int:
    """How often the tool that recalls is offered, at once or on demand."""
    return json.dumps(body).count("memory_recall")


def _ended(person: Person) -> list[str]:
    spool = "".join(path.read_text() for path in (person.store.root / "spool").glob("*"))
    return re.findall(r'"memory/session\.ended".*?"sessionId": ?"([^"]+)"', spool)
