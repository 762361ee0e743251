"""The MiniLM sentence encoder on ONNX Runtime; returns the same vectors as sentence-transformers,
without importing torch.

BERT with six layers, mean pooling over the tokens, unit length (Devlin et al. 2019; Wang et al.
2020). `minilm.onnx` holds the layers without their weights, which are read from the installed
package; `memory_assets_tests.adapters.make_minilm_graph` regenerates it. Each text is a run of its
own, so that its vector does not depend on the texts beside it, to the last bit.
"""

import json
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memory_assets.text.threads import thread_count

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

GRAPH = Path(__file__).with_suffix(".onnx")
INPUT, OUTPUT = "embedded", "states"
"""Names in the graph: embedded word pieces and their last states, float32, shape (1, pieces, 384).
"""

_WORDS, _PLACES, _KIND = (
    f"embeddings.{name}_embeddings.weight" for name in ("word", "position", "token_type")
)
_KINDS = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "U8": np.uint8,
}


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

        self._weights = map_weights(folder / "model.safetensors")
        limits = json.loads((folder / "sentence_bert_config.json").read_text())
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(limits["max_seq_length"])
        self._tokenizer.no_padding()

    def read(self, text: str) -> EncodedText:
        """Returns the unit vector, and the states of the word pieces that it is the mean of."""
        encoded = self._tokenizer.encode(text)
        (states,) = np.asarray(
            self._layers.run([OUTPUT], {INPUT: self._embed(encoded.ids)[None]})[0]
        )
        mean = states.mean(axis=0)
        return EncodedText((mean / np.linalg.norm(mean)).astype(np.float32), states, encoded.tokens)

    def read_all(self, texts: Sequence[str]) -> list[EncodedText]:
        """Returns the same of each text; every core reads texts of its own."""
        if len(texts) < 2:
            return [self.read(text) for text in texts]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(thread_count()) as pool:
            return list(pool.map(self.read, texts))

    def _embed(self, ids: list[int]) -> np.ndarray:
        return (
            self._weights[_WORDS][ids]
            + self._weights[_PLACES][: len(ids)]
            + self._weights[_KIND][0]
        )

    @cached_property
    def _layers(self) -> "InferenceSession":
        import onnxruntime as onnx

        options = onnx.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        used = [
            name for name in self._weights if name.startswith(("encoder.", "embeddings.LayerNorm."))
        ]
        options.add_external_initializers(
            used, [onnx.OrtValue.ortvalue_from_numpy(self._weights[name]) for name in used]
        )
        return onnx.InferenceSession(str(GRAPH), options, providers=["CPUExecutionProvider"])


def map_weights(path: Path) -> dict[str, np.ndarray]:
    """Returns the arrays of a safetensors file by name, memory-mapped; raises `ValueError` if it is
    incomplete.
    """
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    # The header's length, the header as JSON, then the arrays.
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    return {name: _array(content, start, entry) for name, entry in header.items()}


def _array(content: mmap.mmap, start: int, entry: dict) -> np.ndarray:
    kind = np.dtype(_KINDS[entry["dtype"]])
    (first, last) = entry["data_offsets"]
    flat = np.frombuffer(content, kind, (last - first) // kind.itemsize, start + first)
    return flat.reshape(entry["shape"])
