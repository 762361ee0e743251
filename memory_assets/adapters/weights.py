"""A model's weights, memory-mapped from a safetensors file: only what is used is read."""

import json
import mmap
from pathlib import Path

import numpy as np

_KINDS = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "U8": np.uint8}


def map_weights(path: Path) -> dict[str, np.ndarray]:
    """Returns the arrays of the file by name, read-only; raises `ValueError` if it is incomplete."""
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
