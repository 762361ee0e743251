"""Carrying out what was asked: filters, decisions, and a dispatcher that follows the present store."""

import pytest

from memory_assets.errors import QuestionError, StoreError, UnknownIdError
from memory_assets.interfaces import dispatcher
from memory_assets.interfaces.verbs import DECIDE, RECALL, REVIEW
from memory_assets_tests.small_store import FACT, PROPOSAL, index, small_store


def test_filters_leave_out_what_does_not_fit():
    store = small_store()
    index(store)
    question = {"question": "how do we install packages", "profile": "lean", "probe": True}

    def found(**filters: object) -> list[str]:
        return [result.text for result in dispatcher.ask(RECALL, {**question, **filters}).results]

    assert found(category="rules-conventions") == [FACT]
    assert found(category="rules-conventions", since="2026-08-01", until="2026-08-03") == [FACT]
    assert FACT not in found(category="people-relationships")
    assert FACT not in found(until="2026-08-02")
    assert FACT not in found(session="another")


def test_a_decision_needs_a_proposal_and_one_wording_fits_one():
    small_store()
    with pytest.raises(QuestionError, match="proposals must name at least one"):
        dispatcher.ask(DECIDE, {"decision": "approve", "proposals": []})
    with pytest.raises(QuestionError, match="edit changes one proposal, not 2"):
        dispatcher.ask(DECIDE, {"decision": "edit", "proposals": [PROPOSAL, PROPOSAL], "text": "x"})
    with pytest.raises(UnknownIdError, match="There is no proposal p-9"):
        dispatcher.ask(DECIDE, {"decision": "approve", "proposals": ["p-9"]})


def test_a_server_started_before_there_was_a_memory_finds_it_once_it_is_there():
    dispatcher.try_to_warm_up()
    with pytest.raises(StoreError, match="Run `memory up`"):
        dispatcher.ask(REVIEW, {})
    small_store()
    assert [one.proposal_id for one in dispatcher.ask(REVIEW, {}).pending] == [PROPOSAL]


def test_a_server_that_cannot_warm_up_says_why_and_lives_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_TIMEZONE", "Atlantis")
    dispatcher.try_to_warm_up()
    assert "use a name such as Europe/Berlin" in capsys.readouterr().err
