"""Opens the models of both roles, and decides what they may be sent. Without a setting that names a
model, none is opened.

The observer extracts facts and rewrites questions. The reflector condenses, reviews and answers
with citations. Every request passes `MaskedModel`, because it may contain text that a person typed
or a file that a person wrote; text from the store is masked already. What belongs to a project that
the setting `model_projects` does not name is never sent.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import get_args

import polars as pl

from memory_assets.errors import ModelError, ModelSetupError
from memory_assets.schema.protocols import Batch, Model, ModelAnswer, ModelRequest
from memory_assets.schema.setting_types import ALL_PROJECTS
from memory_assets.services.models.prices import check_price, estimate_of, prices_of
from memory_assets.stages.deliver.hook import HOOKS_OFF
from memory_assets.store.settings import NOT_ASKED, Role, Settings, harness_of
from memory_assets.store.store import Store
from memory_assets.text.files import make_folder


@dataclass(frozen=True)
class MaskedModel:
    """A model whose requests are masked: no secrets and no forgotten words in prompt and material;
    images are not masked.
    """

    model: Model
    mask: Callable[[str], str]
    """Returns the text with secrets and forgotten words as asterisks."""
    check: Callable[[ModelRequest], None] = lambda _: None
    """Raises `ModelSetupError` for a request that alone costs more than the settings allow, or
    whose price is unknown.
    """

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Returns the answer to the masked request; raises `ModelError` when there is none."""
        self.check(request)
        return self.model.ask(self.masked(request))

    def submit(self, requests: Mapping[str, ModelRequest]) -> Batch:
        """Submits a batch of masked requests."""
        for request in requests.values():
            self.check(request)
        masked_requests = {name: self.masked(request) for name, request in requests.items()}
        return self.model.submit(masked_requests)

    def batch(self, batch_id: str) -> Batch:
        """Returns the present state of the batch; raises `ModelError` when the provider does not
        know it.
        """
        return self.model.batch(batch_id)

    def batches(self, since: datetime) -> Iterator[Batch]:
        """Yields the batches submitted since the moment, the latest first."""
        return self.model.batches(since)

    def results(self, batch_id: str) -> Iterator[tuple[str, ModelAnswer | ModelError]]:
        """Yields the name and the answer, or error, of each question of an ended batch."""
        return self.model.results(batch_id)

    def masked(self, request: ModelRequest) -> ModelRequest:
        """Returns the request as it is sent."""
        system = self.mask(request.system)
        return replace(request, system=system, material=self.mask(request.material))


def open_model(
    store: Store,
    role: Role = "observer",
    *,
    timeout_seconds: float | None = None,
    retries: int | None = None,
) -> MaskedModel | None:
    """Returns the configured model of the role, or None for the rules and for agents.

    A key or a harness on this machine is not consent: nothing is sent unless a setting names a
    model.
    """
    settings = store.settings
    name = settings.model_of(role)
    if name in NOT_ASKED:
        return None
    seconds = settings.model_timeout_seconds if timeout_seconds is None else timeout_seconds
    harness = harness_of(name)
    if harness is not None:
        return masked(_open_harness(harness, name, store, seconds), store)
    from memory_assets.adapters.anthropic_model import AnthropicModel

    retries = settings.model_retries if retries is None else retries
    url = settings.url_of(role)
    model = AnthropicModel(name, url=url, timeout_seconds=seconds, retries=retries)
    return masked(model, store)


def _open_harness(harness: str, name: str, store: Store, timeout_seconds: float) -> Model:
    """Returns the person's own harness as a model; all processes of the store share its locks."""
    from memory_assets.adapters.claude_code_model import ClaudeCodeModel
    from memory_assets.adapters.codex_model import CodexModel

    adapter = ClaudeCodeModel if harness == "claude-code" else CodexModel
    lock = make_folder(store.answers) / "harness.lock"
    return adapter(
        name,
        lock,
        timeout_seconds=timeout_seconds,
        environ={HOOKS_OFF: "1"},
        at_once=store.settings.model_at_once,
        inherits_keys=store.settings.model_inherits_keys,
    )


def sendable(rows: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Returns the rows that may be sent to a model: those of its projects, and notes without a
    project.
    """
    if ALL_PROJECTS in settings.model_projects:
        return rows
    project = pl.col("project")
    return rows.filter(project.is_in([*settings.model_projects, ""]) | project.is_null())


def waiting_projects(store: Store) -> tuple[str, ...]:
    """Returns the projects with sessions that the configured models may not be sent, by name."""
    if not store.settings.uses_models:
        return ()
    return tuple(name for name in projects_of(store) if not store.settings.may_send(name))


def projects_of(store: Store) -> list[str]:
    """Returns the projects of all sessions, by name."""
    windows = store.tables.read("windows", columns=["project"])
    return windows["project"].unique().sort().to_list()


def withheld_lines(store: Store) -> frozenset[str]:
    """Returns the texts of the lines of MEMORY.md that were learnt in a project that models may not
    be sent.
    """
    if ALL_PROJECTS in store.settings.model_projects:
        return frozenset()
    lines = store.tables.read("entries", columns=["text", "project"])
    return frozenset(lines["text"]) - frozenset(sendable(lines, store.settings)["text"])


def sendable_memory_md(store: Store) -> str:
    """Returns MEMORY.md without the lines that models may not be sent."""
    withheld = withheld_lines(store)
    lines = store.memory_md().splitlines(keepends=True)
    return "".join(line for line in lines if not any(text in line for text in withheld))


def masked(model: Model, store: Store) -> MaskedModel:
    """Returns the model with requests masked as capture masks text: secrets and forgotten words."""
    # Importing it takes 0.2 s, which is only needed with a model.
    from memory_assets.stages.capture.tombstones import tombstones_of
    from memory_assets.text.masking.redact import mask_text

    configured = {store.settings.model_of(role) for role in get_args(Role)}

    def check(request: ModelRequest) -> None:
        if model.name in configured:
            check_price(model.name, store.settings)
        tokens = request.estimated_tokens()
        usd = estimate_of(model.name, tokens, 0, prices_of(store.settings), in_batches=False)
        if usd is not None and usd > store.settings.model_most_usd:
            raise ModelSetupError(
                f"A question to {model.name} costs about ${usd:.4f}; MEMORY_MODEL_MOST_USD allows "
                f"${store.settings.model_most_usd:.2f}. Nothing was sent."
            )

    def mask(text: str) -> str:
        return tombstones_of(store).mask_text(mask_text(text)[0])

    return MaskedModel(model, mask, check)
