"""`memory data feedback` without the command line's parser and views, which take longer to import
than the rating takes.

Agents rate memories in every session. Only `ID... --used|--unused`, with or without `--json`, is
answered here; the full command line answers everything else: its help, and wrong options.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory_assets.interfaces.envelope import envelope_of, to_json
from memory_assets.interfaces.views.next_steps import next_step
from memory_assets.memory import MemoryAgent, announcements
from memory_assets.text.visible import visible

if TYPE_CHECKING:
    from memory_assets.memory.verb_answers import Rating

FLAGS = {"--used": True, "--unused": False}


def rate(words: Sequence[str]) -> int | None:
    """Records the rating, prints it and returns the exit code.

    Returns None without recording anything where the full command line has to answer.
    """
    ids = [word for word in words if not word.startswith("-")]
    flags = [word for word in words if word.startswith("-") and word != "--json"]
    as_json = "--json" in words
    if not ids or len(flags) != 1 or flags[0] not in FLAGS:
        return None
    announcements()  # drops what an earlier command of this process announced
    try:
        rating = MemoryAgent().feedback(ids, used=FLAGS[flags[0]])
    except Exception as error:
        from memory_assets.interfaces.cli.app import fail

        return fail(error, as_json=as_json)
    if as_json:
        print(to_json(envelope_of(rating, announcements())).decode())
    else:
        _print_for_people(rating)
    return 0


def _print_for_people(rating: "Rating") -> None:
    print(visible(rating.sentence))
    for warning in announcements():
        print(visible(f"! {warning}"), file=sys.stderr)
    if sys.stdout.isatty() and sys.stderr.isatty():
        print(f"Next: {next_step('feedback', rating)}", file=sys.stderr)
