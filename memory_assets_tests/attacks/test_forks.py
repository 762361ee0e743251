"""A fork changes nothing that was decided: neither ids, nor numbers, nor what a person refused."""

from pathlib import Path

import pytest

from memory_assets_tests.once import TEST_ALL
from memory_assets_tests.stages.capture.sessions import assistant, dialogue, lines, transcript, user
from memory_assets_tests.story import open_at, run

ORDER = "I prefer British dates over American ones in all our reports."


def parent() -> list[dict]:
    """A session with a preference, which is worth a proposal."""
    return [
        user("m", 0, ORDER, 0),
        assistant("m", 1, "Understood.", 0.5),
        *dialogue("m", 5, first=2, minutes=1),
    ]


def fork_of(records: list[dict], name: str) -> list[dict]:
    """What Claude Code writes of a fork that is continued 40 minutes later."""
    return [
        *({**record, "sessionId": name} for record in records),
        *dialogue(name, 5, first=40, minutes=40),
    ]


def decided(data: Path, sources: Path) -> list[tuple[str, str, str]]:
    """Number, state and text of each proposal."""
    return (
        open_at(data, sources)
        .tables.read("decisions")
        .select("proposal_id", "state", "text")
        .sort("proposal_id")
        .rows()
    )


def observed(data: Path, sources: Path) -> set[str]:
    """The ids of the facts in the session."""
    rows = open_at(data, sources).tables.read("observations", columns=["id", "text"])
    return set(rows.filter(rows["text"].str.contains("British dates"))["id"])


@pytest.mark.slow
@pytest.mark.skipif(
    not TEST_ALL, reason="three whole runs; the tests of windows and of proposals hold its parts"
)
def test_what_a_person_refused_stays_refused_under_its_number_when_the_session_is_forked(
    tmp_path: Path,
):
    data, sources = tmp_path / "data", tmp_path / "sources"
    transcript(sources, "m").write_bytes(lines(*parent()))
    run("ingest", data, sources)
    ((number, state, text),) = decided(data, sources)
    assert state == "pending"
    run(f"review reject {number}", data, sources)
    ids = observed(data, sources)
    transcript(sources, "0-fork").write_bytes(lines(*fork_of(parent(), "0-fork")))
    run("ingest", data, sources)
    assert (decided(data, sources), observed(data, sources)) == ([(number, "rejected", text)], ids)
    # The parent goes on after the fork: nothing shows any more which of the two was first, and the ids move.
    transcript(sources, "m").write_bytes(lines(*parent(), *dialogue("m", 5, first=80, minutes=400)))
    run("ingest", data, sources)
    assert decided(data, sources) == [(number, "rejected", text)]
    assert observed(data, sources).isdisjoint(ids)
