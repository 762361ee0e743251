"""The categories of `taxonomy.toml`, and which one a fact belongs to: keywords first, what sort of fact it is where they tie.

Takes a text and its kind; gives a category and how clearly its words are there. A model's own category is a hint that
wins only where the words are silent. The version travels with every row, so that a second taxonomy leaves old rows
readable.
"""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, cast, get_args

from memory_assets.errors import SettingsError
from memory_assets.schema.records import Author, Category
from memory_assets.stages.distill.rules.candidates import FactKind

KIND_WEIGHT = 1.6
"""What sort of fact it is counts as much as one and a half of a category's words."""

HINT_WEIGHT = 1.5
STRONG_WEIGHT = 2.0

ONLY_THE_OWNERS: tuple[Category, ...] = ("preferences", "rules-conventions")
"""Words of others are filed elsewhere, whatever they say: what an assistant saw of a convention is a fact about the project."""

FALLBACK: Category = "projects"

LEAST_EXAMPLES = 8


@dataclass(frozen=True, slots=True)
class CategoryRule:
    """A category, its words as one pattern, and facts that belong there."""

    name: str
    words: re.Pattern[str]
    strong: re.Pattern[str]
    """Words that weigh as much as two others."""
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """A version of the categories, in order: of two that fit equally the first one wins."""

    version: str
    categories: tuple[CategoryRule, ...]


def read_taxonomy(text: str, *, source: str, optional: Collection[str] = ()) -> Taxonomy:
    """Returns the taxonomy that the TOML text describes, with those of its optional categories that are named."""
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise SettingsError(f"Cannot read the taxonomy {source}: {problem}. Mend the file.") from problem
    version, listed = read.get("version"), read.get("category")
    if not isinstance(version, str) or not isinstance(listed, list) or not listed:
        raise SettingsError(f"The taxonomy {source} needs a version and at least one [[category]]. Add what is missing.")
    rules = [_rule(entry, source) for entry in listed if not entry.get("optional") or entry.get("name") in optional]
    names = [rule.name for rule in rules]
    if len(set(names)) < len(names) or FALLBACK not in names:
        raise SettingsError(f"The taxonomy {source} must name each category once, and {FALLBACK} among them. Rename or add it.")
    return Taxonomy(version, tuple(rules))


def _rule(entry: Mapping[str, Any], source: str) -> CategoryRule:
    name = entry.get("name")
    words, strong, examples = (entry.get(part, []) for part in ("words", "strong", "examples"))
    lists_of_texts = all(isinstance(part, list) and all(isinstance(w, str) for w in part) for part in (words, strong, examples))
    if not isinstance(name, str) or not lists_of_texts or not words or len(examples) < LEAST_EXAMPLES:
        wanted = f"a name, words, and at least {LEAST_EXAMPLES} examples, all of them texts"
        raise SettingsError(f"Category {name!r} of the taxonomy {source} needs {wanted}. Add what is missing.")
    try:
        return CategoryRule(name, _pattern(words), _pattern(strong), tuple(examples))
    except re.error as problem:
        raise SettingsError(
            f"A word of category {name!r} of the taxonomy {source} is no pattern: {problem}. Mend it."
        ) from problem


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(words) or '(?!)'})(?![\w-])", re.I)


def _packaged() -> Taxonomy:
    file = resources.files("memory_assets.stages.distill") / "taxonomy.toml"
    return read_taxonomy(file.read_text(encoding="utf-8"), source="taxonomy.toml")


TAXONOMY = _packaged()
TAXONOMY_VERSION = TAXONOMY.version

_KINDS: dict[FactKind, Category] = {
    "rule": "rules-conventions",
    "preference": "preferences",
    "correction": "rules-conventions",
    "decision": "projects",
    "root_cause": "operations",
    "gotcha": "operations",
    "state_change": "projects",
    "result": "operations",
}


def categorise(
    text: str, kind: FactKind, author: Author, hint: str | None = None, *, taxonomy: Taxonomy = TAXONOMY
) -> tuple[Category, float]:
    """Returns the category and how sure it is; words others than the owner's never make it a preference."""
    weights: dict[str, float] = {rule.name: _weight(rule, text) for rule in taxonomy.categories}
    if kind in _KINDS:
        weights[_KINDS[kind]] = weights.get(_KINDS[kind], 0.0) + KIND_WEIGHT
    if hint_category := category_named(hint):
        weights[hint_category] = weights.get(hint_category, 0.0) + HINT_WEIGHT
    if author != "owner":
        weights |= dict.fromkeys(ONLY_THE_OWNERS, 0.0)
    best, total = max(weights, key=lambda name: weights[name]), sum(weights.values())
    if not total:
        return FALLBACK, 0.3
    return cast(Category, best), round(min(0.4 + 0.6 * weights[best] / total, 0.99), 2)


def category_named(name: str | None) -> Category | None:
    """Returns the category of that name, a vendor's prefix such as `jc:` taken off; nothing for an unknown one."""
    if not name:
        return None
    bare = re.sub(r"^[a-z]+:", "", name.strip().lower().replace("_", "-"))
    return next((known for known in get_args(Category) if known == bare), None)


def _weight(rule: CategoryRule, text: str) -> float:
    """Returns how many of the category's words the text has."""
    return len(rule.words.findall(text)) + STRONG_WEIGHT * len(rule.strong.findall(text))
