"""Facts rest on messages of their window, quote them, have the gate's verdict, and rules come from the owner."""

from datetime import timedelta

import pytest

from memory_assets.stages.distill.model import short_sessions
from memory_assets.store.settings import read_settings
from memory_assets.store.store import Store, open_store
from memory_assets_tests.assets.checks.outcomes import failing, passes
from memory_assets_tests.dagster_runs import run_check
from memory_assets_tests.factories import row
from memory_assets_tests.small_store import DAY, IDS, WINDOW, small_store, write

ON = DAY.isoformat()
FACT = {
    "id": "fact", "window_id": WINDOW, "kind": "fact", "gate": "allow", "quote": "use uv,  never pip", "message_ids": [IDS[2]],
    "category": "rules-conventions", "author": "owner",
}  # fmt: skip


@pytest.fixture
def store() -> Store:
    store = small_store()
    observed(store)
    write(
        store,
        "verdicts",
        ON,
        row("verdicts", candidate_id="fact", window_id=WINDOW, verdict="allow"),
    )
    return store


def observed(store: Store, **changes: object) -> None:
    write(store, "observations", ON, row("observations", **FACT | changes))


def failing_rules(store: Store) -> list[str]:
    names = ("provenance", "quotes_stand_in_their_source", "only_the_owner_makes_rules")
    return [name for name in names if not passes(store, "observations", name, [ON])]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"message_ids": ["elsewhere", IDS[2]]}, "provenance"),
        ({"quote": "never npm"}, "quotes_stand_in_their_source"),
        ({"author": "assistant"}, "only_the_owner_makes_rules"),
    ],
)
def test_a_fact_without_its_evidence_fails(store: Store, changes: dict, name: str):
    observed(store, **changes)
    assert failing_rules(store) == [name]


def test_an_allowed_fact_without_evidence_is_named_by_its_id_and_its_text_is_not_shown(
    store: Store,
):
    observed(store, message_ids=[], text="Use uv, never npm.")
    found = run_check(store, "observations", "evidence_of_allowed_facts")
    shown = str(found.metadata["examples"].value)
    assert not found.passed and FACT["id"] in shown and "never npm" not in shown


@pytest.mark.parametrize("ids", [IDS[:4], [*IDS, "elsewhere"], [*IDS, IDS[0]]])
def test_segments_hold_every_message_once(store: Store, ids: list[str]):
    write(
        store, "segments", ON, row("segments", segment_id="seg", window_id=WINDOW, message_ids=ids)
    )
    assert failing(store, "segments", [ON]) == ["coverage"]


def test_a_trigger_or_lesson_needs_its_message(store: Store):
    dated = {"trigger_id": "t", "trigger_on": DAY + timedelta(days=1), "message_id": IDS[0]}
    write(store, "triggers", ON, row("triggers", **dated))
    write(store, "lessons", ON, row("lessons", lesson_id="l", message_id=IDS[0]))
    assert failing(store, "triggers") == failing(store, "lessons") == []
    write(
        store,
        "triggers",
        ON,
        row("triggers", **dated | {"message_id": "gone", "trigger_on": DAY - timedelta(days=1)}),
    )
    write(store, "lessons", ON, row("lessons", lesson_id="l", message_id="gone"))
    assert failing(store, "triggers") == ["messages_exist", "not_before_the_message"]
    assert failing(store, "lessons") == ["messages_exist"]


def test_a_cut_answer_warns_and_without_a_model_no_window_waits_for_one(store: Store):
    write(
        store, "observer_answers", ON, row("observer_answers", window_id=WINDOW, state="answered")
    )
    assert failing(store, "observer_answers") == []
    write(store, "observer_answers", ON, row("observer_answers", window_id=WINDOW, state="cut"))
    assert failing(store, "observer_answers") == ["every_call_was_answered"]


@pytest.mark.parametrize(("turns", "found"), [(1, ["of_the_present_prompt"]), (0, [])])
def test_a_short_session_with_a_turn_is_asked_about(
    turns: int, found: list, store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_MODEL", "claude-haiku-4-5")
    window = store.tables.read("windows").row(0, named=True)
    write(store, "windows", "all", {**window, "status": "short", "user_turn_count": turns})
    asked = open_store(read_settings())
    assert failing(asked, "observer_answers", [ON]) == found
    own = {"window_id": WINDOW, "model": "claude-haiku-4-5", "state": "answered"}
    write(
        store,
        "observer_answers",
        ON,
        row("observer_answers", **own, prompt_hash=short_sessions.prompt_hash()),
    )
    assert failing(asked, "observer_answers", [ON]) == []
