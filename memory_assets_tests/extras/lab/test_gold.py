"""The observations of a store against labelled sessions: what was found, what is missing, and where a label stopped."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memory_assets.errors import LabelsError
from memory_assets.extras.lab.gold import Evaluation, Shown, evaluate
from memory_assets.interfaces.cli import app as cli
from memory_assets.store.store import Store
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import DAY, FACT, MEMORY, WINDOW, small_store, write

LABEL = {
    "id": "F1",
    "text": FACT,
    "kind": "rule",
    "priority": "high",
    "said_by": "owner",
    "evidence": [3],
}
PORT = {
    "id": "F2",
    "text": "The staging database listens on port 5433.",
    "priority": "low",
    "evidence": [5],
}


@pytest.fixture
def store() -> Store:
    return small_store()


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return labelled(tmp_path, LABEL)


def labelled(
    tmp_path: Path, *facts: Mapping[str, Any], session: str = "session-1", noise: Any = ()
) -> Path:
    folder = tmp_path / "labels"
    folder.mkdir(exist_ok=True)
    content = {"session": session, "facts": facts, "noise": noise}
    (folder / f"{session}.json").write_text(json.dumps(content), "utf-8")
    return folder


def observe(store: Store, *rows: Mapping[str, Any]) -> None:
    plain = {
        "session_id": "session-1",
        "window_id": WINDOW,
        "kind": "fact",
        "day": DAY,
        "gate": "allow",
    }
    write(
        store,
        "observations",
        DAY.isoformat(),
        *(row("observations", **{**plain, **each}) for each in rows),
    )


def finding(found: Evaluation) -> tuple[str, str]:
    (one,) = found.shown
    return one.what, one.why


def test_a_store_that_says_every_label_recalls_all(store: Store, labels: Path):
    found = evaluate(store.tables, labels)
    counts = found.score.counts
    assert (counts.recall, counts.recall_owner_rules, counts.precision, counts.noise) == (
        1.0,
        1.0,
        1.0,
        0.0,
    )
    assert (found.observers, found.missing, found.failed) == (("x",), (), ())


def test_sessions_that_the_store_does_not_hold_are_listed_and_left_out(
    store: Store, tmp_path: Path
):
    labelled(tmp_path, PORT, session="elsewhere")
    found = evaluate(store.tables, labelled(tmp_path, LABEL))
    assert found.missing == ("elsewhere",)
    assert found.score.counts.recall == 1.0


def test_labels_of_a_session_with_the_day_in_front_of_its_id_count(store: Store, tmp_path: Path):
    others = tmp_path / "others.jsonl"
    others.write_text(
        json.dumps({"session": "2026-08-01-session-1", "text": FACT, "lines": [3]}), "utf-8"
    )
    found = evaluate(
        store.tables, labelled(tmp_path, LABEL, session="2026-08-01-session-1"), against=others
    )
    assert (found.missing, found.score.counts.recall) == ((), 1.0)
    assert found.against is not None
    assert found.against.counts.recall == 1.0


def test_with_no_session_in_the_store_the_way_out_is_told(store: Store, tmp_path: Path):
    with pytest.raises(
        LabelsError,
        match="None of the 1 labelled sessions in .* Name the folder of their transcripts",
    ):
        evaluate(store.tables, labelled(tmp_path, PORT, session="elsewhere"))


@pytest.mark.parametrize(
    ("observed", "why"),
    [
        (
            {
                "id": "o1",
                "text": PORT["text"],
                "lines": [5],
                "gate": "hold",
                "gate_reason": "a passing state",
            },
            "held as o1 (a passing",
        ),
        ({"id": "o1", "text": PORT["text"], "lines": [99]}, "o1 says it, from other records"),
        (
            {"id": "o1", "text": "The database of staging is slow.", "lines": [6]},
            "nearest is o1 (allow, 0.36 alike)",
        ),
        (
            {"id": "o1", "text": "Use uv.", "lines": [99]},
            "no observation within 3 records of its evidence",
        ),
    ],
)
def test_a_missed_label_is_told_with_where_it_stopped(
    store: Store, tmp_path: Path, observed: Mapping[str, Any], why: str
):
    observe(store, observed)
    folder = labelled(
        tmp_path,
        {**PORT, "text": "Port 5433 serves staging: its database listens there, behind a tunnel."},
    )
    what, told = finding(evaluate(store.tables, folder, show="misses"))
    assert what == "F2"
    assert told.startswith("low fact of the assistant: ")
    assert why in told


@pytest.mark.parametrize(("show", "told"), [("wrong", ["o2", "o3"]), ("noise", ["o3"])])
def test_facts_that_are_wrong_or_noise_are_told(
    store: Store, tmp_path: Path, show: Shown, told: list[str]
):
    noise = [{"text": "Publish the demo video on Monday?", "evidence": [4], "why": "question"}]
    observe(
        store,
        {"id": "o1", "text": FACT, "lines": [3]},
        {"id": "o2", "text": "The moon is full.", "lines": [4]},
        {"id": "o3", "text": "Publish the demo video on Monday.", "lines": [4]},
    )
    found = evaluate(store.tables, labelled(tmp_path, LABEL, noise=noise), show=show)
    assert [one.what for one in found.shown] == told
    assert found.shown[-1].why == "noise: question"


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"session": "s"}', '{"session": "s", "text": "t", "lines": ["x"]}']
)
def test_a_line_that_is_no_fact_is_named(store: Store, labels: Path, tmp_path: Path, line: str):
    others = tmp_path / "others.jsonl"
    others.write_text(f"\n{line}\n", "utf-8")
    with pytest.raises(LabelsError, match=r"others\.jsonl, line 2, as a fact"):
        evaluate(store.tables, labels, against=others)


def test_what_falls_short_is_named(store: Store, tmp_path: Path):
    found = evaluate(store.tables, labelled(tmp_path, PORT))
    assert found.failed == ("recall", "recall_owner_rules", "precision")


def test_the_command_prints_figures_and_lists_what_was_missed(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = labelled(tmp_path, LABEL, PORT)
    labelled(tmp_path, PORT, session="elsewhere")
    assert cli.main(["lab", "eval", str(folder), "--show", "misses"]) == 0
    out, err = capsys.readouterr()
    assert "recall, by priority    0.750" in out
    assert f"F2  {PORT['text']}\n   records 5; low fact of the assistant: " in out
    assert "Session elsewhere is not in this store and is not counted." in err


def test_without_a_folder_the_setting_is_taken_and_without_both_the_way_is_told(
    store: Store, labels: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    assert cli.main(["lab", "eval"]) == 1
    assert "set MEMORY_GOLD" in capsys.readouterr().err
    monkeypatch.setenv("MEMORY_GOLD", str(labels))
    assert cli.main(["lab", "eval", "--json"]) == 0
    assert MEMORY not in capsys.readouterr().out
