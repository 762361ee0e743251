"""Tasks in Todoist as a view of the ledger: what a person does to them decides, what anybody else does to them does not."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_assets.adapters.todoist_tasks import TodoistTasks
from memory_assets.errors import TaskListError
from memory_assets.stages.friction.review import FrictionItem
from memory_assets.stages.triage.run import AppliedDecisions
from memory_assets.stages.triage.tasks import (
    KINDS,
    SENT,
    apply_task_changes,
    fetch_tasks,
    open_tasks,
    sync_tasks,
)
from memory_assets_tests.factories import frame, row
from memory_assets_tests.stages.triage.world import DAY, World
from memory_assets_tests.todoist_api import TOKEN, Fault, TodoistApi, proposed_in, serve

DATES, GAUGE, TIDY = (
    "Write dates the British way.",
    "The gauge feed lags by one hour.",
    "Ask @harbour before the tide turns.",
)
LABEL, KEY = "memory-review", b"key of this store"
QUIET: dict[str, Any] = {"shown": {}, "is_forgotten": lambda text: False}
PORT, NEW_PORT = "The database listens on port 5432.", "The database listens on port 5433."


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def api(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[TodoistApi]:
    monkeypatch.setenv("MEMORY_TODOIST_TOKEN", TOKEN)
    with serve(clock=world.clock) as api:
        yield api


def tasks_of(world: World, api: TodoistApi, **how: str) -> TodoistTasks:
    return TodoistTasks(world.clock, label=LABEL, url=api.url, **how)


def hear(world: World, api: TodoistApi) -> AppliedDecisions:
    found = fetch_tasks(tasks_of(world, api), world.ledger)
    return apply_task_changes(found, world.steps)


def send(world: World, api: TodoistApi, key: bytes = KEY, **how) -> dict[str, int]:
    return dict(sync_tasks(tasks_of(world, api), world.steps, key, **{**QUIET, **how}))


def triage(world: World, api: TodoistApi, **how) -> dict[str, tuple[str, str]]:
    """One whole triage with both surfaces, as the pipeline does it."""
    found = fetch_tasks(tasks_of(world, api), world.ledger)
    world.hear()
    apply_task_changes(found, world.steps)
    states = world.decide()
    world.write()
    world.ask()
    send(world, api, **how)
    return states


def send_unheard(world: World, api: TodoistApi) -> None:
    """Tasks are made, but the connection is lost before the list's server says so."""
    api.fault = lambda method, path: Fault(is_dropped=True) if method == "POST" else None
    with pytest.raises(TaskListError, match="Cannot reach"):
        send(world, api)
    api.fault = lambda method, path: None


def said(world: World) -> list[tuple[str, str]]:
    """What people decided, in order."""
    kinds = ["proposal.approved", "proposal.rejected", "proposal.edited"]
    return [(event.kind, event.target) for event in world.ledger.events(kinds)]


def contents(api: TodoistApi) -> list[str]:
    """What the open tasks propose."""
    return [proposed_in(task["content"]) for task in api.open()]


def test_each_proposal_that_waits_is_a_task_that_says_where_it_would_go_and_why_it_waits(
    world: World, api: TodoistApi
):
    dates, _ = world.propose(DATES, TIDY)
    triage(world, api)
    assert contents(api) == [DATES, TIDY]
    task = api.named(DATES)
    assert task["content"] == f"Promote: {DATES} → Hard Rules"
    assert task["labels"] == [LABEL, "agent"]
    assert task["due"]["date"] == (world.clock() + timedelta(days=5)).date().isoformat()
    assert task["description"].splitlines()[:4] == [
        "Proposed for: Hard Rules",
        "you said it in one session, on 2026-08-03",
        "Sources: s1-0",
        "Complete it to approve, reworded first if you like. Delete it, or label it `rejected`, to reject.",
    ]
    assert task["description"].splitlines()[4].startswith(f"[{dates} ")
    assert [event.payload["task_id"] for event in world.ledger.events([SENT])] == [
        task["id"],
        api.named(TIDY)["id"],
    ]


def test_a_completed_task_approves(world: World, api: TodoistApi):
    (dates,) = world.propose(DATES)
    triage(world, api)
    api.complete(api.named(DATES))
    assert triage(world, api)[dates] == ("promoted", "approved by a person")
    assert world.entries() == [f"- (2026-08-03) {DATES}"]
    assert dates not in world.review_md.read_text()
    (event,) = world.ledger.events(["proposal.approved"])
    assert (event.actor, event.payload) == ("mira", {"surface": "Todoist"})
    assert open_tasks(world.ledger.events(KINDS)) == {} and [path for _, path in api.writes()] == [
        "/api/v1/tasks"
    ]


def test_a_deleted_task_rejects(world: World, api: TodoistApi):
    dates, gauge = world.propose(DATES, GAUGE)
    triage(world, api)
    api.remove(api.named(DATES))
    states = triage(world, api)
    assert states[dates] == ("rejected", "struck from Todoist")
    assert states[gauge][0] == "pending"
    assert contents(api) == [GAUGE] and dates not in world.review_md.read_text()
    (again,) = world.propose("Please write dates the British way.")
    assert triage(world, api)[again] == (
        "rejected",
        f"says the same as {dates}, which a person rejected",
    )


@pytest.mark.parametrize("is_completed", [False, True])
def test_the_label_rejected_rejects_and_the_task_goes(
    world: World, api: TodoistApi, is_completed: bool
):
    (dates,) = world.propose(DATES)
    triage(world, api)
    task = api.named(DATES)
    task["labels"] = ["rejected"]
    if is_completed:
        api.complete(task)
    assert triage(world, api)[dates] == ("rejected", "struck from Todoist")
    assert task["is_deleted"] and world.entries() == []


def test_a_reworded_task_waits_in_its_words_on_both_surfaces(world: World, api: TodoistApi):
    (dates,) = world.propose(DATES)
    triage(world, api)
    api.named(DATES)["content"] = "Write dates the Scottish way."
    assert triage(world, api)[dates][0] == "pending"
    assert "**Write dates the Scottish way.**" in world.review_md.read_text()
    triage(world, api)
    assert said(world) == [("proposal.edited", dates)] and len(api.writes()) == 1
    api.named("Write dates the Scottish way.")["content"] = DATES  # and back again
    triage(world, api)
    assert said(world) == [("proposal.edited", dates)] * 2
    assert f"**{DATES}**" in world.review_md.read_text()


def test_a_token_in_a_reworded_task_is_masked_here_and_decided_once(world: World, api: TodoistApi):
    (dates,) = world.propose(DATES)
    triage(world, api)
    secret = "ghp_k3JdY81xQm0ZtVb7WcRn52LsHf9AeU4gTpXo"
    api.named(DATES)["content"] = f"Pass {secret}."
    for _ in range(3):
        triage(world, api)
    assert said(world) == [("proposal.edited", dates)]
    api.complete(api.open()[0])
    triage(world, api)
    (line,) = world.entries()
    assert line.endswith(f"Pass {'*' * len(secret)}.")
    assert not any(secret in str(event) for event in world.ledger.events())
    assert secret not in world.review_md.read_text()


def test_a_rewording_that_was_done_and_not_noted_is_nobodys(world: World, api: TodoistApi):
    (dates,) = world.propose(DATES)
    triage(world, api)
    world.ledger.append(
        "proposal.edited", dates, {"text": "Write dates the Scottish way."}, actor="mira"
    )
    world.decide()
    send_unheard(world, api)
    triage(world, api)
    assert contents(api) == ["Write dates the Scottish way."] and said(world) == [
        ("proposal.edited", dates)
    ]


def test_what_nobody_decides_expires_and_its_deleted_task_rejects_nothing(
    world: World, api: TodoistApi
):
    (dates,) = world.propose(DATES)
    triage(world, api)
    task = api.named(DATES)
    world.later(days=7)
    assert triage(world, api)[dates] == (
        "expired",
        "no decision within 7 days on which its project had sessions",
    )
    assert task["is_deleted"]
    triage(world, api)
    assert said(world) == []


def test_a_task_that_expiry_deleted_before_a_crash_rejects_nothing(world: World, api: TodoistApi):
    (dates,) = world.propose(DATES)
    triage(world, api)
    world.later(days=7)
    world.decide()
    api.fault = lambda method, path: Fault(is_dropped=True) if method == "DELETE" else None
    with pytest.raises(TaskListError):
        send(world, api)
    assert api.open() == []
    api.fault = lambda method, path: None
    assert triage(world, api)[dates][0] == "expired"
    assert said(world) == [] and open_tasks(world.ledger.events(KINDS)) == {}


def test_what_is_decided_in_both_at_once_is_decided_once(world: World, api: TodoistApi):
    dates, gauge = world.propose(DATES, GAUGE)
    triage(world, api)
    world.tick(dates)
    world.tick(gauge, "-")
    api.remove(api.named(DATES))
    api.complete(api.named(GAUGE))
    states = triage(world, api)
    assert (states[dates][0], states[gauge][0]) == ("promoted", "rejected")
    assert said(world) == [("proposal.approved", dates), ("proposal.rejected", gauge)]
    triage(world, api)
    assert len(said(world)) == 2 and open_tasks(world.ledger.events(KINDS)) == {}


def test_what_rules_promote_is_completed(world: World, api: TodoistApi):
    (uv,) = world.propose("Always use `uv`, never `pip`.")
    triage(world, api)
    task = api.named("Always use `uv`, never `pip`.")
    world.confirm(uv)
    assert triage(world, api)[uv][0] == "promoted"
    assert task["completed_at"] and said(world) == []


def test_a_persons_own_tasks_stay_as_they_are(world: World, api: TodoistApi):
    own = [
        api.add(DATES, "mine", [LABEL]),
        api.add("Buy milk", f"[p-20260803-001 {'0' * 12} {'0' * 12}]", [LABEL, "rejected"]),
    ]
    before = [dict(task) for task in own]
    world.propose(DATES)
    triage(world, api)
    api.complete(own[0])
    triage(world, api)
    assert said(world) == []
    world.later(days=8)
    triage(world, api)
    assert own[1] == before[1] and {**own[0], "completed_at": None} == before[0]


@pytest.mark.parametrize("words", [None, "Write dates the Scottish way."])
def test_a_task_that_was_made_and_not_noted_is_found_and_not_made_twice(
    world: World, api: TodoistApi, words: str | None
):
    (dates,) = world.propose(DATES)
    world.triage()
    send_unheard(world, api)
    assert (contents(api), world.ledger.events([SENT])) == ([DATES], [])
    api.named(DATES)["content"] = words or DATES
    triage(world, api)
    triage(world, api)
    assert contents(api) == [words or DATES]
    assert said(world) == ([("proposal.edited", dates)] if words else [])


def test_without_an_answer_nothing_is_decided_and_review_md_goes_on(world: World, api: TodoistApi):
    dates, gauge = world.propose(DATES, GAUGE)
    triage(world, api)
    api.complete(api.named(DATES))
    api.remove(api.named(GAUGE))
    api.fault = lambda method, path: Fault(503)
    with pytest.raises(TaskListError):
        hear(world, api)
    world.tick(gauge)
    states = world.triage()
    assert (states[dates][0], states[gauge][0]) == ("pending", "promoted")
    api.fault = lambda method, path: None
    assert triage(world, api)[dates][0] == "promoted"
    assert said(world) == [("proposal.approved", gauge), ("proposal.approved", dates)]


def test_a_project_deleted_with_its_tasks_rejects_nothing(world: World, api: TodoistApi):
    home = api.add_project("Memory")
    (dates,) = world.propose(DATES)
    world.triage()
    sync_tasks(tasks_of(world, api, project="Memory"), world.steps, KEY, **QUIET)
    assert api.named(DATES)["project_id"] == home
    api.remove_project(home)
    heard = hear(world, api)
    assert (
        heard.counts == {} and f"The task of {dates} is gone with its project" in heard.warnings[0]
    )
    assert world.decide()[dates][0] == "pending"
    world.later(days=7)
    assert triage(world, api)[dates][0] == "expired"
    assert open_tasks(world.ledger.events(KINDS)) == {} and said(world) == []


def test_a_line_that_may_go_goes_when_its_task_is_completed_and_cannot_be_reworded(
    world: World, api: TodoistApi
):
    (port, _) = world.propose(PORT, "Always use `uv`, never `pip`.", sessions=2, section="Patterns")
    world.ledger.append("proposal.approved", port, {}, actor="mira")
    world.triage()
    world.contradict(port)
    triage(world, api)
    task = api.named(f"Retire: {PORT}")
    assert task["description"].startswith("Proposed to retire\nmore speaks against it")
    task["content"] = NEW_PORT
    assert "was reworded, which cannot be taken over" in hear(world, api).warnings[0]
    task["content"] = f"Retire: {PORT}"
    api.complete(task)
    triage(world, api)
    assert [entry.split(") ")[1] for entry in world.entries()] == ["Always use `uv`, never `pip`."]


def test_a_friction_is_a_task_with_its_target_and_size(world: World, api: TodoistApi):
    world.propose(DATES)
    number, rule = "f-20260803-001", "Use `uv`, never `pip`, in every shell."
    friction = row(
        "friction",
        proposal_id=number,
        day=DAY,
        title="pip runs",
        text=rule,
        section="Hard Rules",
        target="AGENTS.md",
    )
    world.tables.write("friction", DAY.isoformat(), frame("friction", friction))
    details = (
        "  Target: `AGENTS.md`, Hard Rules (approved, it becomes a patch file)",
        "  Evidence: sessions of 2026-08-03",
    )
    shown = {
        number: FrictionItem(
            "Friction Fixes (auto-detected 2026-08-03)", "3 of 20 sessions: severity 9", details
        )
    }
    triage(world, api, shown=shown)
    task = api.named(rule)
    assert task["description"].splitlines()[:4] == [
        shown[number].heading,
        shown[number].why,
        *map(str.strip, details),
    ]
    api.complete(task)
    assert triage(world, api)[number] == ("promoted", "approved by a person")


def test_a_task_with_words_that_are_to_be_forgotten_is_deleted(world: World, api: TodoistApi):
    world.propose(DATES)
    triage(world, api)
    task = api.named(DATES)
    send(world, api, is_forgotten=lambda text: "British" in text)
    assert task["is_deleted"]
    triage(world, api)
    assert said(world) == [] and contents(api) == [DATES]
