"""Assigns facts to the categories of `taxonomy.toml`, by keywords and by the kind of the fact, and
by meaning where they tie.

Takes a text and its kind; returns a category and a confidence. A model's category comes before
keywords, except keywords of an optional category, which models do not know. If the keywords of
several categories weigh the same, the category with the examples most similar to the text is taken;
without an embedder, the first one. Every row has the version of its taxonomy, so rows of an older
version stay readable.
"""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from memory_assets.errors import SettingsError
from memory_assets.schema.protocols import Embedder
from memory_assets.schema.vocabulary import Author, Category
from memory_assets.stages.distill.rules.candidates import FactKind

KIND_WEIGHT = 1.6
"""Weight of the kind of the fact, in keywords."""

HINT_CONFIDENCE = 0.9
"""Confidence in the category that a model gave."""

STRONG_WEIGHT = 2.0

ONLY_THE_OWNERS: tuple[Category, ...] = ("preferences", "rules-conventions")
"""Categories of the owner's facts only: a convention that an assistant observed is a fact about the
project.
"""

FALLBACK: Category = "projects"

LEAST_EXAMPLES = 8


@dataclass(frozen=True, slots=True)
class CategoryRule:
    """A category with its keywords as a pattern, and example facts."""

    name: str
    words: re.Pattern[str]
    strong: re.Pattern[str]
    """Keywords that count twice."""
    examples: tuple[str, ...]
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """A version of the categories, in order of precedence for ties."""

    version: str
    categories: tuple[CategoryRule, ...]


def parse_taxonomy(text: str, *, source: str, optional: Collection[str] = ()) -> Taxonomy:
    """Returns the taxonomy of the TOML text, with the named optional categories."""
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise SettingsError(
            f"Cannot read the taxonomy {source}: {problem}. Fix the file."
        ) from problem
    version, listed = read.get("version"), read.get("category")
    if not isinstance(version, str) or not isinstance(listed, list) or not listed:
        raise SettingsError(
            f"The taxonomy {source} needs a version and at least one [[category]]. Add what "
            "is missing."
        )
    rules = [
        _rule(entry, source)
        for entry in listed
        if not entry.get("optional") or entry.get("name") in optional
    ]
    names = [rule.name for rule in rules]
    if len(set(names)) < len(names) or FALLBACK not in names:
        raise SettingsError(
            f"The taxonomy {source} must name each category once, and {FALLBACK} among "
            "them. Rename or add it."
        )
    return Taxonomy(
        "+".join([version, *(rule.name for rule in rules if rule.is_optional)]), tuple(rules)
    )


def read_named(path: Path, what: str, setting: str) -> str:
    """Returns the text of the file that a setting names; raises `SettingsError` if it cannot be
    read.
    """
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"Cannot read the {what} {path}: {error}. Fix {setting}.") from error


def _rule(entry: Mapping[str, Any], source: str) -> CategoryRule:
    name, about = entry.get("name"), f"Category {entry.get('name')!r} of the taxonomy {source}"
    words, strong, examples = (entry.get(part, []) for part in ("words", "strong", "examples"))
    are_strings = all(
        isinstance(part, list) and all(isinstance(w, str) for w in part)
        for part in (words, strong, examples)
    )
    if not isinstance(name, str) or not are_strings or not words or len(examples) < LEAST_EXAMPLES:
        wanted = f"a name, words, and at least {LEAST_EXAMPLES} examples, all of them strings"
        raise SettingsError(f"{about} needs {wanted}. Add what is missing.")
    try:
        return CategoryRule(
            name, _pattern(words), _pattern(strong), tuple(examples), bool(entry.get("optional"))
        )
    except re.error as problem:
        raise SettingsError(f"{about} has an invalid pattern: {problem}. Fix it.") from problem


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(words) or '(?!)'})(?![\w-])", re.I)


def read_taxonomy(path: Path | None, optional: Collection[str]) -> Taxonomy:
    """Returns the taxonomy of the file, by default that of the package, with the named optional
    categories.
    """
    if path is None:
        return (
            parse_taxonomy(_PACKAGED, source="taxonomy.toml", optional=optional)
            if optional
            else TAXONOMY
        )
    return parse_taxonomy(
        read_named(path, "taxonomy", "MEMORY_TAXONOMY"), source=str(path), optional=optional
    )


_PACKAGED = (resources.files("memory_assets.stages.distill") / "taxonomy.toml").read_text(
    encoding="utf-8"
)
TAXONOMY = parse_taxonomy(_PACKAGED, source="taxonomy.toml")
TAXONOMY_VERSION = TAXONOMY.version

_KINDS: dict[FactKind, Category] = {
    **dict.fromkeys(("rule", "correction"), "rules-conventions"),
    **dict.fromkeys(("decision", "state_change"), "projects"),
    **dict.fromkeys(("root_cause", "gotcha", "result"), "operations"),
    "preference": "preferences",
}


def categorise(
    text: str,
    kind: FactKind,
    author: Author,
    hint: str | None = None,
    *,
    taxonomy: Taxonomy = TAXONOMY,
    embedder: Embedder | None = None,
) -> tuple[Category, float]:
    """Returns the category and its confidence; only the owner's words make preferences and rules.

    `hint` is the category that a model gave; it is right unless the fact would then be somebody
    else's rule.
    """
    rules = taxonomy.categories
    weights = {
        rule.name: len(rule.words.findall(text)) + STRONG_WEIGHT * len(rule.strong.findall(text))
        for rule in rules
    }
    is_optional = any(
        rule.is_optional and weights[rule.name] >= max(weights.values()) > 0 for rule in rules
    )
    named = category_named(hint)
    if named in weights and not is_optional and (author == "owner" or named not in ONLY_THE_OWNERS):
        return cast(Category, named), HINT_CONFIDENCE
    if category := _KINDS.get(kind):
        weights[category] = weights.get(category, 0.0) + KIND_WEIGHT
    if author != "owner":
        weights = {name: weight for name, weight in weights.items() if name not in ONLY_THE_OWNERS}
    most, total = max(weights.values()), sum(weights.values())
    tied = [name for name, weight in weights.items() if weight == most]
    if len(tied) > 1 and embedder is not None:
        best = _most_similar(text, tied, taxonomy, embedder)
    else:
        best = tied[0] if total else FALLBACK
    return cast(Category, best), round(min(0.4 + 0.6 * most / total, 0.99), 2) if total else 0.3


def _most_similar(text: str, names: Sequence[str], taxonomy: Taxonomy, embedder: Embedder) -> str:
    """Returns the category whose examples are most similar to the text, on average."""
    vector, examples = embedder.encode_query(text), _mean_examples(taxonomy, embedder)
    return max(names, key=lambda name: float(examples[name] @ vector) if name in examples else -1.0)


@lru_cache(maxsize=4)
def _mean_examples(taxonomy: Taxonomy, embedder: Embedder) -> dict[str, np.ndarray]:
    return {
        rule.name: np.mean([embedder.encode_query(one) for one in rule.examples], axis=0)
        for rule in taxonomy.categories
    }


def category_named(name: str | None) -> Category | None:
    """Returns the category of that name, without a vendor's prefix such as `jc:`; None if it is
    unknown.
    """
    if not name:
        return None
    bare = re.sub(r"^[a-z]+:", "", name.strip().lower().replace("_", "-"))
    return next((known for known in get_args(Category) if known == bare), None)
