"""Carrying out what was asked: filters, decisions, and a dispatcher that follows the present store."""

import pytest

from memory_assets.errors import QuestionError, StoreError, UnknownIdError
from memory_assets.interfaces.dispatcher import Dispatcher, ask
from memory_assets.memory import MemoryAgent
from memory_assets_tests.small_store import FACT, PROPOSAL, index, small_store


def test_filters_leave_out_what_does_not_fit():
    store = small_store()
    index(store)
    agent, question = MemoryAgent(), {"question": "how do we install packages", "profile": "lean", "probe": True}

    def found(**filters: object) -> list[str]:
        return [result.text for result in ask(agent, "recall", {**question, **filters}).data.results]

    assert found(category="rules-conventions") == [FACT]
    assert found(category="rules-conventions", since="2026-08-01", until="2026-08-03") == [FACT]
    assert FACT not in found(category="people-relationships")
    assert FACT not in found(until="2026-08-02")
    assert FACT not in found(session="another")


def test_a_decision_needs_a_proposal_and_one_wording_fits_one():
    small_store()
    agent = MemoryAgent()
    with pytest.raises(QuestionError, match="proposals must name at least one"):
        ask(agent, "decide", {"decision": "approve", "proposals": []})
    with pytest.raises(QuestionError, match="edit changes one proposal, not 2"):
        ask(agent, "decide", {"decision": "edit", "proposals": [PROPOSAL, PROPOSAL], "text": "x"})
    with pytest.raises(UnknownIdError, match="There is no proposal p-9"):
        ask(agent, "decide", {"decision": "approve", "proposals": ["p-9"]})


def test_a_verb_that_nobody_knows_is_refused():
    with pytest.raises(QuestionError, match="There is no verb 'sing'; choose from recall, "):
        ask(MemoryAgent(), "sing", {})


def test_a_dispatcher_made_before_there_was_a_memory_finds_it_once_it_is_there():
    dispatcher = Dispatcher()
    dispatcher.try_to_warm_up()
    with pytest.raises(StoreError, match="Run `memory up`"):
        dispatcher.ask("review", {})
    small_store()
    assert [one.proposal_id for one in dispatcher.ask("review", {}).data.pending] == [PROPOSAL]


def test_a_dispatcher_that_cannot_warm_up_says_why_and_lives_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_TIMEZONE", "Atlantis")
    Dispatcher().try_to_warm_up()
    assert "use a name such as Europe/Berlin" in capsys.readouterr().err
