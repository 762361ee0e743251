"""Labelled sessions: read as described in docs/operating.md; a file that cannot be used is named with the place in it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memory_assets.errors import LabelsError
from memory_assets.extras.lab.labels import hash_of_labels, read_labels
from memory_assets_tests.conftest import REPOSITORY

FACT = {"text": "Use uv, never pip.", "priority": "high", "evidence": [3]}


def folder(tmp_path: Path, **files: Any) -> Path:
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / f"{name}.json").write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"session": "s1",\n "facts": [}', "line 2, column 12 is not JSON"),
        ({"facts": []}, "session: Field required"),
        (
            {"session": "s1", "facts": [FACT, {**FACT, "priority": "urgent"}]},
            "facts.1.priority: Input should be 'high'",
        ),
        (
            {"session": "s1", "facts": [{**FACT, "evidence": [-1]}]},
            "facts.0.evidence.0: Input should be greater",
        ),
        (
            {"session": "s1", "facts": [{**FACT, "evidence": []}]},
            "facts.0.evidence: Tuple should have at least 1 item",
        ),
        ([], "the whole file: Input should be a valid dictionary"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_place_and_the_remedy(
    tmp_path: Path, content: Any, told: str
):
    with pytest.raises(LabelsError) as caught:
        read_labels(folder(tmp_path, wrong=content))
    assert str(tmp_path / "wrong.json") in str(caught.value)
    assert told in str(caught.value)
    assert "memory docs operating" in str(caught.value)


def test_bytes_that_are_no_text_are_told_by_their_place(tmp_path: Path):
    (tmp_path / "wrong.json").write_bytes(b'{"session": "\xff"}')
    with pytest.raises(LabelsError, match="byte 13 is not UTF-8"):
        read_labels(tmp_path)


def test_an_error_never_repeats_what_was_labelled(tmp_path: Path):
    secret = {**FACT, "priority": "the landlord's number"}
    with pytest.raises(LabelsError) as caught:
        read_labels(folder(tmp_path, wrong={"session": "s1", "facts": [secret]}))
    assert "landlord" not in str(caught.value)


@pytest.mark.parametrize("again", ["s1", "2026-04-12-s1"])
def test_a_session_that_is_labelled_twice_is_refused(tmp_path: Path, again: str):
    with pytest.raises(
        LabelsError, match=rf"b\.json: session {again} is labelled in a\.json already"
    ):
        read_labels(
            folder(
                tmp_path,
                a={"session": "s1", "facts": [FACT]},
                b={"session": again, "facts": [FACT]},
            )
        )


@pytest.mark.parametrize(("name", "told"), [("empty", "holds no"), ("missing", "is no folder")])
def test_a_folder_without_labels_is_told_apart_from_none(tmp_path: Path, name: str, told: str):
    (tmp_path / "empty").mkdir()
    with pytest.raises(LabelsError, match=told):
        read_labels(tmp_path / name)


def test_changed_labels_have_another_hash(tmp_path: Path):
    before = hash_of_labels(folder(tmp_path, a={"session": "s1", "facts": [FACT]}))
    assert hash_of_labels(tmp_path) == before
    assert hash_of_labels(folder(tmp_path, a={"session": "s1", "facts": []})) != before


def test_the_example_in_the_docs_can_be_read(tmp_path: Path):
    text = (REPOSITORY / "docs" / "operating.md").read_text("utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", text, re.S)
    (labels,) = read_labels(folder(tmp_path, a=json.loads(example)))
    assert [fact.priority for fact in labels.facts] == ["high"]
