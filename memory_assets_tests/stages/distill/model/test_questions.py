"""What a model is asked about a window, and how each question stands by what is stored alone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory_assets.errors import SettingsError
from memory_assets.schema.protocols import ModelAnswer
from memory_assets.stages.distill.model.answers import AnswerStore, StoredAnswer
from memory_assets.stages.distill.model.questions import (
    MAX_TOKENS,
    WIDER_TOKENS,
    ObserverQuestion,
    next_attempt,
    plan_questions,
    prompt,
    status_of,
)
from memory_assets_tests.stages.distill.sessions import messages, said, window

ZONE = ZoneInfo("Europe/Berlin")
ROWS = said(
    ("owner", "install it"), ("assistant", "With pip."), ("owner", "no, use uv here, never pip")
)
NOW = datetime(2026, 9, 1, tzinfo=UTC)


def question(rows=ROWS, model: str = "scripted-1", zone: ZoneInfo = ZONE) -> ObserverQuestion:
    (found,) = plan_questions(window(rows), messages(rows), model, zone)
    return found


def keep(
    store: AnswerStore, asked: ObserverQuestion, stop: str = "end_turn", at: datetime = NOW
) -> StoredAnswer:
    kept = StoredAnswer(asked.key, ModelAnswer("- 🔴 a", asked.key.model, 10, 5, stop), at)
    store.write(kept)
    return kept


def test_the_material_is_quoted_and_the_prompt_is_ours():
    request = question().request()
    assert request.system == prompt()
    assert request.material.startswith("=== quoted transcript ")
    assert "[11:02] OWNER: no, use uv here" in request.material
    assert (request.max_tokens, request.images) == (MAX_TOKENS, ())


def test_a_prompt_of_the_owner_is_sent_instead_and_its_answers_are_kept_apart(tmp_path: Path):
    file = tmp_path / "observer.md"
    file.write_text("Write down what matters.")
    (own,) = plan_questions(window(ROWS), messages(ROWS), "scripted-1", ZONE, file)
    assert own.request().system == "Write down what matters."
    assert (own.key.content, own.key.prompt_hash != question().key.prompt_hash) == (
        question().key.content,
        True,
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "Cannot read"), (b"\xff\xfe\xff", "Cannot read"), (b" \n", "is empty")],
)
def test_a_prompt_that_says_nothing_is_an_error_that_names_the_setting(
    tmp_path: Path, content: bytes | None, says: str
):
    file = tmp_path / "observer.md"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError, match=f"{says}.*MEMORY_OBSERVER_PROMPT|prompt.*{says}"):
        prompt(file)


def test_the_key_follows_content_zone_and_model():
    other = said(
        ("owner", "install it"),
        ("assistant", "With pip."),
        ("owner", "no, use uv there, never pip"),
    )
    keys = {
        question().key,
        question(rows=other).key,
        question(model="scripted-2").key,
        question(zone=ZoneInfo("UTC")).key,
    }
    assert len(keys) == 4
    assert question().key == question().key


def test_a_question_is_open_until_its_answer_is_stored(tmp_path: Path):
    store, asked = AnswerStore(tmp_path), question()
    assert status_of(asked, store).state == "open"
    kept = keep(store, asked)
    standing = status_of(asked, store)
    assert (standing.state, standing.kept, standing.attempts) == ("answered", kept, (kept,))


def test_a_cut_answer_is_asked_for_once_more_with_more_room(tmp_path: Path):
    store, asked = AnswerStore(tmp_path), question()
    narrow = keep(store, asked, "max_tokens")
    standing = status_of(asked, store)
    assert standing.state == "open"
    again = next_attempt(standing)
    assert again.request().max_tokens == WIDER_TOKENS
    assert again.request().material.count("Use at most 8,000, for the most important facts.") == 1
    wide = keep(store, again, "max_tokens")
    standing = status_of(asked, store)
    assert (standing.state, standing.kept, standing.attempts) == ("cut", wide, (narrow, wide))
    whole = keep(store, again)
    assert status_of(asked, store).kept == whole


def test_an_answer_to_another_prompt_counts_only_where_any_will_do(tmp_path: Path):
    store, asked = AnswerStore(tmp_path), question()
    old = keep(store, replace(asked, key=replace(asked.key, prompt_hash="old")))
    newer = keep(
        store,
        replace(asked, key=replace(asked.key, prompt_hash="newer")),
        at=NOW + timedelta(days=1),
    )
    assert status_of(asked, store).state == "open"
    assert status_of(asked, store, any_prompt=True).kept == newer != old
