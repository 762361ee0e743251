"""The standards that candidates are judged by: the categories, and the limits of the write gate.

They come from the settings and apply to every window. Their version is stored, so that days built by other standards are stale.
"""

from dataclasses import dataclass, field
from functools import cached_property

from memory_assets.schema.frames import hash_of
from memory_assets.stages.distill import DISTILL_VERSION
from memory_assets.stages.distill.taxonomy import TAXONOMY, Taxonomy, parse_taxonomy, read_named
from memory_assets.stages.distill.write_gate import GateLimits
from memory_assets.store.settings import Settings


@dataclass(frozen=True)
class Standards:
    """What candidates are judged by."""

    taxonomy: Taxonomy = TAXONOMY
    limits: GateLimits = field(default_factory=GateLimits)

    @cached_property
    def version(self) -> str:
        """The version of the stage's rules, with a hash of these standards if they are not the default."""
        if self == DEFAULT_STANDARDS:
            return DISTILL_VERSION
        words = (f"{rule.name} {rule.words.pattern} {rule.strong.pattern}" for rule in self.taxonomy.categories)
        return f"{DISTILL_VERSION} {hash_of(self.limits, self.taxonomy.version, *words)}"


DEFAULT_STANDARDS = Standards()


def standards_of(settings: Settings) -> Standards:
    """Returns the standards of the settings; raises `SettingsError` if the taxonomy cannot be read."""
    limits, path = GateLimits(least_useful=settings.least_useful, most_allowed=settings.facts_per_session), settings.taxonomy
    if path is None:
        return Standards(limits=limits)
    return Standards(parse_taxonomy(read_named(path, "taxonomy", "MEMORY_TAXONOMY"), source=str(path)), limits)
