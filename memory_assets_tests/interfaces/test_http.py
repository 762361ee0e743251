"""The memory over HTTP: the envelope, statuses, reads without writes, and requests that were meant for somebody else."""

import json
import os
import signal
import subprocess
import sys
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from memory_assets.interfaces.http import LONGEST_BODY, application
from memory_assets_tests.small_store import FACT, PROPOSAL, index, small_store


def client(
    *, is_writing: bool = False, host: str = "127.0.0.1", called: str = "127.0.0.1"
) -> TestClient:
    return TestClient(application(host, is_writing=is_writing), base_url=f"http://{called}:3100")


def test_a_question_is_answered_by_query_and_by_body_alike():
    index(small_store())
    asked = {
        "question": "how do we install packages",
        "category": ["rules-conventions"],
        "limit": 1,
        "probe": True,
    }
    with client() as http:
        by_query, by_body = http.get("/recall", params=asked), http.post("/recall", json=asked)
    assert (by_query.status_code, by_body.status_code) == (200, 200)
    assert list(by_query.json()) == ["v", "ok", "data", "warnings"]
    assert by_query.json()["data"]["results"] == by_body.json()["data"]["results"]
    assert by_query.json()["data"]["results"][0]["text"] == FACT


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "told"),
    [
        ("GET", "/recall", {}, 400, "question is missing"),
        (
            "GET",
            "/recall",
            {"params": {"question": "q", "limit": 99}},
            400,
            "limit must be between 1 and 15, not 99",
        ),
        (
            "GET",
            "/recall",
            {"params": {"question": "q", "since": "soon"}},
            400,
            "since must be a day (2026-05-01)",
        ),
        (
            "POST",
            "/recall",
            {"content": b"{broken", "headers": {"content-type": "application/json"}},
            400,
            "not JSON",
        ),
        (
            "POST",
            "/recall",
            {"content": b"[1]", "headers": {"content-type": "application/json"}},
            400,
            "one JSON object",
        ),
        (
            "POST",
            "/recall",
            {"content": b'{"question":"q"}', "headers": {"content-type": "text/plain"}},
            400,
            "content type",
        ),
        ("POST", "/recall", {"content": b"x" * (LONGEST_BODY + 1)}, 413, "longer than"),
        ("GET", "/explain", {"params": {"target": "mem_ffffffff"}}, 404, "mem_ffffffff"),
        ("GET", "/nowhere", {}, 404, "There is no GET /nowhere; choose from /recall"),
        ("DELETE", "/recall", {}, 405, "There is no DELETE /recall"),
        (
            "POST",
            "/decide",
            {"json": {"decision": "approve", "proposals": [PROPOSAL]}},
            403,
            "`memory serve http --write`",
        ),
        ("GET", "/decide", {}, 405, "There is no GET /decide"),
    ],
)
def test_what_goes_wrong_has_a_status_and_the_words_of_the_command_line(
    method: str, path: str, sent: dict[str, Any], status: int, told: str
):
    small_store()
    with client() as http:
        answer = http.request(method, path, **sent)
    assert (answer.status_code, answer.json()["ok"], answer.json()["data"]) == (status, False, None)
    assert told in answer.json()["error"]["message"]


@pytest.mark.parametrize("called", ["127.0.0.1", "localhost", "[::1]"])
def test_every_name_of_this_machine_is_answered(called: str):
    with client(called=called) as http:
        assert http.get("/status").status_code == 200


def test_on_another_interface_addresses_and_its_name_are_answered_but_no_name_that_could_be_anybodys():
    for called, status in (("192.168.0.7", 200), ("127.0.0.1", 200), ("evil.example", 403)):
        with client(host="0.0.0.0", called=called) as http:
            assert http.get("/status").status_code == status
    with client(host="box.lan", called="box.lan") as http:
        assert http.get("/status").status_code == 200


def test_the_description_names_every_verb_with_what_it_takes():
    with client() as http:
        found = http.get("/openapi.json").json()
        assert "text/html" in http.get("/").headers["content-type"]
    assert {"/recall", "/explain", "/brief", "/review", "/decide", "/status"} <= set(found["paths"])
    question = next(
        one for one in found["paths"]["/recall"]["get"]["parameters"] if one["name"] == "question"
    )
    assert (question["required"], question["in"]) == (False, "query")
    body = found["paths"]["/decide"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["required"] == ["decision", "proposals"]
    assert "get" not in found["paths"]["/decide"]


def test_a_real_server_says_where_it_is_answers_and_stops_when_told():
    small_store()
    code = "import sys; sys.argv = ['memory', 'serve', 'http', '--json']; from memory_assets.interfaces.entry import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ.copy(),
    ) as process:
        assert process.stdout is not None
        try:
            told = json.loads(process.stdout.readline())["data"]
            assert told["url"].startswith("http://127.0.0.1:")
            assert told["is_writing"] is False
            assert httpx.get(f"{told['url']}status").json()["data"]["rows"]["facts"] == 1
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
            assert process.stdout.read() == b""
        finally:
            process.kill()
