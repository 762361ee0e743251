"""The MiniLM sentence encoder in numpy; returns the same vector as sentence-transformers.

BERT with six layers, mean pooling over the tokens, unit length (Devlin et al. 2019; Wang et al. 2020). It reads the package's
weights and tokenizer and needs no torch, whose import takes longer than the whole answer.
"""

import json
import mmap
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_KINDS = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "U8": np.uint8}


@dataclass(frozen=True)
class EncodedText:
    """The network's output for one text."""

    vector: np.ndarray
    """Unit length, float32, shape (384,)."""
    states: np.ndarray
    """Last state of each word piece, shape (pieces, 384)."""
    pieces: list[str]
    """The word pieces."""


class MiniLM:
    """The encoder of one folder of weights."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        config = json.loads((folder / "config.json").read_text())
        self._weights = map_weights(folder / "model.safetensors")
        self._layers: int = config["num_hidden_layers"]
        self._heads: int = config["num_attention_heads"]
        self._epsilon: float = config["layer_norm_eps"]
        limits = json.loads((folder / "sentence_bert_config.json").read_text())
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(limits["max_seq_length"])
        self._tokenizer.no_padding()

    def read(self, text: str) -> EncodedText:
        """Returns the unit vector, and the states of the word pieces that it is the mean of."""
        encoded = self._tokenizer.encode(text)
        state = self._embed(encoded.ids)
        for layer in range(self._layers):
            state = self._layer(f"encoder.layer.{layer}.", state)
        mean = state.mean(axis=0)
        return EncodedText((mean / np.linalg.norm(mean)).astype(np.float32), state, encoded.tokens)

    def _embed(self, ids: list[int]) -> np.ndarray:
        weights = self._weights
        words = weights["embeddings.word_embeddings.weight"][ids]
        places = weights["embeddings.position_embeddings.weight"][: len(ids)]
        kinds = weights["embeddings.token_type_embeddings.weight"][0]
        return self._norm("embeddings.LayerNorm", words + places + kinds)

    def _layer(self, name: str, state: np.ndarray) -> np.ndarray:
        parts = [self._linear(f"{name}attention.self.{part}", state) for part in ("query", "key", "value")]
        query, key, value = (part.reshape(len(state), self._heads, -1).transpose(1, 0, 2) for part in parts)
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        joined = mixed.transpose(1, 0, 2).reshape(state.shape)
        state = self._norm(f"{name}attention.output.LayerNorm", self._linear(f"{name}attention.output.dense", joined) + state)
        wide = _gelu(self._linear(f"{name}intermediate.dense", state))
        return self._norm(f"{name}output.LayerNorm", self._linear(f"{name}output.dense", wide) + state)

    def _linear(self, name: str, state: np.ndarray) -> np.ndarray:
        return state @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, name: str, state: np.ndarray) -> np.ndarray:
        scaled = (state - state.mean(axis=-1, keepdims=True)) / np.sqrt(state.var(axis=-1, keepdims=True) + self._epsilon)
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _gelu(x: np.ndarray) -> np.ndarray:
    # The exact form x·Φ(x); erf by Abramowitz and Stegun 7.1.26, whose error of 1.5e-7 is below float32 precision here.
    z = np.abs(x) / np.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1.0 - poly * np.exp(-z * z))
    return x * 0.5 * (1.0 + erf)


def map_weights(path: Path) -> dict[str, np.ndarray]:
    """Returns the arrays of a safetensors file by name, memory-mapped; raises `ValueError` if it is incomplete."""
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = 8 + int.from_bytes(content[:8], "little")  # the header's length, the header as JSON, then the arrays
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    return {name: _array(content, start, entry) for name, entry in header.items()}


def _array(content: mmap.mmap, start: int, entry: dict) -> np.ndarray:
    kind, (first, last) = np.dtype(_KINDS[entry["dtype"]]), entry["data_offsets"]
    flat = np.frombuffer(content, kind, (last - first) // kind.itemsize, start + first)
    return flat.reshape(entry["shape"])
