"""Opens what a triage needs of a store, and tells what waits in REVIEW.md that nobody can act on yet.

Stands beside `corpus.py`: it opens and reads; `triage/` decides, and the assets of that name carry out.
"""

from memory_assets.adapters.git_workspace import GitWorkspace
from memory_assets.distill.answers import AnswerStore
from memory_assets.files import replace_if_same
from memory_assets.reflect.proposals import section_of
from memory_assets.settings import Settings
from memory_assets.store import Store
from memory_assets.triage.human import put_back
from memory_assets.triage.run import REVIEW_MD, Rules, Surface, read_surface

GUARDED = ("preferences", "rules-conventions")
"""Categories whose sections take only the owner's own words."""


def rules_of(settings: Settings) -> Rules:
    """Returns the rules of a triage with these settings."""
    order = [section_of(category, settings.sections, settings.owner) for category in settings.sections]
    guarded = frozenset(section_of(category, settings.sections, settings.owner).casefold() for category in GUARDED)
    how = {"trust_after": settings.trust_after, "zone": settings.zone}
    return Rules(settings.clock(), settings.owner, settings.review_days, order, guarded, **how)


def workspace_of(store: Store) -> GitWorkspace:
    """Returns the workspace's repository, made where there is none."""
    workspace = GitWorkspace(store.workspace)
    workspace.prepare()
    return workspace


def triage_answers(store: Store) -> AnswerStore:
    """Returns the raw answers of models about proposals."""
    return AnswerStore(store.answers / "triage")


def lost_proposals(store: Store) -> tuple[str, ...]:
    """Returns the proposals that are gone from REVIEW.md, where these are more at once than somebody may have meant."""
    return _surface(store).reading.lost


def put_lost_back(store: Store) -> None:
    """Writes the lines of lost proposals into REVIEW.md again, as they were; what was changed beside them stays as it is."""
    workspace = GitWorkspace(store.workspace)
    with store.lock():
        surface, ours = _surface(store), workspace.at_head(REVIEW_MD)
        if surface.reading.lost and surface.content and ours:
            restored = put_back(
                ours.decode("utf-8", "replace"), surface.content.decode("utf-8", "replace"), surface.reading.lost
            )
            replace_if_same(store.workspace / REVIEW_MD, surface.content, restored.encode())


def review_warnings(store: Store) -> tuple[str, ...]:
    """Returns what is odd about REVIEW.md as it lies there: half saved, or emptied by more than somebody may have meant."""
    return _surface(store).reading.warnings


def _surface(store: Store) -> Surface:
    return read_surface(GitWorkspace(store.workspace), store.ledger, store.tables, rules_of(store.settings))
