"""Tasks through the official SDK, against a local server that speaks the API: what became of each, and what goes wrong."""

import builtins
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from memory_assets.adapters.optional_packages import install_command
from memory_assets.adapters.todoist_tasks import TodoistTasks
from memory_assets.errors import TaskListError
from memory_assets_tests.todoist_api import INBOX, TOKEN, Fault, TodoistApi, serve

NOW = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)
SINCE = NOW - timedelta(days=7)
DUE = date(2026, 9, 6)
LABEL = "memory-review"


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[TodoistApi]:
    monkeypatch.setenv("MEMORY_TODOIST_TOKEN", TOKEN)
    with serve(clock=lambda: NOW) as api:
        yield api


def tasks_of(api: TodoistApi, **how: Any) -> TodoistTasks:
    return TodoistTasks(lambda: NOW, label=LABEL, **{"url": api.url, **how})


def states(api: TodoistApi, *ids: str, project: str = INBOX) -> dict[str, str]:
    return {
        id: task.state
        for id, task in tasks_of(api).look(dict.fromkeys(ids, project), SINCE).items()
    }


def test_a_task_is_made_as_it_is_worded_with_the_label(api: TodoistApi):
    made = tasks_of(api).add("Ask @mira about *.md", "why", DUE)
    assert (made.content, made.labels, made.project_id, made.state) == (
        "Ask @mira about *.md",
        (LABEL, "agent"),
        INBOX,
        "open",
    )
    known = api.named("Ask @mira about *.md")
    assert (known["description"], known["due"]["date"]) == ("why", "2026-09-06")


def test_a_task_is_made_in_the_project_that_is_named(api: TodoistApi):
    api.page_size = 1
    home = api.add_project("Memory")
    assert tasks_of(api, project="Memory").add("one", "", DUE).project_id == home
    assert tasks_of(api, project=home).add("two", "", DUE).project_id == home
    with pytest.raises(TaskListError, match="no project 'Garden'.*MEMORY_TODOIST_PROJECT"):
        tasks_of(api, project="Garden").add("three", "", DUE)


@pytest.mark.parametrize("tells_completed", [True, False])
def test_a_completed_task_is_told_from_a_deleted_one(api: TodoistApi, tells_completed: bool):
    api.tells_completed = tells_completed
    done, gone, bare = (
        api.add("one", labels=[LABEL]),
        api.add("two", labels=[LABEL]),
        api.add("three"),
    )
    api.complete(done), api.complete(bare), api.remove(gone)
    ids = [task["id"] for task in (done, gone, bare)]
    assert states(api, *ids) == dict(zip(ids, ("completed", "deleted", "completed"), strict=True))


def test_what_went_with_its_project_or_belongs_to_another_person_is_unknown(api: TodoistApi):
    home, shelved = api.add_project("Memory"), api.add_project("Shelved")
    gone, away = api.add("one", project_id=home), api.add("two", project_id=shelved)
    api.remove_project(home)
    api.projects[shelved]["is_archived"] = True
    away["is_deleted"] = True
    assert states(api, gone["id"], project=home) == {gone["id"]: "unknown"}
    assert states(api, away["id"], project=shelved) == {away["id"]: "unknown"}
    assert states(api, "6another", project="6theirs") == {"6another": "unknown"}


def test_an_open_task_that_a_page_lacked_is_asked_for_again(
    api: TodoistApi, monkeypatch: pytest.MonkeyPatch
):
    task = api.add("one")
    answers = iter([[]])
    shown = api.page
    monkeypatch.setattr(
        api, "page", lambda found, field, query: shown(next(answers, found), field, query)
    )
    assert states(api, task["id"]) == {task["id"]: "open"}


def test_every_page_is_read(api: TodoistApi):
    api.page_size = 2
    ids = [api.add(f"task {n}", labels=[LABEL])["id"] for n in range(205)]
    assert states(api, *ids) == dict.fromkeys(ids, "open")
    for id in ids[:5]:
        api.complete(api.tasks[id])
    assert [task.state for task in tasks_of(api).labelled(SINCE)] == ["open"] * 200 + [
        "completed"
    ] * 5


def test_a_task_is_reworded_completed_and_deleted_and_one_that_is_gone_does_not_matter(
    api: TodoistApi,
):
    one, two = api.add("one"), api.add("two")
    tasks = tasks_of(api)
    tasks.reword(one["id"], "uno")
    assert one["content"] == "uno"
    (
        tasks.complete(one["id"]),
        tasks.delete(two["id"]),
        tasks.delete(two["id"]),
        tasks.complete("6none"),
    )
    assert states(api, one["id"], two["id"]) == {one["id"]: "completed", two["id"]: "deleted"}


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fault(401), "does not accept the token .401.. Check MEMORY_TODOIST_TOKEN"),
        (Fault(403), "does not accept the token .403.. Check MEMORY_TODOIST_TOKEN"),
        (
            Fault(429, {"retry-after": "17"}),
            "asks for a pause of 17 s .429.; the next triage tries again",
        ),
        (Fault(503), "is not available .503.; the next triage tries again"),
        (
            Fault(302, {"location": "https://elsewhere.example"}),
            "is not the Todoist API .302.. Check MEMORY_TODOIST_URL",
        ),
        (Fault(404), "is not the Todoist API .404.. Check MEMORY_TODOIST_URL"),
        (Fault(400), "rejects a request .400."),
        (Fault(200, raw=b"<html>welcome</html>"), "cannot be read"),
        (Fault(200, raw=b'{"results": [{"id": "1"}], "next_cursor": null}'), "cannot be read"),
        (Fault(is_dropped=True), "Cannot reach Todoist at http://127.0.0.1"),
    ],
)
def test_what_goes_wrong_is_named_with_what_to_do(api: TodoistApi, fault: Fault, says: str):
    task = api.add("a secret plan", labels=[LABEL])
    api.fault = lambda method, path: fault
    with pytest.raises(TaskListError, match=says) as caught:
        tasks_of(api).look({task["id"]: INBOX}, SINCE)
    assert TOKEN not in str(caught.value) and "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/tasks/completed/by_completion_date",
        "/api/v1/tasks/{id}",
        f"/api/v1/projects/{INBOX}",
    ],
)
def test_without_an_answer_nothing_is_said_of_a_missing_task(api: TodoistApi, path: str):
    gone = api.add("one", labels=[LABEL])
    api.remove(gone)
    silent = path.format(id=gone["id"])
    api.fault = lambda method, asked: Fault(500) if asked == silent else None
    with pytest.raises(TaskListError, match="is not available"):
        states(api, gone["id"])


@pytest.mark.parametrize("token", ["", "0123 456", "0123…", "abc\n"])
def test_a_token_that_is_none_is_not_sent(
    api: TodoistApi, monkeypatch: pytest.MonkeyPatch, token: str
):
    monkeypatch.setenv("MEMORY_TODOIST_TOKEN", token)
    with pytest.raises(TaskListError, match="MEMORY_TODOIST_TOKEN is empty or contains invalid"):
        tasks_of(api).labelled(SINCE)
    assert api.requests == []


def test_a_missing_package_is_named_with_the_line_that_installs_it(
    api: TodoistApi, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(builtins, "__import__", _without("todoist_api_python"))
    with pytest.raises(TaskListError, match=re.escape(f"Run `{install_command('todoist')}`")):
        tasks_of(api).labelled(SINCE)


def _without(package: str) -> Callable[..., Any]:
    imported = builtins.__import__

    def import_others(name: str, *rest: Any, **named: Any) -> Any:
        if name.split(".")[0] == package:
            raise ImportError(name)
        return imported(name, *rest, **named)

    return import_others
