"""Carrying out what was asked: times as people write them, decisions, and a desk that follows the present store."""

from datetime import UTC, datetime, timedelta

import pytest

from memory_assets.errors import QuestionError, ReviewError, StoreError, UnknownIdError
from memory_assets.interfaces.dispatcher import Desk, ask, moment_of
from memory_assets.memory import MemoryAgent
from memory_assets.store.settings import read_settings
from memory_assets_tests.conftest import NOW
from memory_assets_tests.small_store import FACT, PROPOSAL, index, small_store


def test_a_day_begins_in_the_owners_zone_and_ends_with_it():
    berlin = read_settings(timezone="Europe/Berlin")
    assert moment_of("2026-05-01", berlin) == datetime(2026, 4, 30, 22, tzinfo=UTC)
    assert moment_of("2026-05-01", berlin, is_end=True) == datetime(2026, 5, 1, 22, tzinfo=UTC)


def test_days_back_and_moments_are_understood():
    settings = read_settings()
    assert moment_of("30d", settings) == NOW - timedelta(days=30)
    assert moment_of("2026-05-01T09:30", settings, is_end=True) == datetime(2026, 5, 1, 9, 30, tzinfo=UTC)
    assert moment_of("2026-05-01T09:30+02:00", settings) == datetime(2026, 5, 1, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize("words", ["", "soon", "2026-13-01", "9999999999999999d", "²d", "2026-05-01\x00"])
def test_a_time_that_cannot_be_read_is_said_in_words(words: str):
    with pytest.raises(QuestionError, match="use a day"):
        moment_of(words, read_settings())


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
    with pytest.raises(QuestionError, match="No proposal is named"):
        ask(agent, "decide", {"decision": "approve", "proposals": []})
    with pytest.raises(ReviewError, match="reword one after the other"):
        ask(agent, "decide", {"decision": "edit", "proposals": [PROPOSAL, PROPOSAL], "text": "x"})
    with pytest.raises(UnknownIdError, match="There is no proposal p-9"):
        ask(agent, "decide", {"decision": "approve", "proposals": ["p-9"]})


def test_a_verb_that_nobody_knows_is_refused():
    with pytest.raises(QuestionError, match="nothing called 'sing'"):
        ask(MemoryAgent(), "sing", {})


def test_a_desk_opened_before_there_was_a_memory_finds_it_once_it_is_there():
    desk = Desk()
    desk.try_to_warm_up()
    with pytest.raises(StoreError, match="Run `memory up`"):
        desk.ask("review", {})
    small_store()
    assert [one.proposal_id for one in desk.ask("review", {}).data["pending"]] == [PROPOSAL]


def test_a_desk_that_cannot_warm_up_says_why_and_lives_on(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_TIMEZONE", "Atlantis")
    Desk().try_to_warm_up()
    assert "use a name such as Europe/Berlin" in capsys.readouterr().err
