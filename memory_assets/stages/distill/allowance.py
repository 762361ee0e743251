"""Shares out how many facts of a session may be allowed, between its windows.

A session may leave at most so many allowed facts (25, where the settings do not say otherwise), however many windows it
has. When a window is observed nobody knows whether the session will go on, and what was decided of an earlier window
never changes; so a window's share depends on itself and on the windows before it alone.
"""

import math

import polars as pl

from memory_assets.stages.distill.write_gate import MOST_ALLOWED

TURNS_FOR_HALF = 6
"""A window with this many turns of the owner may fill half of what is left; longer ones more, never all of it."""

LEAST = 3
"""Even a short window that comes late may keep something, while anything is left."""


def plan_allowances(windows: pl.DataFrame, most_allowed: int = MOST_ALLOWED) -> dict[str, int]:
    """Returns how many facts of each observed window may be allowed; give it all windows of the sessions concerned."""
    shares: dict[str, int] = {}
    observed = windows.filter(pl.col("status") == "observed").sort("session_id", "started_at", "window_id")
    for _, group in observed.group_by("session_id", maintain_order=True):
        left = most_allowed
        for window_id, turns in group.select("window_id", "user_turn_count").iter_rows():
            share = math.ceil(left * turns / (turns + TURNS_FOR_HALF))
            shares[window_id] = min(max(share, LEAST), left)
            left -= shares[window_id]
    return shares
