"""A decision stays decided when its line cannot be written at once, and an undo that fails can be repeated."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from memory_assets.errors import ReviewError, StoreBusyError
from memory_assets.interfaces.page.actions import decide, undo
from memory_assets.interfaces.page.entrance import Visit
from memory_assets.schema.records import MEMORY_MD


@dataclass
class BusyAgent:
    """The facade of a store that another process writes."""

    decided: list[str] = field(default_factory=list)

    def last_commit(self) -> None:
        return None

    def approve(self, proposal: str, *, reason: str, triage: bool) -> None:
        self.decided.append(proposal)

    def proposals(self, *proposal_ids: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(text="Use uv.")]

    def pending(self) -> list[SimpleNamespace]:
        ids = ("p-20260803-000", "p-20260803-001", "p-20260803-002")
        return [SimpleNamespace(proposal_id=id, path=MEMORY_MD) for id in ids]

    def write_decided(self) -> None:
        raise StoreBusyError("Another process writes.")

    def take_back(self, proposal: str) -> None:
        raise StoreBusyError("Another process writes.")


def test_a_decision_of_a_busy_store_is_made_and_can_be_undone(visit: Visit):
    agent = BusyAgent()
    form = {"proposal": "p-20260803-001", "decision": "approve", "shown": "Use uv."}
    assert decide(agent, visit, form) == "review#p-20260803-002"  # type: ignore[arg-type]
    assert agent.decided == visit.decided == ["p-20260803-001"]
    assert visit.notice == (
        "Approved p-20260803-001. Its line is not written yet: Another process writes."
    )
    with pytest.raises(StoreBusyError):
        undo(agent, visit, {})  # type: ignore[arg-type]
    assert visit.decided == ["p-20260803-001"]


def test_a_wording_that_changed_since_it_was_shown_is_not_approved(visit: Visit):
    agent = BusyAgent()
    form = {"proposal": "p-20260803-001", "decision": "approve", "shown": "Use pip."}
    with pytest.raises(ReviewError, match="has another wording by now"):
        decide(agent, visit, form)  # type: ignore[arg-type]
    assert agent.decided == visit.decided == []


@pytest.fixture
def visit() -> Visit:
    return Visit()
