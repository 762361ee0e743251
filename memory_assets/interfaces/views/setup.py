"""Renders hooks, models, their cost, and settings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory_assets.interfaces.views.lines import Parts, bold, cell, dim, line, table, warning
from memory_assets.stages.deliver.install import FAILED, LEFT, OUTDATED

if TYPE_CHECKING:
    from memory_assets.services.configuration import Models, Setting
    from memory_assets.services.model_questions import Costs, DayCost

STYLES = {FAILED: "bold red", LEFT: "yellow", OUTDATED: "yellow"}


def render_changes(found: dict[str, Any]) -> Parts:
    """Renders the state of each settings file of a harness, with a diff where it would change."""
    for change in found["files"]:
        last_event = found["last_heard"].get(change.harness)
        would = "would be " if found["is_dry_run"] and change.is_change else ""
        yield line((f"{would}{change.state}", STYLES.get(change.state, "bold")), f"  {change.path}")
        if change.note:
            yield dim(f"   {change.note}")
        if last_event and not change.is_change:
            yield dim(f"   last event {last_event:%Y-%m-%d %H:%M} UTC")
        if would:
            yield change.diff().rstrip("\n")


def render_models(models: "Models") -> Parts:
    """Renders the configured model and the others with a known price."""
    rows = []
    for one in models.models:
        prices = (_price(usd, "free" if one.name == "rules" else "?") for usd in (one.input_usd, one.output_usd))
        rows.append(["✓" if one.is_used else "", one.name, *prices])
    yield table("", "model", "input", "output", rows=rows, numbers=("input", "output"))
    yield dim("US dollars for a million tokens. `rules` uses no model and sends nothing.")
    yield dim(f"Any model of the Messages API can be named. Server: {models.url or 'the default'} (setting model_url).")
    yield bold(models.used, f" is configured ({models.origin}).")


def render_config(settings: "Sequence[Setting]") -> Parts:
    """Renders each setting with its value, default and origin."""
    rows = ((s.name, cell(s.value), "" if s.value == s.default else cell(s.default), s.origin) for s in settings)
    yield table("setting", "value", "default", "from", rows=rows)
    if len(settings) == 1:
        yield dim(settings[0].about)


def render_costs(costs: "Costs") -> Parts:
    """Renders what a backfill would cost: each day with open questions, and the sum."""
    numbers = ("windows", "calls", "stored", "tokens in", "out", "now", "in batches")
    rows = ((str(day.day), *_cost_cells([day])) for day in costs.days if day.calls > day.answered)
    made = table("day", *numbers, rows=rows, numbers=numbers)
    made.add_section()
    made.add_row("all", *_cost_cells(costs.days), style="bold")
    yield made
    yield dim(f"Estimated for {costs.model}; ${costs.spent_usd:.2f} spent so far on all answers.")
    if not costs.has_price:
        yield warning(f"The price of {costs.model} is unknown; set it in MEMORY_MODEL_PRICES.")


def _cost_cells(days: "Sequence[DayCost]") -> list[str]:
    names = ("windows", "calls", "answered", "input_tokens", "output_tokens")
    sums = [sum(getattr(day, name) for day in days) for name in names]
    prices = [[day.usd for day in days], [day.usd_in_batches for day in days]]
    return [*(f"{n:,}" for n in sums), *(_price(None if None in usd else sum(filter(None, usd))) for usd in prices)]


def _price(usd: float | None, unknown: str = "?") -> str:
    return unknown if usd is None else f"${usd:.2f}"
