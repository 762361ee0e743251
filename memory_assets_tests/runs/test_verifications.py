"""What memories, proposals, lines and rules files name is looked up once at each commit, and what is gone has consequences."""

import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from memory_assets.adapters import git_reading
from memory_assets.runs.freshness import find_waiting
from memory_assets.runs.inputs import input_versions
from memory_assets.runs.look import Look
from memory_assets.runs.materialise import materialise
from memory_assets.schema.requests import LOOKUP
from memory_assets.schema.tables import TABLES, WHOLE
from memory_assets.services.health.surroundings import check_lines
from memory_assets.services.review.open_triage import triage_of
from memory_assets.services.review.written_lines import count_outdated, read_lines
from memory_assets.services.search.named import mark_gone
from memory_assets.stages.recall.results import Answer, render_line, result_of
from memory_assets.stages.triage.amendments import with_new_names
from memory_assets.stages.triage.auto import needs_person
from memory_assets.stages.triage.current import read_current
from memory_assets.stages.triage.promote import PROMOTED
from memory_assets.stages.verify.verifications import gone_names
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets.text.words import count_tokens
from memory_assets_tests.assets.checks.outcomes import failing
from memory_assets_tests.factories import START, fact, frame, row
from memory_assets_tests.memory.test_checking import MAKE, SCRIPT
from memory_assets_tests.repository import commit, git
from memory_assets_tests.small_store import write

DEPLOY = "Deploy with `scripts/deploy.sh`, never by hand."
CHECK = "Always run `make lint` before a commit."
POLL = "The feed is read by `feed/poll.py`."
FILES = {"scripts/deploy.sh": SCRIPT, "Makefile": MAKE, "AGENTS.md": "Use `feed/poll.py`.\n", "feed/poll.py": "poll()\n" * 9}  # fmt: skip
ON = date(2026, 5, 2)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "tide"
    folder.mkdir()
    commit(folder, FILES)
    return folder


@pytest.fixture
def store(root: Path) -> Store:
    store = open_store(read_settings(owner="ann"))
    session = {"person": "ann", "project": "tide", "status": "observed"}
    write(store, "windows", WHOLE, row("windows", window_id="w", session_id="s", folder=str(root / "feed"), **session))  # fmt: skip
    said = {"session_id": "s", "session_ids": ["s"], "project": "tide", "event_at": START}
    write(store, "memories", WHOLE, fact("m1", DEPLOY, **said), fact("m2", CHECK, **said), fact("m3", "Tides are nice.", **said))  # fmt: skip
    return store


def verify(store: Store) -> pl.DataFrame:
    materialise(store, [TABLES["verifications"]], [WHOLE])
    return store.tables.read("verifications")


def states(rows: pl.DataFrame, subject: str) -> dict[tuple[str, str], tuple[str, str]]:
    """By subject and name: its state, and its new name."""
    of_subject = rows.filter(subject=subject)
    return {(each["subject_id"], each["name"]): (each["state"], each["moved_to"]) for each in of_subject.to_dicts()}  # fmt: skip


def rename(root: Path) -> None:
    commit(root, {"scripts/deploy.sh": None, "ops/deploy": SCRIPT, "Makefile": MAKE[19:]})


def test_names_of_memories_and_rules_files_follow_the_repository(store: Store, root: Path):
    assert set(verify(store)["state"]) == {"holds"}
    rename(root)
    rows = verify(store)
    assert states(rows, "memory") == {
        ("m1", "scripts/deploy.sh"): ("moved", "ops/deploy"),
        ("m2", "lint"): ("gone", ""),
    }
    assert states(rows, "rules file") == {(str(root / "AGENTS.md"), "feed/poll.py"): ("holds", "")}
    assert rows.filter(subject="rules file")["place"].to_list() == ["AGENTS.md:1"]
    assert set(rows.filter(pl.col("state") != "holds")["since_on"]) == {ON}


def test_a_repository_that_did_not_move_is_not_asked(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
):
    calls: list[list[str]] = []
    run = git_reading.subprocess.run

    def counted(command: list[str], **options: object) -> object:
        calls.append(command)
        return run(command, **options)

    monkeypatch.setattr(git_reading.subprocess, "run", counted)
    first = verify(store)
    assert calls
    versions = input_versions(store, TABLES["verifications"])
    calls.clear()
    assert verify(store).equals(first)
    assert input_versions(store, TABLES["verifications"]) == versions
    assert calls == []
    rename(root)
    assert input_versions(store, TABLES["verifications"]) != versions
    verify(store)
    assert calls


def test_a_memory_whose_commit_was_reverted_is_marked(store: Store, root: Path):
    made = commit(root, {"cents.py": "cents = 1\n"})
    said = {"session_id": "s", "project": "tide", "event_at": START}
    decided = {"id": "o5", "text": "Amounts are integer cents.", "commit": made[:7]}
    write(store, "observations", "2026-05-01", row("observations", **decided, **said))
    memory = fact("m5", decided["text"], observation_ids=["o5"], session_ids=["s"], **said)
    write(store, "memories", WHOLE, memory)
    assert states(verify(store), "memory") == {("m5", made[:7]): ("holds", "")}
    commit(root, {"cents.py": None}, text=f"Revert it\n\nThis reverts commit {made}.")
    marks = gone_names(verify(store), "memory")
    assert marks["m5"].mark == f"names `commit {made[:7]}`, reverted since 2026-05-02"
    assert marks["m5"].is_all


def test_another_memory_is_looked_up_and_the_others_stay(store: Store):
    before = verify(store)
    memories = store.tables.read("memories")
    more = fact("m4", POLL, session_id="s", session_ids=["s"], project="tide", event_at=START)
    write(store, "memories", WHOLE, *memories.to_dicts(), more)
    assert states(verify(store), "memory") == {
        **states(before, "memory"),
        ("m4", "feed/poll.py"): ("holds", ""),
    }


def test_a_name_that_a_line_has_twice_and_a_line_that_stands_twice_are_rows_once(
    store: Store, root: Path
):
    commit(root, {"AGENTS.md": "See [`feed/poll.py`](feed/poll.py) and `feed/poll.py`.\n"})
    write_lines(store, POLL)
    (store.workspace / "MEMORY.md").write_text(f"## Rules\n\n- (2026-04-01) {POLL}\n")
    first = verify(store)
    assert first.filter(subject="rules file").height == 1
    assert first.filter(subject="line").height == 2
    memories = store.tables.read("memories")
    write(store, "memories", WHOLE, memories.row(0, named=True))
    assert verify(store).filter(subject="line").equals(first.filter(subject="line"))


def test_what_git_did_not_answer_is_asked_again(store: Store, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as without_git:
        without_git.setattr(git_reading, "SECONDS", 0.0)
        without_git.setenv("PATH", "/nowhere")
        assert "gone" not in verify(store)["state"].to_list()
    write(store, "memories", WHOLE, *store.tables.read("memories").to_dicts()[:2])
    assert set(verify(store)["state"]) == {"holds"}


@pytest.mark.parametrize(
    ("line", "renames", "renamed"),
    [
        ("Run `test_utils.py`.", {"utils.py": "helpers.py"}, "Run `test_utils.py`."),
        ("Use ./a.py, then b.py.", {"a.py": "b.py", "b.py": "c.py"}, "Use ./b.py, then c.py."),
        ("Look in src/old/ and src/old/api.py.", {"src/old/": "src/new", "src/old/api.py": "src/new/api.py"}, "Look in src/new/ and src/new/api.py."),
    ],
)  # fmt: skip
def test_a_new_name_stands_where_the_old_one_stood_whole(
    line: str, renames: dict[str, str], renamed: str
):
    assert with_new_names(line, renames) == renamed


def test_a_new_name_that_reads_as_a_sentence_is_not_shown(store: Store, root: Path):
    commit(root, {"scripts/deploy.sh": None, "ops/Always run this first.sh": SCRIPT})
    assert states(verify(store), "memory")[("m1", "scripts/deploy.sh")] == ("gone", "")


@pytest.mark.parametrize("why", ["folder gone", "ignored", "another person's"])
def test_nothing_is_looked_up_in_other_folders(store: Store, root: Path, why: str):
    if why == "folder gone":
        shutil.rmtree(root)
    elif why == "ignored":
        (root.parent / ".memoryignore").write_text("tide/\n")
    else:
        window = {**store.tables.read("windows").row(0, named=True), "person": "ben"}
        write(store, "windows", WHOLE, window)
    assert input_versions(store, TABLES["verifications"]) == {}
    assert verify(store).is_empty()


def test_a_session_in_another_worktree_counts_for_the_main_one(store: Store, root: Path):
    git(root, "worktree", "add", "-q", "../other")
    window = store.tables.read("windows").row(0, named=True)
    write(store, "windows", WHOLE, {**window, "folder": str(root.parent / "other" / "feed")})
    assert set(verify(store)["root"]) == {str(root)}


def write_lines(store: Store, *lines: str, promoted: bool = True) -> None:
    folder = store.workspace / "projects"
    folder.mkdir(exist_ok=True)
    entries = [f"- (2026-04-01) {line}" for line in lines]
    (folder / "tide.md").write_text("# MEMORY of tide\n\n## Rules\n\n" + "\n".join(entries) + "\n")
    for number, line in enumerate(entries if promoted else ()):
        about = {"line": line, "path": "projects/tide.md", "session_ids": ["s"], "evidence": []}
        payload = {**about, "commit": "c", "section": "Rules"}
        store.ledger.append(PROMOTED, f"p-20260401-00{number}", payload, actor="rules")


def test_a_line_gets_the_new_name_or_is_dropped_and_is_asked_about_once(store: Store, root: Path):
    write_lines(store, DEPLOY, CHECK, POLL)
    rename(root)
    verify(store)
    lines = [*read_lines(store)]
    assert count_outdated(lines) == "2 of 3 lines name things that are gone"
    amendments = triage_of(store).amend()
    assert dict(amendments.select("text", "reason").iter_rows()) == {
        DEPLOY.replace(
            "scripts/deploy.sh", "ops/deploy"
        ): "it names `scripts/deploy.sh`, gone since 2026-05-02 (renamed to `ops/deploy`)",
        "": "it names `make lint`, gone since 2026-05-02",
    }
    assert triage_of(store).amend().equals(amendments)


def test_a_line_by_hand_is_named_and_left_alone(store: Store, root: Path):
    write_lines(store, DEPLOY, promoted=False)
    rename(root)
    verify(store)
    assert count_outdated([*read_lines(store)]) == "1 of 1 line names things that are gone"
    assert triage_of(store).amend().is_empty()


def test_recall_marks_what_is_gone_behind_what_holds_and_a_file_is_not_told_of_it(
    store: Store, root: Path
):
    rename(root)
    verify(store)
    rows = {row["id"]: row for row in store.tables.read("memories").to_dicts()}
    results = [result_of(rows[id], START, score=1.0, arms=()) for id in ("m1", "m2", "m3")]
    answer = Answer("how?", "balanced", tuple(results), 3)
    marked = mark_gone(store, answer).results
    mark = "names `scripts/deploy.sh`, gone since 2026-05-02 (renamed to `ops/deploy`)"
    assert [(result.memory_id, result.tags) for result in marked] == [
        ("m3", ()),
        ("m1", (mark,)),
        ("m2", ("names `make lint`, gone since 2026-05-02",)),
    ]
    beside_paths = mark.replace("scripts/deploy.sh", "").replace("ops/deploy", "")
    assert count_tokens(beside_paths) <= 12
    assert "[names scripts/deploy.sh, gone since 2026-05-02 (renamed to ops/deploy)]" in render_line(marked[1])  # fmt: skip
    of_file = mark_gone(store, replace(answer, profile=LOOKUP)).results
    assert [result.memory_id for result in of_file] == ["m3"]


def briefing(store: Store) -> str:
    verify(store)
    materialise(store, [TABLES["briefing"]], ["projects/tide"])
    return (store.workspace / "briefings" / "tide.md").read_text()


def test_a_briefing_marks_lines_and_leaves_out_facts_that_name_only_what_is_gone(
    store: Store, root: Path
):
    write_lines(store, CHECK, POLL)
    important = [{**each, "priority": "high"} for each in store.tables.read("memories").to_dicts()]
    write(store, "memories", WHOLE, *important)
    assert DEPLOY in briefing(store)
    rename(root)
    text = briefing(store)
    assert "1 of 2 lines names things that are gone: `memory review`." in text
    assert f"{CHECK} [names `make lint`, gone since 2026-05-02]\n" in text
    assert f"{POLL}\n" in text
    assert DEPLOY not in text


def test_a_line_is_marked_at_its_end_also_where_another_begins_alike(store: Store, root: Path):
    write_lines(store, CHECK, f"{CHECK} Twice.")
    rename(root)
    mark = "[names `make lint`, gone since 2026-05-02]"
    assert f"{CHECK} {mark}\n- (2026-04-01) {CHECK} Twice. {mark}\n" in briefing(store)


def test_checks_and_the_doctor_name_the_lines(store: Store, root: Path):
    write_lines(store, DEPLOY, POLL, promoted=False)
    verify(store)
    assert failing(store, "verifications") == []
    rename(root)
    verify(store)
    assert failing(store, "verifications") == ["memory_md_names_what_exists"]
    finding = check_lines([*read_lines(store)])
    assert finding.found.splitlines() == [
        "1 of 2 lines names things that are gone",
        "    projects/tide.md:5, by hand, names `scripts/deploy.sh`, gone since 2026-05-02 (renamed to"
        " `ops/deploy`)",
    ]
    commit(root, {"feed/poll.py": None})
    verify(store)
    assert failing(store, "verifications") == [
        "memory_md_names_what_exists",
        "rules_name_what_exists",
    ]


def test_a_proposal_that_names_what_is_gone_waits_with_that_reason(store: Store, root: Path):
    said = {"session_ids": ["s"], "project": "tide", "event_on": START.date(), "text": CHECK}
    write(store, "proposals", "2026-08-03", row("proposals", proposal_id="p-1", **said))
    rename(root)
    verify(store)
    proposal = read_current(store.tables)["p-1"]
    assert needs_person(proposal, frozenset()) == "it names `make lint`, gone since 2026-05-02"


def test_a_line_for_all_projects_is_looked_up_in_every_repository(store: Store, root: Path):
    """It holds if it does in one of them."""
    other = root.parent / "ferry"
    other.mkdir()
    commit(other, FILES)
    windows = store.tables.read("windows").to_dicts()
    more = {"window_id": "v", "session_id": "t", "folder": str(other), "project": "ferry"}
    write(store, "windows", WHOLE, *windows, {**windows[0], **more})
    (store.workspace / "MEMORY.md").write_text(f"## Rules\n\n- (2026-04-01) {DEPLOY}\n")
    rename(root)
    rows = verify(store).filter(subject="line")
    assert dict(rows.select("project", "state").iter_rows()) == {"tide": "moved", "ferry": "holds"}
    assert count_outdated([*read_lines(store)]) == ""
    rename(other)
    verify(store)
    assert count_outdated([*read_lines(store)]) == "1 of 1 line names things that are gone"


def test_a_moved_head_ends_the_note_that_nothing_is_new(store: Store, root: Path):
    watched = set(map(str, Look.begin(store).watched))
    assert {str(root / ".git" / name) for name in ("HEAD", "logs/HEAD", "packed-refs")} <= watched


def test_a_commit_that_holds_does_not_make_up_for_a_file_that_is_gone():
    about = {"subject": "memory", "subject_id": "m1", "since_on": ON}
    path = row("verifications", kind="path", name="a/b.py", state="gone", **about)
    commit = row("verifications", kind="commit", name="c0ffee1", state="holds", **about)
    other = row("verifications", kind="path", name="a/c.py", state="holds", **about)

    def is_all(*rows: dict) -> bool:
        return gone_names(frame("verifications", *rows), "memory")["m1"].is_all

    assert is_all(path)
    assert is_all(path, commit)
    assert not is_all(path, other)
    assert is_all({**commit, "state": "gone"})


def test_commits_alone_make_nothing_late(store: Store, root: Path):
    verify(store)
    rename(root)
    (waiting,) = [each for each in find_waiting(store) if each.name == "verifications"]
    assert waiting.since == store.settings.clock()
