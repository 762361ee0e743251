"""Gives the segments of a model's answer their messages: every message of the window in exactly one.

Takes the narratives in the order of the answer, with the row that each lies around; gives groups of rows with their
narrative. Without any anchor the segments that the words show are kept, without narratives.
"""

from collections.abc import Sequence
from itertools import pairwise

from memory_assets.stages.distill.rules.exchanges import Row


def regroup(
    rows: Sequence[Row], found: Sequence[Sequence[int]], narratives: Sequence[str], anchors: Sequence[int | None]
) -> tuple[list[list[int]], list[str]]:
    """Returns the rows of each segment and its narrative."""
    placed = sorted((anchor, told) for anchor, told in zip(anchors, narratives, strict=True) if anchor is not None and told)
    if not placed:
        return [list(group) for group in found], [""] * len(found)
    starts = [0]
    for (before, _), (anchor, _) in pairwise(placed):
        starts.append(max(_start(rows, before, anchor), starts[-1]))
    groups: list[list[int]] = []
    told: list[str] = []
    for (_, narrative), start, end in zip(placed, starts, [*starts[1:], len(rows)], strict=True):
        if start < end:
            groups.append(list(range(start, end)))
            told.append(narrative)
        else:
            told[-1:] = [f"{told[-1]} {narrative}" if told else narrative]
    return groups, told


def _start(rows: Sequence[Row], before: int, anchor: int) -> int:
    """Returns where a segment begins: the turn of the owner that leads to its anchor, else half way from the one before."""
    turns = [row for row in range(before + 1, anchor + 1) if rows[row]["is_user_turn"]]
    return turns[-1] if turns else (before + anchor + 1) // 2 + (before == anchor)
