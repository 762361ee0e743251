"""What may be a rule is offered under its own heading, and becomes one only where a person says so; no model is used."""

from pathlib import Path

from memory_assets.memory import MemoryAgent
from memory_assets_tests.stages.capture.sessions import assistant, dialogue, lines, transcript, user
from memory_assets_tests.story import open_at, run

RULE = "The importer should skip rows without an amount"
PASTED = "Ada Byron  10:42\nNever round the totals of an invoice.\n\nis that so?"


def test_a_perhaps_rule_is_promoted_by_a_person_alone(tmp_path: Path):
    data, sources = tmp_path / "store", tmp_path / "transcripts"
    for number in (1, 2, 3):
        session, day = f"0c00000{number}-1111-4222-8333-444455556666", number * 60 * 24
        typed = [
            user(session, 0, "the import of the ledger fails", day),
            assistant(session, 1, "An amount is empty.", day + 1),
            user(session, 2, RULE, day + 2),
            assistant(session, 3, "They are skipped now.", day + 3),
            user(session, 4, PASTED, day + 4),
        ]
        filler = dialogue(session, 4, first=6, minutes=day + 10)
        transcript(sources, session).write_bytes(lines(*typed, *filler))
    run("ingest", data, sources)
    store = open_at(data, sources)
    agent = MemoryAgent(store.settings)
    pending = {proposal.text: proposal for proposal in agent.pending()}
    assert "perhaps a rule: it may be meant for one thing only" in pending[f"{RULE}."].reason
    assert "perhaps pasted" in pending["Never round the totals of an invoice."].reason
    review = (store.workspace / "REVIEW.md").read_text()
    assert RULE in review[review.index("## Perhaps rules") :]
    written = [path.read_text() for path in store.workspace.rglob("*.md")]
    assert [RULE in text for text in written].count(True) == 1  # in REVIEW.md alone
    agent.approve(pending[f"{RULE}."].proposal_id)
    assert RULE in (store.workspace / "projects" / "shop.md").read_text()
