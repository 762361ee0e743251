"""Renders hooks, models, their cost, and settings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory_assets.interfaces.views.lines import Parts, bold, cell, dim, line, table, warning
from memory_assets.stages.deliver.install import FAILED, LEFT, OUTDATED

if TYPE_CHECKING:
    from memory_assets.services.configuration import Models, Setting
    from memory_assets.services.model_questions import Cost, Costs

STYLES = {FAILED: "bold red", LEFT: "yellow", OUTDATED: "yellow"}


def render_changes(found: dict[str, Any]) -> Parts:
    """Renders the state of each settings file of a harness, with a diff where it would change."""
    for change in found["files"]:
        heard = found["last_heard"].get(change.harness)
        would = "would be " if found["is_dry_run"] and change.is_change else ""
        yield line((f"{would}{change.state}", STYLES.get(change.state, "bold")), f"  {change.path}")
        if change.note:
            yield dim(f"   {change.note}")
        if heard and not change.is_change:
            yield dim(f"   last event {heard:%Y-%m-%d %H:%M} UTC")
        if would:
            yield change.diff().rstrip("\n")


def render_models(models: "Models") -> Parts:
    """Renders the configured model and the others with a known price."""
    made = table("", "model", "input", "output", numbers=("input", "output"))
    for one in models.models:
        prices = ["?" if usd is None else f"${usd:.2f}" for usd in (one.input_usd, one.output_usd)]
        made.add_row("✓" if one.is_used else "", one.name, *(("free", "free") if one.name == "rules" else prices))
    yield made
    yield dim("US dollars for a million tokens. `rules` uses no model and sends nothing.")
    yield dim(f"Any model of the Messages API can be named. Server: {models.url or 'the default'} (setting model_url).")
    yield bold(models.used, f" is configured ({models.origin}).")


def render_config(settings: "Sequence[Setting]") -> Parts:
    """Renders each setting with its value, default and origin."""
    made = table("setting", "value", "default", "from")
    for one in settings:
        is_default = one.value == one.default
        made.add_row(one.name, cell(one.value), "" if is_default else cell(one.default), one.origin)
    yield made
    if len(settings) == 1:
        yield dim(settings[0].about)


def render_costs(costs: "Costs") -> Parts:
    """Renders what a backfill would cost: a line for each day with open questions, and the sum."""
    numbers = ("windows", "calls", "stored", "tokens in", "out", "now", "in batches")
    made = table("day", *numbers, numbers=numbers)
    for day in costs.days:
        if day.calls > day.answered:
            made.add_row(str(day.day), *_cost_cells([day]))
    made.add_section()
    made.add_row("all", *_cost_cells(costs.days), style="bold")
    yield made
    yield dim(f"Estimated for {costs.model}; ${costs.spent_usd:.2f} spent so far on all answers.")
    if not costs.has_price:
        yield warning(f"The price of {costs.model} is unknown; set it in MEMORY_MODEL_PRICES.")


def _cost_cells(days: "Sequence[Cost]") -> list[str]:
    names = ("windows", "calls", "answered", "input_tokens", "output_tokens")
    sums = [sum(getattr(day, name) for day in days) for name in names]
    prices = [[day.usd for day in days], [day.usd_in_batches for day in days]]
    return [*(f"{n:,}" for n in sums), *("?" if None in p else f"${sum(filter(None, p)):.2f}" for p in prices)]
