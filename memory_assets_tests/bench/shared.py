"""What many agents get of one shared memory: the time of their answers, and how many are asked to come back.

Clients ask at the same time over loopback, each with a connection of its own, as agents do that start together.
"""

import itertools
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
from pytest import MonkeyPatch

from memory_assets.interfaces.http import application
from memory_assets_tests.bench.row import Row
from memory_assets_tests.extras.sharing.team_store import (
    MIRA,
    bearing,
    shared_access,
    team_store,
    token_of,
)
from memory_assets_tests.http_server import served

CLIENTS, REQUESTS = 50, 1_000
MOST_REFUSED = 0.01
"""Share of requests that may get 503 with Retry-After."""

QUESTION = {"question": "how do we install packages", "probe": True}


def shared(small: bool = False) -> list[Row]:
    """Returns the 95th percentile of the answers in seconds, the share of refused requests, and that of errors."""
    clients, requests = (5, 20) if small else (CLIENTS, REQUESTS)
    with tempfile.TemporaryDirectory() as folder, MonkeyPatch.context() as patch:
        patch.setenv("MEMORY_DATA", f"{folder}/store")
        team_store(patch)
        token = token_of(MIRA)
        with served(application("127.0.0.1", access=shared_access())) as url:
            answers = ask(url, token, clients, requests)
    seconds = sorted(took for _, took in answers)
    busy = sum(status == 503 for status, _ in answers)
    failed = sum(status != 200 for status, _ in answers) - busy
    p50, p95 = (seconds[int(len(seconds) * share)] for share in (0.5, 0.95))
    figures = f"{len(answers)} requests of {clients} clients, p50 {p50:.3f} s, slowest {seconds[-1]:.3f} s"
    return [
        Row("shared: p95 seconds of a recall", p95, figures),
        Row(
            "shared: share of requests asked to come back",
            busy / len(answers),
            f"{busy} of them",
            limit=MOST_REFUSED,
        ),
        Row("shared: other failures", failed, "must be none", limit=0),
    ]


def ask(url: str, token: str, clients: int, requests: int) -> list[tuple[int, float]]:
    """Returns the status and the seconds of each request."""
    numbers, answers, lock = itertools.count(), list[tuple[int, float]](), threading.Lock()

    def client(_: int) -> None:
        with httpx.Client(headers=bearing(token), timeout=120) as http:
            while next(numbers) < requests:
                began = time.perf_counter()
                answer = http.get(f"{url}/recall", params=QUESTION)
                assert answer.status_code == 200 or answer.headers["retry-after"]
                with lock:
                    answers.append((answer.status_code, time.perf_counter() - began))

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(client, range(clients)))
    return answers
