"""A person with the real Claude Code, Codex or pi: from `memory hooks install` over sessions to `memory hooks uninstall`.

The clients talk to a local server that answers as the vendors do; what it was sent shows what a model would have seen.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memory_assets.memory import MemoryAgent
from memory_assets.services.search.shown_at_prompts import HEADING
from memory_assets.stages.deliver.prompts import ask_server
from memory_assets.store.store import Store
from memory_assets_tests.clients import CLIENTS, Codex, client, drawn, hold_session
from memory_assets_tests.journeys.test_harness_models import ANSWER, PROMPTS, REPLY
from memory_assets_tests.journeys.test_harness_models import FACT as ANSWERED
from memory_assets_tests.messages_api import Said
from memory_assets_tests.once import sampled
from memory_assets_tests.stages.deliver.codex_trust import trust
from memory_assets_tests.story import run
from memory_assets_tests.streaming_api import Called, StreamingApi, stream

pytestmark = pytest.mark.slow

HARNESS = {"claude": "claude_code", "codex": "codex", "pi": "pi", "pi-0.87": "pi"}
FACT = "Use uv, never pip, to install packages."
BRIEFING = "# Briefing"
FIRST = "From now on, always run `make tides` before you deploy the predictor."
ABOUT_FIRST = "What do I run before I deploy the predictor?"
TOOL = "Ask your memory, please."
NEAR = "How should I install packages with uv or pip?"
AFTER, RESUMED, FORKED = "What was compacted?", "What was resumed?", "What was forked?"
QUESTION = "How do we install packages?"
WARM_SECONDS = 30


class Person:
    """A home with settings of their own in all three harnesses, a store, and a folder to work in."""

    def __init__(self, folder: Path, clients: Path, api: StreamingApi) -> None:
        self.home, self.work, self.decoy = (
            folder / "person",
            folder / "work" / "tidewatch",
            folder / "decoy",
        )
        self.work.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", self.work], check=True)
        (self.work / "memory.toml").write_text(f'data = "{self.decoy}"\n')
        self.settings = {
            self.home
            / ".claude"
            / "settings.json": '{"model": "opus",\n\t"permissions": {"allow": ["Bash(ls:*)"]}}\n',
            self.home
            / ".codex"
            / "config.toml": f'model = "gpt-5"\nmodel_provider = "ours"\napproval_policy = "never"\n\n'
            f'[model_providers.ours]\nname = "ours"\nbase_url = "{api.url}/v1"\nwire_api = "responses"\nenv_key = "OUR_KEY"',
            self.home
            / ".pi"
            / "agent"
            / "settings.json": '{"compaction": {"keepRecentTokens": 1}}',
        }
        for path, text in self.settings.items():
            path.parent.mkdir(parents=True)
            path.write_text(text)
        model = {"id": "ours-1", "contextWindow": 200_000, "maxTokens": 8_000}
        ours = {"baseUrl": api.url, "api": "anthropic-messages", "apiKey": "k", "models": [model]}
        (self.home / ".pi" / "agent" / "models.json").write_text(
            json.dumps({"providers": {"ours": ours}})
        )
        self.store = _store()
        # What the clients' environment says of a store must not matter.
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MEMORY_")},
            "PATH": f"{clients}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.home), "MEMORY_DATA": str(self.decoy),
            "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "sk-test", "OUR_KEY": "k", "PI_OFFLINE": "1",
            "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }  # fmt: skip

    def memory(self, *words: str) -> None:
        """Runs a command as the person does, who has the store in their settings."""
        environ = {**self.environ, "MEMORY_DATA": str(self.store.root)}
        command = [sys.executable, "-P", "-m", "memory_assets.interfaces.entry", *words]
        subprocess.run(command, env=environ, check=True, capture_output=True, cwd=self.home)

    def until_warm(self) -> None:
        """Waits until the session's server answers prompts; asking it counts as no recall until it is confirmed."""
        until, before = time.monotonic() + WARM_SECONDS, Path.cwd()
        while time.monotonic() < until:
            _, server = ask_server(str(self.store.root), NEAR, "", "")
            os.chdir(before)
            if server is not None:
                server.close()
                return
            time.sleep(0.1)
        raise AssertionError("no server of tools answered")

    def files(self) -> dict[Path, bytes]:
        """The settings as they are now, and everything else that `install` may have written."""
        theirs = [
            *self.settings,
            *self.home.glob(".claude.json"),
            *self.home.glob(".codex/hooks.json"),
        ]
        return {
            path: path.read_bytes()
            for path in [*theirs, *self.home.glob(".pi/agent/*.json"), *self.home.rglob("*.ts")]
        }


def _store() -> Store:
    """A store that knows one fact of its owner, and has a briefing."""
    agent = MemoryAgent()
    agent.remember(FACT)
    (agent.store.workspace / "briefing.md").write_text(f"{BRIEFING}\n\n- Use uv.\n")
    return agent.store


def model(program: str, store: Path, question: str = QUESTION) -> Any:
    """Calls the memory's tool once when it is asked to, in the way of each client, and understands everything."""
    recall = {"question": question}
    command = (
        f"{sys.executable} -P -m memory_assets.interfaces.entry recall '{question}' --store {store}"
    )
    tool = "mcp__memory__memory_recall"
    script = {
        "claude": [Called("ToolSearch", {"query": f"select:{tool}"}), Called(tool, recall)],
        "codex": [Called("memory_recall", recall, "mcp__memory")],
        "pi": [Called(tool, recall)],
        "pi-0.87": [Called("bash", {"command": command})],
    }[program]

    def answer(body: dict[str, Any]) -> str | Said | Called:
        return script.pop(0) if script and TOOL in seen_by(body) else "Understood."

    return answer


def seen_by(body: dict[str, Any]) -> str:
    """What the model sees of the conversation, in order."""
    return "\n".join(_texts(body.get("messages", body.get("input"))))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


@pytest.mark.parametrize("program", drawn(CLIENTS))
def test_a_person_is_at_home_in_the_real_client(program: str, tmp_path: Path):
    clients, answer = client(program), {}
    with stream(lambda body: answer["model"](body)) as api:
        person = Person(tmp_path, clients, api)
        answer["model"] = model(program, person.store.root)
        before = person.files()
        person.memory("hooks", "install", "--recall-each-prompt")
        if program == "codex":
            trust(person.home / ".codex")
        first = CLIENTS[program](person.environ, person.work, str(uuid4()))
        if isinstance(first, Codex):
            assert set(first.trust().values()) == {"trusted"}
        first.ask(FIRST)
        first.ask(TOOL)
        person.until_warm()
        first.ask(NEAR)
        first.compact()
        first.ask(AFTER)
        first.end()
        place, session = (program, person.environ, person.work), first.session
        hold_session(*place, RESUMED, session=session, how="resume")
        fork = hold_session(*place, FORKED, session=session, how="fork")
        seen = [seen_by(body) for body in api.questions() if body.get("tools")]

    def at(prompt: str) -> str:
        return next(text for text in seen if prompt in text)

    assert [text.count(BRIEFING) for text in seen] == [1] * len(seen)
    assert not [text for text in seen if "PreCompact" in text]
    assert (at(NEAR).index(BRIEFING) < at(NEAR).index(FIRST)) == (program != "claude")
    assert at(NEAR).index(BRIEFING) < at(NEAR).index(TOOL)
    assert f"1. {FACT}" in at(NEAR)
    assert '"results"' not in at(NEAR)
    assert [HEADING in at(prompt) for prompt in (FIRST, NEAR)] == [False, True]
    _assert_remembered(person, program, {session, fork})
    assert not person.decoy.exists()
    person.memory("hooks", "uninstall")
    if program == "codex":  # the client itself noted there what it trusts
        config = person.home / ".codex" / "config.toml"
        config.write_bytes(config.read_bytes().partition(b"\n[hooks.state")[0])
    assert {path: text for path, text in person.files().items() if path in before} == before
    assert "memory" not in "".join(
        text.decode() for path, text in person.files().items() if path not in before
    )


def _assert_remembered(person: Person, program: str, sessions: set[str]) -> None:
    """The sessions are read at once, their ends are known, and what the owner said in them is recalled."""
    root, now = person.store.root, {"MEMORY_NOW": datetime.now(UTC).isoformat()}
    run("ingest", root, person.home, **now)
    events = person.store.tables.read("events").filter(
        name="memory/session.ended", harness=HARNESS[program]
    )
    assert set(events["subject"]) == sessions
    windows = person.store.tables.read("windows").filter(harness=HARNESS[program])
    assert "compaction" in set(windows["trigger"])
    assert (
        person.store.tables.read("records").filter(status="unknown")["record_type"].to_list() == []
    )
    said = person.store.tables.read("messages").filter(author="assistant")
    assert said["model"].null_count() == said["harness_version"].null_count() == 0
    found = MemoryAgent().recall(ABOUT_FIRST, now=datetime.now(UTC))
    assert FIRST in [one.text for one in found.results]


@pytest.mark.parametrize(
    "pair", sampled([("claude", "pi"), ("codex", "claude"), ("pi", "codex")], 1)
)
def test_what_was_said_in_one_client_is_recalled_in_another(pair: tuple[str, str], tmp_path: Path):
    told_in, asked_in = pair
    answer = {}
    with stream(lambda body: answer["model"](body)) as api:
        person = Person(tmp_path, client(told_in), api)
        person.environ["PATH"] = f"{client(asked_in)}{os.pathsep}{person.environ['PATH']}"
        answer["model"] = lambda _: "Understood."
        hold_session(told_in, person.environ, person.work, FIRST)
        person.environ["MEMORY_NOW"] = (datetime.now(UTC) + timedelta(hours=3)).isoformat()
        for command in ("ingest", "hooks install"):
            person.memory(*command.split())
        if asked_in == "codex":
            trust(person.home / ".codex")
        answer["model"] = model(asked_in, person.store.root, ABOUT_FIRST)
        hold_session(asked_in, person.environ, person.work, TOOL)
        last = next(seen_by(body) for body in reversed(api.questions()) if TOOL in seen_by(body))
    assert FIRST not in last.partition(TOOL)[0]
    assert FIRST in last.partition(TOOL)[2]


DISTIL = "mcp__memory__memory_distill"
ASKED = {"claude": f"/{DISTIL}", "codex": "Please call memory_distill for one past session."}


def distiller(program: str) -> Any:
    """Calls the tool for the next question, then with the answer, once it is asked to distil."""

    def answer(body: dict[str, Any]) -> str | Called:
        seen = seen_by(body)
        is_asked = "Extract facts from my past sessions" in seen or ASKED["codex"] in seen
        if not is_asked or "was stored" in seen:
            return REPLY
        question = re.search(r"^Question (\S+), project", seen, re.M)
        arguments = {"question": question[1], "answer": ANSWER} if question else {}
        if program == "codex":
            return Called("memory_distill", arguments, "mcp__memory")
        if DISTIL in {tool.get("name") for tool in body.get("tools", ())}:
            return Called(DISTIL, arguments)
        return Called("ToolSearch", {"query": f"select:{DISTIL}"})

    return answer


@pytest.mark.parametrize("program", sampled(list(ASKED), 1))
def test_the_real_client_distils_and_its_facts_are_recalled(program: str, tmp_path: Path):
    with stream(distiller(program)) as api:
        person = Person(tmp_path, client(program), api)
        settings = person.home / ".claude" / "settings.json"
        settings.write_text(settings.read_text().replace('"Bash(ls:*)"', f'"{DISTIL}"'))
        later = datetime.now(UTC) + timedelta(hours=3)
        person.environ["MEMORY_NOW"] = later.isoformat()
        hold_session(program, person.environ, person.work, *PROMPTS)
        for command in ("ingest", "model use agent", "hooks install"):
            person.memory(*command.split())
        if program == "codex":
            trust(person.home / ".codex")
        hold_session(program, person.environ, person.work, ASKED[program])
        person.memory("ingest")
    answer = person.store.tables.read("observer_answers").to_dicts()[0]
    assert (answer["state"], answer["cost_usd"]) == ("answered", 0.0)
    assert answer["model"].startswith("agent:c")
    found = MemoryAgent().recall("What does the harbor gauge send?", now=later)
    assert found.results[0].text == ANSWERED
