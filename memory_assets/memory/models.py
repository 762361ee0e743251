"""The models: which are offered, which are chosen, what they may be sent, and what they cost."""

from collections.abc import Sequence
from datetime import date

from memory_assets.errors import QuestionError
from memory_assets.memory.agent import MemoryAgent
from memory_assets.runs import model_costs
from memory_assets.runs.days import days_between
from memory_assets.schema.setting_types import ALL_PROJECTS
from memory_assets.services.health.status import keep_status
from memory_assets.services.models.model_offers import ModelOffer, ModelOverview, ProjectShare
from memory_assets.services.models.model_questions import Costs, DayCost
from memory_assets.services.models.open_models import projects_of
from memory_assets.services.settings import configuration
from memory_assets.services.settings.configuration import Models, list_models
from memory_assets.store.settings import changed_settings
from memory_assets.store.store import Store


def overview() -> ModelOverview:
    """Returns the configured models, what this machine offers, and what would be sent."""
    return model_costs.overview(_present_store(), list_models().origin)


def undecided_overview() -> ModelOverview | None:
    """Returns the overview while nobody has chosen or declined a model that is ready; else None."""
    origin = list_models().origin
    agent = MemoryAgent()
    if origin != "default" or agent.is_sample or not agent.exists:
        return None
    present = model_costs.overview(agent.store, origin)
    return present if present.ready and present.calls else None


def use_model(
    name: str,
    projects: Sequence[str] | None = None,
    *,
    is_for_all: bool = False,
    reflector: str | None = None,
    url: str | None = None,
    is_free: bool = False,
) -> Models:
    """Chooses a model, and allows that it is sent the projects.

    By default these are the present projects; with `is_for_all`, or while no project is known, all
    of them and later ones.
    """
    allowed = list(projects or projects_of(_present_store()))
    if is_for_all or not allowed:
        allowed = [ALL_PROJECTS]
    models = configuration.use_model(name, allowed, reflector=reflector, url=url, is_free=is_free)
    _keep_status()
    return models


def add_projects(projects: Sequence[str]) -> Models:
    """Allows that the configured models are sent these projects, too.

    Raises `QuestionError` for an unknown project.
    """
    present = projects_of(_present_store())
    unknown = [name for name in projects if name not in present]
    if unknown:
        names = ", ".join(present) or "none"
        raise QuestionError(f"There is no project '{unknown[0]}'; there are {names}.")
    models = configuration.add_projects(projects)
    _keep_status()
    return models


def costs_of(
    first: date | None, last: date | None, model: str | None, reflector: str | None
) -> Costs:
    """Returns the calls and the price of asking about the days.

    `model` and `reflector` replace the configured models.
    """
    store = MemoryAgent().store
    options = {"model": model, "reflector_model": reflector}
    changes = {name: value for name, value in options.items() if value}
    store = Store(changed_settings(store.settings, changes), store.root)
    days = days_between(store.tables, first, last)
    return model_costs.costs_of(store, map(str, days))


def _keep_status() -> None:
    """Prepares the status again, which names the projects that wait."""
    agent = MemoryAgent()
    if agent.exists:
        keep_status(agent.store, is_sample=agent.is_sample)


def _present_store() -> Store:
    """Returns the store, or a store without any table if there is none yet."""
    agent = MemoryAgent()
    return agent.store if agent.exists else Store(agent.settings, agent.settings.data)
