"""A model's weights, mapped from a safetensors file: opening takes no time, and only what is used is read."""

import json
import mmap
from pathlib import Path

import numpy as np

_KINDS = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "U8": np.uint8}


def map_weights(path: Path) -> dict[str, np.ndarray]:
    """Returns the arrays of the file by name, read-only; raises `ValueError` where it is not whole."""
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = 8 + int.from_bytes(content[:8], "little")  # the header's length, the header as JSON, then all arrays in a row
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    return {name: _array(content, start, told) for name, told in header.items()}


def _array(content: mmap.mmap, start: int, told: dict) -> np.ndarray:
    kind, (first, last) = np.dtype(_KINDS[told["dtype"]]), told["data_offsets"]
    flat = np.frombuffer(content, kind, (last - first) // kind.itemsize, start + first)
    return flat.reshape(told["shape"])
