"""Which model observes, rewrites questions and reflects: none by default, and only ever one that the settings name.

Every request passes `MaskedModel` on its way out, whoever made it: what was typed, or lies in a file that a person writes, is
masked as transcripts are, and what comes from the store, where it is masked already, stays as it is.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from memory_assets.errors import ModelError
from memory_assets.schema.protocols import Batch, Model, ModelAnswer, ModelRequest
from memory_assets.stages.capture.tombstones import tombstones_of
from memory_assets.store.settings import RULES
from memory_assets.store.store import Store

MaskText = Callable[[str], str]


@dataclass(frozen=True)
class MaskedModel:
    """A model that is sent no secret and nothing that is forgotten: prompt and material are masked, pictures are not."""

    model: Model
    mask: MaskText
    """Returns the text with asterisks for what nobody may read; a text without any comes back as it is."""

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Returns the answer to the masked request; raises `ModelError` when there is none."""
        return self.model.ask(self._masked(request))

    def submit(self, requests: Mapping[str, ModelRequest]) -> Batch:
        """Hands in a batch of masked requests."""
        return self.model.submit({name: self._masked(request) for name, request in requests.items()})

    def batch(self, batch_id: str) -> Batch:
        """Returns the batch as it stands now; raises `ModelError` when the provider does not know it."""
        return self.model.batch(batch_id)

    def batches(self, since: datetime) -> Iterator[Batch]:
        """Yields the batches handed in since the moment, the latest first."""
        return self.model.batches(since)

    def results(self, batch_id: str) -> Iterator[tuple[str, ModelAnswer | ModelError]]:
        """Yields the name and the answer of each question of an ended batch, or why there is none."""
        return self.model.results(batch_id)

    def _masked(self, request: ModelRequest) -> ModelRequest:
        return replace(request, system=self.mask(request.system), material=self.mask(request.material))


def open_model(store: Store, *, timeout_seconds: float | None = None, retries: int | None = None) -> MaskedModel | None:
    """Returns the model that the store's settings name, or None for the rules; with less patience where somebody is waiting.

    A key in the environment is not consent: nothing is sent anywhere unless a setting says so.
    """
    settings = store.settings
    if settings.model == RULES:
        return None
    from memory_assets.adapters.anthropic_model import AnthropicModel

    model = AnthropicModel(
        settings.model,
        url=settings.model_url,
        timeout_seconds=settings.model_timeout_seconds if timeout_seconds is None else timeout_seconds,
        retries=settings.model_retries if retries is None else retries,
    )
    return masked(model, store)


def masked(model: Model, store: Store) -> MaskedModel:
    """Returns the model that is sent what capture would archive: secrets masked, and what the store has forgotten."""
    # Takes a fifth of a second, which nobody waits for without a model.
    from memory_assets.stages.capture.masking.redact import mask_text

    return MaskedModel(model, lambda text: tombstones_of(store).mask_text(mask_text(text)[0]))
