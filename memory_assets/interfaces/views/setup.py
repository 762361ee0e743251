"""Renders hooks, models and their cost, and what was uninstalled."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory_assets.interfaces.views.lines import Parts, bold, cell, dim, line, table, warning
from memory_assets.schema.vocabulary import HARNESS_TITLES

if TYPE_CHECKING:
    from pathlib import Path

    from memory_assets.memory.hook_settings import HookChange
    from memory_assets.memory.models import Costs, DayCost, ModelOverview, Models, ProjectShare
    from memory_assets.memory.uninstall import Uninstalled

MOST_ROWS = 8
"""Most projects that are listed, so that the overview fits on one screen."""


def render_changes(report: dict[str, Any]) -> Parts:
    """Renders the state of each settings file of a harness, with a diff where it would change."""
    present = [change for change in report["files"] if not change.is_elsewhere]
    for change in present:
        yield from _render_change(change, report)
    yield from _render_absent([change for change in report["files"] if change.is_elsewhere])
    if not present:
        yield warning("No harness was found. Install one, then run `memory hooks install`.")


def _render_change(change: "HookChange", report: dict[str, Any]) -> Parts:
    last_event = report["last_heard"].get(change.harness)
    would = "would be " if report["is_dry_run"] and change.is_change else ""
    yield line((f"{would}{change.state}", _style_of(change)), f"  {change.path}")
    if change.note:
        yield dim(f"   {change.note}")
    if last_event and not change.is_change:
        yield dim(f"   last event {last_event:%Y-%m-%d %H:%M} UTC")
    if would:
        yield change.diff().rstrip("\n")


def _render_absent(changes: "Sequence[HookChange]") -> Parts:
    """Renders the harnesses that are not on this machine in one line."""
    if changes:
        names = ", ".join(HARNESS_TITLES[change.harness] for change in changes)
        yield dim(f"not on this machine  {names} (no settings, and no client on PATH)")


def _style_of(change: "HookChange") -> str:
    if change.has_failed:
        return "bold red"
    return "yellow" if change.needs_attention else "bold"


def render_models(models: "Models") -> Parts:
    """Renders the configured models and the others with a known price."""
    rows = []
    for model in models.models:
        unknown = "free" if model.name == "rules" else "?"
        prices = (_price(model.input_usd, unknown), _price(model.output_usd, unknown))
        rows.append(["✓" if model.is_used else "", model.name, *prices])
    yield table("", "model", "input", "output", rows=rows, numbers=("input", "output"))
    yield dim("US dollars for a million tokens. `rules` uses no model and sends nothing.")
    server = f"{models.url or 'the default'} (setting model_url)"
    yield dim(f"Any model of the Messages API can be named. Server: {server}.")
    yield bold(models.used, f" is configured ({models.origin}).")
    if models.reflector != models.used:
        yield bold(models.reflector, " reflects, reviews and answers.")


def render_overview(overview: "ModelOverview") -> Parts:
    """Renders the configured models, the machine's offers with prices, and what would be sent."""
    yield from _configured(overview)
    yield ""
    rows = []
    for offer in overview.offers:
        mark = "✓" if offer.is_ready else "–"
        price = _price(offer.usd, "no price known")
        rows.append([mark, offer.name, offer.state, offer.sent_to, price])
    yield table("", "this machine offers", "found", "read by", "what is due", rows=rows)
    yield dim(
        "Prices of the API; a subscription counts the use against its limits. No price known: "
        "--free, or MEMORY_MODEL_PRICES."
    )
    yield ""
    what = ": sessions that no model has read, reflections, reviews."
    yield bold(f"Due: {overview.calls:,} questions, about {overview.tokens:,} tokens", what)
    shares = [_share_cells(share) for share in overview.projects[:MOST_ROWS]]
    numbers = ("sessions", "questions", "short sessions", "tokens")
    yield table("project", *numbers, rows=shares, numbers=numbers)
    more = overview.projects[MOST_ROWS:]
    if more:
        sessions = sum(share.sessions for share in more)
        yield dim(f"and {len(more)} more projects with {sessions:,} sessions")
    yield dim(
        "A model is sent messages, tool calls and results cut at 200 characters, and images; "
        "secrets are masked (`memory docs model`)."
    )
    for offer in overview.ready:
        yield bold(offer.command, f"   allows that for these projects ({offer.sent_to})")
    exactly = "   counts the questions of each day and step exactly, and sends nothing"
    yield bold("memory model cost", exactly)


def render_model_question(overview: "ModelOverview") -> Parts:
    """Renders what a model would read, at which price, and the keys to answer with."""
    offer = overview.ready[0]
    title = offer.title or offer.name
    projects = [share.project for share in overview.projects]
    more = f" and {len(projects) - MOST_ROWS} more" if len(projects) > MOST_ROWS else ""
    names = ", ".join(projects[:MOST_ROWS]) + more
    price = f"API price: {_price(offer.usd, 'not known')}"
    if offer.kind == "harness":
        payer = f"your {offer.plan} plan" if offer.plan else "the account of its login"
        price += f"; it counts against {payer}"
    sessions = sum(share.sessions for share in overview.projects)
    what = f"{sessions:,} sessions: {overview.calls:,} questions, {overview.tokens:,} tokens"
    yield ""
    yield f"A model keeps most of what is worth keeping. Nothing was sent yet. {title} would read"
    yield f"{what}; {price}. Read by {offer.sent_to}; secrets are masked first."
    yield bold(f"[y] use {title} for {names}  [l] choose  [n] not now")


def render_model_choices(overview: "ModelOverview") -> Parts:
    """Renders the offers that are ready, each with the key that chooses it."""
    for number, offer in enumerate(overview.ready, 1):
        price = _price(offer.usd, "no price known")
        yield f"[{number}] {offer.title or offer.name}: {offer.state}; {price}; {offer.sent_to}"
    yield "[n] not now"


def _share_cells(share: "ProjectShare") -> list[str]:
    counts = (share.sessions, share.calls, share.short, share.tokens)
    return [share.project, *(f"{count:,}" for count in counts)]


def render_choice(overview: "ModelOverview", path: "Path | None") -> Parts:
    """Renders the chosen models, the projects that they may read, and how to extract the past."""
    yield from _configured(overview)
    if path is not None:
        yield dim(f"Written into {path}.")
    if overview.sent_to and not overview.projects:
        limit = "`memory model use NAME --project PROJECT` allows one alone"
        yield f"No project is known yet; every project that is found will be sent. {limit}."
    elif overview.observer == "agent":
        yield "In your agent, the command or tool memory_distill reads one session a call."
    elif overview.sent_to and overview.calls:
        backfill = f"`memory data backfill` ({overview.calls:,} questions)"
        yield f"New sessions are extracted with it. For past ones: {backfill}."


def _configured(overview: "ModelOverview") -> Parts:
    origin = f"({overview.origin})"
    if not overview.sent_to:
        rules = "rules extract the facts, and nothing leaves this machine."
        yield bold("No model is used", f" {origin}: {rules}")
        return
    reflecting = f"{overview.reflector} reflects, reviews and answers."
    yield bold(overview.observer, f" extracts facts {origin}; {reflecting}")
    allowed = [share.project for share in overview.projects if share.may_send]
    yield f"Sent to {overview.sent_to}: sessions of {cell(allowed) or 'no project'}."
    if overview.waiting:
        projects = cell(list(overview.waiting))
        yield warning(f"Not sent, until you run `memory model add PROJECT`: {projects}.")


def render_costs(costs: "Costs") -> Parts:
    """Renders what a backfill would cost: each day with open questions, and the sum."""
    numbers = ("windows", "calls", "stored", "tokens in", "out", "now", "in batches")
    rows = ((str(day.day), *_cost_cells([day])) for day in costs.days if day.calls > day.answered)
    rows_of_days = table("day", *numbers, rows=rows, numbers=numbers)
    rows_of_days.add_section()
    rows_of_days.add_row("all windows", *_cost_cells(costs.days), style="bold")
    for step in costs.others:
        tokens = (f"{step.input_tokens:,}", f"{step.output_tokens:,}")
        counts = ("", f"{step.calls:,}", "", *tokens, _price(step.usd), "")
        rows_of_days.add_row(step.step, *counts, style="dim" if step.is_each else "")
    yield rows_of_days
    in_all = f"In all {costs.calls:,} questions for {_price(costs.usd)}"
    yield bold(in_all, "; a run asks for at most MEMORY_MODEL_MOST_USD.")
    yield dim(f"Estimated for {costs.model}; ${costs.spent_usd:.2f} spent so far on all answers.")
    if not costs.has_price:
        unknown = f"No price is known for {costs.model}"
        yield warning(f"{unknown}; set it in MEMORY_MODEL_PRICES (`memory docs model`).")


def _cost_cells(days: "Sequence[DayCost]") -> list[str]:
    names = ("windows", "calls", "answered", "input_tokens", "output_tokens")
    counts = [f"{_sum_of(days, name):,}" for name in names]
    return counts + [_price(_sum_of(days, name)) for name in ("usd", "usd_in_batches")]


def _sum_of(days: "Sequence[DayCost]", name: str) -> Any:
    """Returns the sum of a field; None where it is unknown for one of the days."""
    values = [getattr(day, name) for day in days]
    return None if None in values else sum(values)


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
        remaining = ", ".join(removal.erased.left)
        if remaining:
            remaining = f"; left, because this program did not write it: {remaining}"
        yield bold("deleted", f"  {removal.erased.path}{remaining}")
        if removal.erased.objects:
            objects = f"The objects in {removal.erased.objects} stay"
            yield warning(f"{objects}: delete that prefix with the tools of its server.")
    others = "Backups, exports and pushed remotes are yours to delete."
    yield dim(f"Settings stay in {removal.settings}. {others}")
    yield dim("The program itself: `pip uninstall memory_assets`, or delete the checkout.")
