"""Distributes the number of facts that a session may keep (25 by default) over its windows.

A session may continue after a window is observed, and the share of an earlier window must not change. So the share of a window
depends only on itself and on the windows before it.
"""

import math

import polars as pl

from memory_assets.stages.distill.write_gate import MOST_ALLOWED

TURNS_FOR_HALF = 6
"""A window with this many turns of the owner gets half of the remaining facts; longer ones get more, but never all."""

LEAST = 3
"""Least share of a window, while facts remain."""


def plan_allowances(windows: pl.DataFrame, most_allowed: int = MOST_ALLOWED) -> dict[str, int]:
    """Returns how many facts of each observed window may be allowed; needs all windows of the sessions."""
    shares: dict[str, int] = {}
    observed = windows.filter(pl.col("status") == "observed").sort("session_id", "started_at", "window_id")
    for _, group in observed.group_by("session_id", maintain_order=True):
        left = most_allowed
        for window_id, turns in group.select("window_id", "user_turn_count").iter_rows():
            shares[window_id] = min(max(math.ceil(left * turns / (turns + TURNS_FOR_HALF)), LEAST), left)
            left -= shares[window_id]
    return shares
