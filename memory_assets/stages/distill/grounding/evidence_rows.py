"""Chooses the few messages of a window that have the words of a fact."""

from collections.abc import Sequence

from memory_assets.stages.distill.grounding.window_index import Closeness, WindowIndex

SUPPORTED = 0.4
"""Least share of a fact's weight that its evidence has; below it the fact is unsupported."""

SUPPORTED_NEARBY = 0.3
"""The same for messages near the fact's time, which is evidence of its own."""

MOST_ROWS = 4
"""Evidence is at most so many messages."""

MOST_CANDIDATES = 40
"""Messages from which the evidence of a fact is chosen."""

LEAST_GAIN = 0.08
"""Least share of the fact's weight that one more message must add."""

NEARLY_AS_GOOD = 0.5
"""Share of the best message's words from which another one says the same."""


def find_rows(
    window: WindowIndex, wanted: frozenset[str], near: Closeness
) -> tuple[list[int], bool]:
    """Returns the evidence, and whether it supports the fact.

    Without support near the time the evidence is chosen from the whole window.
    """
    nearby = _cover(window, wanted, near)
    if nearby and window.support(wanted, nearby) >= SUPPORTED_NEARBY:
        return nearby, True
    everywhere = dict.fromkeys(range(len(window.messages)), 1.0)
    anywhere = _cover(window, wanted, everywhere)
    if anywhere and window.support(wanted, anywhere) >= SUPPORTED:
        return anywhere, True
    return nearby or anywhere, False


def _cover(window: WindowIndex, wanted: frozenset[str], among: Closeness) -> list[int]:
    """Returns the rows that together have most of the words, those first that add most.

    Behind them are others that say it, or some of it in the very minute.
    """
    scores = {row: window.share(wanted, row) * factor for row, factor in among.items()}
    ranked = sorted((row for row in scores if scores[row] > 0), key=lambda r: (-scores[r], r))
    rows = _greedy_cover(window, wanted, among, ranked[:MOST_CANDIDATES])
    least = NEARLY_AS_GOOD * max((scores[row] for row in rows), default=1.0)
    others = [row for row in ranked if row not in rows]
    rows += [row for row in others if scores[row] >= least or _is_at(window, row, among)]
    return rows[:MOST_ROWS]


def _greedy_cover(
    window: WindowIndex, wanted: frozenset[str], among: Closeness, candidates: Sequence[int]
) -> list[int]:
    """Returns the candidates that add most of the words still missing, one after the other."""
    least = LEAST_GAIN * window.weigh(wanted)
    missing = wanted
    remaining = list(candidates)
    rows: list[int] = []

    def _gain(row: int) -> float:
        found = window.weigh(missing & window.stems[row])
        return found * window.voice_factor(row) * among[row]

    while remaining and len(rows) < MOST_ROWS:
        best = max(remaining, key=lambda row: (_gain(row), -row))
        if _gain(best) < least or not least:
            break
        rows.append(best)
        remaining.remove(best)
        missing -= window.stems[best]
    return rows


def _is_at(window: WindowIndex, row: int, among: Closeness) -> bool:
    """Returns whether the owner or the assistant said the row in the very minute of the fact."""
    has_time = len(among) < len(window.messages)
    return has_time and among[row] == 1.0 and window.is_speech(row)
