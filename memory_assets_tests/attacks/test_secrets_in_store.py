"""The rules of secrets on their way into the store.

A token in the name of a folder, a branch or a file stops nothing and is in no file of the store. A row that still holds a secret is
put aside before it is written, with a warning that names the row and the rule and never the value. The check names them too
and does not stop what follows.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from memory_assets.assets.checks import common
from memory_assets.assets.checks.common import no_secrets_check
from memory_assets.runs import materialise
from memory_assets.schema.tables import TABLES
from memory_assets.stages.capture.discover import find_transcripts
from memory_assets.stages.capture.intake import changed_files
from memory_assets.stages.recall.results import one_line
from memory_assets.store.settings import read_settings
from memory_assets.store.store import open_store
from memory_assets.text.visible import INVISIBLE
from memory_assets_tests.conftest import NOW
from memory_assets_tests.stages.capture.pipeline import capture
from memory_assets_tests.stages.capture.sessions import at

TOKEN = "ghp_R4nd0mLettersAndD1g1tsThatNobodyHas7"


def lay_out(folder: Path) -> Path:
    """Writes a session in a folder that is named after a token, on a branch and with a file of that name."""
    about = {"sessionId": "s1", "version": "2.0.1", "gitBranch": f"fix/{TOKEN}"}
    about["cwd"] = f"/home/mira/{TOKEN}"
    given = {"file_path": f"/home/mira/{TOKEN}/a.py"}
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": given}
    said = (("user", "Read a.py"), ("assistant", [call]))
    records = [
        {"type": role, "uuid": f"{role}1", "message": {"role": role, "content": content}, **about}
        for role, content in said
    ]
    for minute, record in enumerate(records):
        record["timestamp"] = at(minute)
    path = folder / "claude" / "projects" / f"-home-mira-{TOKEN}" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def test_a_token_in_the_name_of_a_folder_is_in_no_file_of_the_store_and_stops_nothing(
    tmp_path: Path,
) -> None:
    store = open_store(read_settings(data=tmp_path / "store", timezone="UTC", now=NOW))
    sources = lay_out(tmp_path / "sources")
    capture(store, sources)
    assert store.archive.resources().height == 1
    assert store.tables.read("records").height == 2
    assert changed_files(find_transcripts([sources]), store.archive) == []
    files = [path for path in store.root.rglob("*") if path.is_file()]
    assert [path for path in files if TOKEN.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("is_ascii", [True, False])
def test_a_token_with_invisible_letters_is_whole_in_no_table_no_answer_and_not_in_the_archive(
    tmp_path: Path, is_ascii: bool
) -> None:
    letters = (
        "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u2060\u2066\ufe0f\ufeff\U000e0041\U000e0100"
    )
    texts = [
        f"The key of {number} is {TOKEN[:9]}{letter}{TOKEN[9:]}, keep it."
        for number, letter in enumerate(letters)
    ]
    about = {"sessionId": "s1", "cwd": "/home/mira", "version": "2.0.1"}
    records = []
    for number, text in enumerate(texts):
        message = {"role": "user", "content": text}
        when = {"uuid": f"u{number}", "timestamp": at(number)}
        records.append({"type": "user", "message": message, **when, **about})
    path = tmp_path / "sources" / "claude" / "projects" / "-home-mira" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(record, ensure_ascii=is_ascii) + "\n" for record in records))
    store = open_store(read_settings(data=tmp_path / "store", timezone="UTC", now=NOW))
    capture(store, tmp_path / "sources")
    (resource,) = store.archive.resources().iter_rows(named=True)
    archived = store.archive.read(
        resource["source_id"], resource["generation"], 0, path.stat().st_size
    )
    stored = store.tables.read("messages")["text"].to_list()
    assert len(archived) == path.stat().st_size and len(stored) == len(letters)
    said = [json.loads(line)["message"]["content"] for line in archived.splitlines()]
    shown = [
        text.translate(dict.fromkeys(INVISIBLE, ""))
        for text in (*said, *stored, *map(one_line, stored))
    ]
    assert all("keep it." in text for text in shown)
    assert [text for text in shown if TOKEN[9:] in text] == []


def test_a_row_that_keeps_its_secret_is_put_aside_and_named_with_the_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        materialise.redact,
        "mask_frame",
        lambda frame: frame.with_columns(text=pl.col("text") + " "),
    )
    frame = pl.DataFrame({"message_id": ["m1", "m2"], "text": ["fine", f"use {TOKEN}"]})
    report = materialise.Report()
    kept = materialise._without_secrets(TABLES["messages"], report, frame)
    assert kept["message_id"].to_list() == ["m1"]
    (warning,) = report.warnings
    assert "m2" in warning and "text: tokens" in warning and TOKEN not in warning


def test_the_check_names_row_and_rule_but_no_value_and_blocks_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(common.schemas, "key_of", lambda _: ["message_id"])
    monkeypatch.setattr(common, "text_columns", lambda _: ["message_id", "text"])
    texts = ["fine", "the password is Xk9#mQ2v!Lp7", "fine"]
    frame = pl.DataFrame({"message_id": ["m1", "m2", TOKEN], "text": texts})
    store = SimpleNamespace(tables=SimpleNamespace(read=lambda *_, **__: frame))
    check = no_secrets_check("messages")
    result = check.run(store, None)  # pyright: ignore[reportArgumentType]
    shown = str(result.metadata["examples"].value)
    assert (result.passed, check.spec.blocking) == (False, False)
    assert "m2" in shown and "text: " in shown and "tokens" in shown
    assert TOKEN not in shown and "Xk9#mQ2v!Lp7" not in shown
