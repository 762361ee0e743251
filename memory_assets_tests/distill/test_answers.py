"""Raw answers are kept by everything that made them; cut answers and refusals are kept and are no hits."""

from dataclasses import replace
from pathlib import Path

import pytest

from memory_assets.distill.answers import AnswerKey, AnswerStore
from memory_assets.errors import StoreError
from memory_assets.protocols import ModelAnswer

KEY = AnswerKey("content", "prompt", "scripted-1", "serialise/1")
ANSWER = ModelAnswer("<observations>ü</observations>", "scripted-1", 10, 20, raw={"id": "m1"})


def test_an_answer_comes_back_as_it_was(tmp_path: Path):
    store = AnswerStore(tmp_path / "answers")
    assert store.read(KEY) is None
    store.write(KEY, ANSWER)
    assert store.read(KEY) == ANSWER


@pytest.mark.parametrize("field", ["content", "prompt_hash", "model", "serialiser"])
def test_another_question_has_another_answer(tmp_path: Path, field: str):
    store = AnswerStore(tmp_path)
    store.write(KEY, ANSWER)
    assert store.read(replace(KEY, **{field: "other"})) is None


@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
def test_a_cut_answer_is_kept_and_is_no_hit(tmp_path: Path, reason: str):
    store = AnswerStore(tmp_path / "answers")
    store.write(KEY, replace(ANSWER, stop_reason=reason))
    assert store.read(KEY) is None
    store.write(KEY, ANSWER)
    assert store.read(KEY) == ANSWER
    assert sorted(path.name for path in store.root.iterdir()) == sorted([f"{KEY.name}.json", f"{KEY.name}.{reason}.json"])


def test_a_broken_file_is_named(tmp_path: Path):
    AnswerStore(tmp_path).write(KEY, ANSWER)
    (tmp_path / f"{KEY.name}.json").write_text("{")
    with pytest.raises(StoreError, match=KEY.name):
        AnswerStore(tmp_path).read(KEY)
