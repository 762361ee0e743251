"""The command line: one JSON object with --json, one clean message on failure, exit codes, no colour in a pipe."""

import io
import json
import os
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer

from memory_assets import __version__
from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.interfaces.cli import app as cli
from memory_assets.interfaces.entry import main as entry
from memory_assets.memory import MemoryAgent, review
from memory_assets.runs.build import Built
from memory_assets.services.health.status import status_of
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store
from memory_assets_tests.small_store import FACT, MEMORY, PROPOSAL, index, small_store, write

Run = Callable[..., tuple[int, str, str]]


def names_of(app: typer.Typer, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    own = [
        (*before, command.name or command.callback.__name__)
        for command in app.registered_commands
        if command.callback
    ]
    return own + [
        name
        for group in app.registered_groups
        for name in names_of(
            group.typer_instance, (*before, str(group.name)) if group.name else before
        )
    ]


COMMANDS = [name for name in names_of(cli.make_app()) if name != ("send",)]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_each_command_has_help_with_an_example_and_takes_json(command: tuple[str, ...], run: Run):
    code, out, _ = run(*command, "--help")
    assert code == 0
    assert "Example: " in out
    assert "--json" in out


@pytest.mark.parametrize("words", [(), ("data",), ("hooks",)])
def test_without_a_command_the_help_is_printed_and_no_error(words: tuple[str, ...], run: Run):
    code, out, errors = run(*words)
    assert code == 0
    assert "Usage: memory" in out
    assert errors == ""


def test_the_version_is_printed_also_in_front_of_a_command(run: Run):
    assert (
        run("--version") == run("--version", "status") == (0, f"memory_assets {__version__}\n", "")
    )


def test_what_a_library_prints_does_not_spoil_json(run: Run, monkeypatch: pytest.MonkeyPatch):
    small_store()
    waiting = review.waiting_proposals
    monkeypatch.setattr(
        review, "waiting_proposals", lambda store: print("loading weights") or waiting(store)
    )
    _, out, err = run("review", "--json")
    assert [one["proposal_id"] for one in json.loads(out)["data"]["pending"]] == [PROPOSAL]
    assert err == "loading weights\n"


@pytest.mark.parametrize(
    "words",
    [
        ("recall", "how"),
        ("doctor",),
        ("review",),
        ("explain", "x"),
        ("data", "export", "observations"),
    ],
)
def test_without_a_memory_the_way_to_one_is_told_and_none_is_made(
    words: tuple[str, ...], run: Run, tmp_path: Path
):
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert "Run `memory up`" in err
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("remembr",), "No such command 'remembr'. Did you mean 'remember'? Try `memory --help`."),
        (("memories",), "No such command 'memories'. Did you mean `memory data show memories`? Try `memory --help`."),
        (("recall", "--flag"), "No such option: --flag (Possible options: --file, --page, --tag). Words that begin with a dash stand behind `--`: `memory recall -- WORDS`. Try `memory recall --help`."),
        (("recall", " "), "question is missing: What you want to know, in plain words."),
        (("recall", "q", "--project", "xs"), "No session is of the project “xs”. Did you mean x?"),
        (("recall", "q", "--only-project", "shop"), "No session is of the project “shop”. The store has x."),
        (("brief", "--project", "xs"), "No session is of the project “xs”. Did you mean x?"),
        (("explain",), "Missing argument 'TARGET'. Try `memory explain --help`."),
        (("recall",), "question is missing: What you want to know, in plain words."),
        (("status", "--bad"), "No such option: --bad. Try `memory status --help`."),
        (("review", "approve"), "Missing argument 'ID...'. Try `memory review approve --help`."),
        (
            ("data", "export", "observations", "--format", "xml"),
            "Invalid value for '--format': 'xml' is not one of 'jsonl', 'csv', 'parquet'. Try `memory data export --help`.",
        ),
    ],
)  # fmt: skip
def test_a_command_that_is_not_understood_exits_with_two_and_names_its_help(
    words: tuple[str, ...], told: str, run: Run
):
    small_store()
    code, out, err = run(*words)
    assert (code, out, err) == (2, "", f"✗ {told}\n")
    code, out, _ = run(*words, "--json")
    assert (code, json.loads(out)["ok"]) == (2, False)


def test_a_status_without_a_memory_says_so_with_its_exit_code(run: Run):
    code, out, _ = run("status")
    assert (code, out.partition(" in ")[0]) == (1, "There is no memory")
    small_store()
    assert run("status")[0] == 0


def test_a_briefing_is_that_of_the_named_project(run: Run):
    folder = small_store().workspace / "briefings"
    folder.mkdir()
    (folder / "x.md").write_text("# Shop\n")
    assert run("brief", "--project", "x")[1] == "# Shop\n"
    assert run("brief")[1] != "# Shop\n"


def test_the_doctor_fails_where_a_promise_is_broken(run: Run):
    store = small_store()
    index(store)
    assert run("doctor")[0] == 0
    (store.root / "tables").chmod(0o755)
    code, out, _ = run("doctor")
    assert code == 1
    assert "✗ the store is readable by its owner alone" in out
    assert "chmod" in out


def test_check_names_what_is_gone_by_file_and_line_without_a_store(run: Run, tmp_path: Path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "AGENTS.md").write_text("Read\n`docs/tides.md`.\n")
    missing = "AGENTS.md:2: docs/tides.md is missing (path)\n1 of 1 name in AGENTS.md is gone.\n"
    assert run("check", str(tmp_path)) == (1, missing, "")
    (tmp_path / "docs" / "tides.md").touch()
    assert run("check", str(tmp_path)) == (0, "1 name in AGENTS.md: none is gone.\n", "")
    os.makedirs(os.fsencode(tmp_path) + b"/\xff/docs")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff/CLAUDE.md")).write_text("`docs/no.md`")
    code, out, _ = run("check", str(tmp_path), "--json")
    assert (code, json.loads(out)["data"]["findings"][0]["file"]) == (1, "\ufffd/CLAUDE.md")
    code, _, err = run("check", str(tmp_path / "none"))
    assert (code, "Give the folder of a repository" in err) == (2, True)


def test_export_writes_rows_and_nothing_else(capfdbinary: Any):
    small_store()
    assert cli.main(["data", "export", "observations", "--format", "jsonl"]) == 0
    (line,) = capfdbinary.readouterr().out.splitlines()
    assert json.loads(line)["text"] == FACT


def test_a_backup_and_an_export_say_where_they_are_and_what_reads_them_back(
    run: Run, tmp_path: Path
):
    small_store()
    code, out, _ = run("data", "backup", str(tmp_path / "b.tar.zst"))
    assert code == 0
    assert f"`memory data restore {tmp_path / 'b.tar.zst'} --store FOLDER`" in " ".join(out.split())
    assert run("data", "backup", f"{tmp_path}/new/")[0] == 0
    assert len([*(tmp_path / "new").glob("memory-*.tar.zst")]) == 1
    code, out, _ = run("data", "export", "--all", str(tmp_path / "all"), "--json")
    assert (code, json.loads(out)["data"]["path"]) == (0, str(tmp_path / "all"))


@pytest.mark.parametrize("words", [("data", "restore", "none.tar.zst"), ("data", "import", "none")])
def test_a_backup_or_export_that_does_not_exist_is_named_and_no_store_is_made(
    words: tuple[str, ...], run: Run, tmp_path: Path
):
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert "none" in err
    assert not (tmp_path / "store").exists()


def test_show_prints_rows_of_a_day_every_field_on_request_and_as_json(run: Run):
    store = small_store()
    _, out, _ = run("data", "show", "observations", "--day", "2026-08-03")
    assert FACT in out and "1 of 1 rows of observations" in out and "schema_version" not in out
    assert "schema_version" in run("data", "show", "observations", "--all")[1]
    (row,) = json.loads(run("data", "show", "observations", "--json")[1])["data"]["rows"]
    assert list(row) == store.tables.read("observations").columns


def test_show_of_a_day_without_rows_names_the_days_there_are(run: Run):
    small_store()
    code, _, err = run("data", "show", "observations", "--day", "2026-08-04")
    assert code == 1
    assert "has no part '2026-08-04'; it has 2026-08-03" in err


def test_the_same_seed_draws_the_same_rows(run: Run):
    small_store()
    sample = ("data", "sample", "3", "--seed", "abc", "--table", "messages")
    assert run(*sample) == run(*sample)


@pytest.mark.parametrize(
    "words", [("--debug", "doctor"), ("doctor", "--debug"), ("doctor", "--deep", "--debug")]
)
def test_debug_anywhere_shows_a_traceback(
    words: tuple, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_DEBUG", "")
    assert entry(["doctor"]) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert entry(words) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_fault_of_ours_says_so_and_hides_its_traceback(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(MemoryAgent, "status", lambda *_: 1 / 0)
    code, _, err = run("status")
    assert code == 1
    assert "ZeroDivisionError" in err
    assert "--debug shows where" in err
    assert "Traceback" not in err


def test_an_interrupted_command_says_that_it_can_go_on(run: Run, monkeypatch: pytest.MonkeyPatch):
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(MemoryAgent, "status", interrupt)
    code, _, err = run("status")
    assert code == 130
    assert "Run the same command again" in err


def test_a_sample_is_allowed_facts_that_can_be_read_alone(run: Run):
    small_store()
    code, out, _ = run("data", "sample", "20", "--seed", "7aec271")
    assert code == 0
    said = "said by the owner on 2026-08-03, in x"
    assert (
        out
        == f"1. {FACT}\n   {MEMORY}  🔴 high, rules-conventions\n   {said}\n1 of 1 allowed facts\n"
    )


def test_a_question_is_read_from_a_pipe(run: Run, monkeypatch: pytest.MonkeyPatch):
    index(small_store())
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(b"how do we install\npackages\n"))
    )
    code, out, _ = run("recall", "-")
    assert (code, out.splitlines()[0]) == (0, f"1. {FACT}")


def test_a_recalled_memory_shows_its_id_and_where_it_comes_from(run: Run):
    index(small_store())
    _, out, _ = run("recall", "how do we install packages", "--category", "rules-conventions")
    first, second = out.splitlines()
    assert first == f"1. {FACT}"
    assert second == "   2026-08-03, from x, x, Claude Code, mem_0f3a5c1e0000"


def test_an_answer_shows_its_sentences_and_where_their_sources_stand(run: Run):
    index(small_store())
    code, out, _ = run("recall", "how do we install packages", "--answer")
    assert code == 0
    assert f"x, 2026-08-03: {FACT} [mem_0f3a5c1e0000]" in out.splitlines()
    source = "mem_0f3a5c1e0000  fact of 2026-08-03, said by x; session session-1, records 3"
    assert any(line.startswith(source) for line in out.splitlines())
    _, out, _ = run("recall", "sourdough hydration of rye", "--answer")
    assert out.strip() == "Not in memory."


def test_the_block_is_what_goes_in_front_of_a_prompt_and_nothing_else(run: Run):
    index(small_store())
    code, out, _ = run(
        "recall", "how do we install packages", "--block", "--category", "rules-conventions"
    )
    assert (code, out.count("\n")) == (0, 1)
    assert out.startswith(f"~ {FACT} (")
    assert run("recall", "zebra crossings of Ulaanbaatar", "--block")[1] == ""


def test_what_is_remembered_corrected_and_forgotten_is_answered_with_its_id(run: Run):
    small_store()
    code, out, _ = run(
        "remember", "Herons nest beside the reactor.", "--priority", "high", "--json"
    )
    noted = json.loads(out)["data"]
    assert (code, noted["kind"], noted["text"], noted["priority"]) == (
        0,
        "noted",
        "Herons nest beside the reactor.",
        "high",
    )
    code, out, _ = run(
        "remember", "Storks nest beside the reactor.", "--instead-of", noted["memory_ids"][0]
    )
    assert (code, f"replaces mem_{noted['memory_ids'][0].replace('-', '')[:12]}" in out) == (
        0,
        True,
    )
    code, out, _ = run("data", "feedback", MEMORY, "--unused", "--session", "s1")
    assert (code, out) == (0, f"Recorded: mem_{MEMORY.replace('-', '')[:12]} did not help.\n")
    code, out, _ = run("forget", "storks nest")
    assert (code, "Nothing was changed" in out) == (0, True)
    assert json.loads(run("forget", "storks nest", "--apply", "--json")[1])["data"]["is_applied"]
    code, out, err = run("forget", "storks nest")
    assert (code, out, "Nothing in this store contains" in err) == (1, "", True)


def test_a_forgetting_says_one_thing_of_what_still_holds_the_words(run: Run):
    store = small_store()
    page = store.workspace / "MEMORY.md"
    page.write_text("# MEMORY.md\n\n- Storks nest beside the reactor.\n")
    workspace = GitWorkspace(store.workspace)
    workspace.prepare()
    workspace.commit("note", ["MEMORY.md"])
    run("remember", "Storks nest beside the reactor.")
    code, out, _ = run("forget", "storks nest beside", "--apply")
    assert (code, "Nothing holds it" in out) == (0, False)
    assert "Only the workspace's git history still holds it. --history rewrites it." in out
    run("remember", "Herons nest beside the reactor.")
    assert "Nothing holds it any more." in run("forget", "herons nest beside", "--apply")[1]


def test_words_that_no_memory_holds_are_explained_by_the_stage_that_stopped_them(run: Run):
    index(small_store())
    code, out, _ = run("explain", "herons nest beside the reactor")
    assert code == 0
    assert (
        out.splitlines()[0]
        == "not captured: nothing near it was said in a transcript that was taken in or waits"
    )
    found = json.loads(run("explain", "herons nest beside the reactor", "--json")[1])["data"]
    assert (found["stage"], found["memory_id"]) == ("not captured", None)


def test_a_question_that_does_not_return_the_words_is_explained(run: Run):
    index(small_store())
    code, out, _ = run("explain", FACT, "--question", FACT)
    assert (code, out.splitlines()[:2]) == (
        0,
        ["recalled: it is result 1 of 1", f"   mem_0f3a5c1e0000 {FACT}"],
    )
    assert run("explain", FACT, "--question", "how do herons nest")[1].startswith("out-ranked: ")


def test_an_answer_takes_no_option_that_only_a_recall_has(run: Run):
    small_store()
    code, _, err = run("recall", "q", "--answer", "-n", "3")
    assert (code, err) == (2, "✗ --answer cannot be combined with --limit.\n")


def test_settings_are_shown_with_their_default_and_origin(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "memory.toml").write_text("least_useful = 0.6\n")
    monkeypatch.setenv("MEMORY_PORT", "4000")
    found = {one["name"]: one for one in json.loads(run("config", "--json")[1])["data"]["settings"]}
    told = {
        name: (found[name]["value"], found[name]["default"], found[name]["origin"])
        for name in ("port", "least_useful")
    }
    file = str(tmp_path / "store" / "memory.toml")
    assert told == {
        "port": (4000, 3000, "environment variable MEMORY_PORT"),
        "least_useful": (0.6, 0.7, file),
    }
    assert found["review_days"]["origin"] == "default"
    code, _, err = run("config", "colour")
    assert (code, "There is no setting 'colour'" in err) == (2, True)


def settings_in(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "memory.toml").read_text())


def test_a_model_is_chosen_in_the_settings_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert "rules is configured (default)." in run("model", "list")[1]
    code, out, _ = run("model", "use", "claude-haiku-4-5")
    assert (code, "claude-haiku-4-5 extracts facts" in out) == (0, True)
    assert settings_in(tmp_path / "store") == {"model": "claude-haiku-4-5", "model_projects": ["*"]}
    assert "No project is known yet" in out
    code, _, err = run("model", "use", "no such model")
    assert (code, "a model's name contains no blanks" in err) == (1, True)
    monkeypatch.setenv("MEMORY_MODEL", "rules")
    assert "overrides" in run("model", "use", "claude-haiku-4-5")[2]


def test_choosing_a_model_allows_the_present_projects_and_a_later_one_waits_until_it_is_added(
    run: Run, tmp_path: Path
):
    store = small_store()
    code, out, _ = run("model", "use", "claude-haiku-4-5", "--reflector", "claude-sonnet-4-5")
    assert (code, "sessions of x." in out) == (0, True)
    chosen = {
        "model": "claude-haiku-4-5",
        "reflector_model": "claude-sonnet-4-5",
        "model_projects": ["x"],
    }
    assert settings_in(store.root) == chosen
    assert "not sent" not in run("status")[1]
    later = (
        store.tables.read("windows")
        .with_columns(project=pl.lit("y"), window_id=pl.lit("v" * 64))
        .to_dicts()
    )
    write(store, "windows", "all", *store.tables.read("windows").to_dicts(), *later)
    assert "not sent      y (`memory model add PROJECT`)" in run("status")[1]
    assert "Not sent, until you run `memory model add PROJECT`: y." in run("model")[1]
    code, _, err = run("model", "add", "z")
    assert (code, "There is no project 'z'; there are x, y." in err) == (2, True)
    assert run("model", "add", "y")[0] == 0
    assert settings_in(store.root) == {**chosen, "model_projects": ["x", "y"]}
    assert "not sent" not in run("status")[1]
    run("model", "use", "rules")
    assert settings_in(store.root) == {
        "model": "rules",
        "reflector_model": "",
        "model_projects": [],
    }


def test_a_model_whose_questions_are_not_billed_is_given_the_price_of_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    store = small_store()
    code, _, err = run("model", "use", "gpt-9")
    assert (code, "No price is known for gpt-9" in err) == (2, True)
    assert not (store.root / "memory.toml").exists()
    monkeypatch.setenv("MEMORY_MODEL_MOST_USD", "1")
    assert "No price is known for gpt-9" in run("model", "use", "codex", "--reflector", "gpt-9")[2]
    assert "No price is known for codex" in run("model", "use", "codex")[2]
    (store.root / "memory.toml").unlink()
    code, out, err = run("model", "use", "codex", "--reflector", "gpt-9", "--free")
    assert (code, "No price" in out + err) == (0, False)
    free = {"input": 0.0, "output": 0.0}
    assert settings_in(store.root)["model_prices"] == {"codex": free, "gpt-9": free}
    assert "for $0.00" in run("model", "cost")[1]


def test_up_without_a_model_says_in_two_lines_what_is_gained_and_how(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    root = small_store().root

    def built(*_: object) -> Built:
        store = Store(read_settings(), root)
        return Built(store, "Transcripts", (), 0.1, {}, status_of(store))

    monkeypatch.setattr("memory_assets.memory.running.fill", built)
    hint = "Without a model, rules keep only what was plainly stated."
    *_, first, second = run("up", "--no-ui")[1].splitlines()
    assert (
        first.startswith(hint),
        second.startswith("`memory model` shows what this machine offers"),
    ) == (True, True)
    assert hint not in run("ingest")[1]
    monkeypatch.setenv("MEMORY_MODEL", "claude-haiku-4-5")
    assert hint not in run("up", "--no-ui")[1]
