"""Two machines of one person exchange archive and ledger over ssh, and have one memory after each other's turn.

The server is OpenSSH's own, on the loopback interface; its commands run as a second machine with a home of its own.
"""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from memory_assets.errors import (
    PushError,
    QuestionError,
    SettingsError,
    StoreError,
    UnreachableError,
)
from memory_assets.extras.sharing import ssh
from memory_assets.extras.sharing.own_answers import public_answers
from memory_assets.extras.sharing.proposal_ids import place_of
from memory_assets.extras.sharing.push_record import servers_pushed_to
from memory_assets.extras.sharing.ssh import exchange
from memory_assets.memory import MemoryAgent
from memory_assets.runs import launch
from memory_assets.schema.tables import table_names
from memory_assets.services.transfer.export import OF_RUNS
from memory_assets.stages.capture.index import index_sources
from memory_assets.stages.capture.intake import Machine
from memory_assets.stages.capture.tombstones import masking, tombstones_of
from memory_assets.stages.triage.projects import memory_files, path_of
from memory_assets.store.ledger import WORDS_ERASED, Event
from memory_assets.store.settings import Settings, read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.short_ids import short_id
from memory_assets_tests.extras.sharing.ssh_server import (
    HOST,
    SshServer,
    memory_command,
    ssh_server,
)
from memory_assets_tests.journeys.test_model_journey import about_windows, dutiful, variables
from memory_assets_tests.messages_api import serve
from memory_assets_tests.once import TEST_ALL
from memory_assets_tests.stages.capture.pipeline import derive, intake, state
from memory_assets_tests.stages.capture.sessions import dialogue, lines, transcript, user

URL = f"ssh://{HOST}"
ROUNDS = 20 if TEST_ALL else 6


@dataclass
class Computer:
    """A machine with a home, transcripts and a store."""

    home: Path
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.home / "memory"

    @property
    def settings(self) -> Settings:
        given = {"owner": "Mira", "people": {"mira": "Mira"}, "harness_memories": False}
        given["sources"] = str(self.home / "transcripts")
        return read_settings(**{"data": self.data, **given, **self.given})

    @property
    def store(self) -> Store:
        return open_store(self.settings)

    @property
    def agent(self) -> MemoryAgent:
        return MemoryAgent(self.settings)

    def write(self, session: str, turns: int = 3, *, folder: str = "/home/mira/shop") -> Path:
        path = transcript(self.home / "transcripts", session)
        records = [{**record, "cwd": folder} for record in dialogue(session, turns)]
        path.write_bytes(lines(*records))
        return path

    def say(self, session: str, text: str, number: int = 90) -> None:
        with transcript(self.home / "transcripts", session).open("ab") as file:
            file.write(lines({**user(session, number, text, number), "cwd": "/home/mira/shop"}))

    def take_in(self) -> None:
        store = self.store
        mask = masking(tombstones_of(store))
        folder = self.home / "transcripts"
        intake(store, folder, mask=mask, machine=Machine(Path("/home/mira")))
        index_sources(store.archive, store.tables)
        derive(store)

    def command(self, **how: Any) -> str:
        return memory_command(self.data, self.home, **how)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with ssh_server(tmp_path_factory.mktemp("ssh") / "server") as running:
        yield running


@pytest.fixture
def desktop(tmp_path: Path) -> Computer:
    computer = Computer(tmp_path / "desktop")
    _ = computer.store
    return computer


@pytest.fixture
def laptop(
    tmp_path: Path, server: SshServer, desktop: Computer, monkeypatch: pytest.MonkeyPatch
) -> Computer:
    monkeypatch.setenv("MEMORY_PUSH_SSH", server.client)
    monkeypatch.setenv("MEMORY_PUSH_COMMAND", desktop.command())
    return Computer(tmp_path / "laptop")


def contents(computer: Computer) -> dict[str, bytes]:
    """What the archive of the machine has, by session."""
    archive = computer.store.archive
    return {
        ranges[0].conversation_id: archive.read(ranges[0].source_id, 0, 0, ranges[-1].byte_to)
        for ranges in archive.sources().values()
    }


def events(computer: Computer) -> list[dict[str, Any]]:
    found = computer.store.ledger.events()
    return [vars(event) for event in found if event.kind != WORDS_ERASED]


def meet(laptop: Computer) -> None:
    exchange(laptop.store, URL)
    exchange(laptop.store, URL, is_pull=True)


def files_with(computer: Computer, words: bytes) -> list[Path]:
    """The files that contain the words as they are, and the sessions whose archived bytes do."""
    paths = (path for path in computer.data.rglob("*") if path.is_file())
    found = [path for path in paths if words in path.read_bytes()]
    return found + [Path(name) for name, raw in contents(computer).items() if words in raw]


def test_what_each_machine_captured_is_on_both_after_a_push_and_a_pull(
    laptop: Computer, desktop: Computer
):
    laptop.write("one")
    laptop.take_in()
    laptop.agent.remember("Staging listens on 6543.", category="operations", project="shop")
    desktop.write("two")
    desktop.take_in()
    desktop.agent.remember("Maria owns billing.", category="operations", project="shop")
    pushed = exchange(laptop.store, URL)
    assert (len(pushed.sessions), pushed.pieces, pushed.events) == (1, 1, 1)
    pulled = exchange(laptop.store, URL, is_pull=True)
    assert (len(pulled.sessions), pulled.pieces, pulled.events, pulled.url) == (1, 1, 1, URL)
    assert contents(laptop) == contents(desktop) and contents(laptop).keys() == {"one", "two"}
    assert events(laptop) == events(desktop) and len(events(laptop)) == 2
    assert servers_pushed_to(laptop.store) == [URL]
    again = [exchange(laptop.store, URL, is_pull=is_pull) for is_pull in (False, True)]
    assert [(done.pieces, done.events, done.sent_bytes) for done in again] == [(0, 0, 0)] * 2


def test_both_build_the_same_rows_and_go_on_where_the_other_stopped(
    laptop: Computer, desktop: Computer
):
    path = laptop.write("one")
    laptop.take_in()
    exchange(laptop.store, URL)
    copy = transcript(desktop.home / "transcripts", "one")
    copy.write_bytes(path.read_bytes())
    desktop.say("one", "And one thing more.")
    desktop.take_in()
    assert len(contents(desktop)) == 1 and b"one thing more" in contents(desktop)["one"]
    exchange(laptop.store, URL, is_pull=True)
    laptop.take_in()
    assert contents(laptop) == contents(desktop)
    for name, frame in state(laptop.store).items():
        assert_frame_equal(frame, state(desktop.store)[name])


def test_a_session_that_went_on_differently_stays_as_it_is_on_both(
    laptop: Computer, desktop: Computer
):
    path = laptop.write("one")
    laptop.take_in()
    exchange(laptop.store, URL)
    transcript(desktop.home / "transcripts", "one").write_bytes(path.read_bytes())
    laptop.say("one", "This goes on with the laptop, which is long.")
    desktop.say("one", "This is the desktop.")
    for computer in (laptop, desktop):
        computer.take_in()
    before = [contents(computer) for computer in (laptop, desktop)]
    pushed = exchange(laptop.store, URL)
    assert pushed.pieces == 0 and "Session one has different bytes" in pushed.warnings[0]
    assert exchange(laptop.store, URL, is_pull=True).pieces == 0
    assert [contents(computer) for computer in (laptop, desktop)] == before


def test_what_one_forgets_is_gone_on_the_other_and_stays_gone(laptop: Computer, desktop: Computer):
    laptop.write("one")
    laptop.say("one", "The zeppelin hangar is in the north.")
    laptop.take_in()
    laptop.agent.remember("Visit the zeppelin hangar.", category="operations", project="shop")
    meet(laptop)
    assert files_with(desktop, b"zeppelin hangar")
    laptop.agent.forget("zeppelin hangar", apply=True)
    desktop.say("two", "Where is the zeppelin hangar?", 91)
    desktop.take_in()
    assert exchange(laptop.store, URL, is_pull=True).pieces == 1
    assert files_with(laptop, b"zeppelin hangar") == files_with(desktop, b"zeppelin hangar") == []
    desktop.say("two", "Again: the zeppelin hangar!", 92)
    desktop.take_in()
    assert (
        b"zeppelin" not in contents(desktop)["two"] and contents(desktop)["two"].count(b"\n") == 2
    )
    meet(laptop)
    assert contents(laptop) == contents(desktop) and events(laptop) == events(desktop)


def test_projects_that_stay_here_do_not_travel_and_neither_does_what_is_noted_about_them(
    laptop: Computer, desktop: Computer
):
    laptop.given["push_projects"] = ["*", "!diary"]
    laptop.write("public")
    laptop.write("secret", folder="/home/mira/diary")
    laptop.take_in()
    laptop.agent.remember("I met the minister.", category="operations", project="diary")
    laptop.agent.remember("Orders are in SQLite.", category="operations", project="shop")
    for session in ("secret", "public"):
        laptop.store.append_event("session.ended", session, {"sent_at": "2026-08-03T09:00:00Z"})
    done = exchange(laptop.store, URL)
    assert [left_out.reason for left_out in done.left_out] == [
        "of diary: `push_projects` leaves it out"
    ]
    assert contents(desktop).keys() == {"public"}
    assert files_with(desktop, b"minister") == files_with(desktop, b"secret") == []
    assert [(e["kind"], e["target"]) for e in events(desktop)] == [
        ("memory.noted", "all"),
        ("session.ended", "public"),
    ]


def amendment(project: str, **about: Any) -> dict[str, Any]:
    return {
        "section": "Rules", "text": "Say less.", "entry": None, "event_on": "2026-08-03", "reason": "Bo changed it",
        "memory_id": "", "reflection_id": "", "category": "projects", "priority": "medium", "confidence": 0.5,
        "project": project, "person": "", "author": "owner", "observation_ids": [], "session_ids": [], **about,
    }  # fmt: skip


@pytest.mark.parametrize("names", [["*", "!diary"], ["!diary"], ["shop"]])
def test_amendments_and_lines_of_projects_that_stay_here_do_not_travel(
    laptop: Computer, desktop: Computer, names: list[str]
):
    laptop.given["push_projects"] = names
    store = laptop.store
    number(laptop, "retire:a", id="p-20260803-001", amends=amendment("diary"))
    store.append_event("proposal.approved", "p-20260803-001", {})
    number(laptop, "retire:b", id="p-20260803-002", amends=amendment("shop"))
    line = {"section": "Rules", "line": "", "replaces": "- Say less.", "commit": None}
    for project in ("diary", "shop"):
        store.append_event("project.published", project, {"root": "/home/mira", "lines": []})
        store.append_event("entry.retired", "p-20260801-001", {**line, "path": path_of(project)})
    store.append_event("entry.retired", "p-20260801-001", {**line, "path": "MEMORY.md"})
    exchange(store, URL)
    sent = desktop.store.ledger.events()
    assert [(event.kind, event.payload.get("path")) for event in sent] == [
        ("proposal.numbered", None),
        ("entry.retired", "projects/shop.md"),
        ("entry.retired", "MEMORY.md"),
    ]
    assert sent[0].target == placed(laptop, "p-20260803-002")
    assert files_with(desktop, b"diary") == []


def test_many_events_are_taken_in_at_once(laptop: Computer, desktop: Computer):
    for day in range(1, 29):
        at = datetime(2026, 8, day, 9, tzinfo=UTC)
        events = [Event(f"{day}-{n}", at, "Mira", "sessions.flushed", "all", {}) for n in range(20)]
        laptop.store.ledger.take_in(events)
    assert exchange(laptop.store, URL).events == 560
    assert len([*(desktop.data / "ledger").iterdir()]) == 1
    assert events_of(desktop) == events_of(laptop)


def events_of(computer: Computer) -> list[Event]:
    return computer.store.ledger.events()


NUMBER = "p-20260803-001"


def placed(computer: Computer, id: str = NUMBER) -> str:
    """The id of a proposal of the machine on all others."""
    day, number = id.rsplit("-", 1)
    return f"{day}-{place_of(computer.store.key.decode())}{number}"


def number(computer: Computer, key: str, *, id: str = NUMBER, **about: Any) -> None:
    """Gives a memory the number of a proposal."""
    payload = {"key": key, "claim": "c" * 24, "day": "2026-08-03", **about}
    computer.store.ledger.append("proposal.numbered", id, payload, actor="reflector")


def test_proposals_of_both_machines_keep_apart_and_their_numbers_at_home(
    laptop: Computer, desktop: Computer
):
    for computer, key in ((laptop, "mem_a"), (desktop, "mem_b")):
        number(computer, key)
        computer.store.append_event("proposal.approved", NUMBER, {"text": f"Not {NUMBER}."})
    before = [events(computer) for computer in (laptop, desktop)]
    meet(laptop)
    meet(laptop)
    for own, other, first in ((laptop, desktop, before[0]), (desktop, laptop, before[1])):
        assert [event for event in events(own) if event["target"] == NUMBER] == first
        numbered = own.store.ledger.events(["proposal.numbered"])
        assert sorted(event.target for event in numbered) == [NUMBER, placed(other)]
        approved = own.store.ledger.events(["proposal.approved"])
        assert sorted(event.target for event in approved) == [NUMBER, placed(other)]
        assert {event.payload["text"] for event in approved} == {f"Not {NUMBER}."}
    # Each decides on a proposal of the other machine.
    for own, other in ((laptop, desktop), (desktop, laptop)):
        own.store.append_event("proposal.rejected", placed(other), {"reason": own.home.name})
    meet(laptop)
    for own, other in ((laptop, desktop), (desktop, laptop)):
        rejected = own.store.ledger.events(["proposal.rejected"])
        reasons = {event.target: event.payload["reason"] for event in rejected}
        assert reasons == {NUMBER: other.home.name, placed(other): own.home.name}


def test_ids_that_rules_write_into_events_name_the_same_proposal_on_both(
    laptop: Computer, desktop: Computer
):
    other = "p-20260803-002"
    about = {"reason": f"{other} says the same and more", "text": f"See {NUMBER}."}
    amends = amendment("shop", **about)
    number(laptop, f"merge:{NUMBER}:{other}", id="p-20260803-003", amends=amends)
    merged = {"state": "merged", "tier": 1, "into": NUMBER, "text": f"See {NUMBER}."}
    reason = {"reason": f"{NUMBER}, which waits, says the same"}
    laptop.store.append_event("proposal.decided", other, {**merged, **reason})
    laptop.store.append_event(
        "friction.patched", "f-20260803-001", {"patch": "f-20260803-001.patch"}
    )
    laptop.agent.remember(f"{NUMBER} is the number.", category="operations", project="shop")
    meet(laptop)
    numbered, decided, patched, noted = desktop.store.ledger.events()
    assert numbered.payload["key"] == f"merge:{placed(laptop)}:{placed(laptop, other)}"
    reason = f"{placed(laptop, other)} says the same and more"
    assert numbered.payload["amends"] == {**amends, "reason": reason}
    assert (decided.target, decided.payload["into"]) == (placed(laptop, other), placed(laptop))
    assert decided.payload["reason"] == f"{placed(laptop)}, which waits, says the same"
    assert decided.payload["text"] == f"See {NUMBER}."
    patch = placed(laptop, "f-20260803-001")
    assert (patched.target, patched.payload) == (patch, {"patch": f"{patch}.patch"})
    assert noted.payload["text"] == f"{NUMBER} is the number."


def test_a_third_machine_hands_on_ids_that_are_those_at_home(laptop: Computer, desktop: Computer):
    number(laptop, "mem_a")
    exchange(laptop.store, URL)
    third = Computer(laptop.home.with_name("third"))
    number(third, "mem_c")
    meet(third)
    targets = {event.target for event in third.store.ledger.events()}
    assert targets == {NUMBER, placed(laptop)}
    third.store.append_event("proposal.approved", placed(laptop), {})
    meet(third)
    meet(laptop)
    approved = laptop.store.ledger.events(["proposal.approved"])
    assert [event.target for event in approved] == [NUMBER]
    assert {event.target for event in laptop.store.ledger.events()} == {NUMBER, placed(third)}


def state_of(folder: Path) -> dict[str, bytes]:
    """The files of a data folder that an exchange could change."""
    found = [*(folder / "ledger").glob("*"), *(folder / "resources").rglob("*")]
    return {str(path): path.read_bytes() for path in found if path.is_file()}


def test_a_store_that_is_a_copy_of_the_other_is_refused_and_stays_as_it_is(
    laptop: Computer, desktop: Computer
):
    laptop.write("one")
    laptop.take_in()
    number(laptop, "mem_a")
    subprocess.run(["cp", "-r", f"{laptop.data}/.", desktop.data], check=True)
    before = [state_of(computer.data) for computer in (laptop, desktop)]
    for is_pull in (False, True):
        with pytest.raises(PushError, match=r"copies of one\. .*`memory data pull` into an empty"):
            exchange(laptop.store, URL, is_pull=is_pull)
    assert [state_of(computer.data) for computer in (laptop, desktop)] == before


def test_two_stores_with_the_same_place_are_refused(
    laptop: Computer, desktop: Computer, monkeypatch: pytest.MonkeyPatch
):
    place = place_of(laptop.store.key.decode())
    keys = (f"{number:064x}" for number in count())
    same = next(key for key in keys if place_of(key) == place)
    (desktop.data / "resources" / "key").write_text(same)
    before = [state_of(computer.data) for computer in (laptop, desktop)]
    with pytest.raises(PushError, match="have the same place"):
        exchange(laptop.store, URL)
    assert [state_of(computer.data) for computer in (laptop, desktop)] == before


def test_twenty_turns_with_kills_end_with_the_same_rows_on_both_and_nothing_lost(
    laptop: Computer, desktop: Computer, server: SshServer
):
    random = Random(7)
    computers = (laptop, desktop)
    _ = laptop.store
    said: set[str] = set()
    for turn in range(ROUNDS):
        writer = random.choice(computers)
        session = f"{writer.home.name}-{random.randrange(3)}"
        said.add(f"turn {turn} of {session}")
        writer.say(session, f"turn {turn} of {session}", 100 + turn)
        writer.take_in()
        writer.agent.remember(f"Note {turn}.", category="operations", project="shop")
        near, far = random.sample(computers, 2)
        dies = random.choice(["near", "far", "nobody"])
        steps = random.randrange(1, 40)
        command = near.command(dies_at=steps if dies == "near" else 0)
        verb = random.choice(["push", "pull"])
        remote = far.command(dies_at=steps if dies == "far" else 0)
        given = {"MEMORY_PUSH_SSH": server.client, "MEMORY_PUSH_COMMAND": remote}
        subprocess.run(
            [*shlex.split(command), "data", verb, URL],
            env={**os.environ, **given},
            capture_output=True,
            check=False,
        )
    meet(laptop)
    for computer in computers:
        computer.take_in()
    assert contents(laptop) == contents(desktop) and events(laptop) == events(desktop)
    for name, frame in state(laptop.store).items():
        assert_frame_equal(frame, state(desktop.store)[name])
    archived = b"".join(contents(laptop).values())
    assert {text for text in said if archived.count(f'"{text}"'.encode()) == 1} == said
    noted = [event["payload"]["text"] for event in events(laptop)]
    assert sorted(noted) == sorted(f"Note {turn}." for turn in range(ROUNDS))
    assert not laptop.store.ledger.damaged() and not desktop.store.ledger.damaged()


def test_a_full_disk_there_is_said_and_the_next_push_finishes(
    laptop: Computer, desktop: Computer, monkeypatch: pytest.MonkeyPatch
):
    for number in range(3):
        laptop.write(f"s{number}", 10)
    (laptop.write("large")).write_bytes(
        lines(*(user("large", n, os.urandom(3_000).hex(), n) for n in range(40)))
    )
    laptop.take_in()
    monkeypatch.setenv("MEMORY_PUSH_COMMAND", desktop.command(before="ulimit -f 40; "))
    with pytest.raises(StoreError, match=r"(?s)desktop: .*File too large.*Free space"):
        exchange(laptop.store, URL)
    monkeypatch.setenv("MEMORY_PUSH_COMMAND", desktop.command())
    exchange(laptop.store, URL)
    assert contents(desktop) == contents(laptop)


def test_what_stops_an_exchange_says_what_to_do(
    laptop: Computer, desktop: Computer, server: SshServer, monkeypatch: pytest.MonkeyPatch
):
    def fails(kind: type[Exception], url: str = URL, **settings: str) -> str:
        given = {"MEMORY_PUSH_SSH": server.client, "MEMORY_PUSH_COMMAND": desktop.command()}
        for name, value in {**given, **settings}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(kind) as raised:
            exchange(laptop.store, url)
        return str(raised.value)

    def answering(script: str) -> str:
        return fails(PushError, MEMORY_PUSH_COMMAND=f"{script}; cat >/dev/null; :")

    unreachable = server.client + " -o Port=9"
    assert "Connection refused" in fails(UnreachableError, MEMORY_PUSH_SSH=unreachable)
    unknown = server.client + " -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes"
    nowhere = fails(UnreachableError, MEMORY_PUSH_SSH=server.client + " -o HostName=no.invalid")
    assert ". What arrived is safe" in nowhere
    assert "ssh does not know its host key" in fails(UnreachableError, MEMORY_PUSH_SSH=unknown)
    no_key = server.client + " -o PubkeyAuthentication=no"
    assert "It does not let you in" in fails(UnreachableError, MEMORY_PUSH_SSH=no_key)
    open_quote = fails(SettingsError, MEMORY_PUSH_SSH="ssh -o 'Port")
    assert "`push_ssh` is no command: No closing quotation in" in open_quote
    no_ssh = fails(UnreachableError, MEMORY_PUSH_SSH="/nowhere/ssh")
    assert no_ssh.startswith("Cannot run `/nowhere/ssh`")
    no_command = fails(UnreachableError, MEMORY_PUSH_COMMAND="no-such-memory")
    assert "push_command" in no_command
    older = fails(UnreachableError, MEMORY_PUSH_COMMAND="echo 'No such command: serve-push' >&2; :")
    assert "Upgrade" in older
    no_store = fails(StoreError, f"{URL}/tmp/nowhere")
    assert "desktop: There is no store in /tmp/nowhere. Run `memory up` there" in no_store
    other_owner = desktop.command().replace("MEMORY_OWNER=Mira", "MEMORY_OWNER=Bo")
    assert "set MEMORY_OWNER" in fails(PushError, MEMORY_PUSH_COMMAND=other_owner)
    newer = (
        'echo "memory serve-push "; echo \'{"ok":true,"data":{"protocol":2,"keys":["%s"]}}\''
        % ("0" * 64)
    )
    assert "protocol of the stores differs" in answering(newer)
    assert "does not answer as" in answering("yes hello | head -n 2000")
    for url in ("ssh://", "ssh://-oProxyCommand=id", "ssh://a b", "ssh://host?x"):
        assert "is no address of a machine" in fails(QuestionError, url)
    assert contents(desktop) == {}


def test_a_greeting_of_the_shell_is_skipped_and_a_path_names_the_store(
    laptop: Computer, desktop: Computer, monkeypatch: pytest.MonkeyPatch
):
    laptop.write("one")
    laptop.take_in()
    other = Computer(desktop.home.with_name("other home"))
    _ = other.store
    greeting = desktop.command(before="echo Welcome; ")
    monkeypatch.setenv("MEMORY_PUSH_COMMAND", greeting)
    exchange(laptop.store, f"{URL}{other.data}")
    assert (contents(other), contents(desktop)) == (contents(laptop), {})


def test_a_store_that_is_being_built_there_is_waited_for_and_named(
    laptop: Computer, desktop: Computer
):
    laptop.write("one")
    laptop.take_in()
    command = [*shlex.split(laptop.command()), "data", "push", URL]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as push:
        assert push.stderr is not None
        with desktop.store.lock():
            notice = next(line for line in push.stderr if "Waiting for" in line)
        push.stderr.read()
    assert f"process {os.getpid()}" in notice and push.returncode == 0
    assert contents(desktop) == contents(laptop)


def test_a_new_machine_in_another_zone_makes_no_store_before_its_zone_is_set(
    laptop: Computer, desktop: Computer, server: SshServer
):
    desktop.write("one")
    desktop.take_in()

    def pull(zone: str) -> subprocess.CompletedProcess[str]:
        given = {"MEMORY_PUSH_SSH": server.client, "MEMORY_PUSH_COMMAND": desktop.command()}
        program = laptop.command().replace("MEMORY_TIMEZONE=UTC", f"MEMORY_TIMEZONE={zone}")
        command = [*shlex.split(program), "data", "pull", URL]
        return subprocess.run(
            command, check=False, env={**os.environ, **given}, capture_output=True, text=True
        )

    first = pull("Asia/Tokyo")
    assert first.returncode and "set MEMORY_TIMEZONE" in " ".join(first.stderr.split())
    assert not laptop.data.exists()
    assert pull(desktop.settings.timezone).returncode == 0
    assert contents(laptop) == contents(desktop)


def test_after_a_machine_fetched_sessions_forgetting_says_that_the_next_exchange_passes_it_on(
    laptop: Computer, desktop: Computer
):
    desktop.write("one")
    desktop.say("one", "The zeppelin hangar is in the north.")
    desktop.take_in()
    exchange(laptop.store, URL, is_pull=True)
    (warning,) = desktop.agent.forget("zeppelin hangar", apply=True).warnings
    assert warning.startswith("machine ") and "its next exchange with this store masks" in warning


def test_a_piece_that_is_masked_more_here_is_known(laptop: Computer, desktop: Computer):
    laptop.write("one")
    laptop.take_in()
    exchange(laptop.store, URL)
    (ranges,) = desktop.store.archive.sources().values()
    entry = ranges[-1]
    content = desktop.store.archive.read(entry.source_id, 0, entry.byte_from, entry.byte_to)
    masked = content.replace(b"please", b"******")
    at = desktop.settings.clock()
    desktop.store.archive.restate(entry.id, masked, at=at, because="a test", pushed=None)
    done = exchange(laptop.store, URL)
    assert (done.pieces, done.replaced, done.warnings, content == masked) == (0, 0, (), False)


def test_the_protocol_is_the_one_that_is_documented():
    assert (ssh.MAGIC, ssh.PROTOCOL) == (b"memory serve-push ", 1)


FACTS = {
    "laptop": ("We moved from npm to pnpm.", "Always run the smoke tests."),
    "desktop": ("Always run the smoke tests.", "Never push to main without a review."),
}


def rows(computer: Computer, table: str) -> list[str]:
    """The rows of a table, with the ids of proposals as all other machines have them."""
    place = place_of(computer.store.key.decode())
    own_id = re.compile(r"\b([a-z]-\d{8}-)(\d{3})\b")
    found = map(str, computer.store.tables.read(table).to_dicts())
    return sorted(own_id.sub(rf"\g<1>{place}\g<2>", row) for row in found)


def entries(computer: Computer) -> str:
    """MEMORY.md and the files of projects."""
    root = computer.store.workspace
    return "".join((root / path).read_text() for path in memory_files(root))


@pytest.mark.slow
def test_both_distil_the_same_tables_and_write_the_same_memory_md(
    laptop: Computer, desktop: Computer
):
    computers = (laptop, desktop)
    for computer in computers:
        for number, text in enumerate(FACTS[computer.home.name]):
            computer.say(f"of-{computer.home.name}", text, number)
        launch.ingest(computer.store)
    meet(laptop)
    for computer in computers:
        launch.ingest(computer.store)
    meet(laptop)
    for computer in computers:
        launch.ingest(computer.store)
    for table in table_names():
        if table not in OF_RUNS:
            assert rows(laptop, table) == rows(desktop, table)
    facts = {*FACTS["desktop"]}
    assert facts <= {*laptop.store.tables.read("memories")["text"]}
    written = [entries(computer) for computer in computers]
    assert written[0] == written[1] and "Always run the smoke tests." in written[0]


@pytest.mark.slow
def test_what_a_model_answered_is_known_on_both_and_asked_once(
    laptop: Computer, desktop: Computer, monkeypatch: pytest.MonkeyPatch
):
    laptop.given["push_projects"] = ["*", "!diary"]
    laptop.write("public", 30)
    laptop.say("public", "We moved from npm to pnpm.")
    laptop.write("secret", 30, folder="/home/mira/diary")
    with serve(dutiful) as api:
        for name, value in variables(api).items():
            monkeypatch.setenv(name, value)
        launch.ingest(laptop.store)
        exchange(laptop.store, URL)
        asked = len(about_windows(api))
        sent = [path.read_text() for path in desktop.store.answers.glob("*.json")]
        assert 0 < len(sent) < asked
        assert "secret" not in "".join(sent)
        (desktop.home / "transcripts").mkdir()
        launch.ingest(desktop.store)
        assert len(about_windows(api)) == asked
    facts = desktop.store.tables.read("observations").filter(kind="fact")
    assert "The owner: “We moved from npm to pnpm.”" in str(facts["text"].to_list())
    answers = desktop.store.tables.read("observer_answers").to_dicts()
    assert answers
    assert not [
        row for row in answers if row not in laptop.store.tables.read("observer_answers").to_dicts()
    ]
    rows = laptop.store.tables.read("observer_answers")
    shown = rows.with_columns(shown_ids=pl.Series([[short_id("of-the-diary")]] * rows.height))
    laptop.store.tables.write("observer_answers", str(rows["day"][0]), shown)
    assert public_answers(laptop.store, set()) == {*rows["answer"]}
    assert public_answers(laptop.store, {"of-the-diary"}) == set()


@pytest.mark.slow
def test_a_line_that_the_owner_deleted_by_hand_stays_deleted(laptop: Computer, desktop: Computer):
    line = FACTS["laptop"][1]
    for number, session in enumerate(("one", "two")):
        laptop.say(session, line, number)
    launch.ingest(laptop.store)
    (path,) = (
        laptop.store.workspace / name
        for name in memory_files(laptop.store.workspace)
        if line in (laptop.store.workspace / name).read_text()
    )
    path.write_text("".join(row for row in path.read_text().splitlines(True) if line not in row))
    for _ in range(2):
        meet(laptop)
        launch.ingest(laptop.store)
    assert line not in entries(laptop)
