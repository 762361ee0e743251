"""Reads, adds, changes, completes and deletes a person's tasks in Todoist, with the official SDK.

A task that is not open counts as completed or deleted only if the API says so. The token comes from
the environment. No error message contains the token or the text of a task.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from memory_assets.adapters.optional_packages import install_command
from memory_assets.errors import TaskListError
from memory_assets.schema.protocols import Task

if TYPE_CHECKING:
    import httpx
    from todoist_api_python.api import TodoistAPI
    from todoist_api_python.models import Task as TodoistTask

T = TypeVar("T")

TOKEN = "MEMORY_TODOIST_TOKEN"
TOKEN_PAGE = "Todoist's settings, Integrations, Developer"
AGENT_LABEL = "agent"
"""Label of tasks that a program created."""

PUBLIC_URL = "https://api.todoist.com"

LARGEST_PAGE = 200
"""Page limit of the API."""

MOST_IDS = 100
"""Ids in one URL: servers accept URLs of up to about 4,000 characters."""

CONNECT_SECONDS = 10.0
READ_SECONDS = 20.0
"""Timeouts; a sensor has a minute for all its requests."""

LONGEST_LOOK_BACK = timedelta(days=89)
"""Age up to which completed tasks are requested; the API lists at most three months."""


class TodoistTasks:
    """The tasks of the token's owner that have our label or are requested by id."""

    def __init__(
        self, clock: Callable[[], datetime], *, label: str, project: str = "", url: str = ""
    ) -> None:
        self._clock = clock
        self._label = label
        self._project = project
        self._url = url or PUBLIC_URL

    def look(self, homes: Mapping[str, str], since: datetime) -> dict[str, Task]:
        """Returns the current state of each task by its id; see `TaskList.look`."""
        tasks = self._open(homes)
        if homes.keys() - tasks.keys():
            completed = (task for task in self._completed(since) if task.id in homes)
            tasks |= {task.id: task for task in completed if task.id not in tasks}
        return tasks | {id: self._missing(id, homes[id]) for id in homes if id not in tasks}

    def labelled(self, since: datetime) -> list[Task]:
        """Returns the tasks with the label that are open or were completed since the moment."""
        tasks = self._all(lambda api: api.get_tasks(label=self._label, limit=LARGEST_PAGE))
        return [
            *map(_task, tasks),
            *(task for task in self._completed(since) if self._label in task.labels),
        ]

    def add(self, content: str, description: str, due_on: date) -> Task:
        """Creates a task with our label and that of agents, in the project of the settings."""
        options = {
            "project_id": self._project_id,
            "labels": [self._label, AGENT_LABEL],
            "due_date": due_on,
            "auto_parse_labels": False,  # the text may contain @
        }
        task = self._call(lambda api: api.add_task(content, description=description, **options))
        return _task(task)

    def reword(self, task_id: str, content: str) -> Task:
        """Changes the text of an open task and returns the task."""
        return _task(self._call(lambda api: api.update_task(task_id, content=content)))

    def complete(self, task_id: str) -> None:
        """Completes a task, if it exists."""
        self._call_if_there(lambda api: api.complete_task(task_id))

    def delete(self, task_id: str) -> None:
        """Deletes a task, if it exists."""
        self._call_if_there(lambda api: api.delete_task(task_id))

    def _open(self, ids: Iterable[str]) -> dict[str, Task]:
        """Returns the open tasks among these, by id; some may be missing if tasks change while
        pages are read.
        """
        results: dict[str, Task] = {}
        all_ids = list(ids)
        for start in range(0, len(all_ids), MOST_IDS):
            page = all_ids[start : start + MOST_IDS]
            tasks = self._all(lambda api, page=page: api.get_tasks(ids=page, limit=LARGEST_PAGE))
            results |= {task.id: _task(task) for task in tasks}
        return results

    def _completed(self, since: datetime) -> list[Task]:
        """Returns all tasks completed since the moment, with or without the label."""
        now = self._clock()
        first = max(since, now - LONGEST_LOOK_BACK)
        last = now + timedelta(days=1)
        tasks = self._all(
            lambda api: api.get_completed_tasks_by_completion_date(
                since=first, until=last, limit=LARGEST_PAGE
            )
        )
        return [_task(task) for task in tasks]

    def _missing(self, id: str, project_id: str) -> Task:
        """Returns the state of a task that is in neither list, of open or of completed tasks.

        It is `deleted` if its project still exists, else `unknown`: the project was deleted or
        archived, or the token is another person's.
        """
        task = self._call_if_there(lambda api: api.get_task(id))
        if task is not None:
            if task.is_completed:
                return _task(task)
            open_tasks = self._open([id])
            if open_tasks:
                return open_tasks[id]
            project_id = task.project_id
        project = self._call_if_there(lambda api: api.get_project(project_id))
        has_project = project is not None and not project.is_archived
        return Task(id, project_id, state="deleted" if has_project else "unknown")

    @cached_property
    def _project_id(self) -> str | None:
        """Id of the project for new tasks; None is the Inbox."""
        if not self._project:
            return None
        for project in self._all(lambda api: api.get_projects(limit=LARGEST_PAGE)):
            if self._project in (project.name, project.id):
                return project.id
        raise TaskListError(
            f"Todoist has no project '{self._project}'. Create it, or check MEMORY_TODOIST_PROJECT."
        )

    @cached_property
    def _api(self) -> "TodoistAPI":
        try:
            import httpx
            from todoist_api_python.api import TodoistAPI
        except ImportError:
            raise TaskListError(
                f"{TOKEN} is set, but its package is not installed. Run "
                f"`{install_command('todoist')}`, or unset it."
            ) from None
        token = os.environ.get(TOKEN, "")
        if not re.fullmatch(r"[!-~]+", token):
            raise TaskListError(
                f"{TOKEN} is empty or contains invalid characters. Copy it again from "
                f"{TOKEN_PAGE}. Nothing was sent."
            )
        base = httpx.URL(self._url)
        hooks = {"request": [lambda request: _send_to(base, request)]}
        return TodoistAPI(token, client=httpx.Client(event_hooks=hooks))

    def _all(self, pages: "Callable[[TodoistAPI], Iterator[list[T]]]") -> list[T]:
        """Returns the items of all pages."""
        return self._call(lambda api: list(chain.from_iterable(pages(api))))

    def _call_if_there(self, call: "Callable[[TodoistAPI], T]") -> T | None:
        """Returns the result of a call, or None if the API says that the object is missing."""
        try:
            return self._call(call)
        except TaskListError as error:
            response = getattr(error.__context__, "response", None)
            if response is not None and response.status_code in (403, 404, 410):
                return None
            raise

    def _call(self, call: "Callable[[TodoistAPI], T]") -> T:
        """Returns the result of a call of the SDK; converts its errors, without their text, which
        quotes addresses and answers.
        """
        api = self._api
        import httpx
        from dataclass_wizard.errors import JSONWizardError

        try:
            return call(api)
        except httpx.HTTPStatusError as error:
            raise TaskListError(self._refused(error.response)) from None
        except httpx.TransportError as error:
            problem = (
                f"Cannot reach {self._where} ({type(error).__name__}); the next triage tries "
                "again. Check the network."
            )
            raise TaskListError(problem) from None
        except (JSONWizardError, TypeError, ValueError, KeyError, AttributeError) as error:
            problem = (
                f"cannot be read ({type(error).__name__}): it is not the Todoist API. Check "
                "MEMORY_TODOIST_URL."
            )
            raise TaskListError(f"The answer from {self._where} {problem}") from None

    def _refused(self, response: "httpx.Response") -> str:
        status = response.status_code
        if status in (401, 403):
            return (
                f"{self._where} does not accept the token ({status}). Check {TOKEN}, from "
                f"{TOKEN_PAGE}."
            )
        if status == 429:
            wait = response.headers.get("retry-after", "")
            duration = f" of {wait} s" if wait.isdigit() else ""
            return f"{self._where} asks for a pause{duration} (429); the next triage tries again."
        if status >= 500 or status == 408:
            return f"{self._where} is not available ({status}); the next triage tries again."
        if status < 400 or status in (404, 405):
            return f"{self._where} is not the Todoist API ({status}). Check MEMORY_TODOIST_URL."
        return f"{self._where} rejects a request ({status})."

    @property
    def _where(self) -> str:
        """The address without user and password, which may be keys."""
        parts = urlsplit(self._url)
        return f"Todoist at {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _send_to(base: "httpx.URL", request: "httpx.Request") -> None:
    """Changes a request of the SDK: to our address, with our timeouts."""
    request.url = base.copy_with(raw_path=base.raw_path.rstrip(b"/") + request.url.raw_path)
    request.headers["Host"] = request.url.netloc.decode()
    timeout = {
        "connect": CONNECT_SECONDS,
        "read": READ_SECONDS,
        "write": READ_SECONDS,
        "pool": CONNECT_SECONDS,
    }
    request.extensions = {**request.extensions, "timeout": timeout}


def _task(task: "TodoistTask") -> Task:
    state = "completed" if task.is_completed else "open"
    return Task(
        task.id, task.project_id, task.content, task.description, tuple(task.labels or ()), state
    )
