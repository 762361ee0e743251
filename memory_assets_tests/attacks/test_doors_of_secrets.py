"""The doors by which a person's or an agent's text enters: a token that comes through one of them is in no byte of the data folder.

Every text of every verb's request is sent, so a new verb or parameter fails until it is in `REQUESTS`. Then the other doors: files
and tasks that a person edits, events that harnesses send. Git's objects are read decompressed.
"""

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from memory_assets.errors import MemoryAssetsError
from memory_assets.interfaces.envelope import envelope_of, to_json
from memory_assets.memory import MemoryAgent
from memory_assets.runs.results import Run
from memory_assets.runs.steps.brief import briefing
from memory_assets.schema import requests
from memory_assets.schema.requests import Request, parameters
from memory_assets.schema.tables import TABLES
from memory_assets.stages.deliver import events, spool
from memory_assets.stages.deliver.inbox import SpoolRules, ingest_spool
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets.text.masking.redact import mask_all
from memory_assets_tests.of_extras import CASES
from memory_assets_tests.stages.triage.world import World

TOKEN = "ghp_" + "k3JdY81xQm0ZtVb7WcRn52LsHf9AeU4gTpXo"
HIDDEN = TOKEN[:9] + "\u200b" + TOKEN[9:]
UV = "Always use `uv`, never `pip`."

REQUESTS: dict[type[Request], tuple[str, list[dict[str, Any]]]] = {
    requests.RecallRequest: ("recall", [{"question": "uv"}]),
    requests.AnswerRequest: ("answer", [{"question": "uv"}]),
    requests.ExplainRequest: ("explain", [{"target": "uv", "question": "which one"}]),
    requests.TriggersRequest: ("triggers", [{}]),
    requests.BriefRequest: ("brief", [{}]),
    requests.RememberRequest: (
        "remember",
        [{"text": "Ships leave at noon."}, {"text": "At one.", "instead_of": "MEMORY"}],
    ),
    requests.ForgetRequest: ("forget", [{"target": "ships"}, {"target": "ships", "apply": True}]),
    requests.FeedbackRequest: ("feedback", [{"memory_ids": ["MEMORY"], "used": True}]),
    requests.RestoreRequest: ("restore", [{"memory_ids": ["MEMORY"]}]),
    requests.ReviewRequest: ("review", [{}]),
    requests.DecideRequest: (
        "decide",
        [
            {"decision": "edit", "proposals": ["p-20260803-001"], "text": "Always use uv."},
            {"decision": "reject", "proposals": ["p-20260803-001"], "reason": "once only"},
        ],
    ),
    requests.StatusRequest: ("status", [{}]),
    **{model: ways for cases in CASES for model, ways in cases.REQUESTS.items()},
}
"""Each request with its method of the facade, and what it is asked with."""

QUESTIONS = (
    requests.QuestionRequest,
    requests.ExplainRequest,
    *(one for cases in CASES for one in cases.QUESTIONS),
)
"""Their answers repeat the question to who asks it."""


def texts_of(model: type[Request]) -> list[str]:
    """Returns the parameters that take any text, or a list of texts."""
    plain = {name: one.get("items", one) for name, one in parameters(model).items()}
    return [
        name for name, one in plain.items() if one.get("type") == "string" and "enum" not in one
    ]


class Agent(MemoryAgent):
    """The facade, with the triage of the small world."""

    world: World

    def run_triage(self, *proposal_ids: str):
        self.world.reopen()
        self.world.triage()
        return ()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A store in which a proposal waits, and every command can open."""
    monkeypatch.setenv("MEMORY_OWNER", "mira")
    monkeypatch.setenv("MEMORY_NOW", "2026-08-04T06:00:00Z")
    world = World(open_store(read_settings()).root)
    world.propose(UV)
    world.triage()
    return world


@pytest.fixture
def agent(world: World) -> Agent:
    agent = Agent()
    agent.world = world
    return agent


def contents(root: Path) -> Iterator[tuple[Path, bytes]]:
    """Yields every file of the folder as it is, and unpacked where it is an object of git or gzip."""
    for path in (path for path in root.rglob("*") if path.is_file()):
        content = path.read_bytes()
        yield path, content
        with suppress(zlib.error):
            yield path, zlib.decompress(content)
        with suppress(OSError, EOFError):
            yield path, gzip.decompress(content)


def holding(root: Path) -> list[Path]:
    """Returns the files that hold the token, whole or with an invisible letter inside."""
    wanted = [
        form
        for whole in (TOKEN, HIDDEN)
        for form in (whole.encode(), json.dumps(whole)[1:-1].encode())
    ]
    return [
        path
        for path, content in contents(root)
        if any(form.lower() in content.lower() for form in wanted)
    ]


@pytest.mark.parametrize("token", [TOKEN, HIDDEN], ids=["plain", "with an invisible letter"])
@pytest.mark.parametrize(
    ("model", "name"),
    [(model, name) for model in REQUESTS for name in texts_of(model)],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_a_token_in_a_text_of_a_request_is_in_no_byte_of_the_store_and_no_answer(
    model: type[Request],
    name: str,
    token: str,
    agent: Agent,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    places = {"MEMORY": agent.remember("Gulls nest in May.").memory_id}
    for cases in CASES:
        places |= cases.places(tmp_path, request)
    verb, ways = REQUESTS[model]
    for given in ways:
        filled = json.loads(
            json.dumps(given),
            object_hook=lambda one: {key: _filled(value, places) for key, value in one.items()},
        )
        is_list = parameters(model)[name]["type"] == "array"
        value = token if name in ("tag", "session", "project") else f"the key is {token}"
        if name == "files":
            value = str(Path(places["FILE"]).rename(tmp_path / f"{token}.md"))
        with suppress(MemoryAssetsError):
            answer = getattr(agent, verb)(model(**{**filled, name: [value] if is_list else value}))
            if not issubclass(model, QUESTIONS):
                assert TOKEN.encode() not in to_json(envelope_of(answer))
    assert holding(agent.world.root) == []


def _filled(value: Any, places: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_filled(one, places) for one in value]
    return places.get(value, value) if isinstance(value, str) else value


@pytest.mark.parametrize("token", [TOKEN, HIDDEN], ids=["plain", "with an invisible letter"])
def test_an_edited_proposal_reaches_the_files_of_entries_and_git_masked(
    agent: Agent, token: str
) -> None:
    agent.edit("p-20260803-001", f"Always pass {token} to uv.")
    agent.approve("p-20260803-001")
    assert any("Always pass ****" in line for line in agent.world.entries())
    assert holding(agent.world.root) == []


@pytest.mark.parametrize("mark", ["x", " ", "-"])
@pytest.mark.parametrize("token", [TOKEN, HIDDEN], ids=["plain", "with an invisible letter"])
def test_a_token_typed_into_review_md_is_masked_in_the_file_the_ledger_and_git(
    world: World, mark: str, token: str
) -> None:
    text = world.review_md.read_text()
    noted = text.replace("\n_Last updated", f"\nMy own note: {token}\n\n_Last updated")
    world.review_md.write_text(
        noted.replace(
            f"- [ ] `p-20260803-001` **{UV}**", f"- [{mark}] `p-20260803-001` **Pass {token}.**"
        )
    )
    states = [world.triage()["p-20260803-001"][0], world.triage()["p-20260803-001"][0]]
    assert states == [{"x": "promoted", " ": "pending", "-": "rejected"}[mark]] * 2
    assert (
        len(world.ledger.events(["proposal.edited", "proposal.approved", "proposal.rejected"])) == 1
    )
    assert "My own note: ****" in world.review_md.read_text()
    assert holding(world.root) == []


def test_a_token_in_an_event_that_a_harness_sends_is_masked_in_spool_and_ledger(
    world: World,
) -> None:
    sent: dict[str, dict[str, object]] = {
        events.REJECTED: {"proposalId": "p-20260803-001", "reason": f"because {TOKEN}"},
        events.ENDED: {"sessionId": TOKEN, "reason": f"the key is {HIDDEN}"},
        "memory/unknown": {"reason": TOKEN},
    }
    for name, data in sent.items():
        spool.append(str(world.root), name, data, version=1)
    report = ingest_spool(
        world.root,
        world.ledger,
        SpoolRules(
            world.clock.now.replace(year=2100), spool.user_id(), {"p-20260803-001": "pending"}
        ),
        mask=mask_all,
        actor="mira",
    )
    assert (report.lines, report.put_aside) == (3, 2)
    assert [
        event.payload["reason"][:12] for event in world.ledger.events(["proposal.rejected"])
    ] == ["because ****"]
    assert holding(world.root) == []


def test_what_is_read_from_memory_md_for_a_briefing_and_an_answer_is_masked(agent: Agent) -> None:
    store = agent.store
    for path in (store.workspace / "MEMORY.md", agent.world.memory_md):
        path.write_text(
            f"# Memory\n\n## Hard Rules\n\n- (2026-08-01) The key of the gauge is {TOKEN}.\n"
        )
    scopes = ["owner", "projects/tidewatch"]
    briefing(store, Run(TABLES["briefing"], scopes, scopes))
    shown = [store.memory_md()]
    shown += [
        path.read_text()
        for path in store.workspace.rglob("*.md")
        if "briefing" in str(path.relative_to(store.root))
    ]
    assert len([text for text in shown if "The key of the gauge is ****" in text]) >= 3
    assert [text for text in shown if TOKEN in text] == []


def test_a_line_of_memory_md_stays_as_it_was_typed_and_is_masked_wherever_it_is_copied(
    world: World,
) -> None:
    line = f"- (2026-08-01) The key of the gauge is {TOKEN}."
    world.memory_md.write_text(world.memory_md.read_text() + f"\n## Hard Rules\n\n{line}\n")
    world.propose(f"The key of the gauge is {TOKEN}.")
    world.triage()
    world.later(days=200)
    world.triage()
    assert line in world.memory_md.read_text()
    copies = [
        path
        for path in holding(world.root)
        if ".git" not in path.parts and "tables" not in path.parts
    ]
    assert copies == [world.memory_md]
    assert [
        one.message
        for one in world.workspace.history("projects/tidewatch.md")
        if TOKEN in one.message
    ] == []
