"""Whether recall shows what holds now: planted changes of mind, and pairs of statements that look like one and both hold.

The statements of `holds.json` were written by somebody who had seen none of the code, and first judged when the rules were
written; no rule may be fitted to them. Each pair is said by the owner in two sessions of a project of its own, a week apart,
and its question is asked from there. `test_replaced.json`, with which the rules were written, is judged beside it, pair by pair.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from memory_assets.adapters.local_embedder import LocalEmbedder
from memory_assets.stages.embed.conflicts import supersedes
from memory_assets.stages.recall.replaced import holds as still_holds
from memory_assets.stages.recall.results import Recalled
from memory_assets_tests.bench.row import Row
from memory_assets_tests.labelled import labelled
from memory_assets_tests.stages.recall import leaving_out, test_replaced

PLANTED = Path(__file__).with_suffix(".json")
SHOWN = 40
"""Characters of a statement by which a result is known."""

DAYS = (date(2026, 5, 4), date(2026, 5, 11))


@dataclass(frozen=True)
class Shown:
    """The results of a question, and the places of the older and the newer statement among them."""

    results: Sequence[Recalled]
    older: int | None
    newer: int | None


def holds(small: bool = False) -> list[Row]:
    """Returns how often the present value comes first, the old one is marked, and what holds is not touched."""
    planted = json.loads(PLANTED.read_bytes())
    step = 10 if small else 1
    changes = [_pair(case, "old", "new") for case in planted["changes"][::step]]
    near_misses = [_pair(case, "first", "second") for case in planted["near_misses"][::step]]
    with tempfile.TemporaryDirectory(prefix="bench-holds-") as folder:
        shown = list(_ask(Path(folder), [*changes, *near_misses]))
    changed, untouched = shown[: len(changes)], shown[len(changes) :]
    written = labelled(test_replaced.__file__)
    return [
        _row("put away, present value first", map(_is_present_first, changed), 0.9),
        _row("put away, old value never without its mark", map(_is_marked, changed), 1.0),
        _row("put away, near-misses untouched", map(_is_untouched, untouched), 0.95),
        *_judged("put away", changes, near_misses),
        *_judged("written with the rules", written["changes"], written["near_misses"]),
    ]


def _pair(case: Mapping[str, str], older: str, newer: str) -> tuple[str, str, str]:
    return case[older], case[newer], case["question"]


def _ask(folder: Path, cases: Sequence[tuple[str, str, str]]) -> Iterator[Shown]:
    """Yields what is shown of each pair to its question, of a store in which only messages can be returned."""
    facts = [
        {
            "id": f"mem_{number:03}{place}", "text": text, "at": DAYS[place], "project": f"plan{number:03}",
            "category": "operations", "state": "held",
        }
        for number, (*pair, _) in enumerate(cases)
        for place, text in enumerate(pair)
    ]  # fmt: skip
    agent = leaving_out.build(folder, facts)
    for number, (older, newer, question) in enumerate(cases):
        results = agent.recall(question, project=f"plan{number:03}", probe=True).results
        places = [
            next((i for i, each in enumerate(results) if says(each, text)), None)
            for text in (older, newer)
        ]
        yield Shown(results, *places)


def says(result: Recalled, text: str) -> bool:
    """Returns whether the result shows the beginning of the statement."""
    return text[:SHOWN] in result.text


def _is_present_first(shown: Shown) -> bool:
    is_above = shown.older is None or (shown.newer is not None and shown.newer < shown.older)
    return shown.newer is not None and is_above


def _is_marked(shown: Shown) -> bool:
    return shown.older is None or not still_holds(shown.results[shown.older])


def _is_untouched(shown: Shown) -> bool:
    places = [place for place in (shown.older, shown.newer) if place is not None]
    return all(still_holds(shown.results[place]) for place in places)


def _judged(
    name: str, changes: Sequence[Sequence[str]], near_misses: Sequence[Sequence[str]]
) -> Iterator[Row]:
    """Yields how many pairs of statements are judged right, without a search."""
    vectors = LocalEmbedder().encode_query

    def is_replaced(older: str, newer: str, *_: str) -> bool:
        return supersedes(newer, older, "", lambda *pair: float(np.dot(*map(vectors, pair))))

    yield _row(f"{name}, changes seen", [is_replaced(*case) for case in changes], 0.9)
    held = [not is_replaced(*case) for case in near_misses]
    yield _row(f"{name}, near-misses not seen", held, 0.95)


def _row(name: str, right: Iterable[bool], floor: float) -> Row:
    judged = list(right)
    return Row(
        f"holds: {name}", sum(judged) / len(judged), f"{sum(judged)} of {len(judged)}", floor=floor
    )
