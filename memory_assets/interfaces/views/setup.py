"""Renders hooks, models and their cost, and what was uninstalled."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory_assets.interfaces.views.lines import Parts, bold, cell, dim, line, table, warning

if TYPE_CHECKING:
    from pathlib import Path

    from memory_assets.memory.hook_settings import HookChange
    from memory_assets.memory.models import (
        Costs,
        DayCost,
        ModelOffer,
        ModelOverview,
        Models,
        ProjectShare,
    )
    from memory_assets.memory.uninstall import Uninstalled

MOST_ROWS = 8
"""Projects that are listed, so that the overview fits on one screen."""


def render_changes(report: dict[str, Any]) -> Parts:
    """Renders the state of each settings file of a harness, with a diff where it would change."""
    for change in report["files"]:
        last_event = report["last_heard"].get(change.harness)
        would = "would be " if report["is_dry_run"] and change.is_change else ""
        yield line((f"{would}{change.state}", _style_of(change)), f"  {change.path}")
        if change.note:
            yield dim(f"   {change.note}")
        if last_event and not change.is_change:
            yield dim(f"   last event {last_event:%Y-%m-%d %H:%M} UTC")
        if would:
            yield change.diff().rstrip("\n")


def _style_of(change: "HookChange") -> str:
    if change.has_failed:
        return "bold red"
    return "yellow" if change.needs_attention else "bold"


def render_models(models: "Models") -> Parts:
    """Renders the configured models and the others with a known price."""
    rows = []
    for model in models.models:
        prices = (
            _price(usd, "free" if model.name == "rules" else "?")
            for usd in (model.input_usd, model.output_usd)
        )
        rows.append(["✓" if model.is_used else "", model.name, *prices])
    yield table("", "model", "input", "output", rows=rows, numbers=("input", "output"))
    yield dim("US dollars for a million tokens. `rules` uses no model and sends nothing.")
    yield dim(
        f"Any model of the Messages API can be named. Server: {models.url or 'the default'} "
        "(setting model_url)."
    )
    yield bold(models.used, f" is configured ({models.origin}).")
    if models.reflector != models.used:
        yield bold(models.reflector, " reflects, reviews and answers.")


def render_overview(overview: "ModelOverview") -> Parts:
    """Renders the configured models, what this machine offers at which price, and what would be
    sent.
    """
    yield from _configured(overview)
    yield ""
    ready = [("✓" if offer.is_ready else "–", offer) for offer in overview.offers]
    rows = [
        [mark, offer.name, offer.state, offer.sent_to, _offered(offer)] for mark, offer in ready
    ]
    yield table("", "this machine offers", "found", "read by", "what is due", rows=rows)
    yield dim(
        "Prices of the API; a subscription counts the use against its limits. No price "
        "known: --free, or MEMORY_MODEL_PRICES."
    )
    yield ""
    what = ": sessions that no model has read, reflections, reviews."
    yield bold(f"Due: {overview.calls:,} questions, about {overview.tokens:,} tokens", what)
    shares = [_share_cells(share) for share in overview.projects[:MOST_ROWS]]
    numbers = ("sessions", "questions", "short sessions", "tokens")
    yield table("project", *numbers, rows=shares, numbers=numbers)
    more = overview.projects[MOST_ROWS:]
    if more:
        yield dim(
            f"and {len(more)} more projects with {sum(share.sessions for share in more):,} sessions"
        )
    yield dim(
        "Sent are messages, tool calls and results cut at 300 characters, and images; "
        "secrets are masked (docs/model.md)."
    )
    for offer in overview.offers:
        if offer.is_ready:
            yield line(
                (offer.command, "bold"), f"   allows that for these projects ({offer.sent_to})"
            )
    yield line(
        ("memory model cost", "bold"),
        "   counts the questions of each day and step exactly, and sends nothing",
    )


def _share_cells(share: "ProjectShare") -> list[str]:
    counts = (share.sessions, share.calls, share.short, share.tokens)
    return [share.project, *(f"{count:,}" for count in counts)]


def render_choice(overview: "ModelOverview", path: "Path | None") -> Parts:
    """Renders the models that were chosen, the projects that they may be sent, and how past
    sessions are extracted.
    """
    yield from _configured(overview)
    if path is not None:
        yield dim(f"Written into {path}.")
    if overview.sent_to and not overview.projects:
        yield (
            "No project is known yet. Run `memory up`; then `memory model add PROJECT` allows "
            "what it found."
        )
    elif overview.sent_to and overview.calls:
        yield (
            "New sessions are extracted with it. For past ones: `memory data backfill` "
            f"({overview.calls:,} questions)."
        )


def _configured(overview: "ModelOverview") -> Parts:
    if not overview.sent_to:
        yield bold(
            "No model is used",
            f" ({overview.origin}): rules extract the facts, and nothing leaves this machine.",
        )
        return
    yield bold(
        overview.observer,
        f" extracts facts ({overview.origin}); {overview.reflector} reflects, reviews and answers.",
    )
    allowed = [share.project for share in overview.projects if share.may_send]
    yield f"Sent to {overview.sent_to}: sessions of {cell(allowed) or 'no project'}."
    if overview.waiting:
        yield warning(
            f"Not sent, until you run `memory model add PROJECT`: {cell(list(overview.waiting))}."
        )


def _offered(offer: "ModelOffer") -> str:
    return _price(offer.usd, "no price known")


def render_costs(costs: "Costs") -> Parts:
    """Renders what a backfill would cost: each day with open questions, and the sum."""
    numbers = ("windows", "calls", "stored", "tokens in", "out", "now", "in batches")
    rows = ((str(day.day), *_cost_cells([day])) for day in costs.days if day.calls > day.answered)
    rows_of_days = table("day", *numbers, rows=rows, numbers=numbers)
    rows_of_days.add_section()
    rows_of_days.add_row("all windows", *_cost_cells(costs.days), style="bold")
    for step in costs.others:
        counts = [
            "",
            f"{step.calls:,}",
            "",
            f"{step.input_tokens:,}",
            f"{step.output_tokens:,}",
            _price(step.usd),
            "",
        ]
        rows_of_days.add_row(step.step, *counts, style="dim" if step.is_each else "")
    yield rows_of_days
    yield bold(
        f"In all {costs.calls:,} questions for {_price(costs.usd)}",
        "; a run asks for at most MEMORY_MODEL_MOST_USD.",
    )
    yield dim(f"Estimated for {costs.model}; ${costs.spent_usd:.2f} spent so far on all answers.")
    if not costs.has_price:
        yield warning(
            f"No price is known for {costs.model}; set it in MEMORY_MODEL_PRICES (docs/model.md)."
        )


def _cost_cells(days: "Sequence[DayCost]") -> list[str]:
    names = ("windows", "calls", "answered", "input_tokens", "output_tokens")
    sums = [_sum_of(days, name) for name in names]
    prices = [[day.usd for day in days], [day.usd_in_batches for day in days]]
    return [
        *(f"{n:,}" for n in sums),
        *(_price(None if None in usd else sum(filter(None, usd))) for usd in prices),
    ]


def _sum_of(days: "Sequence[DayCost]", name: str) -> int:
    return sum(getattr(day, name) for day in days)


def _price(usd: float | None, unknown: str = "?") -> str:
    return unknown if usd is None else f"${usd:.2f}"


def render_uninstalled(removal: "Uninstalled") -> Parts:
    """Renders what was removed from each harness and from the machine, and what stays."""
    for change in removal.hooks:
        would = "would be " if removal.is_dry_run and change.is_change else ""
        yield line((f"{would}{change.state}", "bold"), f"  {change.path}")
        if change.is_change and change.note:
            yield dim(f"   {change.note}")
    for removed in filter(None, removal.of_extras.values()):
        would = "would be " if removal.is_dry_run and removed.text else ""
        yield line((f"{would}{removed.state}", "bold"), f"  {removed.path}")
    if removal.erased is None:
        yield f"The memory stays in {removal.data}; `memory uninstall --erase` deletes it."
    else:
        remaining = (
            f"; left, because this program did not write it: {', '.join(removal.erased.left)}"
            if removal.erased.left
            else ""
        )
        yield line(("deleted", "bold"), f"  {removal.erased.path}{remaining}")
        if removal.erased.objects:
            yield warning(
                f"The objects in {removal.erased.objects} stay: delete that prefix with the "
                "tools of its server."
            )
    yield dim(
        f"Settings stay in {removal.settings}. Backups, exports and pushed remotes are yours "
        "to delete."
    )
    yield dim("The program itself: `pip uninstall memory_assets`, or delete the checkout.")
