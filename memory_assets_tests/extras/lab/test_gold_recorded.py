"""Facts to compare with: lines of any extractor, or raw answers read against the session that they are about."""

import json
from pathlib import Path

import pytest

from memory_assets.errors import LabelsError
from memory_assets.extras.lab.gold import read_against
from memory_assets.store.store import Store
from memory_assets_tests.small_store import small_store

ANSWER = """<observations><segment><narrative>They settled on uv for packages.</narrative><facts>
- 🔴 [gate=allow confidence=0.9 category=rules-conventions] The owner said to use uv, never pip.
- 🟡 [gate=allow confidence=0.9 category=operations] The moon base runs on solar power at night.
</facts></segment></observations>"""


@pytest.fixture
def store() -> Store:
    return small_store()


def folder(tmp_path: Path, **answers: str) -> Path:
    found = tmp_path / "answers"
    found.mkdir()
    for name, text in answers.items():
        (found / f"{name.replace('_', '-')}.answer.xml").write_text(text, "utf-8")
    return found


@pytest.mark.parametrize("name", ["session_1", "2026_08_01_session_1"])
def test_an_answer_goes_through_parser_grounding_and_gate(store: Store, tmp_path: Path, name: str):
    found = read_against(folder(tmp_path, **{name: ANSWER}), store.tables, ["session-1"])
    facts = [
        (fact.session, fact.gate, fact.lines) for fact in found if "uv, never pip" in fact.text
    ]
    assert facts == [("session-1", "allow", (3,))]
    assert [fact.gate for fact in found if "moon" in fact.text] == ["hold"]


def test_only_answers_about_the_sessions_are_read(store: Store, tmp_path: Path):
    with pytest.raises(LabelsError, match="no answer about any of the 1 labelled sessions"):
        read_against(folder(tmp_path, session_2=ANSWER), store.tables, ["session-1"])


def test_lines_are_facts_as_they_stand(store: Store, tmp_path: Path):
    path = tmp_path / "facts.jsonl"
    path.write_text(
        "\n"
        + json.dumps({"session": "s", "text": "t", "lines": [1], "gate": "hold", "more": 1})
        + "\n",
        "utf-8",
    )
    (fact,) = read_against(path, store.tables, ["session-1"])
    assert (fact.session, fact.text, fact.lines, fact.gate) == ("s", "t", (1,), "hold")


def test_a_file_that_is_not_there_is_named(store: Store, tmp_path: Path):
    with pytest.raises(LabelsError, match=r"Cannot read .*missing\.jsonl"):
        read_against(tmp_path / "missing.jsonl", store.tables, ["session-1"])
