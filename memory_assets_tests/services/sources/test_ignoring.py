"""What the owner's `.memoryignore` names, and what Codex marks as not for memory, is not captured; it is counted and named."""

import re
from pathlib import Path

import pytest

from memory_assets.errors import SettingsError
from memory_assets.services.health.status import render_status, status_of
from memory_assets.services.sources.harness_files import find_memory_files
from memory_assets.services.sources.ignoring import FILE, MARKED
from memory_assets.services.sources.transcripts import (
    find_ignored,
    find_left_out,
    find_sources,
    this_machine,
)
from memory_assets.stages.capture.intake import ingest_files
from memory_assets.store.places import user_settings_file
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets.text.masking.redact import mask_all
from memory_assets_tests.harnesses.opencode.database import Written
from memory_assets_tests.stages.capture.sessions import dialogue, lines


def claude(number: int, folder: str, slug: str = "x") -> Path:
    """A session of Claude Code that began in the folder."""
    session = f"0a00000{number}-1111-4222-8333-444455556666"
    path = Path.home() / ".claude" / "projects" / slug / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [{**record, "cwd": folder} for record in dialogue(session, 5)]
    path.write_bytes(lines({"type": "summary", "summary": "x", "leafUuid": "u"}, *records))
    return path


def codex(number: int, mode: str | None, folder: str = "/home/mira/shop", **more: object) -> Path:
    """A session of Codex with that mark."""
    session = f"0b00000{number}-1111-4222-8333-444455556666"
    path = (
        Path.home()
        / ".codex"
        / "sessions"
        / "2026"
        / "08"
        / "30"
        / f"rollout-2026-08-30T09-00-00-{session}.jsonl"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    mark = {} if mode is None else {"memory_mode": mode}
    payload = {
        "id": session,
        "timestamp": "2026-08-30T09:00:00Z",
        "cwd": folder,
        "cli_version": "0.140.0",
        **mark,
        **more,
    }
    path.write_bytes(
        lines({"type": "session_meta", "timestamp": "2026-08-30T09:00:00Z", "payload": payload})
    )
    return path


def ignore(*patterns: str, path: Path | None = None) -> Path:
    path = path or Path.home() / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(patterns) + "\n")
    return path


def read() -> set[str]:
    """The sessions that are read, by the first letters of their ids."""
    return {
        file.path.stem.removeprefix("rollout-2026-08-30T09-00-00-")[:8]
        for file in find_sources(read_settings())
    }


@pytest.mark.parametrize(
    ("patterns", "kept"),
    [
        (["clients/"], ["0a000001", "0a000004"]),
        (["/clients/"], ["0a000001", "0a000003", "0a000004"]),
        (["acme"], ["0a000001", "0a000003", "0a000004"]),
        (["# nothing", "", "*", "!shop", "!shop/**"], ["0a000001"]),
        (["/srv/**"], ["0a000001", "0a000002", "0a000003"]),
    ],
    ids=str,
)
def test_patterns_of_gitignore_are_compared_with_the_folder_in_which_a_session_began(
    patterns: list[str], kept: list[str]
):
    home = Path.home()
    claude(1, str(home / "shop"))
    claude(2, str(home / "clients" / "acme"))
    claude(3, str(home / "work" / "clients" / "globex"))
    claude(4, "/srv/app")
    ignore(*patterns)
    assert sorted(read()) == kept


def test_sub_agents_of_an_ignored_session_are_not_read_wherever_they_ran():
    """Claude Code's in both layouts, and those of Codex and pi, which name their parent; also a sub-agent's own sub-agent."""
    home = Path.home()
    secret, plain = (
        claude(number, str(home / name)) for number, name in ((1, "acme"), (2, "shop"))
    )
    for parent in (secret, plain):
        for place in (parent.with_suffix("") / "subagents", parent.parent):
            path = place / f"agent-{parent.stem[:8]}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            records = [{**each, "isSidechain": True} for each in dialogue(parent.stem, 5)]
            path.write_bytes(lines(*({**each, "cwd": "/tmp/worktree"} for each in records)))
    for number, folder in ((1, str(home / "acme")), (2, str(home / "shop"))):
        parent = codex(number, None, folder)
        spawn = {"subagent": {"thread_spawn": {"parent_thread_id": parent.stem[-36:]}}}
        child = codex(number + 4, None, "/tmp/worktree", source=spawn)
        codex(number + 6, None, "/tmp/worktree", parent_thread_id=child.stem[-36:])
        pi_home = home / ".pi" / "agent" / "sessions" / "x"
        pi_home.mkdir(parents=True, exist_ok=True)
        ids = [f"0c00000{number + more}-1111-4222-8333-444455556666" for more in (0, 4)]
        paths = [pi_home / f"2026-08-30T09-00-00-000Z_{session}.jsonl" for session in ids]
        header = {"type": "session", "version": 3, "timestamp": "2026-08-30T09:00:00Z"}
        paths[0].write_bytes(lines({**header, "id": ids[0], "cwd": folder}))
        spawned = {"cwd": "/tmp/worktree", "parentSession": str(paths[0])}
        paths[1].write_bytes(lines({**header, "id": ids[1], **spawned}))
    everything = {str(file.path) for file in find_sources(read_settings())}
    ignore("acme/")
    files = {str(file.path) for file in find_sources(read_settings())}
    assert (len(everything), len(files)) == (16, 8)
    assert [name for name in files if re.search("0[abc]00000[157]", name)] == []
    assert len(find_ignored(read_settings())) == 8


def test_a_record_nested_too_deep_to_be_written_again_stops_nothing():
    path = claude(1, str(Path.home() / "shop"))
    deep = b'{"type":"user","x":%s}\n' % (b"[" * 300 + b"]" * 300)
    path.write_bytes(deep + path.read_bytes())
    ignore("clients/")
    assert read() == {"0a000001"}


def test_a_transcript_without_a_folder_is_compared_by_its_path():
    claude(1, "", slug="-home-mira-shop")
    claude(2, "", slug="-home-mira-acme")
    ignore("*-acme/")
    assert read() == {"0a000001"}


def test_the_folder_of_gemini_s_sessions_is_that_of_the_file_beside_them():
    chats = Path.home() / ".gemini" / "tmp" / "acme" / "chats"
    chats.mkdir(parents=True)
    (chats.parent / ".project_root").write_text(str(Path.home() / "clients" / "acme"))
    header = {"sessionId": "0f000001", "projectHash": "0c1d", "kind": "main"}
    (chats / "session-2026-09-01T09-00-0f000001.jsonl").write_bytes(lines(header))
    assert len(find_sources(read_settings())) == 1
    ignore("clients/")
    assert find_sources(read_settings()) == []


def test_of_opencode_s_database_only_sessions_in_other_folders_are_archived():
    data = Path.home() / ".local" / "share" / "opencode"
    database = Written(data / "opencode.db", str(Path.home() / "tides"))
    database.session("ses_1")
    database.session("ses_2", folder=str(Path.home() / "clients" / "acme"))
    for number, session in enumerate(("ses_1", "ses_2")):
        database.turn(number, session, "Go on.", "Done.")
    ignore("clients/")
    store = open_store(read_settings())
    files = find_sources(store.settings)
    now = store.settings.clock()
    machine = this_machine(store.settings)
    ingest_files(files, store, now=now, mask=mask_all, machine=machine)
    archived = [entry for ranges in store.archive.sources().values() for entry in ranges]
    assert {(entry.conversation_id, entry.is_own) for entry in archived} == {("ses_1", True)}


def test_the_file_in_the_configuration_folder_counts_too():
    claude(1, str(Path.home() / "shop"))
    path = ignore("shop/", path=Path(user_settings_file()).with_name(FILE))
    (one,) = find_ignored(read_settings())
    assert one.reason == f"by `shop/` in {path}"


def test_a_repository_decides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A stranger's repository could otherwise hide what happens in it."""
    repository = tmp_path / "shop"
    ignore("*", path=repository / FILE)
    claude(1, str(repository))
    monkeypatch.chdir(repository)
    assert read() == {"0a000001"} and find_ignored(read_settings()) == []


def test_sessions_that_codex_marks_are_left_out_unless_the_owner_wants_them(
    monkeypatch: pytest.MonkeyPatch,
):
    codex(1, "disabled"), codex(2, "enabled"), codex(3, "polluted")
    assert read() == {"0b000002", "0b000003"}
    assert [one.reason for one in find_ignored(read_settings())] == [MARKED.format("Codex")]
    monkeypatch.setenv("MEMORY_HARNESS_OPT_OUTS", "0")
    assert read() == {"0b000001", "0b000002", "0b000003"}


def test_what_is_ignored_is_counted_and_named_in_the_status_and_is_no_fault():
    claude(1, str(Path.home() / "clients" / "acme"))
    claude(2, str(Path.home() / "clients" / "globex"))
    codex(1, "disabled")
    path = ignore("clients/")
    store = open_store(read_settings())
    assert find_left_out(store) == []
    text = render_status(status_of(store))
    assert (
        f"ignored       3 transcripts: 2 by `clients/` in {path}; 1 {MARKED.format('Codex')}"
        in text
    )


def test_the_memories_of_a_harness_about_an_ignored_folder_are_left_out_too():
    for number, name in ((1, "acme"), (2, "shop")):
        path = claude(number, str(Path.home() / name), slug=f"-home-mira-{name}")
        (path.parent / "memory").mkdir()
        (path.parent / "memory" / "MEMORY.md").write_text("- a fact\n")
    ignore("/acme/")
    assert [file.path.parent.parent.name for file in find_memory_files(read_settings())] == [
        "-home-mira-shop"
    ]


@pytest.mark.parametrize("line", ["!", "\\"])
def test_a_pattern_that_is_none_stops_reading_and_names_the_file(line: str):
    """Reading on would capture what the owner wanted to leave out."""
    path = ignore("clients/", line)
    with pytest.raises(SettingsError, match=str(path)):
        find_sources(read_settings())
