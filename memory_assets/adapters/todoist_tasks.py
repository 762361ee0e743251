"""A person's tasks in Todoist, through its official SDK: looked at, made, reworded, completed, deleted.

Only an answer of the API says what became of a task that is not among the open ones. The token comes from the environment
alone; no message holds it, nor the words of a task.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from memory_assets.errors import TaskListError
from memory_assets.schema.protocols import Task

if TYPE_CHECKING:
    import httpx
    from todoist_api_python.api import TodoistAPI
    from todoist_api_python.models import Task as TodoistTask

T = TypeVar("T")

TOKEN = "MEMORY_TODOIST_TOKEN"
PUBLIC_URL = "https://api.todoist.com"

LARGEST_PAGE = 200
"""What the API gives at once."""

MOST_IDS = 100
"""In one address, which servers take up to some 4,000 characters of."""

CONNECT_SECONDS, READ_SECONDS = 10.0, 20.0
"""A sensor has a minute for all that it asks."""

LONGEST_LOOK_BACK = timedelta(days=89)
"""The API tells what was completed within three months."""


class TodoistTasks:
    """The tasks of whom the token belongs to, as far as they carry the label or are asked for by id."""

    def __init__(self, clock: Callable[[], datetime], *, label: str, project: str = "", url: str = "") -> None:
        self._clock = clock
        self._label = label
        self._project = project
        self._url = url or PUBLIC_URL

    def look(self, wanted: Mapping[str, str], since: datetime) -> dict[str, Task]:
        """Returns each task by its id as it stands now."""
        found = self._open(wanted)
        if wanted.keys() - found.keys():
            found |= {task.id: task for task in self._completed(since) if task.id in wanted and task.id not in found}
        return found | {id: self._missing(id, wanted[id]) for id in wanted if id not in found}

    def labelled(self, since: datetime) -> list[Task]:
        """Returns the open tasks with the label, and those with it that were completed since the moment."""
        tasks = self._all(lambda api: api.get_tasks(label=self._label, limit=LARGEST_PAGE))
        return [*map(_task, tasks), *(task for task in self._completed(since) if self._label in task.labels)]

    def add(self, content: str, description: str) -> Task:
        """Makes a task with the label, in the project that the settings name."""
        home = self._project_id
        how = {"project_id": home, "labels": [self._label], "auto_parse_labels": False}  # an @ may stand in what is proposed
        return _task(self._call(lambda api: api.add_task(content, description=description, **how)))

    def reword(self, task_id: str, content: str) -> Task:
        """Changes what an open task says, and returns it as it stands then."""
        return _task(self._call(lambda api: api.update_task(task_id, content=content)))

    def complete(self, task_id: str) -> None:
        """Completes a task; nothing happens when it is not there."""
        self._call_about(lambda api: api.complete_task(task_id))

    def delete(self, task_id: str) -> None:
        """Deletes a task; nothing happens when it is not there."""
        self._call_about(lambda api: api.delete_task(task_id))

    def _open(self, ids: Iterable[str]) -> dict[str, Task]:
        """Returns those of the tasks that are open; pages that move while they are read may lack some."""
        found: dict[str, Task] = {}
        wanted = list(ids)
        for some in (wanted[n : n + MOST_IDS] for n in range(0, len(wanted), MOST_IDS)):
            tasks = self._all(lambda api, some=some: api.get_tasks(ids=some, limit=LARGEST_PAGE))
            found |= {task.id: _task(task) for task in tasks}
        return found

    def _completed(self, since: datetime) -> list[Task]:
        """Returns whatever was completed since the moment: a task that lost its label was completed all the same."""
        now = self._clock()
        first, last = max(since, now - LONGEST_LOOK_BACK), now + timedelta(days=1)
        tasks = self._all(lambda api: api.get_completed_tasks_by_completion_date(since=first, until=last, limit=LARGEST_PAGE))
        return [_task(task) for task in tasks]

    def _missing(self, id: str, project_id: str) -> Task:
        """Returns a task that was neither among the open ones nor among those completed.

        A task that is gone was deleted where its project is there still. Else the project went, with all its tasks, or the
        token is another person's, who sees none of them.
        """
        task = self._call_about(lambda api: api.get_task(id))
        if task is not None and task.is_completed:
            return _task(task)
        if task is not None and (again := self._open([id])):
            return again[id]
        home = project_id if task is None else task.project_id
        return Task(id, home, state="deleted" if self._is_there(home) else "unknown")

    def _is_there(self, project_id: str) -> bool:
        project = self._call_about(lambda api: api.get_project(project_id))
        return project is not None and not project.is_archived

    @cached_property
    def _project_id(self) -> str | None:
        """The project in which tasks are made; None is the Inbox."""
        if not self._project:
            return None
        projects = self._all(lambda api: api.get_projects(limit=LARGEST_PAGE))
        found = next((one.id for one in projects if self._project in (one.name, one.id)), None)
        if found is None:
            raise TaskListError(f"Todoist has no project '{self._project}'. Make it there, or check MEMORY_TODOIST_PROJECT.")
        return found

    @cached_property
    def _api(self) -> "TodoistAPI":
        try:
            import httpx
            from todoist_api_python.api import TodoistAPI
        except ImportError:
            raise TaskListError(
                f"{TOKEN} is set, but the package that talks to Todoist is not installed. "
                "Run `pip install 'memory_assets[todoist]'`, or unset the variable."
            ) from None
        token = os.environ.get(TOKEN, "")
        if not re.fullmatch(r"[!-~]+", token):
            raise TaskListError(
                f"{TOKEN} is empty or holds characters that no token has. Copy it again, from Todoist's settings under "
                "Integrations, Developer. Nothing was sent."
            )
        base = httpx.URL(self._url)
        return TodoistAPI(token, client=httpx.Client(event_hooks={"request": [lambda request: _send_to(base, request)]}))

    def _all(self, pages: "Callable[[TodoistAPI], Iterator[list[T]]]") -> list[T]:
        return self._call(lambda api: list(chain.from_iterable(pages(api))))

    def _call_about(self, call: "Callable[[TodoistAPI], T]") -> T | None:
        """Returns what the SDK returns, or None where the API says that what the call names is not there."""
        import httpx

        def answer(api: "TodoistAPI") -> T | None:
            try:
                return call(api)
            except httpx.HTTPStatusError as error:
                if error.response.status_code in (403, 404, 410):
                    return None
                raise

        return self._call(answer)

    def _call(self, call: "Callable[[TodoistAPI], T]") -> T:
        """Returns what the SDK returns; its failures as ours, alone: its own messages quote addresses and answers."""
        api = self._api
        import httpx
        from dataclass_wizard.errors import JSONWizardError

        try:
            return call(api)
        except httpx.HTTPStatusError as error:
            raise TaskListError(self._refused(error.response)) from None
        except httpx.TransportError as error:
            why = type(error).__name__
            raise TaskListError(
                f"Cannot reach {self._where} ({why}); the next triage tries again. Is the network up?"
            ) from None
        except (JSONWizardError, TypeError, ValueError, KeyError, AttributeError) as error:
            why = type(error).__name__
            raise TaskListError(
                f"The answer from {self._where} cannot be read ({why}): it does not speak the Todoist API. "
                "Check MEMORY_TODOIST_URL."
            ) from None

    def _refused(self, response: "httpx.Response") -> str:
        status = response.status_code
        if status in (401, 403):
            where = "Todoist's settings, Integrations, Developer"
            return f"{self._where} does not accept the token ({status}). Check {TOKEN}: it stands in {where}."
        if status == 429:
            wait = response.headers.get("retry-after", "")
            again = f", for {wait} s" if wait.isdigit() else ""
            return f"{self._where} asks to be left alone{again} (429); the next triage tries again."
        if status >= 500 or status == 408:
            return f"{self._where} is out of order ({status}); the next triage tries again."
        if status < 400 or status in (404, 405):
            return f"{self._where} does not speak the Todoist API ({status}). Check MEMORY_TODOIST_URL."
        return f"{self._where} refuses a request as it is ({status})."

    @property
    def _where(self) -> str:
        """The address without user and password, either of which may be a key."""
        parts = urlsplit(self._url)
        return f"Todoist at {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _send_to(base: "httpx.URL", request: "httpx.Request") -> None:
    """Sends what the SDK would send to the public address to ours, with our patience."""
    request.url = base.copy_with(raw_path=base.raw_path.rstrip(b"/") + request.url.raw_path)
    request.headers["Host"] = request.url.netloc.decode()
    patience = {"connect": CONNECT_SECONDS, "read": READ_SECONDS, "write": READ_SECONDS, "pool": CONNECT_SECONDS}
    request.extensions = {**request.extensions, "timeout": patience}


def _task(task: "TodoistTask") -> Task:
    state = "completed" if task.is_completed else "open"
    return Task(task.id, task.project_id, task.content, task.description, tuple(task.labels or ()), state)
