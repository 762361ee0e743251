"""Consulting a model about a store: the same questions are counted and asked, within a budget, in batches where that is wanted."""

import base64
import json
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

from memory_assets.errors import ModelError, ModelSetupError
from memory_assets.schema.protocols import ModelRequest
from memory_assets.services.models import model_questions as consult
from memory_assets.services.models.model_questions import Consultant, Consultation
from memory_assets.stages.distill.model.established import established_id
from memory_assets.store.archive import Archive
from memory_assets.store.settings import Settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.factories import message
from memory_assets_tests.small_store import DAY, small_store, write
from memory_assets_tests.stages.distill.models import ScriptedModel

ANSWER = "* 🔴 [gate=allow confidence=0.9 category=rules-conventions] Use uv, never pip [memory id: mem_0f3a5c1e0000]"
TODAY = DAY.isoformat()


def consultation(store: Store, **how) -> Consultation:
    return Consultation(store, ScriptedModel.name, **how)


def with_settings(store: Store, **changes) -> Store:
    prices = {"model_prices": {"scripted": {"input": 10, "output": 10}}}
    return open_store(Settings(**store.settings.model_dump() | prices | changes))


def test_what_is_counted_is_what_is_asked():
    store = with_settings(small_store())
    (cost,) = consultation(store).costs([TODAY]).days
    assert (cost.day, cost.windows, cost.calls, cost.answered) == (DAY, 1, 1, 0)
    assert cost.usd == pytest.approx((cost.input_tokens + cost.output_tokens) * 10 / 1e6)
    assert cost.usd_in_batches == pytest.approx(cost.usd / 2)
    model = ScriptedModel(ANSWER)
    Consultant(consultation(store), model).ask([TODAY])
    (cost,) = consultation(store).costs([TODAY]).days
    assert (len(model.asked), cost.answered, cost.usd) == (1, 1, 0)


def test_rules_cost_nothing_and_say_so():
    with pytest.raises(ModelSetupError, match="memory model cost --model"):
        Consultation(small_store(), "rules").costs([TODAY])


@pytest.mark.parametrize(
    ("wish", "is_backfill", "fewest", "is_batch"),
    [
        ("auto", True, 1, True),
        ("auto", True, 2, False),
        ("auto", False, 1, False),
        ("always", False, 20, True),
        ("never", True, 1, False),
    ],
)
def test_what_can_wait_is_batched(
    wish: str, is_backfill: bool, fewest: int, is_batch: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(consult, "FEWEST_IN_A_BATCH", fewest)
    store = with_settings(small_store(), model_batches=wish)
    Consultant(consultation(store), ScriptedModel(ANSWER), backfill=is_backfill).ask([TODAY])
    assert consultation(store).rows(TODAY)["is_batch"].to_list() == [is_batch]


def test_the_pictures_of_a_message_are_read_from_the_archive(monkeypatch: pytest.MonkeyPatch):
    store, model = with_settings(small_store()), ScriptedModel(ANSWER)
    source = {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(b"png").decode(),
    }
    picture = {"type": "image", "source": source}
    line = json.dumps({"message": {"content": [picture]}}).encode()
    monkeypatch.setattr(Archive, "read", lambda self, *place: line)
    messages = store.tables.read("messages", [TODAY])
    image_count = pl.when(pl.col("ordinal") == 2).then(1).otherwise(0)
    rows = messages.with_columns(
        image_count=image_count, resource_id=pl.lit(store.archive.resources()["id"][0])
    ).to_dicts()
    write(store, "messages", TODAY, *rows)
    Consultant(consultation(store), model).ask([TODAY])
    (request,) = model.asked
    assert [image.data for image in request.images] == [b"png"]
    assert "[image 1]" in request.material


def test_two_processes_do_not_ask_at_once(tmp_path: Path):
    import filelock

    store = with_settings(small_store())
    held = []

    class Watching(ScriptedModel):
        def ask(self, request):
            other = filelock.FileLock(store.root / "answers" / "asking.lock")
            try:
                other.acquire(timeout=0)
            except filelock.Timeout:
                held.append(True)
            return super().ask(request)

    Consultant(consultation(store), Watching(ANSWER)).ask([TODAY])
    assert held == [True]


def test_a_later_part_of_a_session_is_shown_what_the_answers_about_earlier_days_established():
    store, tomorrow = with_settings(small_store()), DAY + timedelta(days=1)
    first = store.tables.read("windows").row(0, named=True)
    rows = [
        message("now pip is fine in the sandbox", 0, message_id="msg_later", window_id="f" * 64)
    ]
    later = {
        "window_id": "f" * 64,
        "day": tomorrow,
        "started_at": first["started_at"] + timedelta(days=1),
    }
    write(
        store,
        "windows",
        "all",
        first,
        {**first, **later, "message_ids": ["msg_later"], "lines": [0]},
    )
    write(store, "messages", tomorrow.isoformat(), *rows)
    model = ScriptedModel(ANSWER)
    Consultant(consultation(store), model).ask([TODAY])
    Consultant(consultation(store), model).ask([tomorrow.isoformat()])
    earlier, shown = (request.material for request in model.asked)
    fact = (
        f"[memory id: {established_id(first['window_id'], 'Use uv, never pip')}] Use uv, never pip"
    )
    assert (fact in earlier, fact in shown) == (False, True)


def test_a_project_that_may_not_be_sent_is_neither_counted_nor_asked_about_until_it_is_added():
    store, model = with_settings(small_store(), model_projects=["other"]), ScriptedModel(ANSWER)
    (cost,) = consultation(store).costs([TODAY]).days
    assert (cost.windows, cost.calls) == (0, 0)
    Consultant(consultation(store), model).ask([TODAY])
    assert model.asked == []
    store = with_settings(store, model_projects=["other", "x"])
    Consultant(consultation(store), model).ask([TODAY])
    assert len(model.asked) == 1


def test_memories_of_a_project_that_may_not_be_sent_are_not_shown_either():
    store, model = with_settings(small_store(), model_projects=["x"]), ScriptedModel(ANSWER)
    day_before = pl.col("event_at") - pl.duration(days=1)
    earlier = store.tables.read("memories").with_columns(
        event_at=day_before, person=pl.lit("x"), scope=pl.lit("person")
    )
    text = "No, use uv, never pip: an earlier rule."
    for project, is_shown in (("x", True), ("secret", False)):
        write(
            store,
            "memories",
            "all",
            *earlier.with_columns(text=pl.lit(text), project=pl.lit(project)).to_dicts(),
        )
        (status,) = consultation(store).statuses(TODAY)
        shown = Consultant(consultation(store), model)._earlier_memories(status.question)
        assert [one.text for one in shown] == ([text] if is_shown else [])


@pytest.mark.parametrize(
    ("name", "url"),
    [("claude-code:haiku", ""), ("codex", ""), ("scripted-1", "http://127.0.0.1:11434")],
)
def test_batches_are_chosen_only_for_the_vendors_server(name: str, url: str):
    store = with_settings(small_store(), model_url=url)
    assert not Consultation(store, name).can_batch
    assert Consultation(with_settings(store, model_url=""), "scripted-1").can_batch


def short_session(store: Store, name: str, text: str, minute: int, **about) -> None:
    """Adds a short session of today with one turn of its owner."""
    windows, messages = store.tables.read("windows"), store.tables.read("messages", [TODAY])
    own = {
        "window_id": f"{name:x<64}",
        "session_id": name,
        "message_ids": [f"msg_{name}"],
        "lines": [0],
        **about,
    }
    short = {**windows.row(0, named=True), "status": "short", "user_turn_count": 1, **own}
    said = message(text, 0, message_id=f"msg_{name}", window_id=own["window_id"], session_id=name)
    said["event_at"] += timedelta(minutes=minute)
    write(store, "windows", "all", *windows.to_dicts(), short)
    write(store, "messages", TODAY, *messages.to_dicts(), said)


def shared(*rules: str) -> str:
    """An answer about several short sessions."""
    numbered = enumerate(rules, 1)
    note = "[gate=allow confidence=0.9 category=rules-conventions]"
    return "\n".join(
        f'<session number="{n}">\n* 🔴 {note} {rule}\n</session>' for n, rule in numbered
    )


def test_only_a_new_short_session_is_asked_about():
    store = with_settings(small_store(), model_at_once=1)
    short_session(store, "a", "never force-push to main", 1)
    short_session(store, "b", "always run make lint before a push", 2)
    model = ScriptedModel(
        ANSWER, shared("Never force-push to main", "Always run make lint before a push")
    )
    Consultant(consultation(store), model).ask([TODAY])
    assert len(model.asked) == 2
    short_session(store, "c", "deploy with --canary, always", 3)
    model.answers = [shared("Always deploy with --canary")]
    Consultant(consultation(store), model).ask([TODAY])
    assert [text in model.asked[2].material for text in ("canary", "force-push", "make lint")] == [
        True,
        False,
        False,
    ]
    rows = (
        consultation(store)
        .rows(TODAY)
        .filter(pl.col("session_id") != "session-1")
        .sort("session_id")
    )
    assert (rows["session_id"].to_list(), rows["fact_count"].to_list()) == (
        ["a", "b", "c"],
        [1, 1, 1],
    )
    assert set(rows["state"]) == {"answered"}
    assert rows["cost_usd"].min() > 0


def test_answers_about_short_sessions_do_not_change_the_estimate_of_others():
    store = with_settings(small_store(), model_at_once=1)
    before = consultation(store).budget.output_tokens(1)
    short_session(store, "a", "never force-push to main", 1)

    class LongFails(ScriptedModel):
        def ask(self, request: ModelRequest):
            if "quoted session" not in request.material:
                raise ModelError("none")
            return super().ask(request)

    model = LongFails(shared("Never force-push to main"))
    Consultant(consultation(store), model).ask([TODAY])
    assert list(consultation(store).answers.every())
    assert consultation(store).budget.output_tokens(1) == before
