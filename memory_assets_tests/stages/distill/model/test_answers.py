"""Raw answers are kept by everything that made them; cut answers and refusals are kept and are no hits."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_assets.errors import StoreError
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.stages.distill.model.answers import AnswerKey, AnswerStore, StoredAnswer

KEY = AnswerKey("content", "prompt", "scripted-1", "max_tokens=8000", "serialise/2")
ANSWER = ModelAnswer("<observations>ü</observations>", "scripted-1", 10, 20, raw={"id": "m1"})
KEPT = StoredAnswer(KEY, ANSWER, datetime(2026, 9, 1, tzinfo=UTC), ("mem_0123456789ab",))


def ended(reason: str) -> StoredAnswer:
    return replace(KEPT, answer=replace(ANSWER, stop_reason=reason))


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal"])
def test_a_cut_or_refused_answer_is_kept_and_is_no_hit(tmp_path: Path, reason: str):
    store = AnswerStore(tmp_path / "answers")
    store.write(ended(reason))
    assert store.read(KEY) is None
    assert store.read_any(KEY) == ended(reason)
    store.write(KEPT)
    assert store.read(KEY) == KEPT
    assert sorted(path.name for path in store.root.iterdir()) == sorted(
        [f"{KEY.name}.json", f"{KEY.name}.{reason}.json"]
    )


def test_what_was_said_of_the_same_messages_is_found_whatever_the_prompt_the_latest_first(
    tmp_path: Path,
):
    store = AnswerStore(tmp_path)
    later = replace(
        KEPT, key=replace(KEY, prompt_hash="other"), asked_at=KEPT.asked_at + timedelta(days=1)
    )
    elsewhere = replace(KEPT, key=replace(KEY, content="elsewhere"))
    cut = replace(ended("max_tokens"), key=replace(KEY, model="scripted-2"))
    for kept in (KEPT, later, elsewhere, cut):
        store.write(kept)
    assert store.about("content") == [later, KEPT]
    assert len(list(store.every())) == 4


def test_a_broken_file_is_named(tmp_path: Path):
    AnswerStore(tmp_path).write(KEPT)
    (tmp_path / f"{KEY.name}.json").write_text("{")
    with pytest.raises(StoreError, match=KEY.name):
        AnswerStore(tmp_path).read(KEY)


def test_a_missing_file_is_named():
    with pytest.raises(StoreError, match="nothing"):
        AnswerStore(Path("/nonexistent")).read_named("nothing")


def test_what_was_said_of_material_that_changed_is_found_under_what_it_is_now(tmp_path: Path):
    store = AnswerStore(tmp_path)
    cut = ended("max_tokens")
    store.write(KEPT)
    store.write(replace(cut, key=replace(KEY, parameters="max_tokens=1")))
    store.write(replace(KEPT, key=replace(KEY, content="another")))
    names = store.rekey("content", "masked")
    assert store.about("content") == [] and len(store.about("another")) == 1
    assert store.read(replace(KEY, content="masked")) == replace(
        KEPT, key=replace(KEY, content="masked")
    )
    assert names[KEPT.name] == replace(KEPT, key=replace(KEY, content="masked")).name
    assert len(names) == 2 and all(len(old) == len(new) for old, new in names.items())
    assert store.rekey("content", "masked") == {}
