"""Assigns facts to the categories of `taxonomy.toml`, by keywords and the kind of the fact.

Takes a text and its kind; returns a category and a confidence. A category that a model gave comes
before keywords, except the keywords of an optional category, which models do not know. If several
categories weigh the same, the one whose examples are most similar to the text is taken; without an
embedder, the first one. Every row has the version of its taxonomy, so that rows of an older version
stay readable.
"""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from memory_assets.errors import SettingsError
from memory_assets.schema.protocols import Embedder
from memory_assets.schema.vocabulary import Author, Category
from memory_assets.stages.distill.rules.candidates import FactKind

KIND_WEIGHT = 1.6
"""Weight of the kind of the fact; a keyword has 1."""

HINT_CONFIDENCE = 0.9
"""Confidence in the category that a model gave."""

STRONG_WEIGHT = 2.0

ONLY_THE_OWNERS: tuple[Category, ...] = ("preferences", "rules-conventions")
"""Categories for facts of the owner only. A convention that an assistant observed is a fact about
the project.
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

    def weigh(self, text: str) -> float:
        """Returns how many of its keywords the text has, by their weight."""
        return len(self.words.findall(text)) + STRONG_WEIGHT * len(self.strong.findall(text))


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """A version of the categories, in order of precedence for ties."""

    version: str
    categories: tuple[CategoryRule, ...]


def parse_taxonomy(text: str, *, source: str, optional: Collection[str] = ()) -> Taxonomy:
    """Returns the taxonomy of the TOML text, with the named optional categories."""
    version, entries = _parse_toml(text, source)
    rules = [
        _rule(entry, source)
        for entry in entries
        if not entry.get("optional") or entry.get("name") in optional
    ]
    names = [rule.name for rule in rules]
    if len(set(names)) < len(names) or FALLBACK not in names:
        raise SettingsError(
            f"The taxonomy {source} must name each category once, and {FALLBACK} among "
            "them. Rename or add it."
        )
    optional_names = (rule.name for rule in rules if rule.is_optional)
    return Taxonomy("+".join([version, *optional_names]), tuple(rules))


def _parse_toml(text: str, source: str) -> tuple[str, list[Mapping[str, Any]]]:
    """Returns the version and the entries of the categories."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise SettingsError(
            f"Cannot read the taxonomy {source}: {problem}. Fix the file."
        ) from problem
    version = content.get("version")
    entries = content.get("category")
    if not isinstance(version, str) or not isinstance(entries, list) or not entries:
        raise SettingsError(
            f"The taxonomy {source} needs a version and at least one [[category]]. Add what "
            "is missing."
        )
    return version, entries


def read_named(path: Path, what: str, setting: str) -> str:
    """Returns the text of the file that a setting names; raises `SettingsError` if it cannot be
    read.
    """
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"Cannot read the {what} {path}: {error}. Fix {setting}.") from error


def _rule(entry: Mapping[str, Any], source: str) -> CategoryRule:
    name = entry.get("name")
    subject = f"Category {name!r} of the taxonomy {source}"
    parts = [entry.get(part, []) for part in ("words", "strong", "examples")]
    words, strong, examples = parts
    are_usable = all(map(_are_strings, parts)) and words and len(examples) >= LEAST_EXAMPLES
    if not isinstance(name, str) or not are_usable:
        requirement = f"a name, words, and at least {LEAST_EXAMPLES} examples, all of them strings"
        raise SettingsError(f"{subject} needs {requirement}. Add what is missing.")
    is_optional = bool(entry.get("optional"))
    try:
        return CategoryRule(name, _pattern(words), _pattern(strong), tuple(examples), is_optional)
    except re.error as problem:
        raise SettingsError(f"{subject} has an invalid pattern: {problem}. Fix it.") from problem


def _are_strings(part: object) -> bool:
    return isinstance(part, list) and all(isinstance(word, str) for word in part)


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(words) or '(?!)'})(?![\w-])", re.I)


def read_taxonomy(path: Path | None, optional: Collection[str]) -> Taxonomy:
    """Returns the taxonomy of the file, by default that of the package, with the named optional
    categories.
    """
    if path:
        text = read_named(path, "taxonomy", "MEMORY_TAXONOMY")
        return parse_taxonomy(text, source=str(path), optional=optional)
    if not optional:
        return TAXONOMY
    return parse_taxonomy(_PACKAGED, source="taxonomy.toml", optional=optional)


_PACKAGED = Path(__file__).with_suffix(".toml").read_text("utf-8")
TAXONOMY = parse_taxonomy(_PACKAGED, source="taxonomy.toml")
TAXONOMY_VERSION = TAXONOMY.version

_KINDS: dict[FactKind, Category] = {
    **dict.fromkeys(("rule", "correction"), "rules-conventions"),
    **dict.fromkeys(("decision", "state_change", "answer"), "projects"),
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
    """Returns the category and its confidence; only the owner's facts are preferences or rules.

    `hint` is the category that a model gave. It is used, unless it would make a rule of a fact that
    is not the owner's.
    """
    weights = {rule.name: rule.weigh(text) for rule in taxonomy.categories}
    hinted = _hinted_category(hint, author, taxonomy, weights)
    if hinted is not None:
        return hinted, HINT_CONFIDENCE
    if kind in _KINDS:
        weights[_KINDS[kind]] = weights.get(_KINDS[kind], 0.0) + KIND_WEIGHT
    if author != "owner":
        for name in ONLY_THE_OWNERS:
            weights.pop(name, None)
    most = max(weights.values())
    total = sum(weights.values())
    tied = [name for name, weight in weights.items() if weight == most]
    best = tied[0] if total else FALLBACK
    if len(tied) > 1 and embedder is not None:
        best = _most_similar(text, tied, taxonomy, embedder)
    confidence = round(min(0.4 + 0.6 * most / total, 0.99), 2) if total else 0.3
    return cast(Category, best), confidence


def _hinted_category(
    hint: str | None, author: Author, taxonomy: Taxonomy, weights: Mapping[str, float]
) -> Category | None:
    """Returns the category that a model gave; None if it is not to be used.

    That is so if keywords of an optional category weigh most, or if the fact would be a rule and is
    not the owner's.
    """
    hinted = category_named(hint)
    makes_rule = author != "owner" and hinted in ONLY_THE_OWNERS
    if hinted not in weights or makes_rule:
        return None
    most = max(weights.values())
    optional = (rule.name for rule in taxonomy.categories if rule.is_optional)
    return None if any(weights[name] >= most > 0 for name in optional) else hinted


def _most_similar(text: str, names: Sequence[str], taxonomy: Taxonomy, embedder: Embedder) -> str:
    """Returns the category whose examples are most similar to the text, on average."""
    vector = embedder.encode_query(text)
    examples = _mean_examples(taxonomy, embedder)

    def similarity(name: str) -> float:
        return float(examples[name] @ vector) if name in examples else -1.0

    return max(names, key=similarity)


@lru_cache(maxsize=4)
def _mean_examples(taxonomy: Taxonomy, embedder: Embedder) -> dict[str, np.ndarray]:
    means: dict[str, np.ndarray] = {}
    for rule in taxonomy.categories:
        vectors = [embedder.encode_query(example) for example in rule.examples]
        means[rule.name] = np.mean(vectors, axis=0)
    return means


def category_named(name: str | None) -> Category | None:
    """Returns the category of that name, without a vendor's prefix such as `jc:`; None if it is
    unknown.
    """
    if not name:
        return None
    bare = re.sub(r"^[a-z]+:", "", name.strip().lower().replace("_", "-"))
    return next((category for category in get_args(Category) if category == bare), None)
