"""The replay of recorded answers, on a session short enough to read."""

from pathlib import Path

from memory_assets.stages.evaluate.labels import LabelledFact, LabelledSession
from memory_assets.stages.evaluate.score import score
from memory_assets_tests.bench.replay import lost_facts, lost_labels, replay_answers
from memory_assets_tests.bench.test_gold_baselines import ROWS

ANSWER = """<observations>
* 🔴 [gate=allow confidence=0.9 category=rules-conventions] The owner wants uv here, never pip
* 🟡 [gate=allow confidence=0.9 category=operations] Run `make ship` on Fridays for 47 hosts
* 🟢 [gate=hold confidence=0.5 category=projects] The build reads the lock file
</observations>"""


def label(id: str, text: str, line: int) -> LabelledFact:
    return LabelledFact(id=id, text=text, priority="high", evidence=(line,))


def test_each_loss_is_counted_where_it_happens(tmp_path: Path):
    (tmp_path / "session-1.answer.xml").write_text(ANSWER, encoding="utf-8")
    (replayed,) = replayed_all = list(replay_answers(ROWS, tmp_path, None))
    assert (replayed.marked, len(replayed.parsed)) == (3, 3)
    assert [(fact.gate, fact.reason) for fact in replayed.facts] == [
        ("allow", "the observer allows it, with evidence"),
        ("hold", "names what the session does not name"),
        ("hold", "the observer holds it"),
    ]
    found = {row.name: row.figures for row in lost_facts(replayed_all)}
    assert found == {
        "replay: facts that are not parsed": "0 of 3",
        "replay: facts lost, names what the session does not name": "1 of 2",
    }
    labels = LabelledSession(
        session="session-1",
        facts=(
            label("1", "The owner wants uv here, never pip", 0),
            label("2", "The build reads the lock file from the root", 4),
            label("3", "Redis listens on 6380", 4),
        ),
    )
    lost = lost_labels([labels], replayed_all, score([labels], replayed.facts))
    assert {row.name: row.figures for row in lost} == {
        "replay: labels lost, held: the observer holds it": "1 of 2",
        "replay: labels lost, not in the answer": "1 of 2",
    }
