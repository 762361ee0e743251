"""Opens the model that observes, rewrites questions and reflects: none by default, only one that the settings name.

Every request passes `MaskedModel`: typed text and files that people write are masked as transcripts are; text from the store is
already masked and stays as it is.
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
    """A model whose requests are masked: no secrets and no forgotten words in prompt and material; images are not masked."""

    model: Model
    mask: MaskText
    """Returns the text with secrets and forgotten words as asterisks."""

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Returns the answer to the masked request; raises `ModelError` when there is none."""
        return self.model.ask(self._masked(request))

    def submit(self, requests: Mapping[str, ModelRequest]) -> Batch:
        """Submits a batch of masked requests."""
        return self.model.submit({name: self._masked(request) for name, request in requests.items()})

    def batch(self, batch_id: str) -> Batch:
        """Returns the present state of the batch; raises `ModelError` when the provider does not know it."""
        return self.model.batch(batch_id)

    def batches(self, since: datetime) -> Iterator[Batch]:
        """Yields the batches submitted since the moment, the latest first."""
        return self.model.batches(since)

    def results(self, batch_id: str) -> Iterator[tuple[str, ModelAnswer | ModelError]]:
        """Yields the name and the answer, or error, of each question of an ended batch."""
        return self.model.results(batch_id)

    def _masked(self, request: ModelRequest) -> ModelRequest:
        return replace(request, system=self.mask(request.system), material=self.mask(request.material))


def open_model(store: Store, *, timeout_seconds: float | None = None, retries: int | None = None) -> MaskedModel | None:
    """Returns the configured model, or None for the rules.

    A key in the environment is not consent: nothing is sent unless a setting names a model.
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
    """Returns the model with requests masked as capture masks text: secrets and forgotten words."""
    # Importing it takes 0.2 s, which is only needed with a model.
    from memory_assets.stages.capture.masking.redact import mask_text

    return MaskedModel(model, lambda text: tombstones_of(store).mask_text(mask_text(text)[0]))
