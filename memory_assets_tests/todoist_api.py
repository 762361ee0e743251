"""A local server that speaks the Todoist API as far as the official SDK is used here, faults included.

Its tasks, projects and faults are in plain sight; the methods that a person's hands would be (`complete`, `remove`, …) change
tasks as the apps do. `python -m memory_assets_tests.todoist_api` runs it by itself, to try the settings by hand.
"""

import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from memory_assets_tests.messages_api import QuietServer

TOKEN = "0123456789abcdef"
INBOX = "6Inbox000000000X"
STAMP = "%Y-%m-%dT%H:%M:%S.%fZ"


@dataclass(frozen=True)
class Fault:
    """An answer that is none."""

    status: int = 503
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes = b'{"error": "Something went wrong.", "error_code": 0}'
    is_dropped: bool = False
    """The request is carried out, and the connection ends before the answer."""


def proposed_in(content: str) -> str:
    """The line that the text of a task proposes."""
    return re.sub(r"^Promote: | → [^→]*$", "", content)


@dataclass
class TodoistApi:
    """The server's state."""

    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    fault: Callable[[str, str], Fault | None] = lambda method, path: None
    """What stands between a request and the API, by method and path."""
    page_size: int = 50
    tells_deleted: bool = False
    """Whether a deleted task is still answered with, as what it was."""
    tells_completed: bool = True
    """Whether a completed task is answered with, too, when it is asked for alone."""
    url: str = ""
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    projects: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.add_project("Inbox", INBOX)

    def add_project(self, name: str, id: str = "") -> str:
        """Makes a project and returns its id."""
        id = id or f"6{uuid.uuid4().hex[:15]}"
        now = self.clock().strftime(STAMP)
        self.projects[id] = {
            "id": id, "name": name, "description": "", "child_order": 1, "color": "grey", "is_collapsed": False, "is_shared": False,
            "is_favorite": False, "is_archived": False, "can_assign_tasks": False, "view_style": "list", "created_at": now,
            "updated_at": now, "inbox_project": id == INBOX,
        }  # fmt: skip
        return id

    def add(
        self,
        content: str,
        description: str = "",
        labels: list[str] | None = None,
        project_id: str = INBOX,
    ) -> dict[str, Any]:
        """Makes a task, as a person or a request would."""
        now = self.clock().strftime(STAMP)
        with self.lock:
            id = f"6task{len(self.tasks):011d}"
            self.tasks[id] = {
                "id": id, "content": content, "description": description, "project_id": project_id, "section_id": None,
                "parent_id": None, "labels": labels or [], "priority": 1, "due": None, "deadline": None, "duration": None,
                "is_collapsed": False, "child_order": len(self.tasks), "responsible_uid": None, "assigned_by_uid": None,
                "completed_at": None, "added_by_uid": "1", "added_at": now, "updated_at": now, "is_deleted": False,
            }  # fmt: skip
        return self.tasks[id]

    def open(self) -> list[dict[str, Any]]:
        """The tasks that wait."""
        return [
            task
            for task in self.tasks.values()
            if not task["is_deleted"] and not task["completed_at"]
        ]

    def named(self, content: str) -> dict[str, Any]:
        """The one open task with this text, or that proposes it."""
        (found,) = [
            task
            for task in self.open()
            if content in (task["content"], proposed_in(task["content"]))
        ]
        return found

    def complete(self, task: dict[str, Any]) -> None:
        """Ticks a task off."""
        task["completed_at"] = self.clock().strftime(STAMP)

    def remove(self, task: dict[str, Any]) -> None:
        """Deletes a task."""
        task["is_deleted"] = True

    def remove_project(self, id: str) -> None:
        """Deletes a project with its tasks."""
        del self.projects[id]
        for task in self.tasks.values():
            task["is_deleted"] |= task["project_id"] == id

    def writes(self) -> list[tuple[str, str]]:
        """What was asked for that changes something."""
        return [(method, path) for method, path in self.requests if method != "GET"]

    def answer(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> Any:
        """What the API answers with: a body, a status, or None where it does not know the path."""
        parts = path.removeprefix("/api/v1/").split("/")
        if method == "GET" and parts == ["tasks"]:
            return self.page(
                [task for task in self.open() if _is_wanted(task, query)], "results", query
            )
        if method == "GET" and parts == ["tasks", "completed", "by_completion_date"]:
            return self.page(
                [task for task in self.tasks.values() if _was_completed(task, query)],
                "items",
                query,
            )
        if method == "GET" and parts[0] == "projects":
            known = self.page(list(self.projects.values()), "results", query)
            return known if len(parts) == 1 else self.projects.get(parts[1], 404)
        if method == "POST" and parts == ["tasks"]:
            return self.make(body)
        return self.about(method, parts, body) if parts[0] == "tasks" and len(parts) > 1 else None

    def about(self, method: str, parts: list[str], body: dict[str, Any]) -> Any:
        """What the API answers with about one task."""
        task = self.tasks.get(parts[1])
        if task is None or (task["is_deleted"] and not (self.tells_deleted and method == "GET")):
            return 404
        if method == "GET" and task["completed_at"] and not self.tells_completed:
            return 404
        if method == "DELETE":
            self.remove(task)
            return 204
        if parts[2:] == ["close"]:
            self.complete(task)
            return 204
        task |= body
        return task

    def make(self, body: dict[str, Any]) -> Any:
        content, labels = body["content"], list(body.get("labels", ()))
        if len(content) > 500 or body.get("project_id", INBOX) not in self.projects:
            return 400
        if body.get("auto_parse_labels", True):
            labels += re.findall(r"(?<!\S)@([\w-]+)", content)
            content = re.sub(r"(?<!\S)@[\w-]+\s?", "", content)
        made = self.add(
            content.strip(), body.get("description", ""), labels, body.get("project_id", INBOX)
        )
        if on := body.get("due_date"):
            made["due"] = {
                "date": on,
                "string": on,
                "lang": "en",
                "is_recurring": False,
                "timezone": None,
            }
        return made

    def page(
        self, found: list[dict[str, Any]], field: str, query: dict[str, str]
    ) -> dict[str, Any]:
        """One page of what was found."""
        start = int(query.get("cursor", "0"))
        end = start + min(int(query.get("limit", "50")), self.page_size)
        return {field: found[start:end], "next_cursor": str(end) if end < len(found) else None}


def _is_wanted(task: dict[str, Any], query: dict[str, str]) -> bool:
    is_named = "ids" not in query or task["id"] in query["ids"].split(",")
    return is_named and ("label" not in query or query["label"] in task["labels"])


def _was_completed(task: dict[str, Any], query: dict[str, str]) -> bool:
    since, until = (datetime.fromisoformat(query[name]) for name in ("since", "until"))
    assert (until - since).days <= 92, "the API refuses longer ones"
    at = task["completed_at"]
    return (
        at is not None
        and not task["is_deleted"]
        and since <= datetime.strptime(at, STAMP).replace(tzinfo=UTC) <= until
    )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = (
        True  # without it every answer waits for the acknowledgement of its headers
    )
    api: TodoistApi

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_DELETE(self) -> None:
        self._answer("DELETE")

    def _answer(self, method: str) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}")
        self.api.requests.append((method, parts.path))
        if self.headers["authorization"] != f"Bearer {TOKEN}":
            return self._send(401, b'{"error": "Unauthorized"}')
        fault = self.api.fault(method, parts.path)
        if fault and not fault.is_dropped:
            return self._send(fault.status, fault.raw, fault.headers)
        said = self.api.answer(method, parts.path, query, body)
        if fault:
            self.close_connection = True
            return self.connection.close()
        if said is None or isinstance(said, int):
            return self._send(said or 404, b"" if said == 204 else b'{"error": "refused"}')
        return self._send(200, json.dumps(said).encode())

    def _send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response_only(status)
        for name, value in {
            "content-type": "application/json",
            **(headers or {}),
            "content-length": str(len(content)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Keeps quiet."""


@contextmanager
def serve(**how: Any) -> Iterator[TodoistApi]:
    """Serves on loopback while the block runs."""
    api = TodoistApi(**how)
    server = QuietServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"api": api}))
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    ).start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()


def main() -> None:
    """Serves until it is killed."""
    with serve() as api:
        print(f"MEMORY_TODOIST_URL={api.url} MEMORY_TODOIST_TOKEN={TOKEN}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
