"""Names the one thing to do after an answer, as a command; printed on a terminal only."""

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from memory_assets.schema.requests import LOOKUP
from memory_assets.schema.vocabulary import HARNESS_NAMES, MEMORY_KINDS
from memory_assets.text.short_ids import short_id

if TYPE_CHECKING:
    from memory_assets.memory import verb_answers as types

MOST_CHARS = 60
"""Most characters of a text that is repeated in a command."""

SHOWS_ORIGIN = "shows where it comes from, down to the transcript."


def next_step(verb: str, answer: Any) -> str:
    """Returns what to do after the verb's answer; empty if nothing follows, or its view says it."""
    return NEXT_STEPS[verb](answer) if verb in NEXT_STEPS else ""


def _after_recall(answer: "types.Answer") -> str:
    question = _words(answer.question)
    if answer.profile == LOOKUP and not answer.results:
        return ""
    if answer.sessions:
        return f"`memory recall {question} --session {answer.sessions[0].session}` searches inside."
    if not answer.results:
        why = f"`memory explain {question}` says why nothing is remembered"
        return f"{why}; `memory remember` saves it."
    ids = [result.memory_id for result in answer.results if result.kind in MEMORY_KINDS]
    if not ids:
        return f"`memory recall {question} --answer` quotes the sentences that answer it."
    return f"`memory explain {short_id(ids[0])}` {SHOWS_ORIGIN}"


def _after_answer(answer: "types.CitedAnswer") -> str:
    ids = [citation.id for citation in answer.citations if citation.kind in MEMORY_KINDS]
    return f"`memory explain {ids[0]}` {SHOWS_ORIGIN}" if ids else ""


def _after_explain(explained: "types.Explanation | types.WhyNot | types.Opened") -> str:
    if explained.has_origin is None:
        return ""
    root = getattr(explained, "root", None)
    if root is not None:
        if root.kind != "memory" or root.facts.get("state") == "forgotten":
            return ""
        return f'`memory remember "…" --instead-of {short_id(root.id)}` corrects it.'
    if getattr(explained, "stage", "") == "recalled":
        return ""
    return f"`memory remember {_words(getattr(explained, 'text', ''))}` saves it."


def _after_forget(forgetting: "types.Forgetting") -> str:
    if forgetting.is_applied:
        return "`memory ingest` rebuilds what was derived from it; `memory up` does so by itself."
    if len(forgetting.target) > MOST_CHARS:
        return "the same with --apply erases it."
    return f"`memory forget {_words(forgetting.target)} --apply` erases it."


def after_table_export(table: str) -> str:
    """Returns where the meaning of the columns is said, and how to take everything."""
    meaning = f"`memory docs tables` says what the columns of {table} hold"
    return f"{meaning}; `memory data export --all FOLDER` writes every table."


def after_doctor(health: "types.Health", *, is_deep: bool) -> str:
    """Returns how to check more, or how to see that a problem is solved."""
    if not health.is_well:
        return "do what the lines below the failed checks say, then run `memory doctor` again."
    return "" if is_deep else "`memory doctor --deep` also reads every stored byte."


def after_hooks(changes: Mapping[str, Any], *, is_installing: bool) -> str:
    """Returns what follows a plan, a change or the state of the hooks."""
    if all(change.is_elsewhere for change in changes["files"]):
        return f"`memory hooks install`, once {HARNESS_NAMES} is installed on this machine."
    if is_installing:
        if changes["is_dry_run"] and any(change.is_change for change in changes["files"]):
            return "`memory hooks install` writes this."
        return "start a session; `memory hooks status` shows its event."
    is_incomplete = any(change.is_incomplete for change in changes["files"])
    return "`memory hooks install --dry-run` shows what would be added." if is_incomplete else ""


def _words(text: str) -> str:
    """Returns the text as one word of a shell."""
    line = " ".join(text.split())
    return shlex.quote(line if len(line) <= MOST_CHARS else f"{line[: MOST_CHARS - 1]}…")


SAY_A_DATE = 'say "remind me on Monday to …" in a session.'
NEXT_STEPS: Mapping[str, Callable[[Any], str]] = {
    "forget": _after_forget,
    "recall": _after_recall,
    "answer": _after_answer,
    "explain": _after_explain,
    "remember": lambda noted: f"`memory forget {noted.memory_id} --apply` removes it again.",
    "feedback": lambda _: "`memory ingest` ranks memories by it; `memory up` does so by itself.",
    "decide": lambda _: "`memory review list` shows what still waits.",
    "triggers": lambda answer: "" if answer.triggers else SAY_A_DATE,
}
