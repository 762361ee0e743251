"""Folders that share a store in a bucket: what one decides and forgets holds in the other, and in every object.

The server is this project's own small one, and moto's under `make test-all`.
"""

import os
from collections.abc import Iterator
from datetime import timedelta
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import dagster as dg
import pytest

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.assets.resources import StoreResource
from memory_assets.errors import NoteError, ObjectStoreError, StoreError
from memory_assets.extras.scaling.chroma_server import server_index
from memory_assets.extras.scaling.s3_objects import S3Objects
from memory_assets.extras.scaling.shared_store import SharedStore
from memory_assets.memory import MemoryAgent
from memory_assets.schema.announcements import take
from memory_assets.services.forget.data_locations import GIT
from memory_assets.services.forget.search import PhraseQuery, search
from memory_assets.services.health.deep import deep_checks
from memory_assets.services.health.status import render_status, status_of
from memory_assets.services.review import open_triage as review
from memory_assets.stages.triage.projects import memory_files
from memory_assets.store.ledger import Ledger
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store
from memory_assets_tests.extras.scaling.s3_api import KEY_ID, SERVERS, s3_server, variables
from memory_assets_tests.factories import START
from memory_assets_tests.small_store import FACT, PROPOSAL, small_store

pytest.importorskip("obstore")

MEMORY = "MEMORY.md"
WORDS = "never pip"


@pytest.fixture(params=SERVERS)
def objects(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[S3Objects]:
    with s3_server(request.param, tmp_path / "server") as address:
        for name, value in variables(address, tmp_path / "workspace.git").items():
            monkeypatch.setenv(name, value)
        yield S3Objects(os.environ["MEMORY_STORE"], address)


@pytest.fixture
def one(objects: S3Objects) -> MemoryAgent:
    """The agent of the folder in which the small store was built and sent."""
    store = small_store()
    GitWorkspace(store.workspace).prepare()
    GitWorkspace(store.workspace).commit("Begin", [MEMORY])
    shared(store).send()
    return MemoryAgent()


def shared(store: Store) -> SharedStore:
    assert isinstance(store.shared, SharedStore)
    return store.shared


def forget_the_last_time(store: Store) -> None:
    shared(store)._synchronised_at = shared(store)._paused_until = -inf


def second(tmp_path: Path) -> MemoryAgent:
    return MemoryAgent(read_settings(data=tmp_path / "two"))


def keys(objects: S3Objects) -> set[str]:
    return {key for key, _ in objects.list()}


def holding(objects: S3Objects, words: str) -> list[str]:
    """The objects that contain the words as they are; what is compressed is found in a copy of the store."""
    return sorted(
        key for key in keys(objects) if PhraseQuery.of([words]).count_in(objects.get(key) or b"")
    )


def test_what_one_forgets_is_in_no_object_and_leaves_the_other_folder(
    objects: S3Objects, one: MemoryAgent, tmp_path: Path
):
    two = second(tmp_path)
    assert (
        two.recall("how do we install packages", probe=True)
        and search(two.store, PhraseQuery.of([WORDS])).has_matches
    )
    assert WORDS in (one.store.workspace / MEMORY).parent.joinpath("REVIEW.md").read_text()
    done = one.forget(WORDS, apply=True)
    assert done.is_gone
    forget_the_last_time(two.store)  # a minute later
    two.recall("how do we install packages", probe=True)
    left = [
        place for place in search(two.store, PhraseQuery.of([WORDS])).places if place.kind != GIT
    ]
    assert left == []
    copy = tmp_path / "copy"
    bucket = MemoryAgent(read_settings(data=copy))
    assert not [
        place for place in search(bucket.store, PhraseQuery.of([WORDS])).places if place.kind != GIT
    ]
    assert holding(objects, WORDS) == []
    assert keys(objects) == {
        "manifest.json.zst",
        *(entry.key for entry in shared(bucket.store).mirror._state().files.values()),
    }


def test_a_worker_with_a_folder_of_its_own_erases_what_was_forgotten_before_its_next_run(
    one: MemoryAgent, tmp_path: Path
):
    worker = second(tmp_path).store
    assert search(worker, PhraseQuery.of([WORDS])).has_matches
    one.forget(WORDS, apply=True)
    context = cast(dg.InitResourceContext, SimpleNamespace(run=object()))
    store = StoreResource(data=str(worker.root)).create_resource(context)
    assert [
        place for place in search(store, PhraseQuery.of([WORDS])).places if place.kind != GIT
    ] == []


def test_the_history_that_machines_share_is_not_rewritten_by_one(one: MemoryAgent):
    with pytest.raises(NoteError, match="without --history"):
        one.forget(WORDS, apply=True, history=True)


def test_forgetting_without_the_server_changes_nothing(
    one: MemoryAgent, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_STORE_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ObjectStoreError, match="does not answer"):
        MemoryAgent().forget(WORDS, apply=True)
    assert FACT in MemoryAgent().store.tables.read("memories")["text"].to_list()


def test_decisions_of_two_folders_at_once_are_both_kept(
    objects: S3Objects, one: MemoryAgent, tmp_path: Path
):
    two = second(tmp_path)
    take()
    for agent, line in ((one, "- of one"), (two, "- of two")):
        path = agent.store.workspace / MEMORY
        path.write_text(path.read_text() + f"\n{line}\n- of both\n")
        GitWorkspace(agent.store.workspace).commit("Promote", [MEMORY])
        agent.store.ledger.append("proposal.decided", line, {"state": "promoted"}, actor="rules")
    for agent in (one, two, one):
        shared(agent.store).fetch()
        shared(agent.store).send()
    assert take() == []
    texts = [(agent.store.workspace / MEMORY).read_text() for agent in (one, two)]
    assert (
        texts[0] == texts[1]
        and texts[0].count("- of both") == 1
        and {"- of one", "- of two"} <= {*texts[0].splitlines()}
    )
    decided = [
        {event.target for event in agent.store.ledger.events(["proposal.decided"])}
        for agent in (one, two)
    ]
    assert decided == [{"- of one", "- of two"}] * 2


APPROVED, REJECTED = ("proposal.approved", "mira", {}), ("proposal.rejected", "mira", {})
BY_RULES = ("proposal.decided", "rules", {"state": "promoted", "tier": 1, "reason": "said twice"})


@pytest.mark.parametrize("is_one_first", [True, False])
@pytest.mark.parametrize(
    ("first", "later", "counts"),
    [
        (APPROVED, REJECTED, "promoted"),
        (REJECTED, APPROVED, "rejected"),
        (BY_RULES, REJECTED, "rejected"),
        (REJECTED, BY_RULES, "rejected"),
    ],
)
def test_of_two_decisions_about_one_proposal_the_same_one_counts_in_both_folders(
    one: MemoryAgent, tmp_path: Path, first: tuple, later: tuple, counts: str, is_one_first: bool
):
    agents = (one, second(tmp_path))
    for agent, (kind, actor, payload), hour in zip(
        agents[:: 1 if is_one_first else -1], (first, later), (1, 2), strict=True
    ):
        shared(agent.store)._paused_until = inf  # they do not know of each other
        ledger = Ledger(
            agent.store.root / "ledger", lambda hour=hour: START + timedelta(hours=hour)
        )
        ledger.append(kind, PROPOSAL, payload, actor=actor)
        is_written = bool(review.write_decided(agent.store))
        assert is_written == ((kind, actor, payload) != REJECTED)
        forget_the_last_time(agent.store)
    for agent in agents * 2:
        shared(agent.store).fetch()
        review.write_decided(agent.store)
        shared(agent.store).send()
    states, texts = zip(*map(outcome, agents), strict=True)
    assert states == (counts, counts)
    assert texts[0] == texts[1] and texts[0].count(FACT) == (counts == "promoted")


def test_of_two_wordings_that_were_approved_the_line_of_the_first_stays(
    one: MemoryAgent, tmp_path: Path
):
    agents = (one, second(tmp_path))
    for agent, hour, text in zip(
        agents, (2, 1), ("Use uv and not pip.", "Install with uv, never with pip."), strict=True
    ):
        shared(agent.store)._paused_until = inf
        ledger = Ledger(
            agent.store.root / "ledger", lambda hour=hour: START + timedelta(hours=hour)
        )
        ledger.append("proposal.approved", PROPOSAL, {"text": text}, actor="mira")
        assert review.write_decided(agent.store)
        forget_the_last_time(agent.store)
    for agent in agents * 2:
        shared(agent.store).fetch()
        review.write_decided(agent.store)
        shared(agent.store).send()
    texts = [outcome(agent)[1] for agent in agents]
    assert texts[0] == texts[1]
    assert (
        texts[0].count("Install with uv, never with pip."),
        texts[0].count("Use uv and not pip."),
    ) == (1, 0)


def outcome(agent: MemoryAgent) -> tuple[str, str]:
    """The state of the proposal, and the text of all files of entries."""
    (row,) = review.triage_of(agent.store).read_decisions().to_dicts()
    return row["state"], "".join(
        (agent.store.workspace / path).read_text() for path in memory_files(agent.store.workspace)
    )


def test_recall_uses_the_copy_and_says_so_while_the_server_is_down(
    one: MemoryAgent, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_STORE_ENDPOINT", "http://127.0.0.1:9")
    found = MemoryAgent().recall("how do we install packages", probe=True)
    assert [note for note in found.notes if "does not answer" in note and "The copy in" in note]


def test_the_deep_check_reads_objects_and_the_status_names_the_bucket(
    objects: S3Objects, one: MemoryAgent
):
    checks = {check.name: check for check in deep_checks(one.store)}
    assert checks["objects"].passed
    assert "s3://memories/one; the folder is a copy" in render_status(status_of(one.store))
    objects.put(
        next(key for key in keys(objects) if key.startswith("resources/ranges/")), b"damaged"
    )
    for path in one.store.root.glob("resources/ranges/*/*"):
        path.write_bytes(b"damaged, too")
    checks = {check.name: check for check in deep_checks(one.store)}
    assert not checks["objects"].passed
    assert KEY_ID not in str(checks["objects"])


def test_folders_with_one_path_on_two_machines_have_collections_of_their_own(
    one: MemoryAgent, tmp_path: Path
):
    second(tmp_path).store.root.rename(tmp_path / "of-another-machine")
    names = set[str]()
    for folder in (one.store.root, tmp_path / "of-another-machine"):
        folder.rename(tmp_path / "memory")
        store = MemoryAgent(read_settings(data=tmp_path / "memory")).store
        names.add(server_index(store, "http://127.0.0.1:8000").store_name)
        (tmp_path / "memory").rename(folder)
    assert len(names) == 2


def test_a_backup_is_not_placed_in_a_folder_that_is_a_copy(one: MemoryAgent, tmp_path: Path):
    from memory_assets.services.transfer.backup import back_up, restore

    back_up(one.store, tmp_path / "backup.tar.zst")
    with pytest.raises(StoreError, match="unset store"):
        restore(tmp_path / "backup.tar.zst", read_settings(data=tmp_path / "new"))
