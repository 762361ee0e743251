"""Renders the provenance of a memory, why something is not remembered, and upcoming dates."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text
from rich.tree import Tree

from memory_assets.interfaces.views.lines import Parts, bold, cell, dim, line, warning
from memory_assets.text.short_ids import is_message_id, short_id

if TYPE_CHECKING:
    from memory_assets.memory import verb_answers as types

NO_RECORDS = {
    "note": "Saved directly: the chain ends at its line in the ledger.",
    "file": "Remembered by the harness itself: the chain ends at its file.",
    "shared memory": "Said in sessions of others, which are not shown.",
    "shared proposal": "It waits for a decision.",
}
"""Kind of origin without a record in a transcript → what is said instead."""


def render_explained(explained: "types.Explanation | types.WhyNot | types.Opened") -> Parts:
    """Renders the provenance down to the records, an exchange, or the stage that the words did not
    pass.
    """
    if explained.has_origin is None:
        return render_opened(explained)
    return _why_not(explained) if explained.has_origin is False else _chain(explained)


def render_opened(opened: "types.Opened") -> Parts:
    """Renders each exchange: every message after its speaker and record, the opened one marked."""
    for exchange in opened.exchanges:
        id = exchange.id if is_message_id(exchange.id) else short_id(exchange.id)
        yield bold(id, f" {exchange.fact}".rstrip())
        days = [f"{message.event_at:%Y-%m-%d}" for message in exchange.messages[:1]]
        session = f"session {exchange.session}" if exchange.session else ""
        yield dim(", ".join(filter(None, [*days, exchange.project, session])))
        for message in exchange.messages:
            mark = "→" if message.is_match else " "
            speaker = (f"{message.said_by}: ", "bold" if message.is_match else "")
            yield line(f"{mark} ", (f"[{message.line}] ", "dim"), speaker, message.text)


def _chain(explanation: "types.Explanation") -> Parts:
    tree = Tree(_step(explanation.root))
    _grow(tree, explanation.root.behind)
    yield tree
    records = len(explanation.records)
    root = explanation.root
    if not explanation.is_verified:
        changed = "A record no longer holds what was quoted from it; see the lines in red."
        yield Text(changed, style="bold red")
    elif records:
        verified = f"{records} archived records verified: bytes unchanged, quotes found."
        yield Text(verified, style="green")
    elif root.facts.get("is_hand_written"):
        yield Text("Written by hand: the chain ends at its commit.", style="green")
    elif root.kind in NO_RECORDS:
        yield Text(NO_RECORDS[root.kind], style="green")
    else:
        yield warning("There is no archived record behind it.")


def _grow(tree: Tree, steps: Iterable["types.ProvenanceStep"]) -> None:
    for step in steps:
        _grow(tree.add(_step(step)), step.behind)


def _step(step: "types.ProvenanceStep") -> Text:
    if step.kind == "record":
        return _record(step)
    words = bold(step.kind, f" {step.id}")
    for name, value in step.facts.items():
        if value not in (None, ""):
            label = name.removeprefix("is_").replace("_", " ")
            words.append(f"\n{label}: {cell(value)}", style="dim")
    return words


def _record(step: "types.ProvenanceStep") -> Text:
    """Returns the place of the record, and whether its bytes are unchanged."""
    facts = step.facts
    state = ("\n✗ bytes changed", "bold red")
    if facts["is_unchanged"]:
        state = ("\n✓ bytes unchanged", "green")
    span = f"bytes {facts['byte_from']:,} to {facts['byte_to']:,} of the transcript"
    where = (f"\n{span}, sha256 {facts['sha256'][:16]}…", "dim")
    holds = ", ✓ holds the quote" if facts["quote"] and facts["holds_quote"] else ""
    place = f" {facts['line']} of {facts['path']}"
    return line(("record", "bold"), place, where, state, (holds, "green"))


def _why_not(reason: "types.WhyNot") -> Parts:
    if not reason.is_meant:
        yield "Nothing says this. The nearest thing said, perhaps not what you mean:"
    yield bold(reason.stage, f": {reason.because}")
    if reason.says:
        memory = f"{short_id(reason.memory_id)} " if reason.memory_id else ""
        yield f"   {memory}{reason.says}"
    if reason.merged_into:
        yield f"   merged into: {reason.merged_into}"
    scores = {"score": reason.score, "last result": reason.last_in}
    texts = [f"{name} {score:.3f}" for name, score in scores.items() if score]
    if texts:
        yield dim(f"   {', '.join(texts)}")
    if reason.path:
        records = f", records {', '.join(map(str, reason.lines))}" if reason.lines else ""
        yield dim(f"   session {reason.session or '-'}, {reason.path}{records}")


def render_triggers(triggers: "types.Triggers") -> Parts:
    """Renders each date with its sentence, its source and what to recall with it."""
    if not triggers.triggers:
        yield "No date comes up."
    for trigger in triggers.triggers:
        yield _trigger(trigger)


def _trigger(trigger: "types.Trigger") -> Tree:
    words = f" [{trigger.project}] said {trigger.said_at:%Y-%m-%d} as '{trigger.expression}'"
    where = (f"{words} · {trigger.path}:{trigger.line}", "dim")
    style = "bold yellow" if trigger.state == "due" else "bold"
    tree = Tree(line((f"{trigger.trigger_on:%a %Y-%m-%d} ", style), trigger.text, where))
    for text in trigger.memories:
        tree.add(dim(text))
    return tree
