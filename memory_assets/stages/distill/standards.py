"""The standards that candidates are judged by: the categories, the limits of the write gate, and
the number of facts that each window may allow.

Standards come from the settings. Their version is stored, so that days built by other standards are
stale. All windows of a session together may allow a number of facts (25 by default). A session may
continue after a window was observed, and the number of an earlier window must not change then. So
it depends only on that window and the windows before it. Windows of one day add up their numbers
and allow the most useful facts of all (`day.judge_windows`).
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from memory_assets.schema.frames import hash_of
from memory_assets.schema.records import READ_STATUSES
from memory_assets.schema.tables import version_of
from memory_assets.stages.distill.rules.candidates import FACT_CHARS
from memory_assets.stages.distill.taxonomy import TAXONOMY, Taxonomy, read_taxonomy
from memory_assets.store.settings import Settings

DISTILL_VERSION = version_of("observations")
"""Version of the rules of this stage; days built by an earlier version are stale."""

LEAST_USEFUL = 0.7
"""Default of the usefulness below which a fact is held."""

MOST_ALLOWED = 25
"""Most facts of the rules observer that a session may allow; beyond that, noise grows faster than
knowledge. The prompt of a model states a number of its own.
"""

TURNS_FOR_HALF = 6
"""A window with this many turns of the owner gets half of the session's remaining number; a longer
window gets more, but never all.
"""

LEAST = 3
"""Fewest facts that a window may allow, while the session's number is not used up."""


@dataclass(frozen=True, slots=True)
class GateLimits:
    """The thresholds of the rules; settings and what-if questions change them."""

    least_chars: int = 12
    """Shorter texts name nothing (TUT, the write gate)."""
    most_chars: int = FACT_CHARS
    least_verifiable: float = 0.4
    least_confident: float = 0.3
    least_useful: float = LEAST_USEFUL
    most_allowed: int = MOST_ALLOWED


@dataclass(frozen=True)
class Standards:
    """What candidates are judged by."""

    taxonomy: Taxonomy = TAXONOMY
    limits: GateLimits = field(default_factory=GateLimits)

    @cached_property
    def version(self) -> str:
        """The version of the stage's rules, with a hash of these standards if they are not the
        default.
        """
        if self == DEFAULT_STANDARDS:
            return DISTILL_VERSION
        words = (
            f"{rule.name} {rule.words.pattern} {rule.strong.pattern}"
            for rule in self.taxonomy.categories
        )
        return f"{DISTILL_VERSION} {hash_of(self.limits, self.taxonomy.version, *words)}"


DEFAULT_STANDARDS = Standards()


def standards_of(settings: Settings) -> Standards:
    """Returns the standards of the settings; an unreadable taxonomy raises `SettingsError`."""
    limits = GateLimits(least_useful=settings.least_useful, most_allowed=settings.facts_per_session)
    return Standards(read_taxonomy(settings.taxonomy, settings.optional_categories), limits)


def plan_allowances(windows: pl.DataFrame, most_allowed: int = MOST_ALLOWED) -> dict[str, int]:
    """Returns how many facts each window may allow; `windows` must be whole sessions."""
    shares: dict[str, int] = {}
    read_windows = windows.filter(pl.col("status").is_in(READ_STATUSES))
    ordered = read_windows.sort("session_id", "started_at", "window_id")
    for _, group in ordered.group_by("session_id", maintain_order=True):
        remaining = most_allowed
        for window_id, turns in group.select("window_id", "user_turn_count").iter_rows():
            share = math.ceil(remaining * turns / (turns + TURNS_FOR_HALF))
            shares[window_id] = min(max(share, LEAST), remaining)
            remaining -= shares[window_id]
    return shares
