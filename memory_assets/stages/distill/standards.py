"""The standards that candidates are judged by: the categories, and the limits of the write gate.

Takes the settings; gives the same for every window. Their version travels with what was made by them, so that days made by
other standards are known to be stale.
"""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from memory_assets.errors import SettingsError
from memory_assets.schema.frames import hash_of
from memory_assets.stages.distill import DISTILL_VERSION
from memory_assets.stages.distill.taxonomy import TAXONOMY, Taxonomy, read_taxonomy
from memory_assets.stages.distill.write_gate import Limits, Rule, rules_with
from memory_assets.store.settings import Settings


@dataclass(frozen=True)
class Standards:
    """What candidates are judged by."""

    taxonomy: Taxonomy = TAXONOMY
    limits: Limits = field(default_factory=Limits)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the write gate, with its limits."""
        return rules_with(self.limits)

    @cached_property
    def version(self) -> str:
        """The version of the stage's rules, with a hash of these standards where they are not the usual ones."""
        if self == USUAL:
            return DISTILL_VERSION
        words = (f"{rule.name} {rule.words.pattern} {rule.strong.pattern}" for rule in self.taxonomy.categories)
        return f"{DISTILL_VERSION} {hash_of(self.limits, self.taxonomy.version, *words)}"


USUAL = Standards()


def standards_of(settings: Settings) -> Standards:
    """Returns the standards that the settings name; raises `SettingsError` for a taxonomy that cannot be read."""
    taxonomy = TAXONOMY if settings.taxonomy is None else _taxonomy_in(settings.taxonomy)
    return Standards(taxonomy, Limits(least_useful=settings.least_useful, most_allowed=settings.facts_per_session))


def _taxonomy_in(path: Path) -> Taxonomy:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"Cannot read the taxonomy {path}: {error}. Mend MEMORY_TAXONOMY.") from error
    return read_taxonomy(text, source=str(path))
