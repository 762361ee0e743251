"""Carrying out what was asked: filters, decisions, and a dispatcher that follows the present store."""

import pytest

from memory_assets.errors import QuestionError, UnknownIdError
from memory_assets.interfaces import dispatcher
from memory_assets.interfaces.verbs import DECIDE
from memory_assets_tests.small_store import PROPOSAL, small_store


def test_a_decision_needs_a_proposal_and_one_wording_fits_one():
    small_store()
    with pytest.raises(QuestionError, match="proposals must name at least one"):
        dispatcher.ask(DECIDE, {"decision": "approve", "proposals": []})
    with pytest.raises(QuestionError, match="edit changes one proposal, not 2"):
        dispatcher.ask(DECIDE, {"decision": "edit", "proposals": [PROPOSAL, PROPOSAL], "text": "x"})
    with pytest.raises(UnknownIdError, match="There is no proposal p-9"):
        dispatcher.ask(DECIDE, {"decision": "approve", "proposals": ["p-9"]})


def test_a_server_that_cannot_warm_up_says_why_and_runs_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_TIMEZONE", "Atlantis")
    dispatcher.try_to_warm_up()
    assert "use a name such as Europe/Berlin" in capsys.readouterr().err
