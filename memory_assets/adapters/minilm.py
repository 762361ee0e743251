"""The MiniLM sentence encoder on ONNX Runtime; returns the same vectors as sentence-transformers,
without importing torch.

BERT with six layers, mean pooling over the tokens, unit length (Devlin et al. 2019; Wang et al.
2020). `minilm.onnx` holds the layers without their weights, which are read from the installed
package; `memory_assets_tests.adapters.make_minilm_graph` regenerates it. Texts are not computed in
batches: in a batch, the last bits of a vector would depend on the other texts.
"""

import json
import mmap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime as onnx
from tokenizers import Tokenizer

from memory_assets.text.threads import thread_count

GRAPH = Path(__file__).with_suffix(".onnx")
INPUT = "embedded"
"""Name in the graph of the embedded word pieces, float32, shape (1, pieces, 384)."""

OUTPUT = "states"
"""Name in the graph of the last states of the word pieces, with the same shape."""

_WORDS = "embeddings.word_embeddings.weight"
_POSITIONS = "embeddings.position_embeddings.weight"
_TOKEN_TYPES = "embeddings.token_type_embeddings.weight"
_DTYPES = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "U8": "u1"}
"""Types of safetensors, as NumPy names them."""


@dataclass(frozen=True)
class EncodedText:
    """The network's output for one text."""

    vector: np.ndarray
    """Unit length, float32, shape (384,)."""
    states: np.ndarray
    """Last state of each word piece, shape (pieces, 384)."""
    pieces: list[str]
    """The word pieces; one that continues a word begins with ##."""


class MiniLM:
    """The encoder of one folder of weights.

    A thread loads the network, which takes a tenth of a second, until a text is read.
    """

    def __init__(self, folder: Path) -> None:
        self._weights = map_weights(folder / "model.safetensors")
        limits = json.loads((folder / "sentence_bert_config.json").read_text())
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(limits["max_seq_length"])
        self._tokenizer.no_padding()
        self._layers = ThreadPoolExecutor(1).submit(self._open_layers)

    def read(self, text: str) -> EncodedText:
        """Returns the states of the text's word pieces, and their mean as a unit vector."""
        encoded = self._tokenizer.encode(text)
        given = {INPUT: self._embed(encoded.ids)[None]}
        output = self._layers.result().run([OUTPUT], given)[0]
        (states,) = np.asarray(output)
        mean = states.mean(axis=0)
        return EncodedText((mean / np.linalg.norm(mean)).astype(np.float32), states, encoded.tokens)

    def read_all(self, texts: Sequence[str]) -> list[EncodedText]:
        """Returns the output of `read` for each text; several threads share the texts."""
        if len(texts) < 2:
            return [self.read(text) for text in texts]
        with ThreadPoolExecutor(thread_count()) as pool:
            return list(pool.map(self.read, texts))

    def _embed(self, ids: list[int]) -> np.ndarray:
        return (
            self._weights[_WORDS][ids]
            + self._weights[_POSITIONS][: len(ids)]
            + self._weights[_TOKEN_TYPES][0]
        )

    def _open_layers(self) -> onnx.InferenceSession:
        options = onnx.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        of_layers = ("encoder.", "embeddings.LayerNorm.")
        names = [name for name in self._weights if name.startswith(of_layers)]
        values = [onnx.OrtValue.ortvalue_from_numpy(self._weights[name]) for name in names]
        options.add_external_initializers(names, values)
        return onnx.InferenceSession(str(GRAPH), options, providers=["CPUExecutionProvider"])


def map_weights(path: Path) -> dict[str, np.ndarray]:
    """Returns the arrays of a safetensors file by name, memory-mapped; raises `ValueError` if it is
    incomplete.
    """
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    # The file: eight bytes with the header's length, the header as JSON, then the arrays.
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    return {name: _array(content, start, entry) for name, entry in header.items()}


def _array(content: mmap.mmap, start: int, entry: dict) -> np.ndarray:
    dtype = np.dtype(_DTYPES[entry["dtype"]])
    (first, last) = entry["data_offsets"]
    flat = np.frombuffer(content, dtype, (last - first) // dtype.itemsize, start + first)
    return flat.reshape(entry["shape"])
