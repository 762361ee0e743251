"""Pairs of words that exclude each other, and prefixes that turn a word into its opposite."""

from collections import defaultdict
from collections.abc import Callable

NEGATING = ("un", "in", "im", "ir", "non", "non-", "dis", "de", "mis")
"""Prefixes that negate; only compared with the same word without them."""

_STATES = """
    read-only read-write, readonly writable, readonly read-write, read-only writable,
    enable disable, enabled disabled, switched-on switched-off, allow deny, allow forbid,
    allows forbids, allowed forbidden, allowed denied, permit forbid, required optional,
    mandatory optional, true false, include exclude, included excluded, public private, sync async,
    synchronous asynchronous, accept reject, accepts rejects, accepted rejected, keep drop,
    keeps drops, kept dropped, keep delete, keeps deletes, keep remove, safe unsafe,
    encrypted plaintext, ascending descending, serial parallel, sequential parallel,
    strict lenient, tabs spaces, manual automatic, manually automatically, inclusive exclusive,
    mutable immutable, stateless stateful, blocking non-blocking, persistent ephemeral,
    uppercase lowercase, shared separate, online offline, hide show, hidden visible
"""
"""Of one thing only one can be said."""

_SIDES = """
    add remove, added removed, start stop, starts stops, open close, opened closed,
    increase decrease, raise lower, raised lowered, min max, minimum maximum, at-least at-most,
    local remote, first last, above below, upper lower, succeed fail, succeeds fails, pass fail,
    passes fails, success failure, newest oldest, latest earliest, fast slow, faster slower,
    more fewer, more less, internal external, upload download, push pull, lock unlock,
    mount unmount, single double, large small, larger smaller, longer shorter, long short,
    source target, approve reject, approved rejected, create delete, creates deletes,
    install uninstall, direct indirect
"""
"""Both can be said of one thing, at two moments or of two sides of it."""


def opposites_by(
    form: Callable[[str], str], *, of_states: bool = False
) -> dict[str, frozenset[str]]:
    """Returns the opposites of each word, all in the given form (a stem); only those of states
    where asked.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for pair in (_STATES if of_states else f"{_STATES},{_SIDES}").split(","):
        one, other = map(form, pair.split())
        found[one].add(other)
        found[other].add(one)
    return {word: frozenset(others) for word, others in found.items()}
