"""The seven categories of taxonomy v1, and which one a fact belongs to: keywords first, what sort of fact it is where
they tie.

Takes a text and its kind; gives a category and how clearly its words are there. A model's own category is a hint that
wins only where the words are silent. The version travels with every row, so that a second taxonomy leaves old rows
readable.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import get_args

from memory_assets.distill.candidates import FactKind
from memory_assets.records import Author, Category

TAXONOMY_VERSION = "v1"

KIND_WEIGHT = 1.6
"""What sort of fact it is counts as much as one and a half of a category's words."""

HINT_WEIGHT = 1.5
STRONG_WEIGHT = 2.0

ONLY_THE_OWNERS: tuple[Category, ...] = ("preferences", "rules-conventions")
"""Words of others are filed elsewhere, whatever they say: what an assistant saw of a convention is a fact about the project."""

FALLBACK: Category = "projects"


@dataclass(frozen=True, slots=True)
class CategoryRule:
    """A category, its words as one pattern, and facts that belong there."""

    name: Category
    words: str
    examples: tuple[str, ...]
    strong: str = "(?!)"
    """Words that weigh as much as two others."""


TAXONOMY: tuple[CategoryRule, ...] = (
    CategoryRule(
        "preferences",
        r"prefer(?:s|ence)?|(?:dis)?likes?|wants?|rather|tone|style|wording|short(?:er)?|concise|jargon|readable|intuitive"
        r"|too (?:long|much|many|verbose)|taste|favou?rite|wish(?:es)?",
        ("The owner wants answers without filler.", "The owner prefers tabs in Go and spaces everywhere else."),
    ),
    CategoryRule(
        "rules-conventions",
        r"convention|naming|rules?|policy|required?|forbidden|not allowed|sign-?off|commit (?:message|subject)s?|imperative"
        r"|lowercase|golangci|format(?:ter|ting)?|style guide|pinned?|only (?:the|when|in|on)|prefix|should|camelcase"
        r"|snake_case|changelog|gitignored?",
        ("Use uv, never pip.", "Commit subjects are lowercase and imperative."),
        r"always|never|must(?: not)?|do not|don't|from now on",
    ),
    CategoryRule(
        "system-architecture",
        r"architecture|design|workers?|reads?|writes?|events?|module|package|interface|api|schema|protocol|component"
        r"|layer|transport|stream(?:s|ing)?|relay"
        r"|database|table|index|queue|service|endpoint|struct|class|function|method|type|parameter|flag|field|config"
        r"|fallback|library|atomic|cache|server|client|data flow|adapter|contract|manifest|layout",
        ("The worker reads events from Redis and writes Parquet.", "Relay streams packs, materialized re-encodes them."),
    ),
    CategoryRule(
        "operations",
        r"run(?:s|ning)?|command|deploy\w*|release[ds]?|install\w*|build|ci|pipeline|workflow|docker|container|secret|token"
        r"|credential|password|env(?:ironment)? variable|port|timeout|errors?|fail(?:s|ed|ure)?|crash\w*|root cause"
        r"|caused by|lint(?:er|s)?|fix(?:ed|es)?|debug\w*|restart|log|leak(?:ed|s)?|hang|hung|mise|make|brew|npm"
        r"|pip|uv|cargo|kubectl|path|toolchain|test(?:s|ing)?|stale|mount",
        ("`mise run lint` lints the project.", "Stale NFS mounts need sudo to unmount."),
    ),
    CategoryRule(
        "memory-system",
        r"memory system|memory\.md|observations?|reflections?|recall|transcript|compaction|briefing|write gate|daily log"
        r"|review\.md|memories|checkpoint trailer|agents\.md|claude\.md",
        ("MEMORY.md holds only what every session needs.", "Observations below 0.7 are held."),
    ),
    CategoryRule(
        "projects",
        r"project|milestone|roadmap|issue|pull request|pr|branch|repo(?:sitory)?|readme|docs?|documentation|feature|version"
        r"|renamed|merged|moved|added|removed|replaced|switched|converted|status|launch|todo|plan(?:ned)?|deferred|file",
        ("The repository moved to entireio/git-sync.", "The FAQ was dropped from the README."),
    ),
    CategoryRule(
        "people-relationships",
        r"colleague|maintain(?:s|er|ers)|review(?:s|er|ers)|leads|team|manager|customer|meeting|said that|asked (?:for|by)"
        r"|reviewed by|works (?:at|with|on)|co-?worker|author of",
        ("Paulo maintains go-git and reviews upstream changes.", "Ana leads the data team."),
    ),
)

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


def categorise(text: str, kind: FactKind, author: Author, hint: str | None = None) -> tuple[Category, float]:
    """Returns the category and how sure it is; words others than the owner's never make it a preference."""
    weights: dict[Category, float] = {rule.name: _weight(rule, text) for rule in TAXONOMY}
    if kind in _KINDS:
        weights[_KINDS[kind]] += KIND_WEIGHT
    if hint_category := category_named(hint):
        weights[hint_category] += HINT_WEIGHT
    if author != "owner":
        weights |= dict.fromkeys(ONLY_THE_OWNERS, 0.0)
    order = [rule.name for rule in TAXONOMY]
    ranked = sorted(weights, key=lambda name: (-weights[name], order.index(name)))
    best, total = ranked[0], sum(weights.values())
    if not total:
        return FALLBACK, 0.3
    return best, round(min(0.4 + 0.6 * weights[best] / total, 0.99), 2)


def category_named(name: str | None) -> Category | None:
    """Returns the category of that name, a vendor's prefix such as `jc:` taken off; nothing for an unknown one."""
    if not name:
        return None
    bare = re.sub(r"^[a-z]+:", "", name.strip().lower().replace("_", "-"))
    return next((known for known in get_args(Category) if known == bare), None)


def _weight(rule: CategoryRule, text: str) -> float:
    """Returns how many of the category's words the text has."""
    return len(_pattern(rule.words).findall(text)) + STRONG_WEIGHT * len(_pattern(rule.strong).findall(text))


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.I)
