"""An optional capability is a folder: without it the package works, and the core does not miss it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import pytest

from memory_assets.schema.extra_folders import extra_names
from memory_assets.schema.extras import extras
from memory_assets.schema.tables import TABLES
from memory_assets_tests.conftest import REPOSITORY
from memory_assets_tests.once import TEST_ALL, sampled

RUN = "import sys; from memory_assets.interfaces.entry import main; sys.exit(main())"
LOAD = (
    "from memory_assets.definitions import defs; defs().get_repository_def().load_all_definitions()"
)


def test_a_declaration_has_the_name_of_its_folder_and_names_what_is_there():
    assert [extra.name for extra in extras()] == extra_names()
    for extra in extras():
        plain = dict.fromkeys(("name", "path_lists", "places", "files", "sources", "derived"), "")
        for value in ({**vars(extra), **plain}).values():
            for named in value.values() if isinstance(value, Mapping) else [value]:
                name = named[1] if isinstance(named, tuple) else getattr(named, "waiting", named)
                assert not name or extra.load(name) is not None
        assert {*extra.sources, *chain(*extra.sources.values()), *extra.derived} <= TABLES.keys()
    assert {table.before for table in TABLES.values()} <= {*TABLES, ""}


QUICK = "schema interfaces/test_verbs.py interfaces/test_completion.py runs/test_record.py"


@pytest.mark.slow
@pytest.mark.parametrize("absent", sampled(extra_names(), 1))
def test_without_its_folder_the_core_works_and_its_tests_pass(absent: str, tmp_path: Path):
    project = tmp_path / "main"
    ignored = shutil.ignore_patterns(".git", ".venv", ".*cache", "__pycache__")
    shutil.copytree(REPOSITORY, project, ignore=ignored)
    for package in ("memory_assets", "memory_assets_tests"):
        shutil.rmtree(project / package / "extras" / absent)

    environ = {**os.environ, "PYTHONPATH": str(project), "TEST_ALL": ""}

    def python(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=project, env=environ, capture_output=True, text=True
        )
        assert done.returncode == 0, (words, done.stdout[-5_000:], done.stderr)
        return done.stdout

    def answer(*words: str) -> dict:
        return json.loads(python("-c", RUN, *words, "--json"))["data"]

    assert not {f"memory_assets.extras.{absent}"} & set(python("-c", LOAD + IMPORTED).split())
    assert "recall" in python("-c", RUN, "--help")
    assert answer("up", "--no-ui")["learnt"]["memories"] > 10
    assert answer("status")["rows"]["memories"] > 10
    (first, *_) = answer("recall", "which package manager do we use")["results"]
    assert answer("forget", first["memory_id"], "--apply")["is_gone"]
    assert answer("ingest")["reason"]
    assert answer("doctor")["is_well"]
    assert python("-c", SERVE).split() == ["200", "200"]
    tests = [f"memory_assets_tests/{name}" for name in ("" if TEST_ALL else QUICK).split()]
    python("-m", "pytest", "-q", "-m", "not slow", f"--basetemp={tmp_path / 'temp'}", *tests)


SERVE = """
from starlette.testclient import TestClient
from memory_assets.interfaces import http
from memory_assets.interfaces.mcp import http as mcp
from memory_assets.interfaces.mcp.protocol import Protocol

hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
with TestClient(http.application("127.0.0.1"), base_url="http://127.0.0.1") as client:
    print(client.get("/status").status_code)
with TestClient(mcp.application(Protocol(), "127.0.0.1"), base_url="http://127.0.0.1") as client:
    accepted = {"Accept": "application/json, text/event-stream"}
    print(client.post(mcp.PATH, json=message, headers=accepted).status_code)
"""
IMPORTED = "; import sys; print(*(name for name in sys.modules))"
