"""What each factor of the ranking is worth: the same questions with all factors, and with all but one.

Two sets of questions: everyday questions about labelled sessions, asked over the memories of all transcripts (hit@10 and MRR of
the memories as a listing), and the cases of the suite of what recall must and must not bring back. A factor is worth what is
lost without it; one that neither set misses is off by default.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memory_assets.memory import MemoryAgent
from memory_assets.stages.recall.memory_search import FACTORS
from memory_assets.store.settings import Settings
from memory_assets_tests.bench.leaving_out import SMALL_STEP
from memory_assets_tests.bench.questions import load_scorer, read_gold, shown_of
from memory_assets_tests.bench.row import Row
from memory_assets_tests.bench.transcripts import LABELS
from memory_assets_tests.bench.whole_store import whole_store
from memory_assets_tests.stages.recall import first, leaving_out


def factors(small: bool = False) -> list[Row]:
    """Returns a row for all factors together, for none, for each left out, and for what is on by default."""
    sets: dict[str, Sequence[str]] = {"all": tuple(FACTORS), "none": ()}
    sets |= {f"without {name}": [one for one in FACTORS if one != name] for name in FACTORS}
    sets["by default"] = Settings().recall_factors
    if small:
        sets = {name: sets[name] for name in ("none", "by default")}
    asked = leaving_out.cases()[:: SMALL_STEP if small else 1]
    with tempfile.TemporaryDirectory(prefix="bench-factors-") as folder:
        of_pairs, of_suite = (
            first.build(Path(folder) / "pairs"),
            leaving_out.build(Path(folder) / "suite"),
        )
        ordered = {name: _ordered(_with(of_pairs, on)) for name, on in sets.items()}
        passed = {name: _passed(_with(of_suite, on), asked) for name, on in sets.items()}
    found = _answered(sets, small) if LABELS.is_dir() else {}
    return [
        Row(
            f"factors: {name}",
            sum(ordered[name].values()) / len(first.pairs()),
            f"of pairs in order ({', '.join(f'{factor} {count}' for factor, count in ordered[name].items())}), "
            f"{passed[name]} of {len(asked)} cases; {found.get(name, 'no labelled sessions here')}",
        )
        for name in sets
    ]


def _ordered(agent: MemoryAgent) -> dict[str, int]:
    """Returns for each factor how many of its pairs are in order."""
    pairs = first.pairs()
    return {
        factor: sum(first.is_ordered(agent, pair) for pair in pairs if pair.factor == factor)
        for factor in dict.fromkeys(pair.factor for pair in pairs)
    }


def _passed(agent: MemoryAgent, cases: Sequence[leaving_out.Case]) -> int:
    return sum(
        not case.faults([one.memory_id for one in leaving_out.ask(agent, case).results])
        for case in cases
    )


def _answered(sets: dict[str, Sequence[str]], small: bool) -> dict[str, str]:
    scorer, agent = load_scorer(), whole_store(small)
    gold = read_gold(small)
    asked = {id: question["question"] for id, question, _ in scorer.questions(gold)}
    found = {}
    for name, on in sets.items():
        with_factors = _with(agent, on)
        answers = [
            {"id": id, "results": _memories(with_factors, question)}
            for id, question in asked.items()
        ]
        scores = scorer.score_answers(gold, answers)
        found[name] = (
            f"questions over memories: hit@10 {scores['hit@10']:.3f}, MRR {scores['mrr']:.3f}"
        )
    return found


def _with(agent: MemoryAgent, on: Sequence[str]) -> MemoryAgent:
    return MemoryAgent(agent.settings.model_copy(update={"recall_factors": list(on)}))


def _memories(agent: MemoryAgent, question: str) -> list[dict[str, Any]]:
    return shown_of(agent.recall(question, corpus="memories", limit=10, probe=True))
